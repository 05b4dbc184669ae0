"""Learning rules, one class each: a rule runs passes over sentences, which change weights and its own state.

`arrays` and `numbers` are the state: a checkpoint stores them, and a run that is resumed from them continues
as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.learning.config import AdaGrad, ExponentiatedGradient, PassiveAggressive, Perceptron, Sgd

Weights = npt.NDArray[np.float32]
Order = npt.NDArray[np.int64]
Descent = _native.CoupledObjective | _native.TaggingObjective
Objective = Descent | _native.DynamicObjective | _native.MultitaskObjective | _native.PruningObjective

Structure = (
    _native.DynamicTraining | _native.MultitaskTraining | _native.TaggingStructure | _native.TwoChainStructure
)

CALIBRATION_SAMPLE = 1000
CALIBRATION_RATES = (0.025, 0.05, 0.1, 0.2, 0.4)


class Rule(Protocol):
    """A learning rule as the training loop sees it."""

    arrays: dict[str, npt.NDArray[Any]]
    numbers: dict[str, float]

    def run_pass(self, weights: Weights, order: Order) -> float | None:
        """Run one pass in this order, in place; return the summed loss, if the rule knows it."""

    def to_use(self, weights: Weights) -> Weights:
        """The weights to predict with, which may differ from those in training."""
        return weights

    def replay(self, weights: Weights, orders: Iterable[Order]) -> None:
        """Restore state that is in neither `arrays` nor `numbers`, given the passes so far."""
        return None


class AdaGradRule(Rule):
    """The passes of `AdaGrad`."""

    def __init__(self, objective: Objective, settings: AdaGrad, threads: int) -> None:
        self._objective, self._batch, self._threads = objective, settings.batch or 1, threads
        self.arrays: dict[str, npt.NDArray[Any]] = {"squares": np.zeros(objective.weights, np.float32)}
        self.numbers = {"rate": settings.rate}

    def run_pass(self, weights: Weights, order: Order) -> float:
        return self._objective.adagrad_pass(
            weights, self.arrays["squares"], self.numbers["rate"], order, self._batch, self._threads
        )


class TouchedAdaGradRule(Rule):
    """The same passes of a model in which few weights change; the store of the weights has the state."""

    def __init__(
        self,
        objective: _native.CoupledObjective,
        settings: AdaGrad,
        threads: int,
        touched: _native.TouchedWeights,
    ) -> None:
        self._objective, self._batch, self._threads = objective, settings.batch or 1, threads
        self._touched = touched
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.numbers = {"rate": settings.rate}

    def run_pass(self, weights: Weights, order: Order) -> float:
        return self._objective.sparse_adagrad_pass(
            weights, self._touched, self.numbers["rate"], order, self._batch, self._threads
        )


class SgdRule(Rule):
    """The passes of `Sgd`."""

    def __init__(self, objective: Descent, examples: int, settings: Sgd, threads: int) -> None:
        self._objective, self._examples, self._settings = objective, examples, settings
        self._threads = threads
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.numbers = {"rate": settings.rate or 0.0, "steps": 0.0}

    def run_pass(self, weights: Weights, order: Order) -> float:
        if self.numbers["rate"] == 0.0:
            self.numbers["rate"] = self._calibrate(len(weights))
        loss, steps = self._descend(weights, self.numbers["rate"], order, int(self.numbers["steps"]))
        self.numbers["steps"] = steps
        return loss

    def _descend(self, weights: Weights, rate: float, order: Order, steps: int) -> tuple[float, int]:
        # c2 ‖w‖² on all sentences is λ/2 ‖w‖² on each, with λ = 2 c2 / N
        lambda_ = 2.0 * self._settings.l2 / max(self._examples, 1)
        state = _native.SgdState(steps, 1.0)
        loss = self._objective.sgd_pass(
            weights, state, lambda_, 1.0 / (lambda_ * rate), order, self._settings.batch or 1, self._threads
        )
        weights *= np.float32(state.scale)
        return loss, state.steps

    def _calibrate(self, size: int) -> float:
        """The first step that lowers the loss most on a sample, starting from zero weights."""
        order = np.random.default_rng([self._settings.seed, 10**6]).permutation(self._examples)
        order = order[:CALIBRATION_SAMPLE].astype(np.int64)
        losses = []
        for rate in CALIBRATION_RATES:
            weights = np.zeros(size, np.float32)
            try:
                self._descend(weights, rate, order, 0)
                losses.append(self._descend(weights, 1e-12, order, 0)[0])
            except (RuntimeError, ValueError):  # the scores left the range of a double
                losses.append(np.inf)
        return CALIBRATION_RATES[int(np.argmin(losses))]


class ExponentiatedRule(Rule):
    """The passes of `ExponentiatedGradient`: one thread, fully annotated sentences."""

    def __init__(
        self, make: Callable[[float], _native.ExponentiatedGradient], settings: ExponentiatedGradient
    ) -> None:
        self._learner = make(2.0 * settings.l2)  # C/2 ‖w‖² = c2 ‖w‖²
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.numbers: dict[str, float] = {}

    def run_pass(self, weights: Weights, order: Order) -> None:
        """Run one pass in this order; the weights become those of the dual point reached."""
        self._learner.run_pass(order)
        weights[:] = self._learner.weights

    def replay(self, weights: Weights, orders: Iterable[Order]) -> None:
        """Run the passes again: the dual point is too large for a checkpoint."""
        for order in orders:
            self.run_pass(weights, order)


class PerceptronRule(Rule):
    """The passes of `Perceptron`, which predicts with the mean of the weights of all rounds."""

    def __init__(
        self, objective: _native.TreeObjective | _native.JointObjective, settings: Perceptron, threads: int
    ) -> None:
        self._objective, self._batch, self._threads = objective, settings.batch or 1, threads
        self.arrays: dict[str, npt.NDArray[Any]] = {"lag": np.zeros(objective.weights, np.float64)}
        self.numbers: dict[str, float] = {"rounds": 0.0}

    def run_pass(self, weights: Weights, order: Order) -> float:
        """Run one pass in this order, in place; return the number of wrong heads and relations."""
        state = _native.PerceptronState(int(self.numbers["rounds"]))
        loss = self._objective.perceptron_pass(
            weights, self.arrays["lag"], state, order, self._batch, self._threads
        )
        self.numbers["rounds"] = state.rounds
        return loss

    def to_use(self, weights: Weights) -> Weights:
        """The mean of the weights after each round so far."""
        return _native.mean_weights(weights, self.arrays["lag"], int(self.numbers["rounds"]))


class PassiveAggressiveRule(Rule):
    """The passes of `PassiveAggressive`: one sentence at a time."""

    def __init__(self, structure: Structure, settings: PassiveAggressive) -> None:
        self._structure, self._average = structure, settings.average
        self.arrays: dict[str, npt.NDArray[Any]] = {"lag": np.zeros(structure.weights, np.float64)}
        self.numbers = {"rate": settings.aggressiveness, "rounds": 0.0}

    def run_pass(self, weights: Weights, order: Order) -> float:
        state = _native.PerceptronState(int(self.numbers["rounds"]))
        loss = self._structure.passive_aggressive_pass(
            weights, self.arrays["lag"], self.numbers["rate"], state, order
        )
        self.numbers["rounds"] = state.rounds
        return loss

    def to_use(self, weights: Weights) -> Weights:
        """The mean of the weights after each sentence so far."""
        if not self._average:
            return weights
        return _native.mean_weights(weights, self.arrays["lag"], int(self.numbers["rounds"]))
