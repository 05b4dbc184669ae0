"""The plain tagger compiled for answering."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.labels.line_options import line_options
from duilian.lexicon import Lexicon
from duilian.lexicon.constraint_builder import NO_CONSTRAINTS, constraints_for
from duilian.models.base.packing import Packer
from duilian.models.base.sentences import Answer
from duilian.models.crf.storage import CrfModel

_log = logging.getLogger("duilian")


class CrfPredictor:
    """Answers of a plain tagger: words, tags, probabilities, k best."""

    def __init__(self, model: CrfModel) -> None:
        self.standard, self.level = model.config.standard, model.config.level
        self.packer = self._make_packer(model)
        self.encoding, self.templates = self.packer.encoding, self.packer.templates
        self.native = self._compile(model)

    def _make_packer(self, model: CrfModel) -> Packer:
        return model.packer()

    def _compile(self, model: CrfModel) -> _native.Predictor:
        encoding = self.encoding
        return _native.Predictor(
            len(encoding.labels),
            encoding.succession.native(),
            model.weights,
            self.templates.native,
            self.packer.folding.native,
        )

    def _packed(
        self, layers: Sequence[Layer], lexicon: Lexicon | None, is_text: bool, threads: int
    ) -> tuple[list[list[str]], _native.Sentences, _native.Constraints]:
        """Units of sentences, the same packed, and what a lexicon and the text itself ask for."""
        units = self.packer.units(layers)
        constraints = constraints_for(
            self.encoding, lexicon, units, layers, standard=self.standard, is_text=is_text
        )
        return units, self.packer.pack(units, layers, threads), constraints

    def predict_layers(
        self,
        layers: Sequence[Layer],
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
        threads: int = 1,
    ) -> list[Layer]:
        """The analysis of each sentence. At character level the given words are joined and cut anew; if they
        are text, white space in them ends a word, and spans that stay whole are not cut.
        """
        units, packed, constraints = self._packed(layers, lexicon, is_text, threads)
        labels, impossible = self.native.predict(packed, constraints, threads)
        if impossible:
            _log.warning("%d sentences could not be analysed as the lexicon asks", impossible)
        return self.packer.decode(units, labels, packed.first)

    def marginals(
        self,
        layers: Sequence[Layer],
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
        threads: int = 1,
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence the probability of every label at every unit, [T, L]."""
        _, packed, constraints = self._packed(layers, lexicon, is_text, threads)
        found = self.native.predict_marginals(packed, constraints, threads)
        return np.split(found, packed.first[1:-1])

    def k_best(
        self, layer: Layer, k: int, *, lexicon: Lexicon | None = None, is_text: bool = False
    ) -> list[Answer]:
        """The k most probable analyses of a sentence, best first."""
        (units,), packed, constraints = self._packed([layer], lexicon, is_text, 1)
        chain = self.native.chain(packed, constraints, 0)
        log_z, tags = chain.log_partition(), chain.tags
        return [
            Answer(self.encoding.decode(units, tags[states].tolist()), score, float(np.exp(score - log_z)))
            for score, states in chain.k_best(k)
        ]

    def k_best_labels(
        self, units: Sequence[str], constraints: Sequence[_native.Constraints], k: int
    ) -> list[tuple[float, npt.NDArray[np.int32]]]:
        """Probability and labels of the k best analyses of a split sentence, under one constraint or none."""
        chain = self.native.chain(
            self.packer.pack([units], []), constraints[0] if constraints else NO_CONSTRAINTS, 0
        )
        log_z, tags = chain.log_partition(), chain.tags
        return [(float(np.exp(score - log_z)), tags[states]) for score, states in chain.k_best(k)]

    def predict_labels(self, units: Sequence[Sequence[str]], *, threads: int = 1) -> list[list[str]]:
        """The label of every unit of split sentences (no further columns)."""
        packed = self.packer.pack(units, [], threads)
        labels, _ = self.native.predict(packed, NO_CONSTRAINTS, threads)
        flat, first = [self.encoding.labels[k] for k in labels], packed.first.tolist()
        return [flat[first[k] : first[k + 1]] for k in range(len(units))]

    def tag_lines(self, text: bytes, *, between: str = " ", before_tag: str = "_", threads: int = 1) -> bytes:
        """Lines of UTF-8 in, tagged lines out: the fast way for whole files.

        At word level a line holds words separated by blanks, at character level raw text.
        """
        return self.native.tag_lines(text, line_options(self.encoding, between, before_tag), threads)

    def tag_rows(self, text: bytes, columns: Sequence[str], *, between: str = " ", threads: int = 1) -> bytes:
        """Rows of white-space fields in, the same rows with a label at the end out: the fast way for words
        with further columns. `columns` names the fields, the word first; blank lines separate sentences.
        """
        missing = [name for name in self.templates.columns if name not in columns[1:]]
        if self.level != "word" or missing:
            raise ConfigError(
                f"rows of {', '.join(columns)} do not suit this tagger", hint=f"it needs {missing}"
            )
        field = [list(columns).index(name) for name in self.templates.columns]
        return _native.tag_rows(self.native, text, field, line_options(self.encoding, between, ""), threads)
