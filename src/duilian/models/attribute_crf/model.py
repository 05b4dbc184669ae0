"""A linear-chain CRF over feature dicts: a stand-in for `sklearn_crfsuite.CRF`.

For programs that make their own features: a unit is a dict of features or a list of attributes, and a feature
may have a strength. Model and learner are those of `Tagger`; `docs/howto/scikit-learn.md` says what the
parameters of CRFsuite mean here.
"""

from __future__ import annotations

import dataclasses
import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.arguments import checked
from duilian.errors import ConfigError, ModelFileError, NotFittedError
from duilian.evaluation import accuracy
from duilian.labels.encoding import no_sets
from duilian.lattice import Succession
from duilian.learning import AdaGrad, IterationReport, Sgd, Trainer
from duilian.modelfile import read_model, write_model
from duilian.models.attribute_crf.attributes import (
    NEVER,
    Floats,
    Learned,
    Numbering,
    Unit,
    Units,
    UnitSentences,
)
from duilian.models.base.estimator import Parameters
from duilian.wording import counted

LabelSentences = Iterable[Sequence[str | None]]

KIND = "crf-attributes"
Learner = type[Sgd] | type[AdaGrad]
# CRFsuite's names and ours → our learner. SGD minimises what lbfgs and l2sgd minimise, penalty c2 included.
LEARNERS: dict[str, Learner] = {
    **dict.fromkeys(("lbfgs", "l2sgd", "sgd"), Sgd),
    **dict.fromkeys(("ap", "pa", "arow", "adagrad"), AdaGrad),
}
DEFAULT_ITERATIONS: dict[Learner, int] = {Sgd: 50, AdaGrad: 20}
DEFAULT_C2 = 1.0  # CRFsuite's
# Settings of CRFsuite's own optimisers and files: they have no effect here.
IGNORED = (
    *("num_memories", "epsilon", "period", "delta", "linesearch", "max_linesearch", "pa_type", "c"),
    *("calibration_eta", "calibration_rate", "calibration_samples", "calibration_candidates"),
    *("calibration_max_trials", "error_sensitive", "averaging", "variance", "gamma", "trainer_cls"),
)
# A model file keeps all parameters except these, which belong to the program that trained it.
NOT_SAVED = ("verbose", "model_filename", "keep_tempfiles", "trainer_cls")

logger = logging.getLogger(__name__)


