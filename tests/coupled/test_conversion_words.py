"""Converted words are parts of given words, or join whole ones; and a mapping table is read once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.learning import AdaGrad
from duilian.models import Converted, CoupledTagger, GuidedTagger
from duilian.models.coupled.conversion_answers import begin_words, crossed_ends
from duilian.models.coupled.sides import NO_SETS
from duilian.standards import Mapping
from duilian.standards.mapping_table import MappingTable
from models.coupled_corpora import CTB, PKU, TRAIN, layers, quick

GIVEN = layers(f"both-{PKU}", PKU)
FREE = "duilian.models.coupled.conversion_answers.crossed_ends"


def cuts_of(length: int) -> Iterator[tuple[int, ...]]:
    """Every way to cut so many units into words, by the ends of the words."""
    for inner in itertools.product((False, True), repeat=max(length - 1, 0)):
        yield (*itertools.compress(range(1, length), inner), *([length] if length else []))


def overlaps_in_part(given: tuple[int, ...], found: tuple[int, ...]) -> bool:
    """Whether two words have units in common, but neither has all of the other's."""
    words = [[set(range(a, b)) for a, b in itertools.pairwise((0, *ends))] for ends in (given, found)]
    return any(a & b and a - b and b - a for a, b in itertools.product(*words))


@pytest.mark.parametrize("length", range(7))
def test_words_cross_exactly_where_they_overlap_in_part(length: int) -> None:
    for given, found in itertools.product(cuts_of(length), repeat=2):
        crossed = crossed_ends(given, found)
        assert bool(crossed) == overlaps_in_part(given, found)
        assert set(crossed) <= set(given) - set(found)
        assert not overlaps_in_part(given, tuple(sorted({*found, *crossed})))


@pytest.mark.parametrize("seed", range(30))
def test_labels_that_begin_words(seed: int) -> None:
    rng = np.random.default_rng(seed)
    length, labels = int(rng.integers(1, 7)), 4
    starts = np.array([True, False, True, False])
    sets = [{0, *np.flatnonzero(rng.random(labels) < 0.5).tolist()} for _ in range(length)]
    sets = [each if rng.random() < 0.6 else set() for each in sets]
    units = np.flatnonzero(rng.random(length) < 0.5).tolist()
    first = np.cumsum([0, *map(len, sets)], dtype=np.int32)
    flat = np.array([label for each in sets for label in sorted(each)], np.int32)
    for given, allowed in ((_native.TagSets(first, flat), sets), (NO_SETS, [set[int]()] * length)):
        found = begin_words(given, units, length, starts)
        for k, each in enumerate(allowed):
            expected = (each or set(range(labels))) & {0, 2} if k in units else each
            assert set(found.tags[found.first[k] : found.first[k + 1]].tolist()) == expected


@pytest.fixture(scope="module")
def hasty() -> CoupledTagger:
    """One that has hardly learned, and cuts anywhere."""
    return quick(level="char", learning__iterations=1, start__baseline_iterations=1).fit(
        [side[:25] for side in TRAIN]
    )


def ends_of(tagger: Any, layer: Layer) -> tuple[int, ...]:
    return tuple(np.cumsum(tagger.conversion(PKU, CTB).encodings[0].split(layer.words)[1]).tolist())


def crossing(tagger: Any, found: list[Converted]) -> list[int]:
    return [k for k, each in enumerate(found) if overlaps_in_part(ends_of(tagger, GIVEN[k]), each.ends)]


