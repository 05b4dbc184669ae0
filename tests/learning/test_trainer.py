"""The training loop: the best weights of each side and on average, patience, checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from duilian.errors import DuilianError, ModelFileError
from duilian.learning import IterationReport, Learning, Scores, Trainer
from duilian.learning.session import Session
from duilian.modelfile import read_model, write_model

Weights = npt.NDArray[np.float32]


class Counting:
    """A rule that counts: after pass k every weight is k."""

    def __init__(self) -> None:
        self.arrays: dict[str, Weights] = {"seen": np.zeros(1, np.float32)}
        self.numbers: dict[str, float] = {"rate": 0.5}

    def run_pass(self, weights: Weights, order: npt.NDArray[np.int64]) -> float:
        weights += 1
        self.arrays["seen"] += len(order)
        return float(len(order))

    def to_use(self, weights: Weights) -> Weights:
        return weights

    def replay(self, weights: Weights, orders: Iterable[npt.NDArray[np.int64]]) -> None:
        pass


def trainer(sides: int = 1, **settings: object) -> Trainer:
    config = Learning(**{"average": False, "iterations": 10} | settings)  # type: ignore[arg-type]
    return Trainer(Counting(), 3, 8, config, sides=sides)


def told(*by_iteration: Sequence[float]) -> Callable[[Weights], Scores]:
    """The scores of each iteration's weights."""
    return lambda weights: Scores(tuple(by_iteration[int(weights[0]) - 1]))


def test_each_side_and_the_average_keep_their_best() -> None:
    run = trainer(2, iterations=4)
    reports = list(run.run(told((10, 50), (30, 10), (20, 45), (5, 5))))
    assert [best.score for best in run.bests] == [30, 50, 32.5]
    assert [best.iteration for best in run.bests] == [2, 1, 3]
    assert [best.weights.tolist() for best in run.bests] == [[2.0] * 3, [1.0] * 3, [3.0] * 3]
    assert run.best is run.bests[-1].weights
    assert run.best_score == 32.5
    assert [report.score for report in reports] == [30, 20, 32.5, 5]
    assert [report.is_best for report in reports] == [True, False, True, False]


def test_one_side_has_one_best() -> None:
    run = trainer(iterations=3)
    list(run.run(lambda weights: [1.0, 3.0, 2.0][int(weights[0]) - 1]))
    assert [best.score for best in run.bests] == [3.0]
    assert run.best.tolist() == [2.0] * 3


def test_equal_scores_keep_the_earlier_weights() -> None:
    run = trainer(iterations=3)
    list(run.run(told((1,), (1,), (1,))))
    assert run.bests[0].iteration == 1


def test_patience_counts_from_the_best_of_any_side() -> None:
    """The second side improves in iteration 3 although the average does not."""
    falling = told((90, 1), (50, 1), (10, 2), (0, 0), (0, 0), (99, 99), (0, 0))
    run = trainer(2, patience=2)
    assert [report.iteration for report in run.run(falling)] == [1, 2, 3, 4, 5]
    assert [best.iteration for best in run.bests] == [1, 3, 1]


def test_patience_outlasts_a_pause() -> None:
    run = trainer(patience=3, iterations=9)
    scores = told((5,), (1,), (1,), (6,), (1,), (1,), (1,), (9,), (9,))
    assert [report.iteration for report in run.run(scores)] == [1, 2, 3, 4, 5, 6, 7]


def test_without_dev_sets_the_last_weights_are_kept_and_patience_waits() -> None:
    run = trainer(iterations=5, patience=1)
    reports = list(run.run(None))
    assert len(reports) == 5
    assert run.best.tolist() == [5.0] * 3
    assert reports[0].score is None
    assert reports[0].loss == 1.0


def test_the_mean_of_the_weights_is_tried_too() -> None:
    run = trainer(2, average=True, iterations=3)

    def evaluate(weights: Weights) -> Scores:
        return Scores((float(weights[0]), -float(weights[0])), {"w": float(weights[0])})

    reports: list[IterationReport] = list(run.run(evaluate))
    assert [best.weights[0] for best in run.bests] == [3.0, 1.0, 1.0]  # the mean of 1, 2, 3 is 2
    assert reports[1].details["w"] == 2.0  # equal means: the last weights are reported


