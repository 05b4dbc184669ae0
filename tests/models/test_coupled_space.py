"""What a coupled tagger searches: pruning, jack-knifing and mappings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.models import CoupledTagger
from duilian.models.coupled.baselines import BaselineTaggers
from duilian.standards import Mapping
from models.coupled_corpora import CTB, DEV, FEW, PKU, SMALL, TINY, quick, side, small


def test_only_what_the_source_side_does_not_know_itself_prunes_a_mixed_model(
    taggers: dict[str, CoupledTagger],
) -> None:
    # Both corpora have 60 sentences, and the first is taken for the source.
    assert taggers["mixed"].model_.weights["average"].pruned_sides == [1]
    assert taggers["offline"].model_.weights["average"].pruned_sides == [0, 1]
    assert taggers["char"].model_.weights["average"].pruned_sides == []


@pytest.mark.parametrize("kind", ["offline", "mixed"])
def test_keeping_everything_is_the_same_however_it_is_pruned(kind: Any) -> None:
    everything: dict[str, Any] = {
        "pruning__max_candidates": 100,
        "pruning__candidate_mass": 1.0,
        "pruning__folds": 2,
        "start__kind": "cold",
        "learning__iterations": 3,
        "pruning__bundle_gap": None,
    }
    online = small(**everything).fit(SMALL)
    other = small(pruning__kind=kind, **everything).fit(SMALL)
    sentences = [["他", "看", "人"], ["书"], ["新", "书"]]
    for standard in ("a", "b"):
        assert other.predict(sentences, standard) == online.predict(sentences, standard)
        for p, q in zip(
            online.of(standard).marginals(sentences),
            other.of(standard).marginals(sentences),
            strict=True,
        ):
            np.testing.assert_allclose(p, q, atol=1e-6)


def test_jack_knifing_is_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"pruning__kind": "offline", "pruning__folds": 2}
    cache = tmp_path / "cache"
    first = small(**settings).fit(SMALL, cache=cache)
    (kept,) = cache.iterdir()
    small(**settings | {"pruning__folds": 3}).fit(SMALL, cache=cache)
    small(**settings | {"pruning__max_candidates": 1}).fit(SMALL, cache=cache)
    small(**settings).fit([SMALL[0][:3], SMALL[1]], cache=str(cache))
    assert len(list(cache.iterdir())) == 4

    def not_again(*_: object) -> None:
        raise AssertionError("jack-knifed again")

    monkeypatch.setattr(BaselineTaggers, "jackknifed", not_again)
    second = small(**settings).fit(SMALL, cache=cache)
    assert second.state()[1].keys() == first.state()[1].keys()
    for name, array in first.state()[1].items():
        assert array.tobytes() == second.state()[1][name].tobytes(), name
    content = bytearray(kept.read_bytes())
    content[-5] ^= 0xFF
    kept.write_bytes(content)
    with pytest.raises(ModelFileError, match="candidates-"):
        small(**settings).fit(SMALL, cache=cache)


def test_the_disk_never_answers_for_another_corpus(tmp_path: Path) -> None:
    """Two corpora with the same features and labels, which stand in other places."""
    for third in ("他/P 走/V", "书/P 看/V"):
        tagger = small(pruning__kind="offline", pruning__folds=2)
        tagger.fit([side("他/P 走/V", "书/P 看/V", third), SMALL[1]], cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    "mapping",
    ["tight", "relaxed", "automatic", "automatic-intersection", "automatic-first", "automatic-second"],
)
def test_best_paths_obey_the_mapping(mapping: str) -> None:
    tagger = quick(
        mapping=mapping, decoding="path", pruning__max_candidates=30, pruning__candidate_mass=1.0
    ).fit(TINY[0])
    ((_, _, allows),) = tagger.model_.mappings
    assert allows.any()
    assert not allows.all()
    numbers = [encoding.number for encoding in tagger.encodings_]
    found = tagger.analyse(DEV[0][:10])
    pairs = {
        (numbers[0][str(a)], numbers[1][str(b)])
        for each in found
        for a, b in zip(each[CTB].tags or (), each[PKU].tags or (), strict=True)
    }
    assert all(allows[a, b] for a, b in pairs)


def test_automatic_mappings_are_unions_and_intersections() -> None:
    def matrix(mapping: str) -> np.ndarray:
        ((_, _, allows),) = quick(mapping=mapping).fit([each[:30] for each in FEW]).model_.mappings
        return allows

    first, second = matrix("automatic-first"), matrix("automatic-second")
    # Tags without a partner are mapped to everything, so that the laws are inequalities.
    assert (matrix("automatic-intersection") >= first & second).all()
    assert (matrix("automatic") <= first | second).all()
    assert matrix("automatic").sum() < first.size


def test_a_mapping_of_ones_own(tmp_path: Path) -> None:
    pairs = [("P", "r"), ("V", "v"), ("N", "n")]
    tagger = small(
        mapping=Mapping.from_pairs(pairs),
        decoding="path",
        pruning__max_candidates=9,
        pruning__candidate_mass=1.0,
    ).fit(SMALL)
    (found,) = tagger.analyse([["他", "看", "书"]])
    assert set(zip(found["a"].tags or (), found["b"].tags or (), strict=True)) <= set(pairs)
    tagger.save(tmp_path / "m.duilian")
    loaded = CoupledTagger.load(tmp_path / "m.duilian")
    assert loaded.analyse([["他", "看", "书"]]) == [found]
    assert (loaded.model_.mappings[0].allows == tagger.model_.mappings[0].allows).all()
    with pytest.raises(StandardError, match="names the tag 'X', which the corpus of 'a' does not have"):
        small(mapping=Mapping.from_pairs([*pairs, ("X", "n")])).fit(SMALL)
    with pytest.raises(StandardError, match="names the tag 'x', which the corpus of 'b' does not have"):
        small(mapping=Mapping.from_pairs([*pairs, ("P", "x")])).fit(SMALL)
    with pytest.raises(StandardError, match="no mapping table 'nonsense'"):
        small(mapping="nonsense").fit(SMALL)
    with pytest.raises(ConfigError, match="no mapping 'automatic-third'"):
        small(mapping="automatic-third").fit(SMALL)
