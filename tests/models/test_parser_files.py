"""Files of parsers: the same answers, smaller ones, hostile ones refused."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from duilian import _native
from duilian.errors import ConfigError, ModelFileError
from duilian.learning import AdaGrad
from duilian.modelfile import read_model, write_model
from duilian.models import Parser, Tagger, load
from duilian.models.parser.storage import StoredWeights
from models.small_parsers import DEV, TRAIN


@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "int4"])
def test_a_saved_parser_answers_the_same(parsers: dict[int, Parser], precision: str, tmp_path: Path) -> None:
    path = tmp_path / "a.duilian"
    parsers[2].save(path, precision=precision, notes={"why": "test"})  # type: ignore[arg-type]
    loaded = Parser.load(path)
    assert loaded.get_params() == parsers[2].get_params()
    assert loaded.notes_ == {"why": "test"}
    if precision == "float32":
        assert loaded.predict_layers(DEV) == parsers[2].predict_layers(DEV)
    assert loaded.score(DEV) == pytest.approx(parsers[2].score(DEV), abs=0.05)


def test_weights_of_8_bits_stay_bytes_and_answer_as_floats_do(parsers: dict[int, Parser]) -> None:
    header, arrays = parsers[2].state("int8")
    arrays["tree.weight"] = np.minimum(arrays["tree.weight"], 254)  # room in the codebook for 0
    coded = Parser.from_state(header, arrays)
    assert isinstance(coded.model_.search_weights, _native.CodedWeights)
    weights = coded.model_.dense_weights()
    is_used = np.unpackbits(arrays["tree.used"], count=len(weights)).view(np.bool_)
    assert (weights[is_used] == arrays["tree.code"][arrays["tree.weight"]]).all()
    assert not weights[~is_used].any()
    packer, pruning = coded.predictor_.packer, coded.model_.pruning
    assert coded.predict_layers(DEV) == packer.parse_layers(weights, pruning, DEV)
    again = pickle.loads(pickle.dumps(coded))
    assert again.predict_layers(DEV) == coded.predict_layers(DEV)


def test_trimming_makes_it_smaller(parsers: dict[int, Parser]) -> None:
    parser = Parser.from_state(*parsers[2].state())
    before = np.count_nonzero(parser.model_.weights)
    assert np.count_nonzero(parser.trim(0.3).model_.weights) < before
    assert parser.score(DEV) > 0.8


def test_it_can_be_pickled(parsers: dict[int, Parser]) -> None:
    again = pickle.loads(pickle.dumps(parsers[1]))
    assert again.predict_layers(DEV) == parsers[1].predict_layers(DEV)
    assert pickle.loads(pickle.dumps(Parser("ctb", order=3))).order == 3


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("tree.used", lambda a: a[:-1]),
        ("tree.weight", lambda a: a[:-1]),
        ("pruning.used", lambda a: a.astype(np.int8)),
        ("tag_class", lambda a: a + 9),
    ],
)
def test_hostile_files_are_refused(parsers: dict[int, Parser], key: str, change, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.duilian"
    parsers[1].save(path)
    header, arrays = read_model(path)
    arrays = dict(arrays) | {key: change(arrays[key])}
    write_model(path, header, arrays)
    with pytest.raises(ModelFileError, match="do not fit together"):
        Parser.load(path)


@pytest.mark.parametrize(
    "change", [{"order": 4}, {"trees": {"bits": 40}}, {"relations": {"bits": 2}}, {"pruning": {"bits": 99}}]
)
def test_impossible_settings_of_a_file(
    parsers: dict[int, Parser], change: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / "a.duilian"
    parsers[1].save(path)
    header, arrays = read_model(path)
    write_model(path, {**header, "config": header["config"] | change}, arrays)
    with pytest.raises(ModelFileError, match="do not fit together"):
        Parser.load(path)


def test_a_file_with_other_features_is_refused(parsers: dict[int, Parser], tmp_path: Path) -> None:
    path = tmp_path / "a.duilian"
    parsers[1].save(path)
    header, arrays = read_model(path)
    write_model(path, header | {"features": 1}, dict(arrays))
    with pytest.raises(ModelFileError, match="train it again"):
        Parser.load(path)


def test_a_parser_is_no_tagger(parsers: dict[int, Parser], tmp_path: Path) -> None:
    path = tmp_path / "a.duilian"
    parsers[1].save(path)
    with pytest.raises(ModelFileError, match="kind 'parser', not a tagger"):
        load(path)
    Tagger("ctb", learning=AdaGrad(iterations=1)).fit(TRAIN).save(path)
    with pytest.raises(ModelFileError, match="kind 'crf', not 'parser'"):
        Parser.load(path)


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_tables_are_made_when_first_needed_by_any_thread(parsers: dict[int, Parser], precision: str) -> None:
    header, arrays = parsers[2].state(precision)  # type: ignore[arg-type]
    shared, alone = Parser.from_state(header, arrays), Parser.from_state(header, arrays)
    assert isinstance(shared.model_.weights, StoredWeights)
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: shared.model_.search_weights, range(16)))
    assert all(each is made[0] for each in made)
    assert shared.predict_layers(DEV) == alone.predict_layers(DEV)


def test_weights_of_one_byte_that_do_not_fit_are_refused_at_once(parsers: dict[int, Parser]) -> None:
    header, arrays = parsers[2].state("int4")
    used, weight = arrays["tree.used"], arrays["tree.weight"]
    for changed in (
        {"tree.used": used[:-1]},
        {"tree.used": used ^ np.uint8(1)},
        {"tree.used": used.astype(np.uint16)},
        {"tree.weight": weight[:-1]},
        {"tree.weight": weight.astype(np.int8)},
        {"tree.code": arrays["tree.code"][:-1]},
        {"tree.code": np.full(256, np.nan, np.float32)},
    ):
        with pytest.raises((ValueError, ConfigError)):
            Parser.from_state(header, arrays | changed)


def test_weights_of_one_byte_become_floats_at_their_places() -> None:
    random = np.random.default_rng(1)
    code = random.normal(size=256).astype(np.float32)
    for size in (0, 1, 7, 8, 9, 300):
        is_used = random.random(size) < 0.6
        places = random.integers(0, 256, int(is_used.sum())).astype(np.uint8)
        wanted = np.zeros(size, np.float32)
        wanted[is_used] = code[places]
        used = np.packbits(is_used)
        assert np.array_equal(_native.CodedWeights.spread(used, places, code, size), wanted)
        for bad in ((used, np.append(places, places.dtype.type(0)), code), (used, places, code[1:])):
            with pytest.raises(ValueError, match="do not match"):
                _native.CodedWeights.spread(*bad, size)
