"""A tagger for one standard: sentences in; layers, tags, probabilities or the k best analyses out.

Plain taggers are of this type, and so is each standard of a model that has several. They all use a `Labeler`.
"""

from __future__ import annotations

import abc
import dataclasses
import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian import evaluation
from duilian.arguments import checked
from duilian.corpus import Layer, Sentence
from duilian.labels.encoding import Encoding, Level
from duilian.labels.segmentation import Segmentation
from duilian.labels.units import UnitBatch, units_of_layers
from duilian.lexicon import Lexicon
from duilian.lexicon.constraint_builder import ConstraintBuilder
from duilian.models.base.sentences import Sentences, layer_of, layers_of
from duilian.models.roles import Ability, Ask, Constraints, Labeler, Ranked, SideLabels, letter_words, refuse
from duilian.wording import counted

_log = logging.getLogger("duilian")


class StandardTagger(abc.ABC):
    """Answers in one standard."""

    standard: str
    level: Level
    scores_segments: bool = False  # whether answers are boundaries of chunks, scored as segments

    @property
    @abc.abstractmethod
    def labeler(self) -> Labeler:
        """The model that answers."""

    @property
    def encoding_(self) -> Any:
        """How annotation becomes labels."""
        return self.unit_encoding_

    @property
    def unit_encoding_(self) -> Encoding:
        """How words and tags become the labels of the labeler."""
        return self.labeler.encoding(self.standard)

    def layers(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> list[Layer]:  # noqa: N803
        """Annotated sentences in any of the accepted forms, as layers."""
        return layers_of(X, self.standard, y)

    @checked
    def predict_layers(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        threads: int = 1,
    ) -> list[Layer]:
        """The analysis of each sentence. At character level, words are joined and segmented again."""
        batch = self._batch(self.layers(X))
        if not len(batch):
            return [Layer((), None if self.unit_encoding_.tags is None else ()) for _ in batch.layers]
        labels = self._ask(batch, Ask(), lexicon, threads).label
        found = Segmentation.from_labels(self.unit_encoding_.meaning, batch, labels, None).layers()
        if (
            self.labeler.reads == "words" and self.unit_encoding_.level == "char"
        ):  # given words stay as they are
            return [dataclasses.replace(a, tags=b.tags) for a, b in zip(batch.layers, found, strict=True)]
        return found

    @checked
    def predict(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        threads: int = 1,
    ) -> list[list[str]]:
        """The tags of the words of each sentence; the words themselves if the tagger only segments."""
        return [
            [str(tag) for tag in layer.tags] if layer.tags is not None else list(layer.words)
            for layer in self.predict_layers(X, lexicon=lexicon, threads=threads)
        ]

    @checked
    def score(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> float:  # noqa: N803
        """Accuracy of tags at word level, F1 of words (with tags, if any) at character level; from 0 to 1."""
        gold, is_cut = self.layers(X, y), self.unit_encoding_.level == "char"
        return evaluation.main_score(gold, self.predict_layers(gold), is_cut=is_cut) / 100.0

    @checked
    def marginals(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        threads: int = 1,
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence, [T, L] the probability of each label (`encoding_.labels`) at each unit.

        Pruned labels have a probability of 0.
        """
        if Ability.MARGINALS not in self.labeler.abilities:
            raise refuse(self.labeler, Ability.MARGINALS)
        batch = self._batch(self.layers(X))
        if not len(batch):
            return [np.zeros((0, len(self.unit_encoding_.labels))) for _ in batch.layers]
        found = self._ask(batch, Ask(confidence=True, marginals=True), lexicon, threads)
        return np.split(found.table(len(self.unit_encoding_.labels)), batch.sentence[1:-1])

    @checked
    def k_best(
        self, sentence: Layer | Sentence | Sequence[str], k: int, *, lexicon: Lexicon | None = None
    ) -> list[Ranked[Layer]]:
        """The k most probable analyses of a sentence, best first."""
        if Ability.NBEST not in self.labeler.abilities:
            raise refuse(self.labeler, Ability.NBEST)
        batch, meaning = self._batch([layer_of(sentence, self.standard)]), self.unit_encoding_.meaning
        found = self.labeler.k_best_labels(batch, self.standard, self._constraints(batch, lexicon), k)
        return [
            Ranked(score, p, Segmentation.from_labels(meaning, batch, labels, None).layers()[0])
            for score, p, labels in found
        ]

    def segments_of(self, layer: Layer) -> Layer:
        """The segments of an annotated sentence as words, to score only boundaries."""
        return layer

    def _batch(self, layers: Sequence[Layer]) -> UnitBatch:
        return units_of_layers(layers, self.unit_encoding_)

    def _constraints(self, batch: UnitBatch, lexicon: Lexicon | None) -> Constraints:
        can_be_told = Ability.CONSTRAINTS in self.labeler.abilities
        if lexicon is not None and not can_be_told:
            raise refuse(self.labeler, Ability.CONSTRAINTS, "use a model of kind crf")
        letters = letter_words(self.labeler, "standard")  # as gold annotation has them
        if lexicon is None and letters is None and not (can_be_told and batch.is_apart.any()):
            return {}
        return ConstraintBuilder({self.standard: self.unit_encoding_}, lexicon, letters).constraints(batch)

    def _ask(self, batch: UnitBatch, ask: Ask, lexicon: Lexicon | None, threads: int) -> SideLabels:
        own = Ask((self.standard,), ask.tags, ask.trees, ask.confidence, ask.marginals)
        found = self.labeler.label(batch, own, self._constraints(batch, lexicon), threads)
        if found.impossible:
            number = counted(found.impossible, "sentence")
            _log.warning("%s could not be analysed with the lexicon's words", number)
        return found.of[self.standard]