@pytest.mark.parametrize("mapping", ["tight", "complete"])
def test_no_word_goes_across_a_given_one(
    hasty: CoupledTagger, mapping: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = hasty.convert(GIVEN, PKU, CTB, mapping=mapping, unknown_tags=True, with_marginals=True)
    assert crossing(hasty, found) == []
    monkeypatch.setattr(FREE, lambda given, found: [])
    free = hasty.convert(GIVEN, PKU, CTB, mapping=mapping, unknown_tags=True)
    changed = crossing(hasty, free)
    assert changed, "there is something to mend"
    assert [k for k, (a, b) in enumerate(zip(free, found, strict=True)) if a.layer != b.layer] == changed
    for each, layer in zip(found, GIVEN, strict=True):
        assert each.marginals is not None
        assert "".join(each.layer.words) == "".join(layer.words)
        np.testing.assert_allclose(each.marginals.sum(axis=1), 1.0, atol=1e-3)


def test_sentences_are_mended_alike_in_any_batch(hasty: CoupledTagger) -> None:
    plan = hasty.conversion(PKU, CTB)
    whole = plan.convert(GIVEN, unknown_tags=True, threads=2)
    assert [plan.convert([layer], unknown_tags=True)[0] for layer in GIVEN] == whole
    assert plan.convert([]) == []


def test_a_mapping_table_is_read_once(hasty: CoupledTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    real = MappingTable.load
    monkeypatch.setattr(MappingTable, "load", lambda name: read.append(name) or real(name))
    plan = hasty.conversion(PKU, CTB, mapping="tight")
    for layer in GIVEN[:5]:
        plan.convert([layer], unknown_tags=True)
    assert read == [f"{PKU}-{CTB}.tight"]


@pytest.fixture(scope="module", params=["word", "char"])
def guided(request: pytest.FixtureRequest) -> GuidedTagger:
    tagger = GuidedTagger(CTB, source_standard=PKU, level=request.param, learning=AdaGrad(iterations=4))
    return tagger.fit(TRAIN[0], source=TRAIN[1])


def test_given_tags_guide_better_than_guessed_ones(guided: GuidedTagger) -> None:
    gold = layers(f"both-{CTB}", CTB)
    found = [each.layer for each in guided.convert(GIVEN, PKU, CTB, mapping="complete", unknown_tags=True)]
    guess = guided.predict_layers([layer.words for layer in GIVEN])
    assert right(gold, found) > right(gold, guess)


def right(gold: list[Layer], guess: list[Layer]) -> int:
    pairs = [
        [set(zip(layer.spans(), layer.tags or (), strict=True)) for layer in side] for side in (gold, guess)
    ]
    return sum(len(a & b) for a, b in zip(*pairs, strict=True))


def test_a_guided_tagger_takes_the_given_labels_for_its_guide(guided: GuidedTagger) -> None:
    """Annotation that its source tagger would have given itself changes nothing."""
    source = guided.source_.predict_layers([layer.words for layer in GIVEN])
    found = guided.convert(source, PKU, CTB, mapping="complete", with_marginals=True)
    free = guided.predict_layers([layer.words for layer in source])
    marginals = guided.marginals([layer.words for layer in source])
    pairs = zip(source, found, free, marginals, strict=True)
    same = [(a, b, c, d) for a, b, c, d in pairs if b.layer.words == c.words]
    assert len(same) > 0.9 * len(GIVEN), "few words go across given ones"
    for _, each, layer, table in same:
        assert each.layer.tags == layer.tags
        np.testing.assert_allclose(each.marginals, table)
        assert len(each.confidence) == len(layer)


def test_a_guided_tagger_obeys_a_mapping(guided: GuidedTagger) -> None:
    allows = Mapping.from_table(f"{PKU}-{CTB}.tight")
    found = guided.convert(GIVEN, PKU, CTB, unknown_tags=True)
    known = set(guided.source_.encoding_.tags or ())
    pairs = [
        (str(a), str(b))
        for layer, each in zip(GIVEN, found, strict=True)
        for a, b in zip(layer.tags or (), each.layer.tags or (), strict=False)
        if layer.words == each.layer.words and a in known
    ]
    assert len(pairs) > 100
    assert [pair for pair in pairs if not allows(*pair)] == []


def test_directions() -> None:
    tagger = GuidedTagger(CTB, source_standard=PKU)
    assert tagger.conversions == ((PKU, CTB),)
    assert quick().conversions == ((CTB, PKU), (PKU, CTB))
    with pytest.raises(ConfigError, match="converts from 'pku' to 'ctb' only"):
        tagger.convert(GIVEN, CTB, PKU)
