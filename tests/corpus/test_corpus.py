"""Dividing a corpus, cutting it into sentences, and counting it."""

from __future__ import annotations

import pytest
from corpus_samples import numbered
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.corpus import Corpus, Entity, Layer, Sentence, read, statistics, vocabulary, write_parts
from duilian.corpus.cut import cut_sentences
from duilian.corpus.formats.slash import read_slash
from duilian.errors import ConfigError


def corpus_of(count: int) -> Corpus:
    return Corpus([Sentence({"x": Layer((f"w{n}",))}) for n in range(count)], standard="x", source="here")


def texts(corpus) -> list[str]:
    return [sentence.text for sentence in corpus]


def test_a_corpus_is_an_immutable_sequence():
    corpus = corpus_of(5)
    assert texts(corpus[1:4:2]) == ["w1", "w3"]
    assert isinstance(corpus[1:], Corpus)
    assert (corpus[1:].standard, corpus[1:].source) == ("x", "here")
    assert corpus[-1].text == "w4"
    assert corpus[:2] == corpus_of(2) != corpus_of(3)
    with pytest.raises(TypeError):
        corpus[0] = corpus[1]


def test_the_fingerprint_is_of_the_content():
    corpus = corpus_of(3)
    assert corpus.fingerprint() == Corpus(list(corpus), standard="x", source="elsewhere").fingerprint()
    assert len(corpus.fingerprint()) == 64
    tagged = Corpus([Sentence({"x": Layer(("w0",), ("n",))})], standard="x")
    prints = {
        corpus.fingerprint(),
        corpus[:2].fingerprint(),
        corpus[::-1].fingerprint(),
        tagged.fingerprint(),
    }
    assert len(prints) == 4


def test_sets_of_tags_have_one_fingerprint():
    def corpus(tags):
        return Corpus([Sentence({"x": Layer(("a",), (frozenset(tags),))})], standard="x")

    names = [f"t{n}" for n in range(50)]
    assert corpus(names).fingerprint() == corpus(reversed(names)).fingerprint()


@settings(deadline=None)
@given(st.integers(0, 60), st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any), st.integers())
def test_split_parts_are_the_corpus(count, shares, seed):
    corpus = corpus_of(count)
    parts = corpus.split(shares, seed)
    assert sorted(text for part in parts for text in texts(part)) == sorted(texts(corpus))
    for part, share in zip(parts, shares, strict=True):
        assert abs(len(part) - count * share / sum(shares)) < 1
    assert parts == corpus.split(shares, seed)


def test_split_depends_on_the_seed_and_keeps_the_order():
    corpus = corpus_of(100)
    first, second = corpus.split([1, 1], 1)[0], corpus.split([1, 1], 2)[0]
    assert first != second
    assert texts(first) == [text for text in texts(corpus) if text in texts(first)]


@pytest.mark.parametrize("shares", [[], [0], [-1, 2], [float("nan")], [float("inf"), 1]])
def test_split_refuses_what_are_no_shares(shares):
    with pytest.raises(ConfigError, match="shares"):
        corpus_of(3).split(shares, 1)


def test_sample_draws_different_sentences():
    corpus = corpus_of(50)
    drawn = texts(corpus.sample(20, 3))
    assert len(set(drawn)) == 20
    assert drawn == texts(corpus.sample(20, 3)) != texts(corpus.sample(20, 4))
    assert corpus.sample(50, 1) == corpus
    with pytest.raises(ConfigError, match="cannot draw 51 sentences from a corpus of 50"):
        corpus.sample(51, 1)


