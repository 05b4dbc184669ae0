"""Files of coupled taggers: the same answers, hostile ones refused, smaller ones."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import demo
from duilian.errors import ModelFileError
from duilian.learning import AdaGrad
from duilian.modelfile import read_model, write_model
from duilian.models import CoupledTagger
from models.coupled_corpora import CTB, DEV, FEW, PKU, SOME_DEV, VARIANTS, quick


@pytest.mark.parametrize("kind", sorted(VARIANTS))
@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "int4"])
def test_a_saved_tagger_answers_the_same(
    taggers: dict[str, CoupledTagger], kind: str, precision: Any, tmp_path: Path
) -> None:
    tagger = taggers[kind]
    tagger.save(tmp_path / "a.duilian", precision=precision, notes={"why": "test"})
    loaded = CoupledTagger.load(tmp_path / "a.duilian")
    assert loaded.notes_ == {"why": "test"}
    kept = tagger.config.updated({"features": {"templates": tagger.templates_.name}})
    assert loaded.config == tagger.model_.config == kept
    for standard, dev in zip(demo.STANDARDS, SOME_DEV, strict=True):
        if precision == "float32":
            assert loaded.predict_layers(dev, standard) == tagger.predict_layers(dev, standard)
        score = tagger.score(dev, standard=standard)
        assert loaded.score(dev, standard=standard) == pytest.approx(score, abs=0.03)
    if precision == "float32":
        assert loaded.convert(SOME_DEV[0], CTB, PKU) == tagger.convert(SOME_DEV[0], CTB, PKU)
        loaded.save(tmp_path / "b.duilian", notes={"why": "test"})
        assert (tmp_path / "b.duilian").read_bytes() == (tmp_path / "a.duilian").read_bytes()


def test_transitions_of_earlier_versions_are_read(words: CoupledTagger) -> None:
    header, arrays = words.state()
    kept = {name: array for name, array in arrays.items() if name != "transition.skip"}
    kept["transition.at"] = (np.cumsum(arrays["transition.skip"] + np.int64(1)) - 1).astype(np.uint32)
    found, wanted = CoupledTagger.from_state(header, kept), CoupledTagger.from_state(header, arrays)
    for name, weights in wanted.model_.weights.items():
        assert np.array_equal(found.model_.weights[name].transition, weights.transition)
    assert wanted.predict(DEV[0], CTB) == words.predict(DEV[0], CTB)


def test_int4_drops_transitions_near_0(words: CoupledTagger) -> None:
    (_, exact), (_, coarse) = words.state(), words.state("int4")
    assert 0 < len(coarse["transition.skip"]) < len(exact["transition.skip"])


def test_a_pickled_tagger_answers_the_same(words: CoupledTagger) -> None:
    again = pickle.loads(pickle.dumps(words))
    assert again.predict(DEV[0], CTB) == words.predict(DEV[0], CTB)
    untrained = pickle.loads(pickle.dumps(CoupledTagger(learning=AdaGrad(seed=7))))
    assert untrained.get_params() == CoupledTagger(learning=AdaGrad(seed=7)).get_params()


def test_a_hostile_model_file_is_refused(taggers: dict[str, CoupledTagger], tmp_path: Path) -> None:
    """Whole files with sound checksums whose contents lead outside."""
    path = tmp_path / "m.duilian"
    taggers["word"].save(path)
    header, arrays = read_model(path)
    good = {name: np.array(array) for name, array in arrays.items()}
    bad: list[tuple[dict[str, Any], dict[str, np.ndarray]]] = [
        (header, good | {"table.0.first": np.full_like(good["table.0.first"], 0x7FFF)}),
        (header, good | {"table.0.used": np.zeros_like(good["table.0.used"])}),
        (header, good | {"table.0.check": good["table.0.check"][:-1]}),
        (header, good | {"0.weight": good["0.weight"][:-1]}),
        (header, good | {"transition.skip": good["transition.skip"] + np.uint32(2**31)}),
        (header, good | {"transition.size": np.array([-1])}),
        (header, good | {"transition.size": np.array([2**40])}),
        (header, good | {"transition.size": good["transition.size"] + 1}),
        (header, good | {"0.transition.weight": good["0.transition.weight"][:-1]}),
        (header, good | {"0.transition.weight": np.full_like(good["0.transition.weight"], np.nan)}),
        (header, good | {"mapping.0": good["mapping.0"][:-1]}),
        (header, good | {"bundles.0": good["bundles.0"] + np.int32(100)}),
        (header, good | {"bundles.0": good["bundles.0"][:-1]}),
        (header, {name: array for name, array in good.items() if name != "bundles.0"}),
        (header | {"tags": [["a"], ["b"]]}, good),
        (header | {"tags": header["tags"][:1]}, good),
        (header | {"tags": 7}, good),
        (header | {"tables": []}, good),
        (header | {"tables": [7] * 3}, good),
        (header | {"parts": [[0, 7, 10]]}, good),
        (header | {"parts": []}, good),
        (header | {"mappings": [[0, 0]]}, good),
        (header | {"mappings": [[1, 0]]}, good),
        (header | {"best_for": {"average": 9}}, good),
        (header | {"best_for": {}}, good),
        (header | {"pruned_sides": [0]}, good),
        (header | {"pruned_sides": [7]}, good),
        (header | {"pruned_sides": 7}, good),
        (header | {"config": header["config"] | {"pruning": {"max_candidates": 0}}}, good),
        (header | {"config": header["config"] | {"decoding": "guess"}}, good),
        (header | {"config": header["config"] | {"pruning": {"bundle_gap": -1.0}}}, good),
        (header | {"config": {"nonsense": 1}}, good),
    ]
    for changed_header, changed in bad:
        write_model(path, changed_header, changed)
        with pytest.raises(ModelFileError, match=r"m\.duilian: "):
            CoupledTagger.load(path)


def test_trimming_makes_it_smaller(tmp_path: Path) -> None:
    tagger = quick().fit(FEW)
    sizes, scores = [], []
    for min_weight in (0.0, 0.05, 1e9):
        tagger.trim(min_weight).save(tmp_path / "m.duilian")
        sizes.append((tmp_path / "m.duilian").stat().st_size)
        scores.append(tagger.score(DEV[0], standard=CTB))
    assert sizes[0] > sizes[1] > sizes[2]
    assert scores[1] == pytest.approx(scores[0], abs=0.03)
    assert scores[2] < scores[0]
