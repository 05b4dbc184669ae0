"""One standard of a coupled tagger, with the questions of a plain one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError
from duilian.labels.line_options import line_options
from duilian.lexicon import Lexicon
from duilian.lexicon.constraint_builder import NO_CONSTRAINTS, constraints_for
from duilian.models.base.sentences import Answer, Sentences, layer_of, layers_of
from duilian.models.coupled.conversion_answers import marginal_tables
from duilian.models.coupled.predictor import CoupledAnswer, CoupledPredictor

if TYPE_CHECKING:
    from duilian.models.coupled.model import CoupledTagger

_log = logging.getLogger("duilian")


class CoupledSide:
    """One standard of a coupled tagger, with the questions of a plain one."""

    segment_only: ClassVar[bool] = False

    def __init__(self, tagger: CoupledTagger, standard: str) -> None:
        self.tagger, self.standard = tagger, standard
        self._number = self._predictor.sides.number(standard)
        self.encoding_ = tagger.encodings_[self._number]
        self.templates_, self.level = tagger.templates_, tagger.level
        self.notes_ = getattr(tagger, "notes_", {})

    @property
    def _predictor(self) -> CoupledPredictor:
        return self.tagger.predictor_

    def predict_layers(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
        threads: int = 1,
    ) -> list[Layer]:
        """The analysis of each sentence, under a lexicon for this standard if there is one; white space in
        text ends a word, and parts that stay whole are not cut.
        """
        answer = self._answers(X, lexicon, is_text=is_text, threads=threads)
        return self._predictor.layers(answer, self._number)

    def marginals(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
        threads: int = 1,
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence the probability of every label at every unit, [T, L]; 0 for what was pruned."""
        answer = self._answers(X, lexicon, is_text=is_text, with_candidates=True, threads=threads)
        return marginal_tables(answer.found, self._number, answer.first, len(self.encoding_.labels))

    def k_best(
        self,
        sentence: Layer | Sentence | Sequence[str],
        k: int,
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
    ) -> list[Answer]:
        """The analyses of a sentence whose best paths of bundles score highest, the most probable first.

        The probability is that of the analysis in this standard, whatever goes with it in the others.
        """
        layer = layer_of(sentence, self.standard)
        units = self.encoding_.split(layer.words)[0]
        own = constraints_for(
            self.encoding_, lexicon, [units], [layer], standard=self.standard, is_text=is_text
        )
        packed, native = self._predictor.packer.pack([units]), self._predictor.best_for(self.standard)
        log_z, found = native.k_best(packed, self._number, self._own_constraints(own), k)
        return [
            Answer(self.encoding_.decode(units, labels.tolist()), score, float(np.exp(score - log_z)))
            for score, labels in found
        ]

    def _own_constraints(self, own: _native.Constraints) -> list[_native.Constraints]:
        """Constraints for this standard, and none for the others."""
        found = [NO_CONSTRAINTS] * len(self._predictor.sides)
        found[self._number] = own
        return found

    def _answers(
        self,
        sentences: Sentences,
        lexicon: Lexicon | None,
        *,
        is_text: bool,
        with_candidates: bool = False,
        threads: int,
    ) -> CoupledAnswer:
        layers = layers_of(sentences, self.standard)
        units = self._predictor.sides.units(layers, self._number)
        packed = self._predictor.packer.pack(units, threads=threads)
        constraints = constraints_for(
            self.encoding_, lexicon, units, layers, standard=self.standard, is_text=is_text
        )
        found, impossible = self._predictor.best_for(self.standard).predict_constrained(
            packed, self._own_constraints(constraints), with_candidates, threads
        )
        if impossible:
            _log.warning("%d sentences could not be analysed as the lexicon asks", impossible)
        return CoupledAnswer(units, packed.first, found)

    def tag_lines(self, text: bytes, *, between: str = " ", before_tag: str = "_", threads: int = 1) -> bytes:
        """Lines of UTF-8 in, tagged lines out, as `Tagger.tag_lines`."""
        if self._predictor.packer.source is not None:
            raise ConfigError("a tagger with guide features does not tag lines")
        encodings = self._predictor.sides.encodings
        starts = [line_options(encoding, between, before_tag).starts for encoding in encodings]
        options = line_options(self.encoding_, between, before_tag)
        native = self._predictor.best_for(self.standard)
        return native.tag_lines(self._number, starts, text, options, threads)
