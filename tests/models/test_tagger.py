"""The plain tagger on the demonstration corpora."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import demo
from duilian.corpus import Layer
from duilian.errors import ConfigError, ModelFileError, StandardError
from duilian.learning import AdaGrad, Perceptron, Session
from duilian.learning.config import RULES
from duilian.modelfile import read_model, write_model
from duilian.models import Tagger
from duilian.models.base.feature_settings import Features

CTB = [sentence["ctb"] for sentence in demo.load("ctb", "ctb")]
DEV = [sentence["ctb"] for sentence in demo.load("ctb-dev", "ctb")]
KINDS: dict[str, dict[str, Any]] = {
    "word": {},
    "char": {"level": "char"},
    "segment": {"level": "char", "segment_only": True},
}


@pytest.fixture(scope="module")
def taggers() -> dict[str, Tagger]:
    return {
        name: Tagger("ctb", **kind, learning=AdaGrad(iterations=5)).fit(CTB, dev=DEV)
        for name, kind in KINDS.items()
    }


@pytest.mark.parametrize(("kind", "least"), [("word", 0.85), ("char", 0.6), ("segment", 0.75)])
def test_it_learns(taggers: dict[str, Tagger], kind: str, least: float) -> None:
    tagger = taggers[kind]
    assert tagger.score(DEV) > least
    assert tagger.score(DEV) * 100 == pytest.approx(tagger.best_score_, abs=0.3)
    assert tagger.score(CTB) > 0.95


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_words_spell_the_sentence(taggers: dict[str, Tagger], kind: str) -> None:
    for gold, guess in zip(DEV, taggers[kind].predict_layers(DEV), strict=True):
        assert "".join(guess.words) == "".join(gold.words)
        assert (guess.tags is None) == (kind == "segment")


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "int4"])
def test_a_saved_tagger_answers_the_same(
    taggers: dict[str, Tagger], kind: str, precision: str, tmp_path: Path
) -> None:
    tagger = taggers[kind]
    tagger.save(tmp_path / "a.duilian", precision=precision, notes={"why": "test"})  # type: ignore[arg-type]
    loaded = Tagger.load(tmp_path / "a.duilian")
    assert loaded.get_params() == tagger.get_params()
    assert loaded.notes_ == {"why": "test"}
    if precision == "float32":
        assert loaded.predict_layers(DEV) == tagger.predict_layers(DEV)
    assert loaded.score(DEV) == pytest.approx(tagger.score(DEV), abs=0.02)
    loaded.save(tmp_path / "b.duilian", precision="float32", notes={"why": "test"})
    if precision == "float32":
        assert (tmp_path / "b.duilian").read_bytes() == (tmp_path / "a.duilian").read_bytes()


def test_a_pickled_tagger_answers_the_same(taggers: dict[str, Tagger]) -> None:
    again = pickle.loads(pickle.dumps(taggers["word"]))
    assert again.predict(DEV) == taggers["word"].predict(DEV)
    assert (
        pickle.loads(pickle.dumps(Tagger("x", learning=AdaGrad(seed=7)))).get_params()
        == Tagger("x", learning=AdaGrad(seed=7)).get_params()
    )


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_lines_give_what_layers_give(taggers: dict[str, Tagger], kind: str) -> None:
    tagger = taggers[kind]
    joint = " " if kind == "word" else ""
    text = "".join(joint.join(layer.words) + "\n" for layer in DEV)
    expected = []
    for layer in tagger.predict_layers(DEV):
        tags = layer.tags or ("",) * len(layer)
        expected.append(" ".join(w + (f"_{t}" if t else "") for w, t in zip(layer.words, tags, strict=True)))
    assert tagger.tag_lines(text.encode()).decode().splitlines() == expected
    assert tagger.tag_lines(text.encode(), threads=3).decode().splitlines() == expected


def test_lines_keep_every_character_and_line_break(taggers: dict[str, Tagger]) -> None:
    text = "他来了。\r\n\r\n  我 爱iPhone😀\n\u3000\n他走了。她呢？没有换行"
    for kind in ("char", "segment"):
        out = taggers[kind].tag_lines(text.encode(), between=" ", before_tag="_").decode()
        assert out.count("\n") == text.count("\n")
        assert out.count("\r") == text.count("\r")
        words = [token.split("_")[0] for token in out.split()]
        assert "".join(words) == "".join(text.split())
        assert "我爱" not in "".join(out.split("_"))  # a blank always ends a word
    with pytest.raises(ValueError, match="2: byte 0 is not UTF-8"):
        taggers["char"].tag_lines(b"ok\n\xff\xfe")
    assert taggers["char"].tag_lines(b"") == b""


def test_rows_give_what_layers_give() -> None:
    layers = [
        Layer(each.words, each.tags, columns={"pos": tuple(map(str, each.tags or ()))}) for each in CTB[:60]
    ]
    tagger = Tagger("ctb", features=Features(templates="chunk"), learning=AdaGrad(iterations=2)).fit(
        layers, threads=2
    )
    text = "\n".join(
        "".join(f"{w} x\t{p}\n" for w, p in zip(e.words, e.columns["pos"], strict=True)) for e in layers
    )
    out = tagger.predictor_.tag_rows(text.encode(), ("word", "other", "pos")).decode()
    expected = [tag for layer in tagger.predict_layers(layers) for tag in layer.tags or ()]
    assert [row.split()[-1] for row in out.splitlines() if row] == expected
    assert [row.rpartition(" ")[0] for row in out.splitlines()] == text.splitlines()
    assert tagger.predictor_.tag_rows(b"\r\n\n", ("word", "pos")) == b"\r\n\n"
    with pytest.raises(ValueError, match="2: expected 2 fields, found 1"):
        tagger.predictor_.tag_rows("他 PN\n来\n".encode(), ("word", "pos"))
    with pytest.raises(ConfigError, match="do not suit"):
        tagger.predictor_.tag_rows(b"", ("word",))


def test_marginals_and_k_best_agree(taggers: dict[str, Tagger]) -> None:
    for kind, tagger in taggers.items():
        layer = DEV[0]
        (found,) = tagger.marginals([layer])
        assert found.sum(axis=1) == pytest.approx(np.ones(len(found)))
        answers = tagger.k_best(layer, 8)
        assert [a.probability for a in answers] == sorted((a.probability for a in answers), reverse=True)
        assert sum(a.probability for a in answers) <= 1.0 + 1e-9
        assert answers[0].analysis == tagger.predict_layers([layer])[0], kind
        assert len({(a.analysis.words, a.analysis.tags) for a in answers}) == 8


@pytest.mark.parametrize("algorithm", ["adagrad", "sgd", "eg"])
def test_the_same_bytes_for_any_number_of_threads(algorithm: str, tmp_path: Path) -> None:
    contents = []
    for threads in (1, 2):
        tagger = Tagger("ctb", learning=RULES[algorithm](iterations=2, batch=4))  # type: ignore[arg-type]
        tagger.fit(CTB[:80], dev=DEV[:10], threads=threads).save(tmp_path / "m.duilian")
        contents.append((tmp_path / "m.duilian").read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("algorithm", ["adagrad", "sgd", "eg"])
def test_a_resumed_run_gives_the_same_bytes(algorithm: str, tmp_path: Path) -> None:
    def tagger(iterations: int) -> Tagger:
        return Tagger("ctb", learning=RULES[algorithm](iterations=iterations, sample=50))  # type: ignore[arg-type]

    whole = tagger(5).fit(CTB[:80], dev=DEV)
    checkpoint = tmp_path / "run.checkpoint"
    tagger(2).fit(CTB[:80], dev=DEV, session=Session(checkpoint=checkpoint))
    resume = Session(checkpoint=checkpoint, resume=True)
    resumed = tagger(5).fit(CTB[:80], dev=DEV, session=resume)
    assert [each.tobytes() for each in resumed.state()[1].values()] == [
        each.tobytes() for each in whole.state()[1].values()
    ]
    with pytest.raises(ModelFileError, match="the checkpoint of another run"):
        tagger(5).fit(CTB[:70], dev=DEV, session=resume)
    with pytest.raises(ModelFileError, match="kind 'checkpoint', not 'crf'"):
        Tagger.load(checkpoint)


@pytest.mark.parametrize("algorithm", ["sgd", "eg"])
def test_the_papers_learners_learn_too(algorithm: str) -> None:
    tagger = Tagger("ctb", learning=RULES[algorithm](iterations=8, batch=30 if algorithm == "sgd" else 1))  # type: ignore[arg-type]
    assert tagger.fit(CTB, dev=DEV).score(DEV) > 0.8


def test_partial_annotation_teaches() -> None:
    """Half of the tags taken away or blurred to sets: worse than full annotation, far better than none."""
    rng = np.random.default_rng(1)
    tags = sorted({str(tag) for layer in CTB for tag in layer.tags or ()})

    def blur(layer: Layer) -> Layer:
        known = [str(tag) for tag in layer.tags or ()]
        drawn = rng.random(len(known))
        return Layer(
            layer.words,
            tuple(None if p < 0.4 else frozenset({t, tags[int(p * 30) % len(tags)]}) if p < 0.6 else t
                  for t, p in zip(known, drawn, strict=True)),
        )  # fmt: skip

    for kind in ({}, {"level": "char"}):
        partial = Tagger("ctb", **kind, learning=AdaGrad(iterations=5)).fit([blur(layer) for layer in CTB])
        assert partial.score(DEV) > (0.8 if not kind else 0.5)


def test_trimming_makes_it_smaller(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    tagger = Tagger("ctb", learning=AdaGrad(iterations=5)).fit(CTB)
    sizes, scores = [], []
    for least in (0.0, 0.05, 1e9):
        tagger.trim(least).save(tmp_path / "m.duilian")
        sizes.append((tmp_path / "m.duilian").stat().st_size)
        scores.append(tagger.score(DEV))
    assert sizes[0] > sizes[1] > sizes[2]
    assert scores[1] == pytest.approx(scores[0], abs=0.03)
    assert scores[2] < scores[0]


@pytest.mark.parametrize("length", [1, 10_000])
def test_sentences_of_any_length(taggers: dict[str, Tagger], length: int) -> None:
    for tagger in taggers.values():
        (layer,) = tagger.predict_layers([["好"] * length])
        assert "".join(layer.words) == "好" * length


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: Tagger().fit([]), ConfigError, "no sentence"),
        (lambda: Tagger().fit([Layer(("a",))]), StandardError, "no tags"),
        (lambda: Tagger(level="line").fit(CTB), ConfigError, "level must be"),  # type: ignore[arg-type]
        (lambda: Tagger(segment_only=True).fit(CTB), ConfigError, "segment_only needs level = 'char'"),
        (lambda: Tagger(features=Features(min_count=0)).fit(CTB), ConfigError, "min_count"),
        (lambda: Tagger().set_params(learning__algorithm="lbfgs"), ConfigError, "algorithm must be"),
        (lambda: Tagger(learning=Perceptron()).fit(CTB), ConfigError, "learns by 'adagrad' or 'sgd'"),
        (lambda: Tagger(features=Features(templates="chunk")).fit(CTB), ConfigError, "need the column 'pos'"),
        (lambda: Tagger().set_params(rte=1), ConfigError, "no parameter 'rte'"),
    ],
)
def test_wrong_settings_are_refused(act: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        act()


def test_a_hostile_model_file_is_refused(taggers: dict[str, Tagger], tmp_path: Path) -> None:
    """Whole files with sound checksums whose contents lead outside."""
    path = tmp_path / "m.duilian"
    taggers["word"].save(path)
    header, arrays = read_model(path)
    good = {name: np.array(array) for name, array in arrays.items()}
    bad: list[tuple[dict[str, Any], dict[str, np.ndarray]]] = [
        (header, good | {"first": np.full_like(good["first"], 0x7FFF)}),
        (header, good | {"slots": good["slots"] + 8}),
        (header, good | {"slots": np.array([-1])}),
        (header, good | {"slots": np.array([2**62])}),
        (header, good | {"slots": np.zeros(0, np.int64)}),
        (header, good | {"used": np.full_like(good["used"], 255)}),
        (header, good | {"used": good["used"].astype(np.uint16)}),
        (header, good | {"check": good["check"][1:]}),
        (header, good | {"first": good["first"][1:]}),
        (header, good | {"step": good["step"][1:]}),
        (header, good | {"size": good["size"] + np.uint16(1)}),
        (header, good | {"code": np.zeros(256, np.float32)}),  # but weights of four bytes
        (header, good | {"weight": good["weight"][:-1]}),
        (header, good | {"weight": np.full_like(good["weight"], np.nan)}),
        (header, good | {"transition": good["transition"][:-1]}),
        (header, good | {"first": good["first"] | np.uint16(0x8000)}),
        (header, {name: array for name, array in good.items() if name != "used"}),
        (header | {"tags": ["a"]}, good),
        (header | {"tags": 7}, good),
        (header | {"templates": "w["}, good),
        (header | {"parameters": {"nonsense": 1}}, good),  # as an older version wrote it
        (header | {"config": {"nonsense": 1}}, good),
        (header | {"config": header["config"] | {"level": "line"}}, good),
        (header | {"config": header["config"] | {"features": {"min_count": "2"}}}, good),
        (header | {"config": header["config"] | {"learning": {"algorithm": "magic"}}}, good),
        (header | {"config": 7}, good),
        ({key: value for key, value in header.items() if key != "kind"}, good),
    ]
    for changed_header, changed in bad:
        write_model(path, changed_header, changed)
        with pytest.raises(ModelFileError, match=r"m\.duilian: "):
            Tagger.load(path)
