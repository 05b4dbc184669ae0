"""The training loop: passes over random samples, evaluation after each, the best weights kept, checkpoints.

The order of sentences depends on seed and iteration only, so a run that was stopped and taken up from its
checkpoint ends with the same bytes as one that was never stopped.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import DuilianError, ModelFileError
from duilian.learning.config import LearnConfig
from duilian.modelfile import read_model, write_model

Weights = npt.NDArray[np.float32]
Order = npt.NDArray[np.int64]
Objective = _native.CoupledObjective | _native.TaggingObjective

CALIBRATION_SAMPLE = 1000
CALIBRATION_RATES = (0.025, 0.05, 0.1, 0.2, 0.4)
ADAGRAD_RATE = 0.3


@dataclasses.dataclass(frozen=True)
class IterationReport:
    """What one iteration did."""

    iteration: int
    loss: float  # per sentence
    score: float | None  # on the dev set, of the better of last and mean weights
    is_best: bool
    seconds: float


class Trainer:
    """Weights on their way. Iterate over it to train; `best` has the weights to keep."""

    def __init__(self, objective: Objective, examples: int, config: LearnConfig) -> None:
        self.objective, self.examples, self.config = objective, examples, config
        self.weights: Weights = np.zeros(objective.weights, np.float32)
        self.squares: Weights = np.zeros(
            objective.weights if config.algorithm == "adagrad" else 0, np.float32
        )
        self.total: Weights = np.zeros(objective.weights if config.average else 0, np.float32)
        self.best: Weights = self.weights
        self.best_score = -np.inf
        self.best_iteration = 0
        self.iteration = 0
        self.steps = 0
        self.rate = config.rate

    def run(self, evaluate: Callable[[Weights], float] | None) -> Iterator[IterationReport]:
        """One report per iteration, until patience or iterations are used up."""
        config = self.config
        while self.iteration < config.iterations and self.iteration - self.best_iteration < config.patience:
            start = time.perf_counter()
            if self.rate is None:
                self.rate = ADAGRAD_RATE if config.algorithm == "adagrad" else self._calibrate()
            order = self._order(self.iteration)
            loss = self._pass(order)
            self.iteration += 1
            score, is_best = self._keep_best(evaluate)
            seconds = time.perf_counter() - start
            yield IterationReport(self.iteration, loss / max(len(order), 1), score, is_best, seconds)

    def _order(self, iteration: int) -> Order:
        order = np.random.default_rng([self.config.seed, iteration]).permutation(self.examples)
        return order[: self.config.sample].astype(np.int64)

    def _pass(self, order: Order) -> float:
        config, rate = self.config, self.rate or ADAGRAD_RATE
        try:
            if config.algorithm == "adagrad":
                return self.objective.adagrad_pass(
                    self.weights, self.squares, rate, order, config.batch, config.threads
                )
            loss, self.steps = self._sgd(self.weights, rate, order, self.steps)
            return loss
        except RuntimeError as error:
            raise DuilianError(
                f"training failed in iteration {self.iteration + 1}: {error}", f"the rate was {rate}"
            ) from None

    def _sgd(self, weights: Weights, rate: float, order: Order, steps: int) -> tuple[float, int]:
        config = self.config
        # c2 ‖w‖² on all sentences is λ/2 ‖w‖² on each, with λ = 2 c2 / N
        lambda_ = 2.0 * config.l2 / max(self.examples, 1)
        state = _native.SgdState(steps, 1.0)
        loss = self.objective.sgd_pass(
            weights, state, lambda_, 1.0 / (lambda_ * rate), order, config.batch, config.threads
        )
        weights *= np.float32(state.scale)
        return loss, state.steps

    def _calibrate(self) -> float:
        """The first step that lowers the loss most on a sample, starting from zero weights."""
        order = np.random.default_rng([self.config.seed, 10**6]).permutation(self.examples)
        order = order[:CALIBRATION_SAMPLE].astype(np.int64)
        losses = []
        for rate in CALIBRATION_RATES:
            weights = np.zeros_like(self.weights)
            try:
                self._sgd(weights, rate, order, 0)
                losses.append(self._sgd(weights.copy(), 1e-12, order, 0)[0])
            except RuntimeError:  # the loss left the range of a double
                losses.append(np.inf)
        return CALIBRATION_RATES[int(np.argmin(losses))]

    def _keep_best(self, evaluate: Callable[[Weights], float] | None) -> tuple[float | None, bool]:
        candidates = [self.weights]
        if self.config.average:
            self.total += self.weights
            candidates.append(self.total / np.float32(self.iteration))
        if evaluate is None:
            self.best, self.best_iteration = candidates[-1].copy(), self.iteration
            return None, True
        scores = [evaluate(weights) for weights in candidates]
        score = max(scores)
        is_best = score > self.best_score
        if is_best:
            self.best_score, self.best_iteration = score, self.iteration
            self.best = candidates[int(np.argmax(scores))].copy()
        return score, is_best

    def save(self, path: str | Path, fingerprint: str) -> None:
        """A checkpoint, written under a temporary name and renamed."""
        header = {
            "kind": "checkpoint",
            "fingerprint": fingerprint,
            "iteration": self.iteration,
            "best_iteration": self.best_iteration,
            "best_score": None if np.isinf(self.best_score) else self.best_score,
            "steps": self.steps,
            "rate": self.rate,
        }
        arrays = {"weights": self.weights, "squares": self.squares, "total": self.total, "best": self.best}
        write_model(path, header, arrays)

    def resume(self, path: str | Path, fingerprint: str) -> None:
        """Go on where a checkpoint of the same data and settings left off."""
        header, arrays = read_model(path)
        if header.get("kind") != "checkpoint" or header.get("fingerprint") != fingerprint:
            raise ModelFileError(
                str(path),
                "is not a checkpoint of this run (data or settings differ)",
                hint="delete it, or train without --resume",
            )
        self.iteration, self.best_iteration = int(header["iteration"]), int(header["best_iteration"])
        self.best_score = -np.inf if header["best_score"] is None else float(header["best_score"])
        self.steps, self.rate = int(header["steps"]), header["rate"]
        for name in ("weights", "squares", "total", "best"):
            if arrays[name].shape != getattr(self, name).shape:
                raise ModelFileError(str(path), f"{name} has the wrong size")
            setattr(self, name, np.array(arrays[name]))
