"""The coupled tagger compiled for answering: one standard, all at once, or conversion between them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.features import Reading
from duilian.labels.encoding import Encoding, no_sets
from duilian.labels.segmentation import Segmentation
from duilian.labels.units import UnitBatch, units_of_layers
from duilian.lexicon.constraint_builder import NO_BONUS, no_constraints
from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.conversion_answers import (
    COMPLETE,
    ConversionPlan,
    LabelLimits,
    conversion_limits,
)
from duilian.models.coupled.effort import USUAL, Effort
from duilian.models.coupled.sides import GuidePacker, gold_labels
from duilian.models.coupled.storage import AVERAGE, CoupledModel
from duilian.models.crf.predictor import PROBABILITIES, abilities_of
from duilian.models.roles import (
    Ability,
    Ask,
    Constraints,
    Ints,
    LabelRows,
    Labels,
    Ranked,
    SideLabels,
    with_first,
)
from duilian.standards import Mapping as TagMapping

FAINT = 1e-3  # smaller shares of a unit's probability are neglected in the search for candidates
WIDE_MASS, WIDE_GAP = 1.0, 8.0  # λ and bundle gap if probabilities are requested


def tagging_pruning(config: CoupledConfig, effort: Effort = USUAL) -> _native.Pruning:
    """r and λ when tagging."""
    pruning = config.pruning
    usual, own = pruning.max_candidates, pruning.max_candidates_tagging
    if pruning.kind == "mixed":
        is_whole = pruning.candidate_mass == 1.0
        mass = 1.0 if is_whole else min(pruning.candidate_mass, effort.candidate_mass)
        return _native.Pruning(own or usual, mass, FAINT, 0.0 if is_whole else effort.coarse_window)
    # Characters have many labels, so gold is less often among the first few.
    usual *= 1 if config.level == "word" else 3
    return _native.Pruning(usual if own is None else own, pruning.candidate_mass, 0.0, 0.0)


class CoupledPredictor:
    """Answers of a coupled tagger."""

    def __init__(self, model: CoupledModel, *, effort: Effort = USUAL) -> None:
        self.model, self.sides, self.effort = model, model.sides, effort
        self.packer = GuidePacker.of_model(model.config, model.sides, model.source, model.dictionary)
        unique = {id(weights): weights for weights in model.weights.values()}
        made = {key: self._compile(weights) for key, weights in unique.items()}
        self.natives = {name: made[id(weights)] for name, weights in model.weights.items()}

    def _compile(self, weights: _native.CoupledWeights) -> _native.CoupledPredictor:
        config = self.model.config
        return _native.CoupledPredictor(
            self.model.shape,
            weights,
            self.model.templates.native,
            self.packer.reading.native,
            tagging_pruning(config, self.effort),
            _native.Decoding[config.decoding],
            min(config.pruning.native_gap, self.effort.bundle_gap),
        )

    kind = CoupledModel.kind
    is_always_sure = True  # confidence comes at no cost

    @property
    def reads(self) -> Literal["text", "words"]:
        """Words at word level, else text."""
        return "words" if self.model.config.level == "word" else "text"

    @property
    def standards(self) -> tuple[str, ...]:
        return self.sides.standards

    @property
    def abilities(self) -> frozenset[Ability]:
        """All that a lattice of bundles can do."""
        own = abilities_of(self.sides.encodings[0])
        return own | PROBABILITIES | {Ability.CONSTRAINTS, Ability.CONVERSION}

    @property
    def reading(self) -> Reading:
        """How the model reads text."""
        return self.packer.reading

    def encoding(self, standard: str) -> Encoding:
        """How annotation in a standard becomes labels."""
        return self.sides.encodings[self.sides.number(standard)]

    @cached_property
    def wide(self) -> CoupledPredictor:
        """The same weights with more candidates, so that pruning hardly matters; with tables of its own."""
        gap = max(self.model.config.pruning.native_gap, WIDE_GAP)
        pruning = {"candidate_mass": WIDE_MASS, "bundle_gap": gap}
        model = dataclasses.replace(self.model, config=self.model.config.updated({"pruning": pruning}))
        return CoupledPredictor(model, effort=dataclasses.replace(self.effort, bundle_gap=math.inf))

    def best_for(self, standard: str) -> _native.CoupledPredictor:
        """The weights that do best for a standard."""
        return self.natives.get(standard, self.natives[AVERAGE])

    def label(self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int) -> Labels:
        """Label all units, in each standard with the weights that do best for it.

        The best labels come from the usual search, marginals from one that prunes less.
        """
        packed, given = self.packer.pack_batch(batch, threads), self._given(constraints)
        answered, impossible = self._answered(packed, given, ask, threads)
        found = self._labels_of(answered)
        if ask.marginals:
            found |= self.wide.likely_labels(packed, given, found, threads)
        return Labels(found, impossible)

    def label_with_candidates(
        self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int, standard: str
    ) -> tuple[Labels, LabelRows]:
        """Like `label`; also return the probabilities of all labels of one standard that survive pruning."""
        packed, given = self.packer.pack_batch(batch, threads), self._given(constraints)
        answered, impossible = self._answered(packed, given, ask, threads, with_candidates=True)
        found = self._labels_of(answered, with_candidates=True)
        if ask.marginals:
            found |= self.wide.likely_labels(packed, given, found, threads)
        return Labels(found, impossible), _candidates(answered[standard], self.sides.number(standard))

    def _labels_of(
        self, answered: Mapping[str, _native.CoupledAnswers], *, with_candidates: bool = False
    ) -> dict[str, SideLabels]:
        found: dict[str, SideLabels] = {}
        for name, answers in answered.items():
            side = self.sides.number(name)
            p = answers.confidence(side) if with_candidates else answers.p(side)
            found[name] = SideLabels(answers.label(side), self.calibrated(name, p))
        return found

    def label_words(
        self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int
    ) -> tuple[dict[str, Segmentation], int]:
        """The words that `label` finds, and the number of sentences that broke constraints.

        Native code makes the words: for a short text, arrays in Python would cost more than the search.
        """
        packed, given = self.packer.pack_batch(batch, threads), self._given(constraints)
        answered, impossible = self._answered(packed, given, ask, threads)
        found: dict[str, Segmentation] = {}
        for name, answers in answered.items():
            side, curve = self.sides.number(name), self.model.confidence.get(name)
            meaning, own = self.sides.encodings[side].meaning, None if curve is None else curve.native
            columns = answers.words(side, meaning.edges, batch.spans, batch.sentence, batch.known, own)
            found[name] = Segmentation.of_columns(meaning, batch, answers.label(side), columns)
        return found, impossible

    def label_boundaries(
        self, batch: UnitBatch, standard: str, constraints: Constraints, threads: int
    ) -> tuple[Ints, int]:
        """Return labels that make the words of `label`, perhaps with other tags.

        Stretches of text in which pruning has left no choice between boundaries are not searched.
        """
        packed, given = self.packer.pack_batch(batch, threads), self._given(constraints)
        side = self.sides.number(standard)
        # Labels that begin a word, end one, both, or neither make a difference.
        edges = self.sides.encodings[side].meaning
        flags = (edges.starts.astype(np.uint8) + 2 * edges.ends.astype(np.uint8)).astype(np.uint8)
        native = self.best_for(standard)
        label, impossible = native.predict_flags(packed, given, side, flags, threads)
        return np.asarray(label, np.int32), impossible

    def _answered(
        self,
        packed: _native.Sentences,
        given: list[_native.Constraints],
        ask: Ask,
        threads: int,
        *,
        with_candidates: bool = False,
    ) -> tuple[dict[str, _native.CoupledAnswers], int]:
        """The answers of the best weights for each standard, and the number that broke constraints."""
        natives = {name: self.best_for(name) for name in ask.standards or self.standards}
        made = {
            native: native.predict_constrained(packed, given, with_candidates, threads)
            for native in dict.fromkeys(natives.values())
        }
        answers = {name: made[native][0] for name, native in natives.items()}
        return answers, max(impossible for _, impossible in made.values())

    def calibrated(self, standard: str, p: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Calibrated probabilities of labels."""
        curve = self.model.confidence.get(standard)
        return p if curve is None else curve(p)

    def judged(
        self, layers: Sequence[Layer], standard: str, threads: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """The probability of each word found in annotated sentences, and whether it is right with its tag.

        Words for which the annotation is incomplete are left out.
        """
        encoding = self.encoding(standard)
        batch = units_of_layers(layers, encoding).joined()
        found = self.label(batch, Ask((standard,), confidence=True), {}, threads).of[standard]
        assert found.p is not None
        gold = gold_labels(encoding, layers)
        words = Segmentation.from_labels(encoding.meaning, batch, found.label, found.p)
        assert words.confidence is not None
        is_right = np.logical_and.reduceat(found.label == gold, words.first)
        is_known = np.logical_and.reduceat(gold >= 0, words.first)
        return words.confidence[is_known], is_right[is_known]

    def likely_labels(
        self,
        packed: _native.Sentences,
        given: list[_native.Constraints],
        labels: Mapping[str, SideLabels],
        threads: int,
    ) -> dict[str, SideLabels]:
        """Add the probabilities of all candidates to these labels."""
        answered: dict[_native.CoupledPredictor, _native.CoupledAnswers] = {}
        found = {}
        for name, own in labels.items():
            native, side = self.best_for(name), self.sides.number(name)
            if native not in answered:
                answered[native], _ = native.predict_constrained(packed, given, True, threads)
            found[name] = dataclasses.replace(own, marginals=_candidates(answered[native], side))
        return found

    def k_best_labels(
        self, sentence: UnitBatch, standard: str, constraints: Constraints, k: int, first: Ints | None = None
    ) -> list[Ranked[Ints]]:
        """The analyses of a sentence in a standard with the highest-scoring paths of bundles.

        The probability is that of the analysis in this standard, whatever the labels in the others.
        """
        wide, side = self.wide.best_for(standard), self.sides.number(standard)
        packed, given = self.packer.pack_batch(sentence), self._given(constraints)
        log_z, best = wide.k_best(packed, side, given, k)
        found = [Ranked(score, float(np.exp(score - log_z)), labels) for score, labels in best]
        found.sort(key=lambda each: -each.probability)
        if first is None:
            return found
        for each in found:
            if np.array_equal(each.analysis, first):
                return with_first(found, each, k)
        only = _native.TagSets(np.arange(len(first) + 1, dtype=np.int32), first)
        fixed = _native.Constraints(only, *NO_BONUS)
        _, ((score, _),) = wide.k_best(packed, side, self._given({**constraints, standard: fixed}), 1)
        return with_first(found, Ranked(score, min(float(np.exp(score - log_z)), 1.0), first), k)

    def _given(self, constraints: Constraints) -> list[_native.Constraints]:
        if not constraints:
            return []
        free = no_constraints()
        return [constraints.get(name, free) for name in self.standards]

    def pruning_probabilities(
        self, layers: Sequence[Layer], standard: str, *, threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """[units, labels] the probabilities from which pruning chooses the candidates of a standard.

        They come from its separate features (online pruning) or its baseline tagger (offline).
        """
        side = self.sides.number(standard)
        bare = [Layer(layer.words) for layer in layers]
        packed = self.packer.pack_batch(units_of_layers(bare, self.sides.encodings[side]), threads)
        found = self.best_for(standard).side_probabilities(packed, side, threads)
        return np.asarray(found, np.float64)

    def tags_of_words(
        self, layers: Sequence[Layer], standard: str, *, threads: int = 1
    ) -> list[tuple[str, ...]]:
        """The tags of given words in one standard, by decoding with fixed words, at either level."""
        side = self.sides.number(standard)
        bare = [dataclasses.replace(layer, tags=None) for layer in layers]
        batch = units_of_layers(bare, self.sides.encodings[side])
        packed, allowed = self.packer.pack_batch(batch, threads), self.sides.given(bare, side)
        labels = self.best_for(standard).predict(packed, allowed, False, threads).label(side)
        found = Segmentation.from_labels(self.encoding(standard).meaning, batch.joined(), labels, None)
        return [tuple(map(str, layer.tags or ())) for layer in found.layers()]

    def learned_mapping(
        self,
        layers: Sequence[Layer],
        source: str,
        target: str,
        *,
        given: bool = False,
        mapping: str | TagMapping | None = COMPLETE,
        threads: int = 1,
    ) -> npt.NDArray[np.float64]:
        """[source tags, target tags] expected counts of pairs of tags in sentences.

        With `given`, the tags of the sentences in `source` are kept, and a mapping limits the other tags as
        in a conversion; otherwise the model finds both.
        """
        a, b = self.sides.number(source), self.sides.number(target)
        packed = self.packer.pack_batch(units_of_layers(layers, self.sides.encodings[a]), threads)
        allowed = conversion_limits(self.sides, layers, a, b, mapping) if given else []
        table = np.asarray(self.natives[AVERAGE].count_pairs(packed, allowed, a, b, threads), np.float64)
        tags_a, tags_b = (len(self.sides.encodings[side].tags or ()) for side in (a, b))
        # At character level, labels are ordered by letter, each with all tags.
        return np.asarray(table.reshape(-1, tags_a, table.shape[1] // tags_b, tags_b).sum(axis=(0, 2)))


class CoupledConversion(ConversionPlan):
    """Decodes with the labels of the source's side given."""

    def __init__(
        self, predictor: CoupledPredictor, source: str, target: str, mapping: str | TagMapping | None
    ) -> None:
        sides = predictor.sides
        self._predictor, self._a, self._b = predictor, sides.number(source), sides.number(target)
        super().__init__((source, target), (sides.encodings[self._a], sides.encodings[self._b]), mapping)

    def label_limited(self, units: UnitBatch, limits: LabelLimits, ask: Ask, threads: int) -> SideLabels:
        predictor, side = self._predictor, self._b
        allowed = [no_sets()] * len(predictor.sides)
        allowed[side], allowed[self._a] = limits.target, limits.source
        if predictor.model.config.features.guide == self.source:
            guide = predictor.packer.known_guide(units.layers, threads)
            packed = predictor.packer.pack(units.pieces, guide, threads)
        else:
            packed = predictor.packer.pack_batch(units, threads)
        found = predictor.best_for(self.target).predict(packed, allowed, ask.marginals, threads)
        marginals = _candidates(found, side) if ask.marginals else None
        return SideLabels(found.label(side), found.p(side), marginals)


def _candidates(found: _native.CoupledAnswers, side: int) -> LabelRows:
    """The probabilities of the labels that survive pruning."""
    sets = found.candidates(side)
    unit = np.repeat(np.arange(len(sets.first) - 1), np.diff(sets.first))
    return LabelRows(unit, sets.tags, found.candidate_p(side).astype(np.float64))
