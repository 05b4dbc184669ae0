"""The training loop: passes over random samples, evaluation after each, the best weights kept, checkpoints.

The order of sentences depends only on seed and iteration, so a run resumed from its checkpoint ends with the
same bytes as one that was never stopped.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian.errors import DuilianError, ModelFileError
from duilian.learning.config import Learning
from duilian.learning.rules import Order, Rule, Weights
from duilian.learning.session import Session
from duilian.modelfile import read_model, write_model

MAX_ITERATIONS = 100_000


@dataclasses.dataclass(frozen=True)
class IterationReport:
    """What one iteration did."""

    iteration: int
    loss: float | None  # per sentence, before its step; None if the rule does not compute it
    score: float | None  # mean over dev sets, with the better of last and mean weights
    is_best: bool
    seconds: float
    details: Mapping[str, float] = dataclasses.field(
        default_factory=dict
    )  # each side's score and more, by name
    most: int = 0  # maximum number of iterations

    def result(self) -> dict[str, Any]:
        """The values that do not depend on the machine."""
        own = {"iteration": self.iteration, "loss": self.loss, "score": self.score}
        return own | {"details": dict(self.details)}


@dataclasses.dataclass(frozen=True)
class Scores:
    """How weights score on a dev set, or on one per side."""

    sides: tuple[float, ...]
    details: Mapping[str, float] = dataclasses.field(default_factory=dict)


Evaluate = Callable[[Weights], Scores | float]
Draw = Callable[[np.random.Generator], Order]


class Best:
    """The weights that did best on one side, or on average."""

    def __init__(self, weights: Weights) -> None:
        self.score = -np.inf
        self.iteration = 0
        self.weights = weights


class Trainer:
    """Weights in training: `run` updates them, and `bests` has those to keep.

    With several sides, `bests` has an entry for each, then one for the average. `draw` chooses the sentences
    of an iteration; by default they are a random sample.
    """

    def __init__(
        self,
        rule: Rule,
        size: int,
        examples: int,
        learning: Learning,
        *,
        sides: int = 1,
        draw: Draw | None = None,
        start: Weights | None = None,
        judge_start: bool = False,
    ) -> None:
        self.rule, self.examples, self.learning = rule, examples, learning
        sample = learning.sample if isinstance(learning.sample, int) else None
        self._draw = draw or (lambda rng: rng.permutation(examples)[:sample].astype(np.int64))
        self.weights: Weights = np.zeros(size, np.float32) if start is None else start
        self._judges_start = judge_start and start is not None and bool(start.any())
        self.total: Weights = np.zeros(size if learning.average else 0, np.float32)
        self._mean: Weights = np.empty_like(self.total)  # reused in all iterations: fresh pages are slow
        self.bests = [Best(self.weights) for _ in range(sides + 1 if sides > 1 else 1)]
        self.iteration = 0
        self.history: list[dict[str, Any]] = []  # iterations so far, without times

    @property
    def best(self) -> Weights:
        """The weights with the best average; without a dev set, those of the last iteration."""
        return self.bests[-1].weights

    @property
    def best_score(self) -> float:
        """The average score of the best weights."""
        return self.bests[-1].score

    def run(self, evaluate: Evaluate | None) -> Iterator[IterationReport]:
        """Yield one report per iteration, until patience or iterations run out.

        With `judge_start` the initial weights are evaluated, too, and may remain the best for a side.
        """
        learning = self.learning
        is_judged = bool(self.history)  # by the run that we resume
        if self.iteration == 0 and self._judges_start and evaluate is not None and not is_judged:
            start = time.perf_counter()
            score, is_best, details = self._judge([self.weights], evaluate)
            seconds = time.perf_counter() - start
            yield IterationReport(0, None, score, is_best, seconds, details, learning.iterations)
        while self.iteration < learning.iterations and self._is_patient():
            start = time.perf_counter()
            order = self._order(self.iteration)
            loss = self._pass(order)
            self.iteration += 1
            score, is_best, details = self._keep_best(evaluate)
            mean = None if loss is None else loss / max(len(order), 1)
            seconds, most = time.perf_counter() - start, learning.iterations
            yield IterationReport(self.iteration, mean, score, is_best, seconds, details, most)

    def run_kept(
        self,
        evaluate: Evaluate | None,
        fingerprint: Callable[[], str],
        session: Session,
    ) -> None:
        """Run all iterations; the session says where to save the state after each, and whether to resume.

        `fingerprint` identifies data and settings, so that no run resumes from another's state.
        """
        checkpoint = session.checkpoint
        mark = fingerprint() if checkpoint else ""
        self.history = session.history
        self.history.clear()
        if checkpoint and session.resume and Path(checkpoint).exists():
            self.resume(checkpoint, mark)
            if session.on_resume:
                most = self.learning.iterations
                session.on_resume(f"resuming after iteration {self.iteration} of {most} from {checkpoint}")
        for report in self.run(evaluate):
            self.history.append(report.result())
            if checkpoint:
                self.save(checkpoint, mark)
            if session.on_iteration:
                session.on_iteration(report)

    def _is_patient(self) -> bool:
        return self.iteration - max(best.iteration for best in self.bests) < self.learning.patience

    def _order(self, iteration: int) -> Order:
        return self._draw(np.random.default_rng([self.learning.seed, iteration]))

    def _pass(self, order: Order) -> float | None:
        try:
            return self.rule.run_pass(self.weights, order)
        except RuntimeError as error:
            where = f"training failed in iteration {self.iteration + 1}"
            rate = self.rule.numbers.get("rate")
            raise DuilianError(f"{where}: {error}", hint=f"the rate was {rate}") from None

    def _keep_best(self, evaluate: Evaluate | None) -> tuple[float | None, bool, Mapping[str, float]]:
        if self.learning.average:
            self.total += self.weights
        if evaluate is None:
            self.bests[-1].weights = self.rule.to_use(self.weights).copy()
            self.bests[-1].iteration = self.iteration
            return None, True, {}
        return self._judge(self._candidates(), evaluate)

    def _judge(
        self, candidates: Iterable[Weights], evaluate: Evaluate
    ) -> tuple[float | None, bool, Mapping[str, float]]:
        """Score weights and keep any that beat the best so far; return the best average and its details."""
        is_best, found = False, []
        for candidate in candidates:
            said = evaluate(candidate)
            scores = said if isinstance(said, Scores) else Scores((said,))
            mean = float(np.mean(scores.sides))
            found.append((mean, scores))
            kept: Weights | None = None  # one copy, even if several bests share it
            for best, score in zip(self.bests, (*scores.sides, mean)[-len(self.bests) :], strict=True):
                if score > best.score:
                    kept = candidate.copy() if kept is None else kept
                    best.score, best.iteration, best.weights = score, self.iteration, kept
                    is_best = is_best or best is self.bests[-1]
        mean, scores = max(found, key=lambda pair: pair[0])
        return mean, is_best, scores.details

    def _candidates(self) -> Iterator[Weights]:
        yield self.rule.to_use(self.weights)
        if self.learning.average:
            yield np.divide(self.total, np.float32(self.iteration), out=self._mean)

    def save(self, path: str | Path, fingerprint: str) -> None:
        """Write a checkpoint under a temporary name, then rename it."""
        kept = {id(best.weights): best.weights for best in self.bests}
        number = {key: k for k, key in enumerate(kept)}
        header = {
            "kind": "checkpoint",
            "fingerprint": fingerprint,
            "iteration": self.iteration,
            "bests": [
                {
                    "iteration": best.iteration,
                    "score": None if np.isinf(best.score) else best.score,
                    "weights": number[id(best.weights)],
                }
                for best in self.bests
            ],
            "numbers": self.rule.numbers,
            "history": self.history,
        }
        rule = {f"rule.{name}": array for name, array in self.rule.arrays.items()}
        bests = {f"best.{k}": weights for k, weights in enumerate(kept.values())}
        write_model(path, header, {"weights": self.weights, "total": self.total, **bests, **rule})

    def resume(self, path: str | Path, fingerprint: str) -> None:
        """Continue from a checkpoint of a run with the same data and settings."""
        header, arrays = read_model(path)
        hint = "delete it, or train without --resume"
        if header.get("kind") != "checkpoint":
            raise ModelFileError(str(path), "this is not a checkpoint", hint)
        if header.get("fingerprint") != fingerprint:
            message = "this is the checkpoint of another run (data or settings differ)"
            raise ModelFileError(str(path), message, hint)
        try:
            self._take_up(header, arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(str(path), f"the checkpoint is inconsistent ({error})") from None

    def _take_up(self, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore the state in a checkpoint; learners write to its arrays, so types and sizes are checked."""
        iteration, numbers, history = header["iteration"], header["numbers"], header.get("history", [])
        if type(iteration) is not int or not 0 <= iteration <= MAX_ITERATIONS:
            raise ValueError(f"the iteration must be from 0 to {MAX_ITERATIONS:,}, got {iteration!r:.50}")
        if not isinstance(history, list) or len(header["bests"]) != len(self.bests):
            raise ValueError("the run had other sides")
        for best in header["bests"]:
            if type(best["iteration"]) is not int or not 0 <= best["iteration"] <= iteration:
                raise ValueError("the best iteration is not one of those so far")
        if numbers.keys() != self.rule.numbers.keys() or not np.isfinite(list(numbers.values())).all():
            raise ValueError("the run had another learning rule")
        same = {name: np.array(like(arrays, f"rule.{name}", own)) for name, own in self.rule.arrays.items()}
        weights, total = (like(arrays, name, getattr(self, name)) for name in ("weights", "total"))
        copies = {
            k: np.array(like(arrays, f"best.{k}", self.weights))
            for k in {b["weights"] for b in header["bests"]}
        }
        scores = [-np.inf if each["score"] is None else float(each["score"]) for each in header["bests"]]
        self.iteration, self.history[:] = iteration, history
        self.rule.numbers.update(numbers)
        self.rule.replay(self.weights, map(self._order, range(iteration)))
        self.weights, self.total = np.array(weights), np.array(total)
        for best, saved, score in zip(self.bests, header["bests"], scores, strict=True):
            best.iteration, best.weights, best.score = saved["iteration"], copies[saved["weights"]], score
        self.rule.arrays.update(same)


def like(arrays: Mapping[str, npt.NDArray[Any]], name: str, own: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of a checkpoint that may replace `own`, since it has the same type and shape."""
    found = arrays[name]
    if found.dtype != own.dtype or found.shape != own.shape:
        raise ValueError(f"{name!r} must be {own.dtype} {own.shape}, got {found.dtype} {found.shape}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError(f"a number in {name!r} is not finite")
    return found
