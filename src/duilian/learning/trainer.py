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
from duilian.learning.weight_store import AllWeights, WeightStore, like
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

    def __init__(self, store: WeightStore[Any]) -> None:
        self.score = -np.inf
        self.iteration = 0
        self.kept: Any = None  # as the store has them; None: those of the start
        self._store = store

    @property
    def weights(self) -> Weights:
        """The weights, once training is over."""
        return self._store.weights if self.kept is None else self._store.weights_of(self.kept)


class Trainer:
    """Weights in training: `run` updates them, and `bests` has those to keep.

    With several sides, `bests` has an entry for each, then one for the average; only the last has weights if
    the settings say to keep the average. `draw` chooses the sentences of an iteration; by default they are a
    random sample. `start` has the first weights, or a store for them.
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
        start: Weights | WeightStore[Any] | None = None,
        judge_start: bool = False,
    ) -> None:
        self.rule, self.examples, self.learning = rule, examples, learning
        sample = learning.sample if isinstance(learning.sample, int) else None
        self._draw = draw or (lambda rng: rng.permutation(examples)[:sample].astype(np.int64))
        self.store: WeightStore[Any]
        if start is None or isinstance(start, np.ndarray):
            first = np.zeros(size, np.float32) if start is None else start
            self.store = AllWeights(first, averages=learning.average)
        else:
            self.store = start
        self._judges_start = judge_start and bool(self.weights.any())
        self._keeps_sides = learning.keep == "all"
        self.bests = [Best(self.store) for _ in range(sides + 1 if sides > 1 else 1)]
        self.iteration = 0
        self.history: list[dict[str, Any]] = []  # iterations so far, without times

    @property
    def weights(self) -> Weights:
        """The weights as they are now."""
        return self.store.weights

    @property
    def best(self) -> Weights:
        """The weights with the best average; without a dev set, those of the last iteration."""
        return self.bests[-1].weights

    def weights_of_bests(self) -> list[Weights]:
        """The weights of all bests; one array for those that are the same."""
        made = {id(best.kept): best.weights for best in {id(b.kept): b for b in self.bests}.values()}
        return [made[id(best.kept)] for best in self.bests]

    def final(self, best: Best) -> Weights:
        """The weights of a best, perhaps in place of those in training, which nobody may use any more."""
        return self.weights if best.kept is None else self.store.weights_of(best.kept, is_last=True)

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
        self.store.end_iteration()
        if evaluate is None:
            self.bests[-1].iteration = self.iteration
            if self.iteration == self.learning.iterations:
                self.bests[-1].kept = self.store.keep(self.rule.to_use(self.weights), is_last=True)
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
            kept: Any = None  # one copy, even if several bests share it
            for best, score in zip(self.bests, (*scores.sides, mean)[-len(self.bests) :], strict=True):
                if score > best.score:
                    is_average = best is self.bests[-1]
                    if kept is None and (is_average or self._keeps_sides):
                        kept = self.store.keep(candidate)
                    best.score, best.iteration = score, self.iteration
                    best.kept = kept if is_average or self._keeps_sides else None
                    is_best = is_best or is_average
        mean, scores = max(found, key=lambda pair: pair[0])
        return mean, is_best, scores.details

    def _candidates(self) -> Iterator[Weights]:
        yield self.rule.to_use(self.weights)
        if self.learning.average:
            yield self.store.mean()

    def save(self, path: str | Path, fingerprint: str) -> None:
        """Write a checkpoint under a temporary name, then rename it."""
        kept = {id(best.kept): best.kept for best in self.bests if best.kept is not None}
        number = {key: k for k, key in enumerate(kept)}
        header = {
            "kind": "checkpoint",
            "fingerprint": fingerprint,
            "iteration": self.iteration,
            "bests": [
                {
                    "iteration": best.iteration,
                    "score": None if np.isinf(best.score) else best.score,
                    "weights": number.get(id(best.kept)),
                }
                for best in self.bests
            ],
            "numbers": self.rule.numbers,
            "history": self.history,
        }
        arrays = self.store.state()
        arrays |= {f"rule.{name}": array for name, array in self.rule.arrays.items()}
        for k, each in enumerate(kept.values()):
            arrays |= {f"best.{k}.{name}": array for name, array in self.store.kept_state(each).items()}
        write_model(path, header, arrays)

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
        numbered = {b["weights"] for b in header["bests"]} - {None}
        copies = {k: self.store.kept_from(parts_of(arrays, f"best.{k}.")) for k in numbered}
        scores = [-np.inf if each["score"] is None else float(each["score"]) for each in header["bests"]]
        self.rule.numbers.update(numbers)
        self.rule.replay(self.weights, map(self._order, range(iteration)))
        self.rule.arrays.update(same)
        self.store.take_up(arrays, iteration)
        self.iteration, self.history[:] = iteration, history
        for best, saved, score in zip(self.bests, header["bests"], scores, strict=True):
            best.iteration, best.kept, best.score = saved["iteration"], copies.get(saved["weights"]), score


def parts_of(arrays: Mapping[str, npt.NDArray[Any]], start: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays whose names begin like this, by the rest of their names."""
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