@dataclasses.dataclass(eq=False, repr=False)
class CRF(Parameters[Any]):
    """`sklearn_crfsuite.CRF` with our learner; see `docs/howto/scikit-learn.md` for what each parameter does.

    X is a list of sentences, each a list of feature dicts or of lists of attributes; y has the labels, with
    None where a label is unknown.

    >>> crf = CRF().fit([[{"w": "我"}, {"w": "去"}]], [["PN", "VV"]])
    >>> crf.predict([[{"w": "我"}]])
    [['PN']]
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

    def _learning(self) -> Sgd | AdaGrad:
        learner = LEARNERS.get(self.algorithm or "lbfgs")
        c2 = DEFAULT_C2 if self.c2 is None else float(self.c2)
        if learner is None:
            raise ConfigError(f"algorithm must be one of {', '.join(LEARNERS)}, got {self.algorithm!r}")
        if not c2 >= 0:
            raise ConfigError(f"c2 must be at least 0, got {self.c2!r}")
        if c2 == 0:
            learner = AdaGrad  # our SGD needs a penalty, which determines the size of its steps
        iterations = DEFAULT_ITERATIONS[learner] if self.max_iterations is None else int(self.max_iterations)
        if learner is Sgd:
            return Sgd(l2=c2, iterations=iterations, seed=int(self.seed))
        return AdaGrad(iterations=iterations, seed=int(self.seed))

    def _warn_of_ignored(self) -> None:
        names = [name for name in IGNORED if getattr(self, name) is not None]
        names += ["c1"] if self.c1 else []
        if names:
            # Level 4 is the caller of fit.
            warnings.warn(f"{', '.join(names)}: not supported, ignored", UserWarning, stacklevel=4)

    @checked
    def fit(
        self,
        X: UnitSentences,  # noqa: N803  (scikit-learn's name)
        y: LabelSentences,
        X_dev: UnitSentences | None = None,  # noqa: N803
        y_dev: LabelSentences | None = None,
        *,
        threads: int = 1,
    ) -> Self:
        """Train; with a dev set, keep the weights of the iteration that does best on it."""
        if (X_dev is None) != (y_dev is None):
            raise ConfigError("X_dev and y_dev go together: give both or neither")
        learning = self._learning()
        self._warn_of_ignored()
        units, names = self._take_attributes(X)
        gold = [list(labels) for labels in y]
        classes = _classes(gold)
        data = _native.TaggingData(units.native(), units.sentence, _numbers(units, gold, classes), no_sets())
        rules, full_from = Succession.free(len(classes)).native(), 1 if self.all_possible_states else NEVER
        layout = _native.lay_out_tagger(len(classes), rules, len(names), data, full_from)
        objective = _native.TaggingObjective(layout, data)
        rule = learning.rule(objective, len(gold), threads)
        trainer = Trainer(rule, layout.weights, len(gold), learning)
        learned = Learned(classes, names, layout.first, layout.label, trainer.best)
        evaluate = None
        if X_dev is not None and y_dev is not None:
            evaluate = _evaluator(learned, X_dev, y_dev, threads)
        self.training_log_ = [self._watched(report) for report in trainer.run(evaluate)]
        self.learned_ = dataclasses.replace(learned, weights=trainer.best)
        if self.model_filename is not None:
            self.save(self.model_filename)
        return self

    def _take_attributes(self, X: UnitSentences) -> tuple[Units, list[str]]:  # noqa: N803
        """Units and attributes of a training set, without attributes that are too rare."""
        number = Numbering()
        units = Units.of(X, number.__getitem__)
        kept = np.bincount(units.row, minlength=len(number)) >= (self.min_freq or 0)
        if kept.all():
            return units, list(number)
        return units.keep(kept), [name for name, k in number.items() if kept[k]]

    def _watched(self, report: IterationReport) -> IterationReport:
        if self.verbose:
            score = "" if report.score is None else f", dev accuracy {report.score:.2f}"
            logger.info("iteration %d: loss %.4f%s", report.iteration, report.loss or 0.0, score)
        return report

    def _fitted(self) -> Learned:
        learned = self.__dict__.get("learned_")
        if not isinstance(learned, Learned):
            raise NotFittedError(
                "this CRF has not been trained yet", hint="call fit, or read one with CRF.load"
            )
        return learned

    @checked
    def predict(self, X: UnitSentences, *, threads: int = 1) -> list[list[str]]:  # noqa: N803
        """The labels of each sentence."""
        learned = self._fitted()
        return learned.tag(Units.of(X, learned.row.get), threads)

    @checked
    def predict_single(self, xseq: Iterable[Unit]) -> list[str]:
        """The labels of one sentence."""
        return self.predict([xseq])[0]

    @checked
    def predict_marginals(
        self,
        X: UnitSentences,  # noqa: N803
        *,
        threads: int = 1,
    ) -> list[list[dict[str, float]]]:
        """The probability of each label at each unit of each sentence."""
        learned = self._fitted()
        found = learned.marginals(Units.of(X, learned.row.get), threads)
        return [
            [dict(zip(learned.classes, unit, strict=True)) for unit in sentence.tolist()]
            for sentence in found
        ]

    @checked
    def predict_marginals_single(self, xseq: Iterable[Unit]) -> list[dict[str, float]]:
        """The same for one sentence."""
        return self.predict_marginals([xseq])[0]

    @checked
    def score(self, X: UnitSentences, y: LabelSentences) -> float:  # noqa: N803
        """Accuracy on units with a known label, from 0 to 1."""
        return accuracy([list(labels) for labels in y], self.predict(X)) / 100.0

    @property
    def classes_(self) -> list[str]:
        """The labels, in order."""
        return list(self._fitted().classes)

    @property
    def attributes_(self) -> list[str]:
        """The attributes that have weights."""
        return list(self._fitted().attributes)

    @property
    def num_attributes_(self) -> int:
        """The number of attributes that have weights."""
        return len(self._fitted().attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """(attribute, label) → weight, where it is not 0."""
        learned = self._fitted()
        owner = np.repeat(np.arange(len(learned.attributes)), np.diff(learned.first))
        rows = zip(owner.tolist(), learned.label.tolist(), learned.state.tolist(), strict=True)
        return {(learned.attributes[row], learned.classes[k]): weight for row, k, weight in rows if weight}

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """(label, next label) → weight."""
        learned = self._fitted()
        return {
            (before, after): float(learned.transition[i, j])
            for i, before in enumerate(learned.classes)
            for j, after in enumerate(learned.classes)
        }

    @property
    def start_features_(self) -> dict[str, float]:
        """Label → its weight at the start of a sentence; CRFsuite has none."""
        learned = self._fitted()
        return dict(zip(learned.classes, learned.transition[-1].tolist(), strict=False))

    @property
    def stop_features_(self) -> dict[str, float]:
        """Label → its weight at the end of a sentence."""
        learned = self._fitted()
        return dict(zip(learned.classes, learned.transition[:, -1].tolist(), strict=False))

    @checked
    def save(self, path: str | Path) -> None:
        """Write the CRF to one file."""
        learned = self._fitted()
        parameters = {name: value for name, value in self.get_params().items() if name not in NOT_SAVED}
        header = {"kind": KIND, "config": parameters, "classes": learned.classes}
        write_model(path, header, learned.arrays())

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Self:
        """Read a CRF from its file."""
        header, arrays = read_model(path)
        if header.get("kind") != KIND:
            raise ModelFileError(str(path), f"this is a model of kind {header.get('kind')!r}, not {KIND!r}")
        try:
            crf = cls(**header["config"])
            crf.learned_ = Learned.from_arrays([str(label) for label in header["classes"]], arrays)
        except (KeyError, TypeError, ValueError, ConfigError) as error:
            raise ModelFileError(str(path), f"the parts of the model do not fit together ({error})") from None
        return crf


CRF.config_type = CRF  # type: ignore[misc]  # its parameters are its own fields


def _evaluator(
    learned: Learned,
    X: UnitSentences,  # noqa: N803
    y: LabelSentences,
    threads: int,
) -> Callable[[Floats], float]:
    """Accuracy on a dev set in percent; its attributes are looked up once."""
    units = Units.of(X, learned.row.get)
    gold = _numbers(units, [list(labels) for labels in y], learned.classes)
    is_known, rows = gold >= 0, units.native()
    if not is_known.any():
        raise ConfigError("the dev set has no labels")

    def evaluate(weights: Floats) -> float:
        guess = _native.tag_units(learned.layout, weights, rows, units.sentence, threads)
        return float(100.0 * np.mean((guess == gold)[is_known]))

    return evaluate


def _classes(gold: Sequence[Sequence[str | None]]) -> list[str]:
    seen = {label for labels in gold for label in labels if label is not None}
    for label in seen:
        if not isinstance(label, str):
            raise ConfigError(f"a label must be a string, got {label!r}", hint="give str(label)")
    if not seen:
        raise ConfigError("there are no labels to learn from")
    return sorted(seen)


def _numbers(
    units: Units, gold: Sequence[Sequence[str | None]], classes: Sequence[str]
) -> npt.NDArray[np.int32]:
    """The label of each unit by number: -1 for None, one past the last for labels not among the classes."""
    lengths = np.diff(units.sentence).tolist()
    if len(lengths) != len(gold):
        raise ConfigError(f"X has {counted(len(lengths), 'sentence')}, y has {len(gold)}")
    for number, (length, labels) in enumerate(zip(lengths, gold, strict=True), 1):
        if length != len(labels):
            raise ConfigError(
                f"sentence {number} has {counted(length, 'unit')} and {counted(len(labels), 'label')}"
            )
    place: dict[str | None, int] = {label: k for k, label in enumerate(classes)}
    place[None] = -1
    return np.array([place.get(label, len(classes)) for labels in gold for label in labels], np.int32)
