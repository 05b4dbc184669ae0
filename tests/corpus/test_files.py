"""Encodings, line ends, compressed and damaged files, and writing completely or not at all."""

from __future__ import annotations

import gzip
import io
import os
import random
import sys
from collections.abc import Callable, Iterator

import pytest
from corpus_samples import SAMPLES, SLASH
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.corpus import FORMATS, files, guess_format, open_writer, read, read_lines, read_sentences, write
from duilian.corpus.encodings import likely_encoding
from duilian.corpus.files import DamagedFileError
from duilian.errors import ConfigError, CorpusError, DuilianError, TextError
from duilian.text import Errors

SIMPLIFIED = "我们/r  在/p  北湖/ns  看到/v  很多/m  新/a  的/u  书/n  。/w\n" * 3
TRADITIONAL = "我們/r  在/p  北湖/ns  看到/v  很多/m  新/a  的/u  書/n  。/w\n" * 3


def content(path) -> bytes:
    return path.read_bytes()


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "utf-16-le"])
def test_encodings_and_line_ends_make_no_difference(tmp_path, ends, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes(SLASH.replace("\n", ends).encode(encoding))
    told = "utf-8" if encoding == "utf-8-sig" else encoding
    plain = tmp_path / "plain.txt"
    plain.write_text(SLASH, encoding="utf-8", newline="\n")
    assert read(path, encoding=told) == read(plain)


def test_big5(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(TRADITIONAL.encode("big5"))
    assert read(path, encoding="big5")[0]["pku"].words[0] == "我們"


@pytest.mark.parametrize(
    ("text", "encoding", "told", "hint"),
    [
        (SIMPLIFIED, "gb18030", "utf-8", "looks like gb18030"),
        (TRADITIONAL, "big5", "utf-8", "looks like big5"),
        (SIMPLIFIED, "utf-16", "utf-8", "looks like utf-16"),
        (SIMPLIFIED, "utf-8", "big5", "looks like utf-8"),
        (SIMPLIFIED, "utf-8", "ascii", "looks like utf-8"),
        ("a/n\nb\udcff/n\n", "surrogateescape", "utf-8", "save it as UTF-8"),
    ],
)
def test_a_wrong_encoding_is_named_with_the_right_one(tmp_path, text, encoding, told, hint):
    path = tmp_path / "a.txt"
    raw = text.encode("utf-8", encoding) if encoding == "surrogateescape" else text.encode(encoding)
    path.write_bytes(raw)
    with pytest.raises(CorpusError) as caught:
        read(path, encoding=told, format="slash")
    line = 2 if encoding == "surrogateescape" else 1
    assert caught.value.message.startswith(f"{path}:{line}: byte 0x")
    assert f"is not {told} text" in caught.value.message
    assert hint in caught.value.hint


def test_lone_surrogates_are_no_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a/n\n" + b"\xed\xa0\x80/n\n")
    with pytest.raises(CorpusError, match=r"a\.txt:2: byte 0xed at column 1"):
        read(path)
    with pytest.raises(TextError, match="cannot be written as utf-8"):
        write_text(tmp_path / "b.txt", "\ud800")
    assert not (tmp_path / "b.txt").exists()


@settings(deadline=None)
@given(
    st.text(
        st.sampled_from("的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"),
        min_size=20,
    )
)
def test_gb18030_is_not_taken_for_big5(text):
    assert likely_encoding(text.encode("gb18030"), "utf-8") == "gb18030"


def test_unknown_encoding():
    for name in ("klingon", "base64", "a\0b", "undefined"):
        with pytest.raises(ConfigError, match="unknown encoding"):
            list(read_lines("x", encoding=name))


def test_a_character_beyond_the_target_encoding(tmp_path):
    with pytest.raises(TextError, match="'😀' cannot be written as big5") as caught:
        write_text(tmp_path / "a.txt", "好😀", encoding="big5")
    assert "utf-8" in caught.value.hint


def write_text(path, text: str, encoding: str = "utf-8") -> None:
    with open_writer(path, encoding=encoding) as write_to:
        write_to(text)


def test_gzip_by_name_or_by_content(tmp_path):
    plain, packed, disguised = tmp_path / "a.txt", tmp_path / "a.txt.gz", tmp_path / "b.txt"
    plain.write_text(SLASH, encoding="utf-8")
    corpus = read(plain)
    write(corpus, packed, format="slash")
    disguised.write_bytes(content(packed))
    assert gzip.decompress(content(packed)).decode() == SLASH
    assert read(packed) == corpus == read(disguised)
    write(corpus, tmp_path / "again.gz", format="slash")
    assert content(tmp_path / "again.gz") == content(packed), "the same bytes every time"


def test_damaged_gzip(tmp_path):
    whole = gzip.compress(SLASH.encode() * 2000)
    cases = {"short.gz": whole[: len(whole) // 2], "no.gz": b"a/n\n", "noise.gz": whole[:40] + b"x" * 99}
    for name, raw in cases.items():
        path = tmp_path / name
        path.write_bytes(raw)
        for lenient in (False, True):
            with pytest.raises(DamagedFileError, match=rf"{name}:\d+: .*gzip"):
                read(path, format="slash", lenient=lenient)


@pytest.mark.parametrize("raw", [b"", b"\n\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error_unless_asked_for(tmp_path, raw):
    path = tmp_path / "a.txt"
    path.write_bytes(raw)
    with pytest.raises(CorpusError, match=r"a\.txt:1: the file is empty"):
        read(path)
    assert len(read(path, empty_ok=True)) == 0


def test_a_file_of_markup_only_holds_no_sentence(tmp_path):
    path = tmp_path / "a.pos"
    path.write_text("<DOC>\n</DOC>\n")
    with pytest.raises(CorpusError, match="has no sentence in the format underscore"):
        read(path)


@pytest.mark.parametrize(
    ("raw", "phrase"), [(b"a/n\nb\0/n\n", "NUL byte"), (b"a/n\nb/n\rc/n\n", "carriage return")]
)
def test_characters_that_no_line_has(tmp_path, raw, phrase):
    path = tmp_path / "a.txt"
    path.write_bytes(raw)
    with pytest.raises(CorpusError, match=rf"a\.txt:2: .*{phrase}"):
        read(path)
    assert read(path, lenient=True).skipped == 1


def test_utf16_that_ends_inside_a_character(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("a/n\n".encode("utf-16")[:-1])
    with pytest.raises(CorpusError, match="not utf-16 text"):
        read(path, encoding="utf-16")


def test_lenient_reading_counts_and_goes_on(tmp_path):
    path = tmp_path / "a.txt"
    lines = ["a/n", "bad", "b/n", "[x/n", "c/n", *["bad"] * 8, "d/n"]
    path.write_bytes("\n".join(lines).encode() + b"\n\xff/n\n")
    corpus = read(path, format="slash", lenient=True)
    assert [sentence.text for sentence in corpus] == ["a", "b", "c", "d"]
    assert corpus.skipped == 11
    assert len(corpus.problems) == 5
    assert corpus.problems[0].startswith(f"{path}:2: ")
    with pytest.raises(CorpusError, match=r"a\.txt:2: "):
        read(path, format="slash")


def test_lenient_reading_skips_whole_blocks(tmp_path):
    row = "\tx\t_\tX\t_\t_\t0\troot\t_\t_\n"
    path = tmp_path / "a.conllu"
    path.write_text(f"1{row}\n1{row}3{row}\n1{row}2{row}\n9{row}", encoding="utf-8")
    corpus = read(path, lenient=True)
    assert [len(sentence["ud"]) for sentence in corpus] == [1, 2]
    assert corpus.skipped == 2


def test_lenient_reading_does_not_forget_the_columns(tmp_path):
    path = tmp_path / "a"
    path.write_text("a b c\n\nd e\n\nf g\n\nh i j\n", encoding="utf-8")
    corpus = read(path, format="columns", lenient=True)
    assert (corpus.skipped, [sentence.text for sentence in corpus]) == (2, ["a", "h"])


def test_lenient_reading_of_nothing_sound_ends(tmp_path):
    for name, form in FORMATS.items():
        path = tmp_path / "a"
        path.write_text("(((\n\n)\n\n]\n", encoding="utf-8")
        if name != "segmented" and form.write:
            assert read(path, format=name, lenient=True, empty_ok=True).skipped > 0
            with pytest.raises(CorpusError, match=f"has no sentence in the format {name}"):
                read(path, format=name, lenient=True)


def test_strange_characters_survive(tmp_path):
    words = ["𠀀𠀁", "😀👩‍👩‍👧", "e\u0301", "\u200b", "\u2028", "\x85", "ｆ", "\U0010fffd"]
    path = tmp_path / "a.txt"
    path.write_text("  ".join(f"{word}/n" for word in words) + "\n", encoding="utf-8", newline="\n")
    corpus = read(path, format="slash")
    assert list(corpus[0]["pku"].words) == words
    for name, form in FORMATS.items():
        if form.write:
            write(corpus, tmp_path / "b", format=name)
            (sentence,) = read(tmp_path / "b", format=name, standard="pku")
            assert list(sentence["pku"].words) == words


@pytest.mark.parametrize("unit", ["字/n  ", "[字/n]x  ", "字", "[", "{", "\\", "字/", "<S ", "<! ", "_"])
@pytest.mark.parametrize("name", ["slash", "underscore"])
def test_a_megabyte_long_line_takes_no_time(tmp_path, unit, name):
    path = tmp_path / "a.txt"
    path.write_text(unit * (1_000_000 // len(unit.encode())), encoding="utf-8")
    assert len(refusal(path, name)) < 500


def test_standard_input(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SLASH.encode())))
    assert len(read("-")) == 3
    packed = io.BufferedReader(io.BytesIO(gzip.compress(b"a/n\nb\n")))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(packed))
    with pytest.raises(CorpusError, match=r"^<stdin>:2: the word 'b' has no tag"):
        read("-", format="slash")


def test_reading_is_streamed(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a/n\n" * 100 + "bad\n", encoding="utf-8")
    sentences = read_sentences(path, format="slash")
    assert next(sentences).text == "a"
    with pytest.raises(CorpusError, match=":101:"):
        list(sentences)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.txt")


def test_options_are_checked_before_the_file_is_opened():
    with pytest.raises(ConfigError, match="unknown format 'xml'"):
        read("none", format="xml")
    with pytest.raises(ConfigError, match="unknown cut"):
        read("none", cut="page")
    with pytest.raises(ConfigError, match="cannot tell the format"):
        write([], "a.txt")
    with pytest.raises(ConfigError, match="can only be read"):
        write([], "a.txt", format="ctb-brackets")


def test_an_empty_file_has_no_format(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(CorpusError, match="the file is empty"):
        guess_format(tmp_path / "a")


def test_the_extension_tells_before_the_content(tmp_path):
    for name, form in FORMATS.items():
        for extension in form.extensions:
            assert guess_format(tmp_path / f"none{extension}.gz") == name
    (tmp_path / "a.conll").write_text(SAMPLES["columns"], encoding="utf-8")
    assert guess_format(tmp_path / "a.conll") == "columns"


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("error", [ValueError, SystemExit, OSError])
def test_a_failed_writing_leaves_the_old_file_and_nothing_else(tmp_path, name, error):
    path = tmp_path / name
    path.write_bytes(b"old")

    def write_and_fail() -> None:
        with open_writer(path) as write_to:
            write_to("new" * 100_000)
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert content(path) == b"old"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("texts", [[], ["一\n"], ["", "一\n", "二\n"]])
def test_a_stopped_writing_leaves_the_old_file_and_a_part(tmp_path, name, texts):
    path = tmp_path / name
    path.write_bytes(b"old")

    def write_and_stop() -> None:
        with open_writer(path) as write_to:
            for text in texts:
                write_to(text)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        write_and_stop()
    (note,) = caught.value.__notes__
    assert path.read_bytes() == b"old"
    if not texts:
        assert note == "nothing was finished"
        assert os.listdir(tmp_path) == [name]
        return
    part = tmp_path / f"{name}.part"
    assert sorted(os.listdir(tmp_path)) == [name, part.name]
    assert [line for _, line in read_lines(part)] == [text.strip() for text in texts if text]
    count = "1 answer" if len(texts) == 1 else "2 answers"
    assert note == f"{part} has the first {count}; give the rest of the input to continue"


def test_a_full_disk_is_reported_with_the_name():
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OSError, match="/dev/full"):
        write_text("/dev/full", "x" * 100_000)


def test_writing_keeps_mode_and_follows_links(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("new", 0o640)


def refusal(path, name: str | None) -> str:
    """The error message for a file; empty if it can be read. Any other error is a bug and propagates."""
    try:
        read(path, format=name)
    except DuilianError as error:
        return str(error)
    return ""


def mutate(raw: bytes, rng: random.Random) -> bytes:
    """One to three random mutations."""
    data = bytearray(raw)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(data) + 1)
        accident = rng.randrange(5)
        if accident == 0:
            data[place:place] = rng.choice(
                [b"\t", b" ", b"\n", b"/", b"[", b"]", b"{", b"}", b"_", b'"', b"\r", b"-1"]
            )
        elif accident == 1:
            del data[place : place + rng.randint(1, 4)]
        elif accident == 2:
            data[place : place + 1] = bytes([rng.randrange(256)])
        elif accident == 3:
            del data[place:]
        else:
            data[place:place] = data[rng.randrange(len(data) + 1) :][: rng.randint(1, 30)]
    return bytes(data)


@pytest.mark.parametrize("name", SAMPLES)
def test_mutated_files_are_read_or_refused(tmp_path, name):
    rng = random.Random(7)
    path = tmp_path / "a"
    refused = 0
    for _ in range(500):
        path.write_bytes(mutate(SAMPLES[name].encode(), rng))
        refused += bool(refusal(path, rng.choice([name, name, None])))
        read(path, format=name, lenient=True, empty_ok=True)
    assert refused > 10


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("any") / "a"
    path.write_bytes(raw)
    for name in [None, *SAMPLES]:
        refusal(path, name)


LINE_PARTS = st.sampled_from(
    [b"a", "好".encode(), b"\n", b"\r\n", b"\r", b"\0", b"\xff", "\ufeff".encode(), b" "]
)


@settings(max_examples=300)
@given(
    st.lists(LINE_PARTS, max_size=30).map(b"".join),
    st.integers(1, 12),
    st.booleans(),
    st.sampled_from(["strict", "replace"]),
)
def test_blocks_and_pieces_are_read_as_lines_are(
    content: bytes, size: int, lenient: bool, errors: Errors
) -> None:
    def outcome(lines: Callable[[files.Skip | None], Iterator[tuple[int, str]]]) -> list[object]:
        found: list[object] = []
        try:
            found += lines((lambda problem: found.append(problem.message)) if lenient else None)
        except CorpusError as error:
            found.append(error.message)
        return found

    def by_blocks(skip: files.Skip | None) -> Iterator[tuple[int, str]]:
        decoder = files._Decoder("f", "utf-8", errors, skip)
        return decoder.lines_of_file(io.BufferedReader(io.BytesIO(content)))  # type: ignore[arg-type]

    def by_lines(skip: files.Skip | None) -> Iterator[tuple[int, str]]:
        decoder = files._Decoder("f", "utf-8", errors, skip)
        return decoder.checked(decoder.lines(io.BytesIO(content)))

    def by_pieces(skip: files.Skip | None) -> Iterator[tuple[int, str]]:
        decoder = files._Decoder("f", "utf-8", errors, skip)
        return decoder.checked(decoder.lines(files.LiveInput()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BLOCK_SIZE", size)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert outcome(by_blocks) == outcome(by_lines)
        patch.setattr(files, "_SAMPLE_SIZE", size)
        assert outcome(by_pieces) == outcome(by_lines)
        if errors == "replace":
            assert not any(isinstance(line, str) for line in outcome(by_lines))  # nothing is rejected
