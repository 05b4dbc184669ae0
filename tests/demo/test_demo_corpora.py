"""The demonstration corpora: well formed, distinct, consistent, and overlapping in words as promised.

Lines are split by hand here, so that a mistake in a reader cannot hide a mistake in the data.
"""

from __future__ import annotations

import functools
import importlib.resources
import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from duilian.standards import Mapping, Standard

TaggedSentence = tuple[tuple[str, str], ...]

TRAIN = ("ctb", "pku")
DEV = ("ctb-dev", "pku-dev")
BOTH = ("both-ctb", "both-pku")
CORPORA = (*TRAIN, *DEV, *BOTH)

END_OF_SENTENCE = frozenset("。？！")
PERFECTIVE = {"ctb": "AS", "pku": "u"}
FINAL = {"ctb": "SP", "pku": "y"}
STOP = {"ctb": "PU", "pku": "w"}


def standard_of(name: str) -> str:
    return "ctb" if "ctb" in name else "pku"


@functools.cache
def lines(name: str) -> tuple[str, ...]:
    file = importlib.resources.files("duilian").joinpath("demo", f"{name}.txt")
    text = file.read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return tuple(text[:-1].split("\n"))


@functools.cache
def sentences(name: str) -> tuple[TaggedSentence, ...]:
    between, within = (" ", "_") if standard_of(name) == "ctb" else ("  ", "/")
    return tuple(tuple(split_once(token, within) for token in line.split(between)) for line in lines(name))


def split_once(token: str, separator: str) -> tuple[str, str]:
    word, tag = token.split(separator)
    return word, tag


def text(sentence: TaggedSentence) -> str:
    return "".join(word for word, _ in sentence)


def tokens(name: str) -> Iterator[tuple[str, str]]:
    return (token for sentence in sentences(name) for token in sentence)


def vocabulary(name: str) -> set[str]:
    return {word for word, _ in tokens(name)}


def with_next(name: str) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    return (pair for sentence in sentences(name) for pair in itertools.pairwise(sentence))


@pytest.mark.parametrize("name", CORPORA)
def test_every_token_is_a_word_and_a_tag_of_the_standard(name: str) -> None:
    standard = Standard.load(standard_of(name))
    assert not standard.is_open
    for number, sentence in enumerate(sentences(name), start=1):
        for word, tag in sentence:
            assert word, f"{name}:{number}: an empty word"
            assert not any(char.isspace() for char in word), f"{name}:{number}: space in {word!r}"
            assert tag in standard, f"{name}:{number}: {word!r} has the unknown tag {tag!r}"


@pytest.mark.parametrize("name", CORPORA)
def test_every_sentence_ends_like_one(name: str) -> None:
    stop = STOP[standard_of(name)]
    for sentence in sentences(name):
        word, tag = sentence[-1]
        assert (word in END_OF_SENTENCE, tag) == (True, stop), text(sentence)


@pytest.mark.parametrize("name", CORPORA)
def test_punctuation_has_its_tag_and_nothing_else_has(name: str) -> None:
    stop = STOP[standard_of(name)]
    for word, tag in tokens(name):
        assert (tag == stop) == (not word.isalnum()), (word, tag)


@pytest.mark.parametrize(
    ("name", "least", "most"), [("ctb", 220, 400), ("pku", 220, 400)] + [(name, 40, 40) for name in DEV]
)
def test_sizes(name: str, least: int, most: int) -> None:
    count = len(sentences(name))
    assert least <= count <= most
    assert 9 <= sum(1 for _ in tokens(name)) / count <= 14


def test_no_sentence_twice() -> None:
    # both-pku repeats both-ctb on purpose, so it is left out here.
    counts = Counter(text(sentence) for name in CORPORA if name != "both-pku" for sentence in sentences(name))
    assert [sentence for sentence, count in counts.items() if count > 1] == []


def test_training_corpora_share_most_of_their_words() -> None:
    shared = vocabulary("ctb") & vocabulary("pku")
    assert len(shared) >= 600
    for name in TRAIN:
        known = sum(word in shared for word, _ in tokens(name))
        assert known >= 0.8 * sum(1 for _ in tokens(name))


