"""The coupled tagger (kind `coupled`) of Li et al. (2015, 2016, 2017): one CRF over bundles of labels,
learned from corpora that disagree; two or more standards, words or characters.

Each corpus tells the labels of one standard. Its sentences constrain the lattice of bundles on that side and
leave the others open (ambiguous labelling); joint features tie the sides together, separate features back
them off. Pruning by context keeps the lattice small.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from duilian import _native, evaluation, learning
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError, StandardError
from duilian.features import Templates, pack
from duilian.lattice import SideMapping
from duilian.models.coupled_checks import check_parameters
from duilian.models.coupled_conversion import (
    Converted,
    allowed_labels,
    converted,
    guide_labels,
    mapped_sets,
)
from duilian.models.coupled_labels import NO_SETS, blank_unknown, decode_layers, gold_labels
from duilian.models.coupled_side import CoupledSide
from duilian.models.coupled_storage import AVERAGE, coupled_state, restore_coupled
from duilian.models.encoding import Encoding, Level
from duilian.models.kept_tables import Arrays
from duilian.models.precision import Precision
from duilian.models.stored import Stored
from duilian.models.tagger import DEFAULT_TEMPLATES, Sentences, Tagger, layer_of
from duilian.standards import Mapping as TagMapping
from duilian.text import Folding, Script

Features = Literal["all", "separate", "joint"]
PruningKind = Literal["online", "offline", "mixed"]
Keep = Literal["all", "average"]
FAINT = 1e-3  # of a unit's probability: less does not count when candidates are looked for
MIXED_MASS = 0.97  # λ of a mixed model when tagging: its plain taggers put gold among the first

_log = logging.getLogger("duilian")


class CoupledTagger(Stored):
    """Answers in the style of each of its `standards`; see the module's text.

    `mapping`: complete, tight, relaxed (the shipped tables, or a file's path), automatic (union; or
    automatic-intersection, automatic-first, automatic-second), or a `Mapping` for two standards.
    `pruning`: "online" by the model's own separate features, "offline" by jack-knifed plain taggers, "mixed"
    online in training and by plain taggers when tagging, except for the source side, which starts as one.
    `most` and `mass` are r and λ of pruning; `tagging_most` is r when tagging (None: `most`; without plain
    taggers three times that for characters, whose many labels leave gold out of the first few more often).
    `start`: "warm" begins the largest corpus's side with its plain tagger's weights (`warm` gives a share of
    them for every side), "cold" with zeros as in the papers.
    `samples`: sentences drawn per side and iteration (N', M', …); a side without gets as many as the smallest
    corpus has. `margin`: bundles that look so much worse (in nats) than the best of their unit are not tried
    when tagging; None tries all. `guide` names a standard whose labels are features of the others, for
    conversion from it.
    """

    kind: ClassVar[str] = "coupled"
    window: ClassVar[float] = 7.0  # of a mixed model's first look at labels when tagging (chain/rough.hpp)
    predictors_: dict[str, _native.CoupledPredictor]
    encodings_: list[Encoding]
    mappings_: list[SideMapping]
    source_: Tagger

    def __init__(
        self,
        standards: Sequence[str] = ("ctb", "pku"),
        *,
        level: Level = "word",
        templates: str | None = None,
        mapping: str | TagMapping = "complete",
        features: Features = "all",
        pruning: PruningKind = "online",
        most: int = 8,
        tagging_most: int | None = None,
        mass: float = 0.98,
        folds: int = 10,
        cache: str | None = None,
        start: Literal["warm", "cold"] = "warm",
        warm: Sequence[float] | None = None,
        plain_iterations: int = 8,
        samples: Sequence[int | None] | None = None,
        guide: str | None = None,
        joint_count: int | None = None,
        decoding: Literal["marginals", "path"] = "marginals",
        margin: float | None = 5.0,
        keep: Keep = "all",
        scheme: str = "BIES",
        join_letters: bool = False,
        join_digits: bool = False,
        script: Script = "as-is",
        min_count: int = 1,
        full_from: int = 2,
        algorithm: learning.Algorithm = "adagrad",
        rate: float | None = 0.15,
        l2: float = 0.1,
        batch: int = 8,
        iterations: int = 8,
        patience: int = 30,
        average: bool = True,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        self.standards = tuple(standards)
        self.level = level
        self.templates = templates
        self.mapping = mapping
        self.features = features
        self.pruning = pruning
        self.most = most
        self.tagging_most = tagging_most
        self.mass = mass
        self.folds = folds
        self.cache = cache
        self.start = start
        self.warm = warm
        self.plain_iterations = plain_iterations
        self.samples = samples
        self.guide = guide
        self.joint_count = joint_count
        self.decoding = decoding
        self.margin = margin
        self.keep = keep
        self.scheme = scheme
        self.join_letters = join_letters
        self.join_digits = join_digits
        self.script = script
        self.min_count = min_count
        self.full_from = full_from
        self.algorithm = algorithm
        self.rate = rate
        self.l2 = l2
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
        on_iteration: Callable[[learning.IterationReport], None] | None = None,
        on_stage: Callable[[str], None] | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
    ) -> Self:
        """Learns from one corpus per standard, in the order of `standards`.

        With dev sets (None for a standard that has none), keeps the weights that do best on each side and on
        average. `on_stage` is told what is being done before the iterations begin. Dev sentences that also
        have the layer of `guide` are converted from it, and scored so.
        """
        from duilian.models.coupled_training import CoupledTraining  # not needed to tag

        check_parameters(self, X, dev)
        sides = [self._layers(corpus, name) for corpus, name in zip(X, self.standards, strict=True)]
        held_out = [
            None if found is None else self._layers(found, name)
            for found, name in zip(dev or [None] * len(sides), self.standards, strict=True)
        ]
        self._prepare(sides)
        given = [
            None if found is None or name == self.guide else self._given_layers(found)
            for found, name in zip(dev or [None] * len(sides), self.standards, strict=True)
        ]
        training = CoupledTraining(self, sides, held_out, given, on_stage or _log.info)
        training.run(on_iteration, checkpoint, resume)
        bests = dict(zip(training.best_names(), training.trainer.bests, strict=True))
        self.best_scores_ = {
            name: None if np.isinf(best.score) else float(best.score) for name, best in bests.items()
        }
        self.best_score_ = self.best_scores_[AVERAGE]
        self.iterations_ = training.trainer.iteration
        self._trained = _Trained(
            training.layout,
            {name: best.weights for name, best in bests.items()},
            training.pruner(),
            training.body.keys,
        )
        del training, bests  # before the compiled weights need their room
        return self.trim(0.0)

    def _layers(self, corpus: Sentences, standard: str) -> list[Layer]:
        return [layer_of(each, standard) for each in corpus]

    def _given_layers(self, corpus: Sentences) -> list[Layer] | None:
        """The guiding standard's layers, if the sentences have them."""
        sentences = [each for each in corpus if isinstance(each, Sentence)]
        if self.guide is None or not sentences or any(self.guide not in each.layers for each in sentences):
            return None
        return [each[self.guide] for each in sentences]

    def _prepare(self, sides: Sequence[Sequence[Layer]]) -> None:
        self.encodings_ = []
        for standard, layers in zip(self.standards, sides, strict=True):
            if not layers:
                raise ConfigError(f"there is no sentence of {standard!r} to learn from")
            known = {tag for layer in layers for tag in layer.tags or () if tag is not None}
            seen = {name for tag in known for name in ((tag,) if isinstance(tag, str) else tag)}
            if not seen:
                raise StandardError(f"the corpus of {standard!r} has no tags to learn from")
            tags = tuple(sorted(seen))
            self.encodings_.append(
                Encoding(self.level, tags, self.scheme, self.join_letters, self.join_digits)
            )
        default = f"guide-{self.level}" if self.guide else DEFAULT_TEMPLATES[self.level]
        self.templates_ = Templates.load(self.templates or default)
        self.folding_ = Folding(script=self.script)

    def native_pruning(self) -> _native.Pruning:
        """r and λ in training."""
        return _native.Pruning(self.most, self.mass, 0.0, 0.0)

    def tagging_pruning(self) -> _native.Pruning:
        """r and λ when tagging."""
        if self.pruning == "mixed":
            mass = 1.0 if self.mass == 1.0 else min(self.mass, MIXED_MASS)
            window = 0.0 if mass == 1.0 else self.window
            return _native.Pruning(self.tagging_most or self.most, mass, FAINT, window)
        usual = self.most if self.level == "word" else 3 * self.most
        most = usual if self.tagging_most is None else self.tagging_most
        return _native.Pruning(most, self.mass, 0.0, 0.0)

    def _pack(
        self, units: Sequence[Sequence[str]], guide: Sequence[Sequence[str]] | None = None
    ) -> _native.Sentences:
        if self.guide is None:
            return pack(units, self.folding_)
        labels = self.source_.predict_labels(units) if guide is None else guide
        return pack(units, self.folding_, [{"guide": each} for each in labels])

    def trim(self, least: float) -> Self:
        """Feature selection: drops the state weights smaller than `least`, the guide's too. Needs the state
        of training."""
        trained = self._trained
        if self.guide is not None and least > 0.0:
            self.source_.trim(least)
        kept = {
            name: weights
            for name, weights in trained.weights.items()
            if self.keep == "all" or name == AVERAGE
        }
        unique = {id(weights): weights for weights in kept.values()}
        compiled = _native.compile_coupled(
            trained.layout, list(unique.values()), trained.pruner, trained.keys, least
        )
        made = {
            key: self.make_predictor(trained.layout.shape, weights)
            for key, weights in zip(unique, compiled, strict=True)
        }
        self.predictors_ = {name: made[id(weights)] for name, weights in kept.items()}
        return self

    def make_predictor(
        self, shape: _native.CoupledShape, compiled: _native.CoupledWeights
    ) -> _native.CoupledPredictor:
        """Weights with everything else that tagging needs."""
        return _native.CoupledPredictor(
            shape,
            compiled,
            self.templates_.native,
            self.folding_.native,
            self.tagging_pruning(),
            _native.Decoding[self.decoding],
            self._native_margin(),
        )

    def _native_margin(self) -> float:
        return math.inf if self.margin is None else self.margin

    def side(self, standard: str) -> int:
        """The number of a standard among the tagger's."""
        if standard not in self.standards:
            raise ConfigError(f"the tagger has no standard {standard!r}, only {', '.join(self.standards)}")
        return self.standards.index(standard)

    def predictor_for(self, standard: str) -> _native.CoupledPredictor:
        """The weights that do best for a standard."""
        return self.predictors_.get(standard, self.predictors_[AVERAGE])

    def of(self, standard: str) -> CoupledSide:
        """The tagger as one for a single standard, with the weights that do best for it."""
        return CoupledSide(self, standard)

    def _answers(
        self,
        layers: Sequence[Layer],
        side: int,
        *,
        best_for: str,
        allowed: Sequence[_native.TagSets] = (),
        guide: Sequence[Sequence[str]] | None = None,
        with_candidates: bool = False,
    ) -> tuple[list[list[str]], npt.NDArray[np.int64], _native.CoupledAnswers]:
        """Units, where each sentence begins, and what the model says; `side` is the words' own standard."""
        units = [self.encodings_[side].split(layer.words)[0] for layer in layers]
        packed = self._pack(units, guide)
        found = self.predictor_for(best_for).predict(packed, list(allowed), with_candidates, self.threads)
        return units, packed.first, found

    def label_packed(
        self, packed: _native.Sentences, wishes: Sequence[_native.Constraints], threads: int
    ) -> tuple[_native.CoupledAnswers, int]:
        """Labels of every side for sentences that were split already, under wishes for each side (or none
        at all), and for how many sentences those were dropped because they cannot be; with the weights
        that do best on average."""
        return self.predictors_[AVERAGE].predict_constrained(packed, list(wishes), False, threads)

    def tags_of_words(self, X: Sentences, standard: str) -> list[tuple[str, ...]]:  # noqa: N803
        """The tags of given words after one standard: decoding with the words fixed, whatever the level."""
        side = self.side(standard)
        layers = [dataclasses.replace(layer, tags=None) for layer in self._layers(X, standard)]
        allowed = self._given(layers, side)
        units, first, found = self._answers(layers, side, best_for=standard, allowed=allowed)
        tagged = decode_layers(self.encodings_[side], units, found.label(side), first)
        return [tuple(str(tag) for tag in layer.tags or ()) for layer in tagged]

    def predict_layers(self, X: Sentences, standard: str | None = None) -> list[Layer]:  # noqa: N803
        """The analysis of each sentence after one standard, the first if none is named."""
        name = standard or self.standards[0]
        side = self.side(name)
        units, first, found = self._answers(self._layers(X, name), side, best_for=name)
        return decode_layers(self.encodings_[side], units, found.label(side), first)

    def predict(self, X: Sentences, standard: str | None = None) -> list[list[str]]:  # noqa: N803
        """Tags of each sentence's words after one standard."""
        return [[str(tag) for tag in layer.tags or ()] for layer in self.predict_layers(X, standard)]

    def analyse(self, X: Sentences) -> list[dict[str, Layer]]:  # noqa: N803
        """Each sentence after every standard at once, with the weights that do best on average."""
        layers = self._layers(X, self.standards[0])
        units, first, found = self._answers(layers, 0, best_for=AVERAGE)
        sides = [
            decode_layers(encoding, units, found.label(side), first)
            for side, encoding in enumerate(self.encodings_)
        ]
        return [dict(zip(self.standards, each, strict=True)) for each in zip(*sides, strict=True)]

    def score(self, X: Sentences, y: None = None, *, standard: str | None = None) -> float:  # noqa: N803
        """Accuracy of tags at word level, F1 of words with tags at character level; from 0 to 1."""
        name = standard or self.standards[0]
        gold = self._layers(X, name)
        found = self.predict_layers(gold, name)
        return evaluation.main_score(gold, found, is_cut=self.level == "char") / 100.0

    def unknown_tags(self, X: Sentences, standard: str) -> list[tuple[int, int, str]]:  # noqa: N803
        """Tags of sentences that this side has never seen: sentence, word, tag."""
        known = set(self.encodings_[self.side(standard)].tags or ())
        return [
            (s, w, tag)
            for s, layer in enumerate(self._layers(X, standard))
            for w, tag in enumerate(layer.tags or ())
            if isinstance(tag, str) and tag not in known
        ]

    def convert(
        self,
        X: Sentences,  # noqa: N803
        source: str,
        target: str,
        *,
        mapping: str | TagMapping | None = None,
        lenient: bool = False,
        with_marginals: bool = False,
    ) -> list[Converted]:
        """Sentences annotated after `source`, in the style of `target`: decoding with the source side given.

        At character level word boundaries are converted too. `mapping` says which tags of the target may
        stand for which of the source: tight, relaxed, complete (all may), a table's path or a `Mapping`; None
        is the tight table of the two standards where one is shipped, else complete. A tag that the model has
        never seen is an error; with `lenient` it counts as unknown.
        """
        a, b = self.side(source), self.side(target)
        layers = self._layers(X, source)
        unknown = self.unknown_tags(layers, source)
        if unknown and not lenient:
            where, _, tag = unknown[0]
            raise StandardError(
                f"sentence {where + 1}: the model has never seen the tag {tag!r} of {source!r}"
            )
        allowed = self.conversion_limits(layers, a, b, mapping)
        guide = None
        if self.guide == source:
            labels = gold_labels(self.encodings_[a], layers)
            guide = guide_labels(self.encodings_[a], self.source_, layers, labels)
        units, first, found = self._answers(
            layers, a, best_for=target, allowed=allowed, guide=guide, with_candidates=with_marginals
        )
        return converted(self.encodings_[b], b, units, first, found, with_marginals=with_marginals)

    def conversion_limits(
        self, layers: Sequence[Layer], source: int, target: int, mapping: str | TagMapping | None = None
    ) -> list[_native.TagSets]:
        """What one side's annotation says of its own labels, and through the mapping of the target's."""
        allowed = self._given(layers, source)
        pair = (self.standards[source], self.standards[target])
        allows = allowed_labels(mapping, pair, (self.encodings_[source], self.encodings_[target]))
        if allows is not None and source != target:
            allowed[target] = mapped_sets(allowed[source], allows)
        return allowed

    def _given(self, layers: Sequence[Layer], side: int) -> list[_native.TagSets]:
        """What annotation says of one side's labels, and nothing on the other sides."""
        encoding, allowed = self.encodings_[side], [NO_SETS] * len(self.standards)
        allowed[side] = encoding.limits(blank_unknown(encoding, layers))
        return allowed

    def learned_mapping(
        self,
        X: Sentences,  # noqa: N803
        source: str,
        target: str,
        *,
        given: bool = False,
    ) -> npt.NDArray[np.float64]:
        """Expected counts of tag pairs on sentences, [source tags, target tags]: what goes with what.

        With `given`, the sentences' own tags of `source` are kept; else both sides are the model's.
        """
        a, b = self.side(source), self.side(target)
        layers = self._layers(X, source)
        units = [self.encodings_[a].split(layer.words)[0] for layer in layers]
        allowed: list[_native.TagSets] = []
        if given:
            allowed = self._given(layers, a)
        counts = self.predictors_[AVERAGE].count_pairs(self._pack(units), allowed, a, b, self.threads)
        tags_a, tags_b = (len(self.encodings_[side].tags or ()) for side in (a, b))
        # At character level labels go letter by letter, each with all tags.
        table = np.asarray(counts, np.float64)
        return np.asarray(table.reshape(-1, tags_a, table.shape[1] // tags_b, tags_b).sum(axis=(0, 2)))

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps of the tagger: plain values and arrays."""
        return coupled_state(self, precision)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The tagger again."""
        tagger = cls(**header["parameters"])
        restore_coupled(tagger, header, arrays)
        return tagger

    def is_trained(self) -> bool:
        return hasattr(self, "predictors_")


@dataclasses.dataclass
class _Trained:
    """What training leaves for `trim`."""

    layout: _native.CoupledLayout
    weights: dict[str, npt.NDArray[np.float32]]  # by what they are best for
    pruner: list[npt.NDArray[np.float32]]
    keys: npt.NDArray[np.uint64]
