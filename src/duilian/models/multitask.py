"""The multi-task tagger (kind `multitask`): two standards that share weights through a loose mapping.

Qiu et al. (2013): words and tags from characters, after either standard. A label's score takes in those of
the labels it maps to in the other standard, and learning moves both; so each standard learns from the other's
corpus, although nobody knows which mapping holds where. With all mapped labels expanded a side is, once
trained, a plain tagger, and as fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError
from duilian.features import Templates
from duilian.learning import (
    AdaGrad,
    IterationReport,
    LearnConfig,
    PassiveAggressive,
    Trainer,
    suitable_batch,
)
from duilian.models.compiled import compiled_of, keep_compiled
from duilian.models.encoding import Encoding
from duilian.models.kept_tables import Arrays
from duilian.models.label_mapping import LabelMapping, label_mapping
from duilian.models.margin import MarginTagger
from duilian.models.multitask_training import Examples
from duilian.models.precision import Precision
from duilian.models.stored import Stored
from duilian.models.tagger import Sentences, Tagger, layer_of, tags_of
from duilian.standards import Mapping as TagMapping
from duilian.text import Folding, Script

Expansion = Literal["mean", "all", "best"]
Listening = Literal["both", "first", "second"]

_SIDES = (0, 1)


class MultitaskSide(MarginTagger):
    """One standard of a multi-task tagger, as a tagger of its own."""

    kind: ClassVar[str] = "multitask"

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return Tagger._parameter_names()

    def __init__(self, tagger: MultitaskTagger, side: int) -> None:
        super().__init__(
            tagger.standards[side],
            level="char",
            templates=tagger.templates,
            scheme=tagger.scheme,
            join_letters=tagger.join_letters,
            join_digits=tagger.join_digits,
            script=tagger.script,
            threads=tagger.threads,
        )
        self.encoding_, other = tagger.encodings_[side], tagger.encodings_[1 - side]
        self.templates_, self.folding_ = tagger.templates_, tagger.folding_
        self.notes_ = getattr(tagger, "notes_", {})
        if tagger.expansion != "best":
            self._set_predictor(tagger.compiled_[side][0])
            return
        own_weights, other_weights = tagger.compiled_[side]
        mapping = tagger.mapping_ if side == 0 else tagger.mapping_.T
        self.predictor_ = _native.BestExpansionPredictor(  # type: ignore[assignment]
            len(self.encoding_.labels),
            self.encoding_.succession.native(),
            own_weights,
            len(other.labels),
            other.succession.native(),
            other_weights,
            mapping.native(is_heard=tagger.hears(side)),
            self.templates_.native,
            self.folding_.native,
        )


class MultitaskTagger(Stored):
    """A tagger for two standards, each with an ear for the other.

    `mapping` relates their tags: `tight` or `relaxed` for the shipped table of the two standards, the path of
    a table, or a `Mapping`. `listens` says which standard hears the other: both, or one alone. `expansion` is
    `all` if the scores of all mapped labels are added up, `mean` if their mean is, `best` if only the best of
    them at each unit counts. `samples` are sentences per iteration for each side. The algorithm is `pa`, the
    paper's passive-aggressive steps (one thread; `rate` is their C), or `adagrad`, which teaches the same
    model as a conditional random field (not for `best`).
    """

    kind: ClassVar[str] = "multitask"
    encodings_: tuple[Encoding, Encoding]
    mapping_: LabelMapping
    compiled_: list[list[_native.CompiledWeights]]
    best_scores_: dict[str, float]

    def __init__(
        self,
        standards: Sequence[str] = ("first", "second"),
        *,
        level: Literal["char"] = "char",
        templates: str = "multitask",
        mapping: str | TagMapping = "tight",
        listens: Listening = "both",
        expansion: Expansion = "mean",
        align_names: bool = True,
        samples: Sequence[int | None] | None = None,
        scheme: str = "BIES",
        join_letters: bool = False,
        join_digits: bool = False,
        script: Script = "as-is",
        min_count: int = 1,
        full_from: int = 2,
        algorithm: Literal["adagrad", "pa"] = "adagrad",
        rate: float | None = None,
        batch: int | None = None,
        iterations: int = 10,
        patience: int = 30,
        average: bool = True,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        self.standards = tuple(standards)
        self.level = level
        self.templates = templates
        self.mapping = mapping
        self.listens = listens
        self.expansion = expansion
        self.align_names = align_names
        self.samples = samples
        self.scheme = scheme
        self.join_letters = join_letters
        self.join_digits = join_digits
        self.script = script
        self.min_count = min_count
        self.full_from = full_from
        self.algorithm = algorithm
        self.rate = rate
        self.batch = batch
        self.iterations = iterations
        self.patience = patience
        self.average = average
        self.seed = seed
        self.threads = threads

    def fit(
        self,
        X: Sequence[Sentences],  # noqa: N803  (scikit-learn's name)
        y: None = None,
        *,
        dev: Sequence[Sentences | None] | None = None,
        on_iteration: Callable[[IterationReport], None] | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
    ) -> Self:
        """Learns from one corpus per standard, in the order of `standards`.

        With dev sets (None for a standard that has none), keeps the weights that do best for each side.
        """
        self._check_parameters(X, dev)
        sides = [
            [layer_of(each, name) for each in corpus] for corpus, name in zip(X, self.standards, strict=True)
        ]
        self._prepare(sides)
        examples = Examples(self, sides)
        training, keys = examples.training, examples.keys
        dev_sets = [
            None if found is None else [layer_of(each, name) for each in found]
            for found, name in zip(dev or (None, None), self.standards, strict=True)
        ]
        scored = [side for side in _SIDES if dev_sets[side] is not None]
        config = self._learn_config(sum(examples.counts))
        trainer = Trainer(
            self._rule(training, config),
            training.weights,
            sum(examples.counts),
            config,
            sides=max(len(scored), 1),
            draw=examples.draw(self.samples),
        )
        trainer.run_kept(
            examples.evaluator(dev_sets) if scored else None,
            examples.fingerprint,
            on_iteration=on_iteration,
            checkpoint=checkpoint,
            resume=resume,
        )
        self.best_score_ = float(trainer.best_score) if scored else None
        self.best_scores_ = {
            self.standards[side]: float(best.score) for side, best in zip(scored, trainer.bests, strict=False)
        }
        self.iterations_ = trainer.iteration
        weights = [trainer.bests[scored.index(s)].weights if s in scored else trainer.best for s in _SIDES]
        self._trained = (training, weights, keys)
        return self.trim(0.0)

    def _check_parameters(self, corpora: Sequence[object], dev: Sequence[object] | None) -> None:
        if len(self.standards) != 2 or len(set(self.standards)) != 2:
            raise ConfigError(f"standards must be two different names, got {', '.join(self.standards)}")
        for what, found in (("corpora", corpora), ("dev sets", dev), ("samples", self.samples)):
            if found is not None and len(found) != 2:
                raise ConfigError(f"{len(found)} {what} for 2 standards")
        for name, known in (
            ("level", ("char",)),
            ("listens", ("both", "first", "second")),
            ("expansion", ("mean", "all", "best")),
            ("algorithm", ("adagrad", "pa")),
        ):
            if getattr(self, name) not in known:
                alternatives = " or ".join(map(repr, known))
                raise ConfigError(f"{name} must be {alternatives}, got {getattr(self, name)!r}")
        if self.expansion == "best" and self.algorithm != "pa":
            raise ConfigError("with expansion 'best' the algorithm must be 'pa'")

    def _learn_config(self, sentences: int) -> LearnConfig:
        return LearnConfig(
            algorithm=self.algorithm,
            rate=self.rate,
            batch=self.batch or suitable_batch(sentences),
            iterations=self.iterations,
            patience=self.patience,
            average=self.average,
            seed=self.seed,
            threads=self.threads,
        )

    def _prepare(self, sides: Sequence[Sequence[Layer]]) -> None:
        a, b = (
            Encoding(self.level, tags_of(layers, name), self.scheme, self.join_letters, self.join_digits)
            for layers, name in zip(sides, self.standards, strict=True)
        )
        self.encodings_ = (a, b)
        self.templates_ = Templates.load(self.templates)
        if self.templates_.columns:
            raise ConfigError("the templates of a multi-task tagger have no columns")
        self.folding_ = Folding(script=self.script)
        tags = self._tag_mapping(a.tags or (), b.tags or ())
        self.mapping_ = label_mapping(tags, self.encodings_, self.standards, align_names=self.align_names)
        if not self.mapping_.size:
            raise StandardError(f"the mapping relates no tag of {self.standards[0]!r} to one of the other")

    def _tag_mapping(self, tags_a: tuple[str, ...], tags_b: tuple[str, ...]) -> TagMapping:
        if isinstance(self.mapping, TagMapping):
            known = [
                pair for pair in self.mapping.bundles() if pair[0] in set(tags_a) and pair[1] in set(tags_b)
            ]
            return TagMapping.from_pairs(known, tags_a, tags_b)
        is_shipped = self.mapping in ("tight", "relaxed")
        table = f"{self.standards[0]}-{self.standards[1]}.{self.mapping}" if is_shipped else self.mapping
        return TagMapping.from_table(table, tags_a, tags_b, unknown="keep")

    def _rule(self, training: _native.MultitaskTraining, config: LearnConfig) -> AdaGrad | PassiveAggressive:
        if config.algorithm == "pa":
            return PassiveAggressive(training, config)
        return AdaGrad(_native.MultitaskObjective(training), config)

    def trim(self, least: float) -> Self:
        """Feature selection: drops the state weights smaller than `least`. Needs the state of training."""
        training, weights, keys = self._trained
        # With one label expanded a side needs the other's weights beside its own.
        heard = [(s, 1 - s) if self.expansion == "best" else (s,) for s in _SIDES]
        self.compiled_ = [[training.compile(weights[s], k, keys, least) for k in heard[s]] for s in _SIDES]
        return self

    def is_trained(self) -> bool:
        return hasattr(self, "compiled_")

    def of(self, standard: str) -> MultitaskSide:
        """The tagger as one for a single standard."""
        if standard not in self.standards:
            raise ConfigError(f"the tagger has no standard {standard!r}, only {', '.join(self.standards)}")
        return MultitaskSide(self, self.standards.index(standard))

    def hears(self, side: int) -> bool:
        """Whether a side listens to the other."""
        return self.listens in ("both", ("first", "second")[side])

    def predict_layers(self, X: Sentences, standard: str | None = None) -> list[Layer]:  # noqa: N803
        """The analysis of each sentence after one standard, the first if none is named."""
        return self.of(standard or self.standards[0]).predict_layers(X)

    def score(self, X: Sequence[Sentences], y: None = None) -> float:  # noqa: N803
        """Mean F1 of words with their tags over one corpus per standard, from 0 to 1."""
        return float(np.mean([self.of(s).score(corpus) for s, corpus in zip(self.standards, X, strict=True)]))

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps of the tagger: plain values and arrays."""
        is_object = isinstance(self.mapping, TagMapping)
        header = {
            "kind": self.kind,
            "parameters": self.get_params() | {"threads": 1} | ({"mapping": "own"} if is_object else {}),
            "tags": [encoding.tags for encoding in self.encodings_],
            "templates": self.templates_.text,
            "templates_name": self.templates_.name,
            "mapping": {label: self.mapping_.to(label) for label in self.mapping_.labels_a},
        }
        arrays: Arrays = {}
        for side, tables in enumerate(self.compiled_):
            for number, table in enumerate(tables):
                parts = keep_compiled(table, precision)
                arrays |= {f"{side}.{number}.{name}": array for name, array in parts.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The tagger again."""
        tagger = cls(**header["parameters"])
        a, b = (
            Encoding(tagger.level, tuple(tags), tagger.scheme, tagger.join_letters, tagger.join_digits)
            for tags in header["tags"]
        )
        tagger.encodings_ = (a, b)
        tagger.templates_ = Templates(header["templates"], name=header["templates_name"])
        tagger.folding_ = Folding(script=tagger.script)
        tagger.mapping_ = LabelMapping.of(a, b, header["mapping"])
        tables = range(2 if tagger.expansion == "best" else 1)
        tagger.compiled_ = [
            [compiled_of(arrays, f"{side}.{number}.") for number in tables] for side in _SIDES
        ]
        for standard in tagger.standards:
            tagger.of(standard)  # refuses tables that do not fit
        return tagger
