"""Conversion that keeps to a mapping: a tag of the target stands only for those that it is paired with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import StandardError
from duilian.labels.units import units_of_layers
from duilian.models import CoupledTagger
from duilian.models.coupled.config import CoupledPruning
from duilian.models.coupled.conversion_answers import mapped_sets
from duilian.models.roles import Ask
from duilian.standards import Mapping
from models.coupled_corpora import CTB, DEV, PKU, SMALL, VARIANTS, layers, side, small

TABLE = "standards: any any\nP r\nV v n\nN n\n"
UNPRUNED: dict[str, Any] = {"pruning": CoupledPruning(max_candidates=9, candidate_mass=1.0, bundle_gap=None)}


def tag_of_each_character(layer: Layer) -> list[str]:
    pairs = zip(layer.words, layer.tags or (), strict=True)
    return [str(tag) for word, tag in pairs for _ in word]


@pytest.mark.parametrize("kind", sorted(VARIANTS))
@pytest.mark.parametrize("mapping", ["strict", "tight", "relaxed", None])
def test_every_pair_is_in_the_mapping(
    taggers: dict[str, CoupledTagger], kind: str, mapping: str | None
) -> None:
    allows = Mapping.from_table(f"{PKU}-{CTB}.{mapping or 'strict'}")
    given = layers(f"both-{PKU}", PKU) + DEV[1]
    found = taggers[kind].convert(given, PKU, CTB, mapping=mapping, unknown_tags=True)
    known = set(taggers[kind].encodings_[1].tags or ())
    pairs = {
        (a, b)
        for before, after in zip(given, found, strict=True)
        for a, b in zip(tag_of_each_character(before), tag_of_each_character(after), strict=True)
        if a in known
    }
    assert pairs, "there is something to look at"
    assert [pair for pair in pairs if not allows(*pair)] == []


@pytest.mark.parametrize("kind", ["word", "char"])
def test_a_mapping_that_allows_all_changes_nothing(taggers: dict[str, CoupledTagger], kind: str) -> None:
    tagger = taggers[kind]
    known_ctb, known_pku = (encoding.tags or () for encoding in tagger.encodings_)
    everything = Mapping.complete(known_pku, known_ctb)
    given = layers(f"both-{PKU}", PKU)
    free = tagger.convert(given, PKU, CTB, mapping="complete", unknown_tags=True)
    assert tagger.convert(given, PKU, CTB, mapping=everything, unknown_tags=True) == free
    usual = tagger.convert(given, PKU, CTB, unknown_tags=True)
    assert usual != free, "the shipped table is the default, and says something"


@pytest.mark.parametrize("seed", range(20))
def test_probabilities_are_those_of_the_allowed_tags_alone(seed: int) -> None:
    """A sentence of one word: what the mapping leaves has its old shares of one."""
    tagger = small(**UNPRUNED, learning__seed=seed).fit(SMALL)
    tags_a, tags_b = (encoding.tags or () for encoding in tagger.encodings_)
    rng = np.random.default_rng(seed)
    matrix = rng.random((len(tags_a), len(tags_b))) < 0.5
    matrix[np.arange(len(tags_a)), rng.integers(len(tags_b), size=len(tags_a))] = True
    mapping = Mapping(tags_a, tags_b, matrix)
    for tag in tags_a:
        units = units_of_layers([Layer(("他",), (tag,))], tagger.encodings_[0])
        plans = [tagger.conversion("a", "b", mapping=each) for each in (None, mapping)]
        free, kept = (plan.label(units, Ask(marginals=True)).table(len(tags_b))[0] for plan in plans)
        shares = free * matrix[tags_a.index(tag)]
        np.testing.assert_allclose(kept, shares / shares.sum(), atol=1e-5)


@pytest.mark.parametrize("level", ["word", "char"])
def test_a_table_of_ones_own(tmp_path: Path, level: Any) -> None:
    path = tmp_path / "own.txt"
    path.write_text(TABLE, encoding="utf-8")
    tagger = small(level=level).fit(SMALL)
    given = side("他/P 走/N", "看/V 书/ 人/N|P")
    found = tagger.convert(given, "a", "b", mapping=str(path))
    assert tag_of_each_character(found[0]) == ["r", "n"]
    first, second, third = tag_of_each_character(found[1])
    assert (first in "vn", second in "rvn", third in "rn") == (True, True, True)


def test_an_unknown_tag_leaves_the_other_side_open() -> None:
    tagger = small().fit(SMALL)
    mapping = Mapping.from_pairs([("P", "r"), ("V", "v"), ("N", "n")])
    given = side("他/P 走/ZZ")
    (found,) = tagger.convert(given, "a", "b", mapping=mapping, unknown_tags=True)
    (free,) = tagger.convert(side("他/P 走/"), "a", "b", mapping=mapping)
    assert found == free
    assert (found.tags or ())[0] == "r"


def test_mappings_that_are_not_there_are_named() -> None:
    tagger = small().fit(SMALL)
    given = side("他/P 走/V")
    with pytest.raises(StandardError, match=r"there is no mapping table 'a-b\.tight'"):
        tagger.convert(given, "a", "b", mapping="tight")
    with pytest.raises(StandardError, match="there is no mapping table 'automatic'"):
        tagger.convert(given, "a", "b", mapping="automatic")
    with pytest.raises(
        StandardError, match="the mapping names the tag 'X', which the corpus of 'a' does not have"
    ):
        tagger.convert(given, "a", "b", mapping=Mapping.from_pairs([("X", "n")]))


@pytest.mark.parametrize("seed", range(30))
def test_sets_go_through_a_mapping(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns, units = rng.integers(1, 6), rng.integers(1, 6), rng.integers(0, 8)
    allows = rng.random((rows, columns)) < 0.4
    allows[:, rng.integers(columns)] = True
    given = [np.flatnonzero(rng.random(rows) < 0.4).tolist() for _ in range(units)]
    first = np.cumsum([0, *map(len, given)], dtype=np.int32)
    flat = np.array([label for each in given for label in each], np.int32)
    found = mapped_sets(_native.TagSets(first, flat), allows)
    expected = [sorted({b for a in each for b in range(columns) if allows[a, b]}) for each in given]
    at = found.first.tolist()
    assert [found.tags[at[k] : at[k + 1]].tolist() for k in range(units)] == expected