@pytest.mark.parametrize("sides", [1, 2, 3])
def test_a_checkpoint_keeps_every_best(sides: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(sides)
    table = rng.integers(0, 100, (6, sides)).tolist()
    path = tmp_path / "run.checkpoint"
    whole = trainer(sides, iterations=6)
    list(whole.run(told(*table)))
    begun = trainer(sides, iterations=3)
    list(begun.run(told(*table)))
    begun.save(path, "same")
    resumed = trainer(sides, iterations=6)
    resumed.resume(path, "same")
    list(resumed.run(told(*table)))
    assert resumed.iteration == whole.iteration
    assert resumed.rule.arrays["seen"] == whole.rule.arrays["seen"]
    for a, b in zip(resumed.bests, whole.bests, strict=True):
        assert (a.score, a.iteration, a.weights.tolist()) == (b.score, b.iteration, b.weights.tolist())
    with pytest.raises(ModelFileError, match="the checkpoint of another run"):
        trainer(sides).resume(path, "other")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: h.update(iteration=10**9), "from 0 to 100,000"),
        (lambda h, a: h.update(iteration=True), "the iteration must be from 0"),
        (lambda h, a: h.update(numbers={"rate": "x"}), "is inconsistent"),
        (lambda h, a: h.update(numbers={"step": 1.0}), "another learning rule"),
        (lambda h, a: h.update(history=3), "other sides"),
        (lambda h, a: h.update(bests=[]), "other sides"),
        (lambda h, a: h["bests"][0].update(iteration=9), "not one of those so far"),
        (lambda h, a: h["bests"][0].update(weights=7), "is inconsistent"),
        (lambda h, a: h["bests"][0].update(score="x"), "is inconsistent"),
        (lambda h, a: a.update(weights=a["weights"][:1]), r"'weights' must be float32 \(3,\)"),
        (lambda h, a: a.update(weights=a["weights"].astype("f8")), "'weights' must be float32"),
        (lambda h, a: a.update(weights=a["weights"] * np.float32("nan")), "not finite"),
        (lambda h, a: a.update({"best.0.all": a["best.0.all"][:0]}), "'all' must be"),
        (lambda h, a: a.update({"rule.seen": np.zeros(9, np.float32)}), "'rule.seen' must be"),
        (lambda h, a: a.pop("total"), "is inconsistent"),
    ],
)
def test_a_hostile_checkpoint_is_refused(
    change: Callable[[dict[str, Any], dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    path, run = tmp_path / "run.checkpoint", trainer(iterations=3)
    list(run.run(told((1,), (2,), (3,))))
    run.save(path, "same")
    header, arrays = read_model(path)
    change(header, arrays)
    write_model(path, header, arrays)
    with pytest.raises(ModelFileError, match=message):
        trainer().resume(path, "same")


def test_a_start_is_judged_once_also_if_the_run_ends_right_after(tmp_path: Path) -> None:
    path, seen = tmp_path / "state", list[int]()

    def stop(report: IterationReport) -> None:
        seen.append(report.iteration)
        if len(seen) == 1:
            raise KeyboardInterrupt

    def run() -> Trainer:
        config = Learning(average=False, iterations=2)
        made = Trainer(Counting(), 3, 8, config, start=np.ones(3, np.float32), judge_start=True)
        session = Session(checkpoint=path, resume=True, on_iteration=stop)
        made.run_kept(lambda weights: float(weights[0]), lambda: "same", session)
        return made

    with pytest.raises(KeyboardInterrupt):
        run()
    resumed = run()
    assert seen == [0, 1, 2]
    assert [each["iteration"] for each in resumed.history] == [0, 1, 2]


def test_a_checkpoint_stores_shared_weights_once(tmp_path: Path) -> None:
    run = trainer(3, iterations=1)
    list(run.run(told((1, 2, 3))))
    run.save(tmp_path / "c", "x")
    header, arrays = read_model(tmp_path / "c")
    assert [best["weights"] for best in header["bests"]] == [0, 0, 0, 0]
    assert [name for name in arrays if name.startswith("best.")] == ["best.0.all"]


def test_sentences_are_drawn_as_asked() -> None:
    orders: list[list[int]] = []

    class Watching(Counting):
        def run_pass(self, weights: Weights, order: npt.NDArray[np.int64]) -> float:
            orders.append(order.tolist())
            return super().run_pass(weights, order)

    config = Learning(iterations=2, average=False)
    draw = lambda rng: rng.permutation(np.array([7, 7, 2]))  # noqa: E731
    list(Trainer(Watching(), 1, 8, config, draw=draw).run(None))
    assert [sorted(order) for order in orders] == [[2, 7, 7]] * 2
    start = np.full(1, 5, np.float32)
    run = Trainer(Counting(), 1, 8, config, start=start)
    list(run.run(None))
    assert run.best.tolist() == [7.0]


def test_a_failing_pass_says_where() -> None:
    class Failing(Counting):
        def run_pass(self, weights: Weights, order: npt.NDArray[np.int64]) -> float:
            raise RuntimeError("the loss is not finite")

    run = Trainer(Failing(), 1, 8, Learning())
    with pytest.raises(DuilianError, match="failed in iteration 1: the loss is not finite"):
        list(run.run(None))
