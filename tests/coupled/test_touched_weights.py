"""Training that keeps sums of changed weights alone gives the same numbers as training with all sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coupled_cases import Pruning, lay_out, random_case, random_weights

from duilian import _native
from duilian.errors import ModelFileError
from duilian.learning import AdaGrad, AdaGradRule, TouchedAdaGradRule, Trainer
from duilian.learning.weight_store import AllWeights, TouchedWeights, small_pages
from duilian.modelfile import read_model, write_model

SETTINGS = AdaGrad(rate=0.3, batch=4, iterations=5)


class Run:
    """A trainer of a random coupled model, with either store."""

    def __init__(self, seed: int, *, touched: bool, threads: int = 1) -> None:
        case = random_case(seed, sides=2 + seed % 2)
        self.layout, self.data = lay_out(case), case.data()
        # The trainer draws few sentences, so that many weights stay as they were.
        few = np.array([0, 2, 1, 0], np.int64)
        start = small_pages(self.layout.weights)
        start[:] = random_weights(seed, self.layout.weights) * (np.arange(self.layout.weights) % 3 > 0)
        objective = _native.CoupledObjective(self.layout, self.data, Pruning(2, 0.95).native, np.inf, True)
        self.used = np.arange(len(self.layout.joint_first) - 1) % 2 == 0
        store: Any = AllWeights(start, averages=True)
        rule: Any = AdaGradRule(objective, SETTINGS, threads)
        if touched:
            store = TouchedWeights(start, self.layout.ranges(self.used.astype(np.uint8)))
            rule = TouchedAdaGradRule(objective, SETTINGS, threads, store.touched)
        self.trainer = Trainer(
            rule,
            len(start),
            len(case.side),
            SETTINGS,
            sides=2,
            draw=lambda rng: rng.permutation(few),
            start=store,
        )
        self.seen: list[tuple[float, ...]] = []

    def wanted(self) -> np.ndarray:
        """Where the weights of used features are."""
        found = np.zeros(self.layout.weights, np.bool_)
        for begin, end in self.layout.ranges(self.used.astype(np.uint8)).reshape(-1, 2):
            found[begin:end] = True
        return found

    def evaluate(self, weights: np.ndarray) -> Any:
        """Scores that rise and fall, and depend on every weight that may be asked for."""
        from duilian.learning import Scores

        used = weights[self.wanted()].astype(np.float64)
        self.seen.append((float(used.sum()), float(np.abs(used).sum())))
        both = np.cos(1000 * used.sum()), np.sin(1000 * used.sum())
        return Scores((float(both[0]), float(both[1])))

    def finish(self) -> None:
        for _ in self.trainer.run(self.evaluate):
            pass


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_both_stores_give_the_same_bits(seed: int, threads: int) -> None:
    plain, sparse = Run(seed, touched=False), Run(seed, touched=True, threads=threads)
    plain.finish()
    sparse.finish()
    assert sparse.seen == plain.seen
    assert 0 < len(sparse.trainer.store.touched) < plain.layout.weights
    for a, b in zip(plain.trainer.bests, sparse.trainer.bests, strict=True):
        assert (a.score, a.iteration) == (b.score, b.iteration)
        np.testing.assert_array_equal(a.weights, b.weights)
    assert plain.trainer.weights.tobytes() == sparse.trainer.weights.tobytes()
    final = sparse.trainer.final(sparse.trainer.bests[-1])
    np.testing.assert_array_equal(final, plain.trainer.best)


def test_a_run_without_dev_sets_ends_with_its_last_weights() -> None:
    plain, sparse = Run(3, touched=False), Run(3, touched=True)
    for run in (plain, sparse):
        assert len(list(run.trainer.run(None))) == SETTINGS.iterations
    np.testing.assert_array_equal(sparse.trainer.best, plain.trainer.best)
    np.testing.assert_array_equal(sparse.trainer.best, sparse.trainer.weights)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_resumes_with_any_number_of_threads(threads: int, tmp_path: Path) -> None:
    whole, begun, resumed = (
        Run(4, touched=True),
        Run(4, touched=True, threads=2),
        Run(4, touched=True, threads=threads),
    )
    whole.finish()
    for report in begun.trainer.run(begun.evaluate):
        if report.iteration == 3:
            break
    begun.trainer.save(tmp_path / "state", "same")
    resumed.trainer.resume(tmp_path / "state", "same")
    resumed.finish()
    assert resumed.seen == whole.seen[6:]
    for a, b in zip(whole.trainer.bests, resumed.trainer.bests, strict=True):
        assert (a.score, a.iteration) == (b.score, b.iteration)
        np.testing.assert_array_equal(a.weights, b.weights)


@pytest.mark.parametrize(
    "name",
    ["touched.size", "touched.weight", "touched.value", "touched.total", "best.0.weight", "best.0.about"],
)
@pytest.mark.parametrize("change", ["shorter", "larger", "type", "gone", "twice"])
def test_a_hostile_checkpoint_is_refused(name: str, change: str, tmp_path: Path) -> None:
    run, path = Run(5, touched=True), tmp_path / "state"
    run.finish()
    run.trainer.save(path, "same")
    header, arrays = read_model(path)
    array = arrays.pop(name).copy()
    if change == "shorter":
        arrays[name] = array[:-1].copy()
    elif change == "type":
        arrays[name] = array.astype(np.float64)
    elif change == "larger":
        array[0] = np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max
        arrays[name] = array
    elif change == "twice" and name == "touched.weight":
        array[0] = array[1]
        arrays[name] = array
    elif change == "twice":
        arrays[name] = np.concatenate([array, array])
    write_model(path, header, arrays)
    fresh = Run(5, touched=True)
    if name == "best.0.weight" and change == "larger":  # found when the weights are asked for
        fresh.trainer.resume(path, "same")
        with pytest.raises(ValueError, match="another model"):
            _ = [best.weights for best in fresh.trainer.bests]
        return
    with pytest.raises(ModelFileError, match="inconsistent"):
        fresh.trainer.resume(path, "same")
