"""Trees in raw text: the shared task's rules, on cases counted by hand and against a naive count."""

from __future__ import annotations

import itertools
import random

import pytest

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.evaluation import Score, raw_tree_score
from duilian.evaluation.raw_text import RawTreeScore, raw_attachment_counts

GOLD = Layer(("他", "喜欢", "图书馆", "。"), None, (2, 0, 2, 2), ("nsubj", "root", "obj:x", "punct"))


def test_the_same_tree_is_right_and_subtypes_do_not_count() -> None:
    other = Layer(GOLD.words, None, GOLD.heads, ("nsubj:pass", "root", "obj", "punct"))
    found = raw_tree_score([GOLD], [other])
    assert (found.uas.f1, found.las.f1) == (100.0, 100.0)


def test_words_and_heads_must_have_the_same_characters() -> None:
    guess = Layer(
        ("他", "喜欢", "图书", "馆", "。"), None, (2, 0, 4, 2, 3), ("x", "root", "nmod", "obj", "punct")
    )
    found = raw_tree_score([GOLD], [guess])
    # 他 and 喜欢 are attached alike; 图书馆 is not a word of the answer; 。 depends on 图书 instead of 喜欢.
    assert (found.uas.gold, found.uas.guess, found.uas.correct) == (4, 5, 2)
    assert found.las.correct == 1
    assert found.uas.f1 == pytest.approx(200 * 2 / 9)


def test_words_and_tags_count_however_they_are_attached() -> None:
    gold = Layer(("他", "喜欢", "图书馆"), ("r", "v", None), (2, 0, 2))
    guess = Layer(("他", "喜欢", "图书", "馆"), ("r", "n", "n", "n"), (0, 1, 1, 1))
    found = raw_tree_score([gold], [guess])
    assert (found.words.gold, found.words.guess, found.words.correct) == (3, 4, 2)
    assert found.tags.correct == 1


def test_what_gold_does_not_say_counts_on_neither_side() -> None:
    gold = Layer(("他", "喜欢", "图书馆"), None, (2, 0, None), ("nsubj", "root", None))
    cut_alike = Layer(gold.words, None, (2, 0, 2), ("nsubj", "x", "obj"))
    other = Layer(("他", "喜欢", "图书", "馆"), None, (2, 0, 4, 2), ("nsubj", "root", "x", "x"))
    for guess, uas, las in ((cut_alike, (2, 2, 2), (2, 2, 1)), (other, (2, 4, 2), (2, 4, 2))):
        assert raw_attachment_counts([gold], [guess], labelled=False).tolist() == [list(uas)]
        assert raw_attachment_counts([gold], [guess], labelled=True).tolist() == [list(las)]
        found = raw_tree_score([gold], [guess])
        assert found.as_json() == {"uas": Score(*uas).f1, "las": Score(*las).f1}
        assert RawTreeScore(found.uas, None).as_json() == {"uas": Score(*uas).f1}
    assert raw_attachment_counts([], [], labelled=True).shape == (0, 3)


def test_tags_must_be_the_same() -> None:
    gold = Layer(("他", "喜欢", "书"), ("r", "v", "n"), (2, 0, 2))
    assert raw_tree_score([gold], [Layer(gold.words, ("r", "v", "v"), gold.heads)]).tags == Score(3, 3, 2)
    assert raw_tree_score([gold], [Layer(gold.words, None, gold.heads)]).tags == Score(3, 3, 0)


def test_sentences_may_end_elsewhere_and_white_space_does_not_count() -> None:
    gold = [Layer(("a b", "c"), None, (0, 1), ("root", "x")), Layer(("d",), None, (0,), ("root",))]
    guess = [Layer(("ab", "c", "d"), None, (0, 1, 1), ("root", "x", "x"))]
    found = raw_tree_score(gold, guess)
    assert (found.uas.gold, found.uas.guess, found.uas.correct) == (3, 3, 2)


def test_a_text_that_differs_is_refused() -> None:
    with pytest.raises(ConfigError, match="from character 2 on"):
        raw_tree_score([Layer(("天", "地"), None, (0, 1))], [Layer(("天", "人"), None, (0, 1))])


def random_layer(text: str, rng: random.Random) -> Layer:
    cuts = [0, *sorted(rng.sample(range(1, len(text)), rng.randrange(len(text)))), len(text)]
    words = tuple(text[a:b] for a, b in itertools.pairwise(cuts))
    heads = tuple(rng.choice([h for h in range(len(words) + 1) if h != k + 1]) for k in range(len(words)))
    return Layer(words, None, heads, tuple(rng.choice("ab") for _ in words))


def test_random_trees_against_a_naive_count() -> None:
    rng = random.Random(1)
    for _ in range(200):
        text = "".join(rng.choice("天地人") for _ in range(rng.randrange(2, 6)))
        gold, guess = random_layer(text, rng), random_layer(text, rng)

        def arcs(layer: Layer) -> set[tuple[object, ...]]:
            spans = layer.spans()
            return {
                (span, spans[head - 1] if head else None, relation)
                for span, head, relation in zip(spans, layer.heads or (), layer.relations or (), strict=True)
            }

        found = raw_tree_score([gold], [guess])
        assert found.las.correct == len(arcs(gold) & arcs(guess))
        assert found.uas.correct == len({a[:2] for a in arcs(gold)} & {a[:2] for a in arcs(guess)})
