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
from duilian.lexicon import Lexicon
from duilian.models.coupled_conversion import marginal_tables
from duilian.models.coupled_labels import decode_layers
from duilian.models.line_options import line_options
from duilian.models.tagger import Answer, Sentences, layer_of
from duilian.models.wishing import NO_WISHES, wishes_for

if TYPE_CHECKING:
    from duilian.models.coupled import CoupledTagger


_log = logging.getLogger("duilian")


class CoupledSide:
    """One standard of a coupled tagger, with the questions of a plain one."""

    segment_only: ClassVar[bool] = False

    def __init__(self, tagger: CoupledTagger, standard: str) -> None:
        self.tagger, self.standard = tagger, standard
        self._number = tagger.side(standard)
        self.encoding_ = tagger.encodings_[self._number]
        self.templates_, self.level = tagger.templates_, tagger.level
        self.notes_ = getattr(tagger, "notes_", {})

    def predict_layers(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
    ) -> list[Layer]:
        """The analysis of each sentence, under a lexicon for this standard if there is one; white space in
        text ends a word, and parts that stay whole are not cut.
        """
        units, first, found = self._answers(X, lexicon, is_text=is_text)
        return decode_layers(self.encoding_, units, found.label(self._number), first)

    def marginals(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence the probability of every label at every unit, [T, L]; 0 for what was pruned."""
        _, first, found = self._answers(X, lexicon, is_text=is_text, with_candidates=True)
        return marginal_tables(found, self._number, first, len(self.encoding_.labels))

    def k_best(
        self,
        sentence: Layer | Sentence | Sequence[str],
        k: int,
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
    ) -> list[Answer]:
        """The analyses of a sentence whose best paths of bundles score highest, the most probable first.

        The probability is that of the analysis after this standard, whatever goes with it in the others.
        """
        layer = layer_of(sentence, self.standard)
        units = self.encoding_.split(layer.words)[0]
        own = wishes_for(self.encoding_, lexicon, [units], [layer], standard=self.standard, is_text=is_text)
        log_z, found = self._predictor.k_best(self.tagger._pack([units]), self._number, self._wishes(own), k)
        return [
            Answer(self.encoding_.decode(units, labels.tolist()), score, float(np.exp(score - log_z)))
            for score, labels in found
        ]

    def _wishes(self, own: _native.Constraints) -> list[_native.Constraints]:
        """Wishes for this standard, and none for the others."""
        found = [NO_WISHES] * len(self.tagger.standards)
        found[self._number] = own
        return found

    @property
    def _predictor(self) -> _native.CoupledPredictor:
        return self.tagger.predictor_for(self.standard)

    def _answers(
        self,
        sentences: Sentences,
        lexicon: Lexicon | None,
        *,
        is_text: bool = False,
        with_candidates: bool = False,
    ) -> tuple[list[list[str]], npt.NDArray[np.int64], _native.CoupledAnswers]:
        layers = self.tagger._layers(sentences, self.standard)
        units = [self.encoding_.split(layer.words)[0] for layer in layers]
        packed = self.tagger._pack(units)
        wishes = wishes_for(self.encoding_, lexicon, units, layers, standard=self.standard, is_text=is_text)
        found, impossible = self._predictor.predict_constrained(
            packed, self._wishes(wishes), with_candidates, self.tagger.threads
        )
        if impossible:
            _log.warning("%d sentences could not be analysed as the lexicon asks", impossible)
        return units, packed.first, found

    def tag_lines(self, text: bytes, *, between: str = " ", before_tag: str = "_") -> bytes:
        """Lines of UTF-8 in, tagged lines out, as `Tagger.tag_lines`."""
        tagger = self.tagger
        if tagger.guide is not None:
            raise ConfigError("a tagger with guide features does not tag lines")
        starts = [line_options(encoding, between, before_tag).starts for encoding in tagger.encodings_]
        options = line_options(self.encoding_, between, before_tag)
        return self._predictor.tag_lines(self._number, starts, text, options, tagger.threads)
