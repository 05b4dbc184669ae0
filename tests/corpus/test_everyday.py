"""The everyday sentences in two standards, as far as a script can check them."""

from __future__ import annotations

import collections
import dataclasses
import re
from pathlib import Path

import pytest

from duilian.corpus import Corpus, Layer, Sentence, read
from duilian.standards import Mapping, Standard

EVERYDAY = Path(__file__).parents[1] / "data" / "everyday"
HALVES = ("dev", "test")
GENRES = {
    "chat": 20,
    "review": 18,
    "microblog": 18,
    "question": 18,
    "recipe": 13,
    "product": 18,
    "code-mixed": 18,
    "sound": 11,
    "web": 16,
}
LETTERS = re.compile(r"[A-Za-z\u4e00-\u9fff]")
# An entity and a tag of HTML have letters, but are no words; smileys and emoji have none.
LEFT_OVER = re.compile(r"&\w+;|</?\w+>")


def pku(half: str) -> Corpus:
    return read(EVERYDAY / f"{half}.pku.txt", standard="pku")


def conllu(half: str, standard: str) -> Corpus:
    return read(EVERYDAY / f"{half}.conllu", standard=standard)


def comment(sentence: Sentence, key: str) -> str:
    (found,) = [line for line in sentence.comments if line.startswith(f"# {key} = ")]
    return found.split(" = ", 1)[1]


def tagged(layer: Layer) -> list[tuple[str, str]]:
    return [(word, str(tag)) for word, tag in zip(layer.words, layer.tags or (), strict=True)]


@pytest.mark.parametrize("half", HALVES)
def test_both_files_of_a_half_have_the_same_sentences(half: str) -> None:
    ours = ["".join(sentence["pku"].words) for sentence in pku(half)]
    theirs = list(conllu(half, "ud"))
    assert ours == ["".join(sentence["ud"].words) for sentence in theirs]
    assert [sentence.text for sentence in theirs] == [comment(sentence, "text") for sentence in theirs]
    assert len(ours) == 150


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_the_same_share_of_every_genre(half: str) -> None:
    assert collections.Counter(comment(sentence, "genre") for sentence in conllu(half, "ud")) == GENRES


def test_the_words_are_as_many_as_the_readme_says() -> None:
    counts = [
        sum(len(sentence[name]) for sentence in corpus)
        for half in HALVES
        for name, corpus in (("pku", pku(half)), ("ud", conllu(half, "ud")))
    ]
    assert counts == [1757, 1766, 1771, 1773]


def test_no_sentence_is_there_twice() -> None:
    texts = [sentence.text for half in HALVES for sentence in conllu(half, "ud")]
    assert len(set(texts)) == len(texts)
    ids = [comment(sentence, "sent_id") for half in HALVES for sentence in conllu(half, "ud")]
    assert ids == [f"everyday-{half}-{number}" for half in HALVES for number in range(1, 151)]


@pytest.mark.parametrize("name", ["pku", "ud", "gsd"])
def test_every_tag_is_one_of_its_standard(name: str) -> None:
    standard = Standard.load(name)
    for half in HALVES:
        corpus = pku(half) if name == "pku" else conllu(half, name)
        assert [pair for each in corpus for pair in tagged(each[name]) if pair[1] not in standard] == []


@pytest.mark.parametrize(("name", "punctuation"), [("pku", {"w"}), ("ud", {"PUNCT", "SYM"})])
def test_words_are_not_tagged_as_punctuation_nor_the_other_way_round(
    name: str, punctuation: set[str]
) -> None:
    """Addresses are tagged as symbols, as UD requires; remains of HTML are not."""
    for half in HALVES:
        corpus = pku(half) if name == "pku" else conllu(half, name)
        for word, tag in [pair for each in corpus for pair in tagged(each[name])]:
            if LEFT_OVER.fullmatch(word):
                assert tag in {"x", "X"}, word
            elif not re.search(r"example\.com", word):
                assert (tag in punctuation) != bool(LETTERS.search(word) or word[0].isdecimal()), (word, tag)