@settings(deadline=None)
@given(st.integers(2, 40), st.data())
def test_folds_hold_out_every_sentence_once(count, data):
    corpus = corpus_of(count)
    k = data.draw(st.integers(2, count))
    folds = corpus.folds(k)
    assert [text for _, held_out in folds for text in texts(held_out)] == texts(corpus)
    for train, held_out in folds:
        assert len(held_out) in (count // k, count // k + 1)
        assert sorted(texts(train) + texts(held_out)) == sorted(texts(corpus))


@pytest.mark.parametrize(
    ("k", "message"), [(0, "k must be"), (1, "cannot make 1 folds"), (4, "cannot make 4")]
)
def test_folds_must_be_possible(k, message):
    with pytest.raises(ConfigError, match=message):
        corpus_of(3).folds(k)


def cut(line: str) -> list[str]:
    return texts(cut_sentences(read_slash(numbered(line), path="f", standard="x"), "x"))


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("a/n 。/w b/n", ["a。", "b"]),
        ("a/n 。/w ”/w b/n ！/w", ["a。”", "b！"]),
        ("a/n ？/w ！/w ）/w 》/w b/n", ["a？！）》", "b"]),
        ("a/n 。/w “/w b/n", ["a。", "“b"]),
        ("。/w a/n", ["。", "a"]),
        ("a/n ，/w b/n", ["a，b"]),
        ("！！/w a/n", ["！！", "a"]),
        ("3！/m a/n", ["3！a"]),
        ("[a/n 。/w b/n]x 。/w c/n", ["a。b。", "c"]),
    ],
)
def test_cutting(line, pieces):
    assert cut(line) == pieces


def test_pieces_keep_their_annotation():
    line = "20260101-01-001-001/m a/n 。/w [b{b1}/v c/?]x 。/w"
    first, second = cut_sentences(read_slash(numbered(line), path="f", standard="x"), "x")
    assert (first.id, second.id) == ("20260101-01-001-001.1", "20260101-01-001-001.2")
    assert second["x"].tags == ("v", None, "w")
    assert second["x"].entities == (Entity(0, 2, "x"),)
    assert second["x"].columns == {"pinyin": ("b1", "", "")}


def test_only_lines_can_be_cut(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a/n 。/w b/n\n", encoding="utf-8")
    assert len(read(path, cut="sentence")) == 2
    (tmp_path / "a.conllu").write_text("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="conllu marks sentences itself"):
        read(tmp_path / "a.conllu", cut="sentence")


def test_statistics_of_a_tiny_corpus():
    corpus = list(read_slash(numbered("我/r 来/v 。/w\n北湖/ns 来/{v|vn} 。/?"), path="f", standard="x"))
    known = list(read_slash(numbered("我/r 。/w"), path="f", standard="y"))
    found = statistics(corpus, known=known).as_json()
    assert (found["sentences"], found["words"], found["characters"], found["types"]) == (2, 6, 7, 4)
    assert found["tags"] == {"?": 1, "ns": 1, "r": 1, "v": 1, "w": 1, "{v|vn}": 1}
    assert found["tag_shares"]["r"] == pytest.approx(100 / 6)
    assert found["word_lengths"] == {"1": 5, "2": 1}
    assert found["sentence_lengths"] == {"3": 2}
    assert found["oov"] == {"tokens": 3, "types": 2, "token_rate": 50.0, "type_rate": 50.0}
    assert vocabulary(known) == {"我", "。"}


def test_statistics_of_nothing():
    assert statistics([], known=[]).as_json()["oov"]["token_rate"] == 0


def test_the_standard_is_the_one_asked_for_or_the_usual_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a/n\n", encoding="utf-8")
    assert (read(path).standard, read(path).format) == ("pku", "slash")
    assert read(path, standard="mine").standard == "mine"
    assert list(read(path, standard="mine")[0]) == ["mine"]


def test_parts_are_named_after_their_use(tmp_path):
    paths = write_parts([corpus_of(2)] * 3, tmp_path / "new", like="all.seg.gz", format="segmented")
    assert [path.name for path in paths] == ["train.seg.gz", "dev.seg.gz", "test.seg.gz"]
    assert len(read(paths[0])) == 2
    paths = write_parts([corpus_of(1)] * 2, tmp_path, like="-", format="segmented")
    assert [path.name for path in paths] == ["part-1.segmented", "part-2.segmented"]


def test_brackets_are_wired_in(tmp_path):
    path = tmp_path / "a.fid"
    path.write_text("( (IP (NP (PN 他)) (VP (VV 来))) )\n", encoding="utf-8")
    corpus = read(path)
    assert (corpus.format, corpus.standard) == ("ctb-brackets", "ctb")
    assert corpus[0]["ctb"].words == ("他", "来")
