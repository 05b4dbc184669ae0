"""A linear-chain CRF over feature dicts, with the manners of `sklearn_crfsuite.CRF`.

For programs that make their own features: a unit is a dict of features or a list of attributes, and a feature
may have a strength. The model is that of `Tagger`, and so is the learner; `docs/sklearn.md` says what the
parameters of CRFsuite mean here.
"""

from __future__ import annotations

import dataclasses
import importlib
import logging
import math
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError, ModelFileError
from duilian.evaluation import accuracy
from duilian.lattice import Chain, Lattice, Succession
from duilian.learning import IterationReport, LearnConfig, Trainer
from duilian.modelfile import read_model, write_model

Unit = Mapping[Any, Any] | Iterable[Any]
UnitSentences = Iterable[Iterable[Unit]]
LabelSentences = Iterable[Sequence[str | None]]
Floats = npt.NDArray[np.float32]

KIND = "crf-attributes"
SEPARATOR = ":"
NEVER = 2**62  # as `full_from`: no attribute is seen so often
NO_SETS = _native.TagSets(np.array([0], np.int32), np.array([], np.int32))
# CRFsuite's names and ours → our learner. SGD minimises what lbfgs and l2sgd minimise, penalty c2 included.
LEARNERS = {
    "lbfgs": "sgd",
    "l2sgd": "sgd",
    "sgd": "sgd",
    "ap": "adagrad",
    "pa": "adagrad",
    "arow": "adagrad",
    "adagrad": "adagrad",
}
DEFAULT_ITERATIONS = {"sgd": 50, "adagrad": 20}
DEFAULT_C2 = 1.0  # CRFsuite's
# Settings of CRFsuite's own optimisers, and of its files: nothing here answers to them.
IGNORED = (
    "num_memories epsilon period delta linesearch max_linesearch calibration_eta calibration_rate "
    "calibration_samples calibration_candidates calibration_max_trials pa_type c error_sensitive averaging "
    "variance gamma trainer_cls"
).split()

logger = logging.getLogger(__name__)


class NotFittedError(ConfigError, AttributeError):
    """A question to a CRF that has not learned yet; an AttributeError too, as scikit-learn wants it."""


def attributes(unit: Unit) -> Iterator[tuple[str, float]]:
    """The attributes of a unit and their strengths, named as python-crfsuite names them.

    `{"w": "东"}` gives `w:东`, a bool or a number is the strength of its name, and what is nested has the
    outer name before it. In anything but a dict every member is an attribute.
    """
    if not isinstance(unit, Mapping):
        if isinstance(unit, str | bytes) or not isinstance(unit, Iterable):
            raise ConfigError(f"a unit must be a dict or a list of attributes, got {unit!r:.80}")
        yield from ((_text(name), 1.0) for name in unit)
        return
    for key, value in unit.items():
        name = _text(key)
        if isinstance(value, str | bytes):
            yield name + SEPARATOR + _text(value), 1.0
        elif isinstance(value, Mapping | list | tuple | set | frozenset):
            yield from ((name + SEPARATOR + inner, strength) for inner, strength in attributes(value))
        else:
            yield name, _strength(name, value)


def _text(name: object) -> str:
    if isinstance(name, str):
        return name
    if isinstance(name, bytes):
        return name.decode("utf-8")
    raise ConfigError(f"the name of an attribute must be a string, got {name!r:.80}")


def _strength(name: str, value: Any) -> float:
    try:
        strength = float(value)
    except (TypeError, ValueError):
        strength = math.nan
    if not math.isfinite(strength):
        raise ConfigError(f"the feature {name!r} must be a string or a finite number, got {value!r:.80}")
    return strength


@dataclasses.dataclass(frozen=True)
class Units:
    """Units of some sentences as rows of the weights. What has no row is left out, and so is strength 0."""

    sentence: npt.NDArray[np.int64]  # [sentences + 1]  in units
    first: npt.NDArray[np.int64]  # [units + 1]
    row: npt.NDArray[np.uint32]  # [attributes]
    strength: Floats  # [attributes]

    @classmethod
    def of(cls, sentences: UnitSentences, find: Callable[[str], int | None]) -> Units:
        """`find` gives the row of an attribute, or None."""
        sentence, first, row, strength = array("q", [0]), array("q", [0]), array("I"), array("f")
        for number, units in enumerate(sentences, 1):
            for position, unit in enumerate(units, 1):
                found: dict[int, float] = {}
                try:
                    for name, value in attributes(unit):
                        if value and (at := find(name)) is not None:
                            found[at] = found.get(at, 0.0) + value
                except ConfigError as error:
                    raise ConfigError(f"sentence {number}, unit {position}: {error.message}") from None
                row.extend(found)
                strength.extend(found.values())
                first.append(len(row))
            sentence.append(len(first) - 1)
        return cls(
            np.array(sentence, np.int64),
            np.array(first, np.int64),
            np.array(row, np.uint32),
            np.array(strength, np.float32),
        )

    def keep(self, kept: npt.NDArray[np.bool_]) -> Units:
        """The same without some rows, the others numbered anew."""
        stays = kept[self.row]
        first = np.concatenate(([0], np.cumsum(stays)))[self.first]
        number = (np.cumsum(kept) - 1).astype(np.uint32)
        return Units(self.sentence, first, number[self.row[stays]], self.strength[stays])

    def native(self) -> _native.FeatureRows:
        is_plain = bool((self.strength == 1.0).all())
        return _native.FeatureRows(self.first, self.row, self.strength[:0] if is_plain else self.strength)


