"""Gold and answers that are cut into sentences elsewhere, white space, and texts that differ."""

from __future__ import annotations

import itertools
import random

import pytest

from duilian.corpus import Layer
from duilian.evaluation import evaluate_layers, raw_tree_score
from duilian.evaluation.same_text import TextDifferenceError, same_sentences

GOLD = [Layer(("天", "地"), ("A", "B"), (0, 1), ("root", "x")), Layer(("人",), ("C",), (0,), ("root",))]


def test_a_longer_sentence_is_cut_and_heads_outside_are_none() -> None:
    guess = [Layer(("天", "地", "人"), ("A", "B", "C"), (2, 0, 2), ("x", "root", "x"))]
    left, right = same_sentences(GOLD, guess)
    assert left == GOLD
    assert [layer.words for layer in right] == [("天", "地"), ("人",)]
    assert [layer.heads for layer in right] == [(2, 0), (None,)]


def test_a_word_across_the_end_of_a_sentence_joins_both() -> None:
    left, right = same_sentences(GOLD, [Layer(("天",)), Layer(("地人",))])
    assert [layer.words for layer in left] == [("天", "地", "人")]
    assert left[0].heads == (0, 1, 0)
    assert [layer.words for layer in right] == [("天", "地人")]


def test_shorter_sentences_are_joined_and_their_heads_counted_on() -> None:
    guess = [Layer(("天",), heads=(0,)), Layer(("地",), heads=(0,)), Layer(("人",), heads=(0,))]
    _, right = same_sentences(GOLD, guess)
    assert [layer.heads for layer in right] == [(0, 0), (0,)]
    guess = [Layer(("天",), heads=(0,)), Layer(("地", "人"), heads=(2, 0))]
    assert [layer.heads for layer in same_sentences(GOLD, guess)[1]] == [(0, None), (0,)]


def test_white_space_does_not_count() -> None:
    gold = [Layer(("a b", "\u3000", "c"), ("X", "SP", "Y"), (3, 1, 0))]
    left, right = same_sentences(gold, [Layer(("ab", "c"), ("X", "Y"), (2, 0))])
    assert left == right == [Layer(("ab", "c"), ("X", "Y"), (2, 0))]


@pytest.mark.parametrize(
    ("guess", "at", "message"),
    [
        (
            ["天地", "鬼"],
            2,
            "sentence 2: gold and guess have different text from character 1 on: '人' and '鬼'",
        ),
        (["天地"], 2, "1 sentence of guess, but more of gold"),
        (["天地", "人", "鬼"], 3, "2 sentences of gold, but more of guess"),
        (["天鬼", "人"], 1, "sentence 1: gold and guess have different text from character 2 on"),
    ],
)
def test_the_first_difference_is_named(guess: list[str], at: int, message: str) -> None:
    with pytest.raises(TextDifferenceError) as error:
        same_sentences(GOLD, [Layer((text,)) for text in guess])
    assert error.value.at == at
    assert error.value.message.startswith(message)


def cut_at(text: str, cuts: list[int], layer_cuts: list[int], rng: random.Random) -> list[Layer]:
    layers = []
    for a, b in itertools.pairwise([0, *layer_cuts, len(text)]):
        inner = [a, *(c for c in cuts if a < c < b), b]
        words = tuple(text[x:y] for x, y in itertools.pairwise(inner))
        heads = tuple(rng.randrange(len(words) + 1) for _ in words)
        layers.append(
            Layer(
                words, tuple(rng.choice("XY") for _ in words), heads, tuple(rng.choice("ab") for _ in words)
            )
        )
    return layers


def test_random_sentences_keep_every_score() -> None:
    """The rules of CoNLL 2018 know no sentences: cutting them alike changes no figure."""
    rng = random.Random(1)
    for _ in range(300):
        text = "".join(rng.choice("天地人") for _ in range(rng.randrange(2, 9)))

        def some(limit: int, size: int = len(text)) -> list[int]:
            return sorted(rng.sample(range(1, size), rng.randrange(min(limit, size))))

        gold, guess = (cut_at(text, some(6), some(3), rng) for _ in range(2))
        found = evaluate_layers(gold, guess, standard="x")
        spans = []
        for side in (gold, guess):
            words = [word for layer in side for word in layer.words]
            tags = [tag for layer in side for tag in layer.tags or ()]
            ends = list(itertools.accumulate(map(len, words)))
            spans.append({(e - len(w), e, t) for w, e, t in zip(words, ends, tags, strict=True)})
        assert found.word_tag is not None
        assert found.word_tag.correct == len(spans[0] & spans[1])
        assert (found.word_tag.gold, found.word_tag.guess) == (len(spans[0]), len(spans[1]))
        if found.raw_trees is not None:
            expected = raw_tree_score(gold, guess)
            assert (found.raw_trees.uas, found.raw_trees.las) == (expected.uas, expected.las)
