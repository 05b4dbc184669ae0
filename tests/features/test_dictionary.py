"""Dictionaries: what they say of units (against brute force), their files, and the trie in a model file."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian import Templates, _native
from duilian.errors import ConfigError, CorpusError, DuilianError
from duilian.features import Dictionary, ListedWord, Reading, dictionary, pack
from duilian.text import Folding
from oracle import dictionary as naive

CHARACTERS = "中国人a\U00020000"
WORDS = st.dictionaries(
    st.text(CHARACTERS, min_size=1, max_size=7),
    st.tuples(st.integers(1, 40), st.sampled_from(["", "n", "v"])),
    max_size=12,
)
UNITS = st.lists(st.text(CHARACTERS, min_size=1, max_size=2), max_size=8)


def made_of(words: naive.Words, **origin: str) -> Dictionary:
    return Dictionary((ListedWord(word, *entry) for word, entry in words.items()), **origin)


def entries(found: Dictionary) -> dict[str, tuple[int, str]]:
    return {word: (frequency, tag) for word, frequency, tag in found}


@given(WORDS, UNITS)
def test_codes_are_those_of_brute_force(words: naive.Words, units: Sequence[str]) -> None:
    found = made_of(words).codes(units)
    assert found["lx"] == naive.length_codes(words, units)
    assert found["jg"] == naive.path_codes(words, units)


def test_codes_of_a_plain_example() -> None:
    words = {
        "北京": (900, "ns"),
        "大学": (500, "n"),
        "北京大学": (40, "nt"),
        "大学生": (90, "n"),
        "了": (9, ""),
    }
    found = made_of(words).codes("北京大学生了")
    assert found["lx"] == ["400", "042", "340", "034", "003", "000"]
    assert found["jg"] == ["Bns", "Ens", "Bn", "In", "En", "S"]


def test_a_tie_goes_to_the_longer_word() -> None:
    words = {"中": (3, "x"), "国": (4, "x"), "中国": (1, "n"), "人": (4, "x")}  # 3/12 · 4/12 = 1/12
    assert made_of(words).codes("中国")["jg"] == ["Bn", "En"]
    assert made_of(words | {"人": (5, "x")}).codes("中国")["jg"] == ["Bn", "En"]
    assert made_of(words | {"人": (3, "x")}).codes("中国")["jg"] == ["Sx", "Sx"]


def test_words_of_a_unit_match_whole_units_only() -> None:
    words = {"T恤": (5, "n"), "恤": (1, "x"), "hone": (9, "x")}
    assert made_of(words).codes(["T", "恤", "iPhone"])["jg"] == ["Bn", "En", "O"]
    assert made_of(words).codes(["iT", "恤"])["lx"] == ["000", "000"]


def test_no_words_say_nothing() -> None:
    assert made_of({}).codes("中国") == {"lx": ["000", "000"], "jg": ["O", "O"]}
    assert made_of({"中": (1, "n")}).codes([]) == {"lx": [], "jg": []}


def test_templates_see_the_codes_and_edges() -> None:
    reading = Reading(Folding(), made_of({"中国": (3, "n")}))
    assert Templates("lx[0]\njg[-1] jg[0] x[0]").describe(["中", "国"], folding=reading) == [
        ["lx[0]=200", "jg[-1] jg[0] x[0]=<s> Bn 中"],
        ["lx[0]=002", "jg[-1] jg[0] x[0]=Bn En 国"],
    ]


def test_text_is_folded_before_it_is_looked_up_and_letters_are_not_unified() -> None:
    folding = Folding(script="simplified", letters="unified")
    reading = Reading(folding, made_of({"國務院": (2, "n"), "Ｔ恤": (3, "n")}).folded(folding))
    packed = pack([["国", "務", "院", "T", "恤"]], reading)
    found = _native.describe_features(Templates("jg[0] x[0]").native, packed, 0)
    assert [line for unit in found for line in unit] == [
        f"jg[0] x[0]={each}" for each in ("Bn 国", "In 务", "En 院", "Bn ENG", "En 恤")
    ]


def test_columns_of_the_corpus_stand_beside_those_of_the_dictionary() -> None:
    reading = Reading(Folding(), made_of({"中国": (3, "n")}))
    found = Templates("@pos[0] lx[0]").describe(["中", "国"], {"pos": ["a", "b"]}, reading)
    assert found == [["@pos[0] lx[0]=a 200"], ["@pos[0] lx[0]=b 002"]]
    with pytest.raises(ValueError, match="a column must not be called 'lx'"):
        Templates("lx[0]").describe(["中"], {"lx": ["a"]}, reading)


def test_templates_that_ask_a_dictionary_need_one() -> None:
    templates = Templates("x[0]\nlx[0]")
    assert templates.needs_dictionary
    assert templates.columns == []
    assert templates.with_dictionary() is templates
    assert Templates("x[0]").with_dictionary().needs_dictionary
    with pytest.raises(ValueError, match="the template atom lx needs a dictionary"):
        templates.describe(["中"])
    with pytest.raises(DuilianError, match=r"1:1: write lx\[0\] for the dictionary's column"):
        Templates("@lx[0]")


@given(WORDS)
def test_a_trie_holds_its_words(words: naive.Words) -> None:
    found = made_of(words, name="mine", licence="ours")
    assert entries(found) == dict(words)
    again = Dictionary.from_state(*found.state())
    assert entries(again) == dict(words)
    assert (again.name, again.licence, again.fingerprint) == ("mine", "ours", found.fingerprint)
    assert entries(pickle.loads(pickle.dumps(found))) == dict(words)


@given(WORDS, st.data())
def test_damaged_arrays_are_refused_or_are_a_trie(words: naive.Words, data: st.DataObject) -> None:
    header, arrays = made_of(words).state()
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    if len(array) and data.draw(st.booleans()):
        place, most = data.draw(st.integers(0, len(array) - 1)), np.iinfo(array.dtype).max
        array[place] = data.draw(st.integers(0, most))
    else:
        array = array[:-1] if len(array) else np.zeros(1, array.dtype)
    try:
        found = Dictionary.from_state(header, arrays | {name: array})
    except ValueError as error:
        assert str(error).startswith("the dictionary is damaged: ")  # noqa: PT017
    else:  # another valid trie: nothing is read outside it
        found.codes(list("中国人a\U00020000" * 3))
        assert len(list(found)) == len(found)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("symbol", [9, 1, 2]),
        ("flags", [0, 0, 0]),
        ("flags", [2, 2, 2]),
        ("frequency", [0]),
        ("tag", [9]),
        ("alphabet", [5, 5, 5]),
        ("alphabet", [1, 2, 0x110000]),
    ],
)
def test_each_kind_of_damage_is_refused(name: str, value: list[int]) -> None:
    header, arrays = made_of({"中国人": (3, "n")}).state()
    changed = arrays | {name: np.array(value, arrays[name].dtype)}
    with pytest.raises(ValueError, match="the dictionary is damaged"):
        Dictionary.from_state(header, changed)


def words_of_one_place(parents: int, letters: int) -> list[str]:
    """Words whose edges all hash to one hundredth of the table (`Edges` in dictionary.cpp)."""
    alphabet = [chr(code) for code in range(0x4E00, 0x4E00 + letters)]
    nodes = letters + parents * letters // 100
    bits = max(4, (nodes + nodes // 2 - 1).bit_length())
    found = list(alphabet)  # so that letters and symbols are in the same order
    for parent in range(parents):
        keys = (np.uint64(parent + 1) << np.uint64(16)) + np.arange(1, letters + 1, dtype=np.uint64)
        homes = (keys * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits)
        found += [alphabet[parent] + alphabet[k] for k in np.flatnonzero(homes < 2**bits // 100)]
    return found


def test_words_that_would_make_lookups_slow_are_refused() -> None:
    """Time used to grow with the square of their number: 8,000 such words took 0.07 s, 40,000 took 0.57 s."""
    with pytest.raises(DuilianError, match="too many words of the dictionary share a place"):
        made_of(dict.fromkeys(words_of_one_place(40, 20_000), (1, "")))


def test_a_list_of_too_many_characters_is_refused() -> None:
    characters = [chr(code) for code in range(0x4E00, 0x20000) if not 0xD800 <= code < 0xE000]
    with pytest.raises(DuilianError, match="at most 65535 different characters"):
        made_of(dict.fromkeys(characters, (1, "")))


def test_hidden_words_have_no_code_and_frequent_ones_stay() -> None:
    words = {f"中{chr(0x4E00 + k)}": (5, "n") for k in range(100)}
    full = made_of(words)
    counts = dict.fromkeys(list(words)[:50], 3)
    hidden = full.hiding(counts, share=0.5, rare=2, seed=7)
    kept = entries(hidden)
    assert all(word in kept for word in counts)
    assert 60 < len(kept) < 90
    assert entries(full.hiding(counts, share=0.5, rare=2, seed=7)) == kept
    assert entries(full.hiding(counts, share=0.5, rare=2, seed=8)) != kept
    gone = next(word for word in words if word not in kept)
    assert hidden.codes(gone)["lx"] == ["000", "000"]
    assert full.codes(gone)["lx"] == ["200", "002"]
    assert len(full.hiding({}, share=1.0, rare=2, seed=7)) == 0


def test_a_share_of_the_sentences_is_read_blind_always_the_same_ones() -> None:
    words, templates = made_of({"中国": (5, "n")}), Templates("lx[0] jg[0]")
    sentences = [["中", "国", chr(0x4E00 + k)] for k in range(400)]
    blind = "lx[0] jg[0]=? ?"

    def read(share: float, order: Sequence[Sequence[str]]) -> dict[str, list[list[str]]]:
        reading = Reading(Folding(), words, share)
        packed = pack(order, reading)
        found = [_native.describe_features(templates.native, packed, k) for k in range(len(order))]
        return {units[-1]: rows for units, rows in zip(order, found, strict=True)}

    full, some = read(0.0, sentences), read(0.25, sentences)
    assert read(0.25, sentences[::-1]) == some
    unread = {last for last, rows in some.items() if rows == [[blind]] * 3}
    assert 70 < len(unread) < 130
    assert all(some[last] == full[last] for last in full if last not in unread)
    assert unread < {last for last, rows in read(0.5, sentences).items() if rows == [[blind]] * 3}
    assert all(rows == [[blind]] * 3 for rows in read(1.0, sentences).values())


def test_of_words_that_fold_to_one_the_larger_frequency_counts() -> None:
    found = made_of({"國": (2, "n"), "国": (7, "v"), "Ａ": (1, "x")}).folded(Folding(script="simplified"))
    assert entries(found) == {"国": (7, "v"), "A": (1, "x")}


def test_a_list_can_be_extended_or_replaced(caplog: pytest.LogCaptureFixture) -> None:
    own = made_of({"国": (7, "v")}, name="own", licence="A")
    mine = made_of({"国": (9, "n"), "人": (1, "")}, name="mine")
    with caplog.at_level(logging.WARNING):
        both = own.changed(mine, "extend")
    assert entries(both) == {"国": (9, "n"), "人": (1, "")}
    assert (both.name, both.licence, both.replaces) == ("own + mine", "A", f"own ({own.fingerprint})")
    assert "mine: the model was not trained with the tags n" in caplog.text
    other = both.changed(mine, "replace")
    assert (entries(other), other.replaces) == (entries(mine), f"own ({own.fingerprint})")
    assert other.changed(own, "replace").replaces == ""
    with pytest.raises(ConfigError, match="'extend' or 'replace', got 'add'"):
        own.changed(mine, "add")  # type: ignore[arg-type]


def test_files_have_words_frequencies_and_tags(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "words.txt"
    lines = ["# a comment", "", "中国", "人 5", "大学\t7 n", "人 9 n", "c# 3 nz", "微\u200b信 2 n"]
    path.write_text("\n".join(lines), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        found = Dictionary.read(path, licence="CC0")
    assert entries(found) == {
        "中国": (1, ""), "人": (9, "n"), "大学": (7, "n"), "c#": (3, "nz"), "微信": (2, "n"),
    }  # fmt: skip
    assert (found.name, found.licence) == ("words.txt", "CC0")
    assert caplog.text.count("1 word is listed more than once; the largest frequency is used") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("中 国 5 n", "a word must not contain spaces, got '中 国'"),
        ("ice cream", "the frequency must be a whole number above 0, got 'cream'"),
        ("中国 -3 n", "the frequency must be a whole number above 0, got '-3'"),
        ("中国 0 n", "the frequency must be a whole number above 0, got '0'"),
        ("中国 2.5", "the frequency must be a whole number above 0"),
        ("中国 99999999999999999999", "the frequency must be a whole number above 0"),
        ("中\0国 5 n", "a NUL byte, which text does not have"),
        ("国" * 10_000, "a word has 1 to 64 characters, got '国国"),
        ("\u200b 5 n", "a word has 1 to 64 characters"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "words.txt"
    path.write_text(f"人 1 n\n{line}\n", encoding="utf-8")
    with pytest.raises(CorpusError) as caught:
        Dictionary.read(path)
    assert str(caught.value).startswith(f"{path}:2: {message}")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing\n"])
def test_a_file_without_words_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "words.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"words.txt: contains no words"):
        Dictionary.read(path)


def test_lists_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    path = tmp_path / "words.txt"
    path.write_text("".join(f"{chr(0x4E00 + k)} {k + 1}\n" for k in range(9)), encoding="utf-8")
    monkeypatch.setattr(dictionary, "MANY_WORDS", 9)
    with caplog.at_level(logging.WARNING):
        assert len(Dictionary.read(path)) == 9
    assert "words.txt: 9 words take 0 MB and 0 s" in caplog.text
    monkeypatch.setattr(dictionary, "MAX_WORDS", 8)
    with pytest.raises(ConfigError, match="a dictionary has at most 8 words"):
        Dictionary.read(path)
    with pytest.raises(ConfigError, match="a dictionary has at most 8 words, got 9"):
        Dictionary(ListedWord(chr(0x4E00 + k)) for k in range(9))


def test_too_many_tags_are_refused() -> None:
    with pytest.raises(ConfigError, match="at most 255 different tags, got 256"):
        Dictionary(ListedWord(chr(0x4E00 + k), 1, f"t{k}") for k in range(256))