@pytest.mark.parametrize(("name", "own", "other"), [("ctb-dev", "ctb", "pku"), ("pku-dev", "pku", "ctb")])
def test_development_words_are_known_and_many_only_from_the_other_side(
    name: str, own: str, other: str
) -> None:
    words = [word for word, _ in tokens(name)]
    own_words, other_words = vocabulary(own), vocabulary(other)
    only_other = [word for word in words if word in other_words - own_words]
    known = [word for word in words if word in own_words | other_words]
    assert len(only_other) >= 60
    assert len(known) >= 0.95 * len(words)


def test_parallel_corpora_have_the_same_words() -> None:
    left, right = (sentences(name) for name in BOTH)
    assert len(left) == len(right) == 25
    for ctb, pku in zip(left, right, strict=True):
        assert [word for word, _ in ctb] == [word for word, _ in pku]


def test_parallel_tags_are_bundles_of_the_relaxed_mapping() -> None:
    mapping = Mapping.from_table("ctb-pku.relaxed")
    for (word, ctb), (_, pku) in zip(tokens("both-ctb"), tokens("both-pku"), strict=True):
        assert mapping(ctb, pku), f"{word}: {ctb} and {pku}"


def test_parallel_corpora_need_context_to_convert() -> None:
    """A table from tag to tag must not be enough, or conversion would show nothing."""
    pairs = set(
        zip((tag for _, tag in tokens("both-pku")), (tag for _, tag in tokens("both-ctb")), strict=True)
    )
    choices = Counter(pku for pku, _ in pairs)
    assert choices["u"] >= 5
    assert choices["p"] >= 4
    assert choices["v"] >= 3


@pytest.mark.parametrize("name", CORPORA)
def test_le_ends_a_clause_or_follows_a_verb(name: str) -> None:
    standard = standard_of(name)
    for (word, tag), (_, following) in with_next(name):
        if word == "了":
            expected = FINAL if following == STOP[standard] else PERFECTIVE
            assert tag == expected[standard]


@pytest.mark.parametrize("name", ["ctb", "ctb-dev", "both-ctb"])
def test_short_bei_stands_before_its_verb(name: str) -> None:
    for (word, tag), (following, next_tag) in with_next(name):
        if word == "被":
            assert tag == ("SB" if next_tag == "VV" else "LB"), following


@pytest.mark.parametrize("name", ["pku", "pku-dev", "both-pku"])
def test_pku_closed_words(name: str) -> None:
    joined = {
        ("一", "个"),
        ("这", "个"),
        ("这", "种"),
        ("这", "次"),
        ("那", "个"),
        ("每", "天"),
        ("每", "个"),
    }
    for (word, _), (following, _) in with_next(name):
        assert (word, following) not in joined


@pytest.mark.parametrize("name", ["ctb", "ctb-dev", "both-ctb"])
def test_ctb_splits_determiner_and_measure(name: str) -> None:
    assert vocabulary(name).isdisjoint(
        {"一个", "这个", "这种", "这次", "那个", "每天", "每个", "每年", "全国"}
    )


def test_names_are_one_word_in_ctb_and_two_in_pku() -> None:
    full = {word for word, tag in tokens("ctb") if tag == "NR" and len(word) > 1}
    surnames = {word for word, tag in tokens("pku") if tag == "nr"}
    people = {name for name in full if name[0] in surnames and name[1:] in surnames}
    assert people >= {"王小明", "李红", "张伟", "刘洋", "赵强", "陈静"}
    assert people.isdisjoint(vocabulary("pku"))


@pytest.mark.parametrize("name", CORPORA)
def test_readme_gives_the_true_sizes(name: str) -> None:
    readme = importlib.resources.files("duilian").joinpath("demo", "README.md").read_text(encoding="utf-8")
    row = f"| `{name}.txt` | {len(sentences(name))} | {sum(1 for _ in tokens(name))} |"
    assert row in readme
