"""Self-training of coupled taggers: what a teacher is sure of, rounds, resuming, refusals."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian.errors import ConfigError, DuilianError, ModelFileError
from duilian.learning import Session
from duilian.models import CoupledTagger
from duilian.models.coupled.config import SelfTraining, Start
from duilian.models.coupled.held_labels import HeldLabels
from models.coupled_corpora import CTB, DEV, FEW, PKU, TINY, quick

LARGER = [FEW[0][:40], FEW[1]]  # pku is the source


def taught(rounds: int = 1, **settings: Any) -> CoupledTagger:
    own = {"rounds": rounds, "iterations": 1, **settings.pop("own", {})}
    return quick(start__self_training=own, **settings)


def state(tagger: CoupledTagger) -> dict[str, bytes]:
    _, arrays = tagger.model_.state()
    return {name: np.ascontiguousarray(array).tobytes() for name, array in arrays.items()}


def test_a_teacher_holds_the_latent_side() -> None:
    """The latent tags of the large corpus get nearer to those of the teacher, which the mapping limits."""
    plain, held = quick(), taught(own={"confidence": 0.5})
    for tagger in (plain, held):
        tagger.fit(LARGER)
    allowed = held.conversion(PKU, CTB, mapping="strict")
    assert allowed.encodings[1].tags == held.encodings_[0].tags
    given = LARGER[1]
    right = held.convert(given, PKU, CTB, mapping="strict")
    agree = [
        sum(
            a == b
            for x, y in zip(right, tagger.predict_layers(given, CTB), strict=True)
            for a, b in zip(x.tags or (), y.tags or (), strict=True)
        )
        for tagger in (plain, held)
    ]
    assert agree[1] > agree[0]
    assert held.score(DEV[0], standard=CTB) > 0.6


@pytest.mark.parametrize("level", ["word", "char"])
def test_words_of_the_small_corpus_may_stay_open(level: str) -> None:
    shares = []
    for known_from in (None, 1):
        stages: list[str] = []
        own = {"known_from": known_from, "confidence": 0.5}
        taught(level=level, own=own).fit(TINY[0], session=Session(on_stage=stages.append))
        shares += [float(each.split()[0]) for each in stages if "labels are sure" in each]
    assert shares[0] > shares[1] > 0


@pytest.mark.parametrize(("level", "rounds"), [("word", 2), ("char", 1)])
def test_threads_and_stages_change_nothing(level: str, rounds: int) -> None:
    corpora = [each[:15] for each in TINY[0]]
    stages: list[str] = []
    session = Session(threads=2, on_stage=stages.append)
    one, two = (taught(rounds, level=level) for _ in range(2))
    one.fit(corpora)
    two.fit(corpora, session=session)
    assert state(one) == state(two)
    teachers = [each for each in stages if each.startswith("teacher")]
    assert teachers == [f"teacher {number + 1} of {rounds}" for number in range(rounds)]
    assert sum("labels are sure" in each for each in stages) == rounds


@pytest.fixture(scope="module")
def whole() -> CoupledTagger:
    """A run that was not stopped."""
    return taught(2).fit(TINY[0], dev=TINY[1])


class StopError(Exception):
    pass


def interrupted(at: str, count: int, path: Path) -> None:
    """Stop a run when a stage or an iteration is reached for the n-th time."""
    seen = []

    def see(what: object) -> None:
        name = what if isinstance(what, str) else f"iteration {what.iteration}"  # type: ignore[attr-defined]
        seen.append(name)
        if sum(each.startswith(at) for each in seen) == count:
            raise StopError

    session = Session(checkpoint=path, on_stage=see, on_iteration=see)
    with pytest.raises(StopError):
        taught(2).fit(TINY[0], dev=TINY[1], session=session)


@pytest.mark.parametrize(
    ("at", "count"),
    [("iteration 1", 1), ("conversion by teacher 1", 1), ("teacher 2", 1), ("iteration 1", 3)],
)
def test_a_run_goes_on_wherever_it_was_stopped(
    whole: CoupledTagger, at: str, count: int, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint"
    interrupted(at, count, path)
    resumed = taught(2).fit(TINY[0], dev=TINY[1], session=Session(checkpoint=path, resume=True))
    assert state(resumed) == state(whole)


def test_labels_of_another_run_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    interrupted("teacher 2", 1, path)
    session = Session(checkpoint=path, resume=True)
    with pytest.raises(ModelFileError, match="belongs to another run"):
        taught(2, own={"confidence": 0.7}).fit(TINY[0], dev=TINY[1], session=session)


def test_nothing_sure_is_told() -> None:
    words = [dataclasses.replace(layer, tags=None) for layer in FEW[1]]
    few = [FEW[0][:3], [*FEW[1][:1], *words[1:5]]]
    with pytest.raises(DuilianError, match="has nothing to learn from") as caught:
        taught(own={"confidence": 1.0, "mapping": "complete"}).fit(few)
    assert "rounds = 0" in caught.value.hint


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rounds": -1}, "rounds"),
        ({"rounds": 99}, "rounds"),
        ({"confidence": 0}, "confidence"),
        ({"mapping": "automatic"}, "a teacher needs a table"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Start(self_training=SelfTraining(**wrong))


def test_labels_lie_on_the_units_of_their_side() -> None:
    held = HeldLabels(1, 1, 3, {0: np.array([4, -1, 2], np.int32)})
    assert held.shares() == {0: pytest.approx(2 / 3)}
    first, nothing, third = held.on_units([2, 3, 1])
    assert first.first.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert first.tags.tolist() == [4, 2]
    assert len(nothing.first) == len(third.first) == 1


def test_a_saved_tagger_knows_how_it_was_taught(tmp_path: Path) -> None:
    """And not where the table of tags was."""
    table = tmp_path / "mine.txt"
    table.write_text("standards: ctb pku\nNN n\nVV v\n", encoding="utf-8")
    tagger = taught(own={"mapping": str(table), "confidence": 0.1}).fit([each[:15] for each in TINY[0]])
    tagger.save(tmp_path / "a.model")
    loaded = CoupledTagger.load(tmp_path / "a.model")
    assert loaded.start.self_training == SelfTraining(
        rounds=1, iterations=1, mapping="mine.txt", confidence=0.1
    )
    assert str(tmp_path) not in repr(loaded.config)