def test_pairs_of_tags_are_in_the_relaxed_table() -> None:
    """Except for times and addresses, and words that the corpora tag in ways of their own."""
    allows = Mapping.from_table("ud-pku.relaxed")
    others = set()
    for half in HALVES:
        for ours, theirs in zip(pku(half), conllu(half, "ud"), strict=True):
            layer = dataclasses.replace(theirs["ud"], spaces=None)
            tags = dict(zip(layer.spans(), tagged(layer), strict=True))
            for span, (word, tag) in zip(ours["pku"].spans(), tagged(ours["pku"]), strict=True):
                if span in tags and not allows(tags[span][1], tag):
                    others.add((word, tags[span][1], tag))
    times = {(time, "NUM", "t") for time in ("0:00", "12:30", "9:00", "18:00", "2023-5-1")}
    addresses = {(word, "SYM", "nx") for word in ("https://example.com/a?id=3", "service@example.com")}
    words = {("慎", "ADV", "Ag"), ("单", "NUM", "b"), ("天天", "ADV", "q"), ("左右", "ADP", "m")}
    assert others == times | addresses | words


def test_only_foreign_words_have_a_role_and_it_is_one_of_five() -> None:
    roles = collections.Counter[str]()
    for half in HALVES:
        for sentence in conllu(half, "gsd"):
            layer = sentence["gsd"]
            for (word, tag), misc in zip(tagged(layer), layer.columns["misc"], strict=True):
                for role in re.findall(r"English=(\w+)", misc):
                    assert (tag, word.isascii()) == ("FW", True), word
                    roles[role] += 1
    assert set(roles) == {"NN", "NR", "VV", "VA", "JJ"}
    assert roles.total() == 70


MIXED = EVERYDAY.parent / "mixed"
TRAINING = Path(__file__).parents[2] / "recipes" / "data" / "everyday"


def shingles(text: str, length: int) -> set[str]:
    return {text[k : k + length] for k in range(len(text) - length + 1)}


def test_training_sentences_are_the_same_in_both_standards_and_have_known_tags() -> None:
    ours = read(TRAINING / "train.pku.txt", standard="pku")
    for name in ("ud", "gsd"):
        theirs = read(TRAINING / "train.conllu", standard=name)
        assert ["".join(each["pku"].words) for each in ours] == ["".join(each[name].words) for each in theirs]
        assert [each.text for each in theirs] == [comment(each, "text") for each in theirs]
        for corpus, standard in ((ours, "pku"), (theirs, name)):
            known = Standard.load(standard)
            assert [pair for each in corpus for pair in tagged(each[standard]) if pair[1] not in known] == []


def mixed_texts() -> list[str]:
    """The sentences of the gold for English words, without blanks and tags."""
    lines = [line for path in MIXED.glob("*.txt") for line in path.read_text(encoding="utf-8").splitlines()]
    tagged_word = re.compile(r"\[(.+?)/[A-Z]+\]")
    return [tagged_word.sub(r"\1", line).replace(" ", "") for line in lines if not line.startswith("#")]


def one_letter_a_word(text: str) -> str:
    """The text with the first letter of each English word: two that both say interview are not alike."""
    return re.sub(r"([A-Za-z])[A-Za-z]+", r"\1", text)


def test_no_training_sentence_is_near_to_the_gold() -> None:
    def text(sentence: Sentence) -> str:
        return re.sub(r"&nbsp;|example\.com", "_", "".join(sentence["ud"].words))

    training = [text(each) for each in read(TRAINING / "train.conllu", standard="ud")]
    gold = [text(each) for half in HALVES for each in conllu(half, "ud")]
    long = {shingle for each in gold for shingle in shingles(each, 6)}
    assert [each for each in training if shingles(each, 6) & long] == []
    english = {shingle for each in mixed_texts() for shingle in shingles(one_letter_a_word(each), 8)}
    assert [each for each in training if shingles(one_letter_a_word(each), 8) & english] == []
    assert len(set(training)) == len(training)