class _Numbering(dict[str, int]):
    """Gives every new attribute the next number."""

    def __missing__(self, name: str) -> int:
        self[name] = number = len(self)
        return number


@dataclasses.dataclass(frozen=True)
class Learned:
    """What a CRF knows: transitions [L + 1, L + 1] (start and stop last), then the weights of each attribute.

    Attribute r has the weights `state[first[r] : first[r + 1]]`, each for a label. Arrays and plain values
    only, so that it can be pickled; the rest is made again when asked for.
    """

    classes: list[str]
    attributes: list[str]
    first: npt.NDArray[np.int64]  # [attributes + 1]
    label: npt.NDArray[np.uint16]  # [state weights]
    weights: Floats  # [(L + 1)² + state weights]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @cached_property
    def row(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.attributes)}

    @cached_property
    def transition(self) -> Floats:
        edge = len(self.classes) + 1
        return self.weights[: edge * edge].reshape(edge, edge)

    @cached_property
    def state(self) -> Floats:
        return self.weights[(len(self.classes) + 1) ** 2 :]

    @cached_property
    def layout(self) -> _native.TaggerLayout:
        """The native layout again: that of a corpus with one unit per label, which has the label's attributes."""
        labels = len(self.classes)
        owner = np.repeat(np.arange(len(self.attributes)), np.diff(self.first)).astype(np.uint32)
        first = np.concatenate(([0], np.cumsum(np.bincount(self.label, minlength=labels))))
        rows = _native.FeatureRows(
            first, owner[np.argsort(self.label, kind="stable")], np.array([], np.float32)
        )
        every = np.arange(labels, dtype=np.int32)
        data = _native.TaggingData(rows, np.array([0, labels], np.int64), every, NO_SETS)
        rules = Succession.free(labels).native()
        return _native.lay_out_tagger(labels, rules, len(self.attributes), data, NEVER)

    def tag(self, units: Units, threads: int) -> list[list[str]]:
        """The best labels of each sentence."""
        found = _native.tag_units(self.layout, self.weights, units.native(), units.sentence, threads)
        names, at = [self.classes[k] for k in found.tolist()], units.sentence.tolist()
        return [names[begin:end] for begin, end in zip(at, at[1:], strict=False)]

    def state_scores(self, units: Units) -> npt.NDArray[np.float64]:
        """[units, L] without start and stop."""
        sizes = np.diff(self.first)[units.row]
        begin = np.repeat(self.first[units.row] - np.cumsum(sizes) + sizes, sizes)
        entry = begin + np.arange(int(sizes.sum()))
        unit = np.repeat(np.arange(len(units.first) - 1), np.diff(units.first))
        cell = np.repeat(unit, sizes) * len(self.classes) + self.label[entry]
        worth = self.state[entry].astype(np.float64) * np.repeat(units.strength, sizes)
        shape = (len(units.first) - 1, len(self.classes))
        return np.bincount(cell, worth, minlength=shape[0] * shape[1]).reshape(shape)

    def marginals(self, units: Units) -> list[npt.NDArray[np.float64]]:
        """For each sentence [T, L]."""
        scores = np.split(self.state_scores(units), units.sentence[1:-1])
        return [self._sentence_marginals(score) if len(score) else score for score in scores]

    def _sentence_marginals(self, score: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        score[0] += self.transition[-1, :-1]
        score[-1] += self.transition[:-1, -1]
        lattice = Lattice.complete(len(score), [len(self.classes)])
        chain = Chain(lattice, score.reshape(-1), [self.transition[:-1, :-1]])
        return chain.unit_marginals().reshape(score.shape)


@dataclasses.dataclass(eq=False)
class CRF:
    """`sklearn_crfsuite.CRF` with our learner; see `docs/sklearn.md` for what each parameter does.

    X is a list of sentences, a sentence a list of feature dicts or of lists of attributes; y has the labels,
    None where one is not known.
    """

    algorithm: str | None = None
    min_freq: float | None = None
    all_possible_states: bool | None = None
    all_possible_transitions: bool | None = None
    c1: float | None = None
    c2: float | None = None
    max_iterations: int | None = None
    num_memories: int | None = None
    epsilon: float | None = None
    period: int | None = None
    delta: float | None = None
    linesearch: str | None = None
    max_linesearch: int | None = None
    calibration_eta: float | None = None
    calibration_rate: float | None = None
    calibration_samples: int | None = None
    calibration_candidates: int | None = None
    calibration_max_trials: int | None = None
    pa_type: int | None = None
    c: float | None = None
    error_sensitive: bool | None = None
    averaging: bool | None = None
    variance: float | None = None
    gamma: float | None = None
    verbose: bool = False
    model_filename: str | Path | None = None
    keep_tempfiles: bool = False
    trainer_cls: Any = None
    seed: int = 1
    threads: int = 1

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [field.name for field in dataclasses.fields(cls)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Changes parameters by name."""
        for name, value in params.items():
            if name not in self._parameter_names():
                raise ConfigError(f"a CRF has no parameter {name!r}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"CRF({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        # Not a classifier in scikit-learn's sense: its answers are lists, which no stratified split can sort.
        tags = importlib.import_module("sklearn.utils")
        return tags.Tags(estimator_type=None, target_tags=tags.TargetTags(required=True))

    def _learn_config(self) -> LearnConfig:
        learner = LEARNERS.get(self.algorithm or "lbfgs")
        if learner is None:
            raise ConfigError(f"algorithm must be one of {', '.join(LEARNERS)}, got {self.algorithm!r}")
        return LearnConfig(
            algorithm="sgd" if learner == "sgd" else "adagrad",
            l2=DEFAULT_C2 if self.c2 is None else self.c2,
            iterations=DEFAULT_ITERATIONS[learner] if self.max_iterations is None else self.max_iterations,
            seed=self.seed,
            threads=self.threads,
        )

    def _warn_of_ignored(self) -> None:
        names = [name for name in IGNORED if getattr(self, name) is not None]
        names += ["c1"] if self.c1 else []
        if names:
            # The level of the caller of fit.
            warnings.warn(f"our learner has no {', '.join(names)}: ignored", UserWarning, stacklevel=3)

    def fit(
        self,
        X: UnitSentences,  # noqa: N803  (scikit-learn's name)
        y: LabelSentences,
        X_dev: UnitSentences | None = None,  # noqa: N803
        y_dev: LabelSentences | None = None,
    ) -> Self:
        """Learns. With a dev set the weights of the iteration that does best on it are kept."""
        if (X_dev is None) != (y_dev is None):
            raise ConfigError("X_dev and y_dev go together: give both or neither")
        config = self._learn_config()
        self._warn_of_ignored()
        units, names = self._take_attributes(X)
        gold = [list(labels) for labels in y]
        classes = _classes(gold)
        data = _native.TaggingData(units.native(), units.sentence, _numbers(units, gold, classes), NO_SETS)
        layout = _native.lay_out_tagger(
            len(classes),
            Succession.free(len(classes)).native(),
            len(names),
            data,
            1 if self.all_possible_states else NEVER,
        )
        trainer = Trainer(_native.TaggingObjective(layout, data), len(gold), config)
        learned = Learned(classes, names, layout.first, layout.label, trainer.best)
        evaluate = None if X_dev is None or y_dev is None else _evaluator(learned, X_dev, y_dev, self.threads)
        self.training_log_ = [self._watched(report) for report in trainer.run(evaluate)]
        self.learned_ = dataclasses.replace(learned, weights=trainer.best)
        if self.model_filename is not None:
            self.save(self.model_filename)
        return self

    def _take_attributes(self, X: UnitSentences) -> tuple[Units, list[str]]:  # noqa: N803
        """Units and attributes of a training set, less the attributes that are too rare."""
        number = _Numbering()
        units = Units.of(X, number.__getitem__)
        kept = np.bincount(units.row, minlength=len(number)) >= (self.min_freq or 0)
        if kept.all():
            return units, list(number)
        return units.keep(kept), [name for name, k in number.items() if kept[k]]

    def _watched(self, report: IterationReport) -> IterationReport:
        if self.verbose:
            score = "" if report.score is None else f", dev accuracy {report.score:.2f}"
            logger.info(
                "iteration %d: loss %.4f%s, %.2f s", report.iteration, report.loss, score, report.seconds
            )
        return report

    def _fitted(self) -> Learned:
        learned = self.__dict__.get("learned_")
        if not isinstance(learned, Learned):
            raise NotFittedError(
                "this CRF has not learned anything yet", hint="call fit, or read one with CRF.load"
            )
        return learned

    def predict(self, X: UnitSentences) -> list[list[str]]:  # noqa: N803
        """The labels of each sentence."""
        learned = self._fitted()
        return learned.tag(Units.of(X, learned.row.get), self.threads)

    def predict_single(self, xseq: Iterable[Unit]) -> list[str]:
        """The labels of one sentence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: UnitSentences) -> list[list[dict[str, float]]]:  # noqa: N803
        """For every unit of each sentence the probability of every label."""
        learned = self._fitted()
        found = learned.marginals(Units.of(X, learned.row.get))
        return [
            [dict(zip(learned.classes, unit, strict=True)) for unit in sentence.tolist()]
            for sentence in found
        ]

    def predict_marginals_single(self, xseq: Iterable[Unit]) -> list[dict[str, float]]:
        """The same for one sentence."""
        return self.predict_marginals([xseq])[0]

    def score(self, X: UnitSentences, y: LabelSentences) -> float:  # noqa: N803
        """The share of units, among those with a known label, that get it; from 0 to 1."""
        return accuracy([list(labels) for labels in y], self.predict(X)) / 100.0
