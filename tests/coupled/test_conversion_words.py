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
from duilian.labels.encoding import no_sets
from duilian.labels.units import units_of_layers
from duilian.learning import AdaGrad
from duilian.models import CoupledTagger, GuidedTagger
from duilian.models.coupled.conversion_answers import begin_words, crossed_starts
from duilian.models.roles import Ask
from duilian.standards import Mapping
from duilian.standards.mapping_table import MappingTable
from models.coupled_corpora import CTB, PKU, TRAIN, layers, quick

GIVEN = layers(f"both-{PKU}", PKU)
FREE = "duilian.models.coupled.conversion_answers.crossed_starts"


def cuts_of(length: int) -> Iterator[tuple[int, ...]]:
    """Every way to cut this many units into words, as the ends of the words."""
    for inner in itertools.product((False, True), repeat=max(length - 1, 0)):
        yield (*itertools.compress(range(1, length), inner), *([length] if length else []))


def overlaps_in_part(given: tuple[int, ...], found: tuple[int, ...]) -> bool:
    """Whether two words have units in common, but neither has all of the other's."""
    words = [[set(range(a, b)) for a, b in itertools.pairwise((0, *ends))] for ends in (given, found)]
    return any(a & b and a - b and b - a for a, b in itertools.product(*words))


@pytest.mark.parametrize("length", range(7))
def test_words_cross_exactly_where_they_overlap_in_part(length: int) -> None:
    for given, found in itertools.product(cuts_of(length), repeat=2):
        starts = (np.array([0, *ends][: len(ends)], np.int64) for ends in (given, found))
        crossed = np.flatnonzero(crossed_starts(*starts, length)).tolist()
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
    begins = rng.random(length) < 0.5
    first = np.cumsum([0, *map(len, sets)], dtype=np.int32)
    flat = np.array([label for each in sets for label in sorted(each)], np.int32)
    for given, allowed in ((_native.TagSets(first, flat), sets), (no_sets(), [set[int]()] * length)):
        found = begin_words(given, begins, starts)
        for k, each in enumerate(allowed):
            expected = (each or set(range(labels))) & {0, 2} if begins[k] else each
            assert set(found.tags[found.first[k] : found.first[k + 1]].tolist()) == expected


@pytest.fixture(scope="module")
def hasty() -> CoupledTagger:
    """A tagger that has hardly learned anything, and cuts anywhere."""
    return quick(level="char", learning__iterations=1, start__baseline_iterations=1).fit(
        [side[:25] for side in TRAIN]
    )


def ends_of(tagger: Any, layer: Layer) -> tuple[int, ...]:
    return tuple(np.cumsum(tagger.conversion(PKU, CTB).encodings[0].split(layer.words)[1]).tolist())


def crossing(tagger: Any, found: list[Layer]) -> list[int]:
    pairs = zip(GIVEN, found, strict=True)
    return [k for k, pair in enumerate(pairs) if overlaps_in_part(*(ends_of(tagger, each) for each in pair))]


@pytest.mark.parametrize("mapping", ["tight", "complete"])
def test_no_word_goes_across_a_given_one(
    hasty: CoupledTagger, mapping: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = hasty.conversion(PKU, CTB, mapping=mapping)
    labels = plan.label(units_of_layers(GIVEN, plan.encodings[0]), Ask(marginals=True))
    table = labels.table(len(plan.encodings[1].labels))
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-3)
    assert labels.p is not None
    np.testing.assert_allclose(table[np.arange(len(table)), labels.label], labels.p, atol=1e-6)
    found = hasty.convert(GIVEN, PKU, CTB, mapping=mapping, unknown_tags=True)
    assert crossing(hasty, found) == []
    monkeypatch.setattr(FREE, lambda given, found, length: np.zeros(length, np.bool_))
    free = hasty.convert(GIVEN, PKU, CTB, mapping=mapping, unknown_tags=True)
    changed = crossing(hasty, free)
    assert changed, "there is something to mend"
    assert [k for k, (a, b) in enumerate(zip(free, found, strict=True)) if a != b] == changed
    for each, layer in zip(found, GIVEN, strict=True):
        assert "".join(each.words) == "".join(layer.words)


def test_sentences_are_mended_alike_in_any_batch(hasty: CoupledTagger) -> None:
    plan = hasty.conversion(PKU, CTB)

    def labels(layers: list[Layer], threads: int = 1) -> list[int]:
        return plan.label(units_of_layers(layers, plan.encodings[0]), Ask(), threads).label.tolist()

    assert list(itertools.chain(*(labels([layer]) for layer in GIVEN))) == labels(GIVEN, threads=2)
    assert labels([]) == []


def test_a_mapping_table_is_read_once(hasty: CoupledTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    real = MappingTable.load
    monkeypatch.setattr(MappingTable, "load", lambda name: read.append(name) or real(name))
    plan = hasty.conversion(PKU, CTB, mapping="tight")
    for layer in GIVEN[:5]:
        plan.label(units_of_layers([layer], plan.encodings[0]), Ask())
    assert read == [f"{PKU}-{CTB}.tight"]


@pytest.fixture(scope="module", params=["word", "char"])
def guided(request: pytest.FixtureRequest) -> GuidedTagger:
    tagger = GuidedTagger(CTB, source_standard=PKU, level=request.param, learning=AdaGrad(iterations=4))
    return tagger.fit(TRAIN[0], source=TRAIN[1])


def test_given_tags_guide_better_than_guessed_ones(guided: GuidedTagger) -> None:
    gold = layers(f"both-{CTB}", CTB)
    found = guided.convert(GIVEN, PKU, CTB, mapping="complete", unknown_tags=True)
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
    plan = guided.conversion(PKU, CTB, mapping="complete")
    found = guided.convert(source, PKU, CTB, mapping="complete")
    units = units_of_layers(source, plan.encodings[0])
    tables = np.split(plan.label(units, Ask(marginals=True)).table(0), units.sentence[1:-1])
    free = guided.predict_layers([layer.words for layer in source])
    marginals = guided.marginals([layer.words for layer in source])
    rows = zip(found, tables, free, marginals, strict=True)
    same = [row for row in rows if row[0].words == row[2].words]
    assert len(same) > 0.9 * len(GIVEN), "few words go across given ones"
    for each, table, layer, expected in same:
        assert each.tags == layer.tags
        np.testing.assert_allclose(table, expected)


def test_a_guided_tagger_obeys_a_mapping(guided: GuidedTagger) -> None:
    allows = Mapping.from_table(f"{PKU}-{CTB}.tight")
    found = guided.convert(GIVEN, PKU, CTB, unknown_tags=True)
    known = set(guided.source_.encoding_.tags or ())
    pairs = [
        (str(a), str(b))
        for layer, each in zip(GIVEN, found, strict=True)
        for a, b in zip(layer.tags or (), each.tags or (), strict=False)
        if layer.words == each.words and a in known
    ]
    assert len(pairs) > 100
    assert [pair for pair in pairs if not allows(*pair)] == []


def test_directions() -> None:
    tagger = GuidedTagger(CTB, source_standard=PKU)
    assert tagger.conversions == ((PKU, CTB),)
    assert quick().conversions == ((CTB, PKU), (PKU, CTB))
    with pytest.raises(ConfigError, match="converts from 'pku' to 'ctb' only"):
        tagger.convert(GIVEN, CTB, PKU)
