"""The plain tagger compiled for answering."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

import numpy as np

from duilian import _native
from duilian.errors import ConfigError
from duilian.features import Reading
from duilian.labels.encoding import Encoding
from duilian.labels.line_options import line_options
from duilian.labels.units import UnitBatch
from duilian.lexicon.constraint_builder import no_constraints
from duilian.models.base.packing import Packer
from duilian.models.base.standard_tagger import StandardTagger
from duilian.models.crf.storage import CrfModel
from duilian.models.roles import Ability, Ask, Constraints, Ints, Labels, Ranked, SideLabels, with_first

PROBABILITIES = frozenset({Ability.MARGINALS, Ability.NBEST})


def abilities_of(encoding: Encoding) -> frozenset[Ability]:
    """Whether labels determine words, tags or both."""
    words = frozenset({Ability.WORDS}) if encoding.level == "char" else frozenset()
    return words | ({Ability.TAGS} if encoding.tags is not None else frozenset())


class CrfPredictor(StandardTagger):
    """Answers of a plain tagger: words, tags, probabilities, k best."""

    def __init__(self, model: CrfModel) -> None:
        self.kind, self.standard, self.level = model.kind, model.config.standard, model.config.level
        self.standards = (self.standard,)
        self.packer = self.make_packer(model)
        self.templates = self.packer.templates
        self.native = self.compile(model)
        self._free = no_constraints()

    @property
    def labeler(self) -> CrfPredictor:
        return self

    @property
    def reads(self) -> Literal["text", "words"]:
        """Words at word level, else text."""
        return "words" if self.level == "word" else "text"

    @property
    def abilities(self) -> frozenset[Ability]:
        """All that a chain over a lattice can do."""
        return abilities_of(self.encoding_) | {Ability.CONSTRAINTS} | PROBABILITIES

    @property
    def reading(self) -> Reading:
        """How the model reads text."""
        return self.packer.reading

    def encoding(self, standard: str) -> Encoding:
        """How annotation becomes labels."""
        return self.packer.encoding

    def make_packer(self, model: CrfModel) -> Packer:
        """How sentences are packed for the core."""
        return model.packer()

    def compile(self, model: CrfModel) -> _native.Predictor:
        """The native predictor."""
        encoding = self.encoding_
        return _native.Predictor(
            len(encoding.labels),
            encoding.succession.native(),
            model.weights,
            self.templates.native,
            self.packer.reading.native,
        )

    def label(self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int) -> Labels:
        """Label all units."""
        packed, own = self.packer.pack_batch(batch, threads), constraints.get(self.standard, self._free)
        label, impossible = self.native.predict(packed, own, threads)
        if ask.confidence or ask.marginals:
            table = self.native.predict_marginals(packed, own, threads)
            return Labels({self.standard: SideLabels.with_table(label, table, ask)}, impossible)
        return Labels({self.standard: SideLabels(label)}, impossible)

    def k_best_labels(
        self, sentence: UnitBatch, standard: str, constraints: Constraints, k: int, first: Ints | None = None
    ) -> list[Ranked[Ints]]:
        """The best analyses of a sentence."""
        packed, own = self.packer.pack_batch(sentence), constraints.get(standard, self._free)
        chain = self.native.chain(packed, own, 0)
        log_z, tags = chain.log_partition(), chain.tags
        found = [
            Ranked(score, float(np.exp(score - log_z)), tags[states]) for score, states in chain.k_best(k)
        ]
        # Several best paths may score the same; the one that is the answer comes first.
        if first is not None and found and not np.array_equal(found[0].analysis, first):
            return with_first(found, Ranked(found[0].score, found[0].probability, first), k)
        return found

    def predict_labels(self, units: Sequence[Sequence[str]], *, threads: int = 1) -> list[list[str]]:
        """The label of each unit, for sentences that are split into units and have no further columns."""
        labels = iter(self.label_numbers(units, threads).tolist())
        return [
            [self.encoding_.labels[label] for label in itertools.islice(labels, len(row))] for row in units
        ]

    def label_numbers(self, words: Sequence[Sequence[str]], threads: int = 1) -> Ints:
        """The numbers of the labels of all units, for sentences without further columns."""
        return self.native.predict(self.packer.pack(words, [], threads), self._free, threads)[0]

    def tag_lines(self, text: bytes, *, between: str = " ", before_tag: str = "_", threads: int = 1) -> bytes:
        """Tag lines of UTF-8 text: the fast way for whole files.

        At word level a line holds words separated by blanks, at character level raw text.
        """
        return self.native.tag_lines(text, line_options(self.encoding_, between, before_tag), threads)

    def tag_rows(self, text: bytes, columns: Sequence[str], *, between: str = " ", threads: int = 1) -> bytes:
        """Add a label to the end of each row: the fast way for words with further columns.

        White space separates fields, blank lines separate sentences. `columns` names the fields, word first.
        """
        missing = [name for name in self.templates.columns if name not in columns[1:]]
        if self.level != "word" or missing:
            raise ConfigError(
                f"rows of {', '.join(columns)} do not suit this tagger", hint=f"it needs {missing}"
            )
        field = [list(columns).index(name) for name in self.templates.columns]
        return _native.tag_rows(self.native, text, field, line_options(self.encoding_, between, ""), threads)
