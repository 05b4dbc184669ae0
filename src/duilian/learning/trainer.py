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

from duilian.errors import DuilianError, ModelFileError
from duilian.learning.config import LearnConfig
from duilian.learning.rules import Order, Rule, Weights
from duilian.modelfile import read_model, write_model


@dataclasses.dataclass(frozen=True)
class IterationReport:
    """What one iteration did."""

    iteration: int
    loss: float | None  # per sentence, before its step; None if the rule does not compute it
    score: float | None  # on the dev set, of the better of last and mean weights
    is_best: bool
    seconds: float


class Trainer:
    """Weights on their way. `run` trains; `best` has the weights to keep."""

    def __init__(self, rule: Rule, size: int, examples: int, config: LearnConfig) -> None:
        self.rule, self.examples, self.config = rule, examples, config
        self.weights: Weights = np.zeros(size, np.float32)
        self.total: Weights = np.zeros(size if config.average else 0, np.float32)
        self.best: Weights = self.weights
        self.best_score = -np.inf
        self.best_iteration = 0
        self.iteration = 0

    def run(self, evaluate: Callable[[Weights], float] | None) -> Iterator[IterationReport]:
        """One report per iteration, until patience or iterations are used up."""
        config = self.config
        while self.iteration < config.iterations and self.iteration - self.best_iteration < config.patience:
            start = time.perf_counter()
            order = self._order(self.iteration)
            loss = self._pass(order)
            self.iteration += 1
            score, is_best = self._keep_best(evaluate)
            mean = None if loss is None else loss / max(len(order), 1)
            yield IterationReport(self.iteration, mean, score, is_best, time.perf_counter() - start)

    def _order(self, iteration: int) -> Order:
        order = np.random.default_rng([self.config.seed, iteration]).permutation(self.examples)
        return order[: self.config.sample].astype(np.int64)

    def _pass(self, order: Order) -> float | None:
        try:
            return self.rule.run_pass(self.weights, order)
        except RuntimeError as error:
            where = f"training failed in iteration {self.iteration + 1}"
            rate = self.rule.numbers.get("rate")
            raise DuilianError(f"{where}: {error}", hint=f"the rate was {rate}") from None

    def _keep_best(self, evaluate: Callable[[Weights], float] | None) -> tuple[float | None, bool]:
        candidates = [self.weights]
        if self.config.average:
            self.total += self.weights
            candidates.append(self.total / np.float32(self.iteration))
        if evaluate is None:
            self.best, self.best_iteration = self.weights.copy(), self.iteration
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
            "numbers": self.rule.numbers,
        }
        rule = {f"rule.{name}": array for name, array in self.rule.arrays.items()}
        write_model(path, header, {"weights": self.weights, "total": self.total, "best": self.best, **rule})

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
        self.rule.numbers.update(header["numbers"])
        self.rule.replay(self.weights, [self._order(k) for k in range(self.iteration)])
        for name in ("weights", "total", "best"):
            setattr(self, name, np.array(arrays[name]))
        for name in self.rule.arrays:
            self.rule.arrays[name] = np.array(arrays[f"rule.{name}"])
