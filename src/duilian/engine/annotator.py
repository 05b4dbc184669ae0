"""Units in, words and trees out: label → segment → parse.

A parser may choose tags as well as heads. The tags in its standard are then always its own, with or without
trees in the answer: one question has one answer.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.document.word_table import WordTable
from duilian.engine.word_tables import empty_table, likely_tags, with_marginals, with_tags
from duilian.errors import ConfigError
from duilian.labels.segmentation import Segmentation
from duilian.labels.units import UnitBatch
from duilian.models.roles import (
    Ability,
    Ask,
    BoundaryLabeler,
    Constraints,
    Labeler,
    LabelRows,
    Labels,
    TaggedWords,
    TagProposer,
    TagRows,
    TreeAnnotator,
    Trees,
    WordLabeler,
    is_sure,
)
from duilian.wording import counted

Ints = npt.NDArray[np.int32]

_log = logging.getLogger("duilian")


@dataclasses.dataclass(frozen=True)
class Given:
    """Annotated sentences in one standard; what they say stays."""

    standard: str
    layers: Sequence[Layer]

    def layers_in(self, standard: str) -> Sequence[Layer]:
        """The sentences, if they are in this standard."""
        return self.layers if self.standard == standard else ()


NOTHING = Given("", ())


class Annotated(NamedTuple):
    """The words of a batch in one standard, and their trees if requested."""

    standard: str
    words: Segmentation
    trees: Trees | None


class Annotator:
    """A labeler, and perhaps a parser for one of its standards."""

    def __init__(self, labeler: Labeler, parser: TreeAnnotator | None) -> None:
        self.labeler, self.parser, self.standards = labeler, parser, labeler.standards
        self.encodings = {name: labeler.encoding(name) for name in self.standards}
        if parser is not None and parser.standard not in self.standards:
            names = ", ".join(self.standards)
            raise ConfigError(f"the parser's standard {parser.standard!r} is not one of {names}")
        self._maker = labeler if isinstance(labeler, WordLabeler) else None
        self._cutter = labeler if isinstance(labeler, BoundaryLabeler) else None
        chooses = parser is not None and Ability.TAGS in parser.abilities
        self._proposer = labeler if chooses and isinstance(labeler, TagProposer) else None

    def annotated(
        self, units: UnitBatch, constraints: Constraints, ask: Ask, threads: int, given: Given = NOTHING
    ) -> Iterator[Annotated]:
        """Yield words, tags and trees in each standard asked for."""
        is_plain = given is NOTHING and not ask.marginals and not self._chooses_tags(ask)
        if self._maker is not None and is_plain:
            words, impossible = self._maker.label_words(units, ask, constraints, threads)
            _warn(impossible)
            for name in ask.standards:
                trees = self._parsed(words[name], None, (), threads) if self._has_trees(name, ask) else None
                yield Annotated(name, words[name], trees)
            return
        labels, candidates = self._labels(units, constraints, ask, threads)
        for name in ask.standards:
            known = given.layers_in(name)
            # A given word stays one word, even with white space in it.
            own = units.joined() if known else units
            side, encoding = labels.of[name], self.encodings[name]
            found = Segmentation.from_labels(encoding.meaning, own, side.label, side.p)
            found, trees = self._with_trees(name, found, candidates, known, ask, threads)
            if ask.marginals:
                found = with_marginals(found, encoding, side.rows())
            yield Annotated(name, found, trees)

    def segmented(
        self, units: UnitBatch, constraints: Constraints, standard: str, threads: int
    ) -> Segmentation:
        """Return words without tags."""
        meaning = self.encodings[standard].meaning
        if self._cutter is not None:
            label, impossible = self._cutter.label_boundaries(units, standard, constraints, threads)
            _warn(impossible)
            return Segmentation.from_labels(meaning, units, label, None)
        ask = Ask((standard,), tags=False, trees=False)
        labels, _ = self._labels(units, constraints, ask, threads)
        return Segmentation.from_labels(meaning, units, labels.of[standard].label, None)

    def best_labels(self, units: UnitBatch, constraints: Constraints, standard: str) -> Ints:
        """Return the labels of the words and tags that `annotated` finds."""
        ask = Ask((standard,), trees=False)
        labels, candidates = self._labels(units, constraints, ask, 1)
        label = labels.of[standard].label
        if candidates is None:
            return label
        found = Segmentation.from_labels(self.encodings[standard].meaning, units, label, None)
        chosen, _ = self._with_trees(standard, found, candidates, (), ask, 1)
        lengths = np.diff(found.first, append=len(units))
        return (label + np.repeat(chosen.labels - found.labels, lengths)).astype(np.int32)

    def empty_table(self, standard: str, ask: Ask) -> WordTable:
        """Return the table of a text without words."""
        return empty_table(
            self.encodings[standard].tags if ask.tags else None,
            has_confidence=ask.confidence or ask.marginals or is_sure(self.labeler),
            has_tree=self._has_trees(standard, ask),
            has_marginals=ask.marginals,
        )

    def _has_trees(self, standard: str, ask: Ask) -> bool:
        return ask.trees and self.parser is not None and self.parser.standard == standard

    def _chooses_tags(self, ask: Ask) -> bool:
        """Whether the parser must run for its tags."""
        if self._proposer is None or self.parser is None:
            return False
        return (ask.tags or ask.trees) and self.parser.standard in ask.standards

    def _labels(
        self, units: UnitBatch, constraints: Constraints, ask: Ask, threads: int
    ) -> tuple[Labels, LabelRows | None]:
        """Return labels and, for a parser that chooses tags, the candidates to choose from."""
        candidates = None
        if self._proposer is not None and self.parser is not None and self._chooses_tags(ask):
            labels, candidates = self._proposer.label_with_candidates(
                units, ask, constraints, threads, self.parser.standard
            )
        else:
            labels = self.labeler.label(units, ask, constraints, threads)
        _warn(labels.impossible)
        return labels, candidates

    def _with_trees(
        self,
        standard: str,
        found: Segmentation,
        candidates: LabelRows | None,
        given: Sequence[Layer],
        ask: Ask,
        threads: int,
    ) -> tuple[Segmentation, Trees | None]:
        """Return the words with the parser's tags, if it chooses them, and its trees, if requested."""
        has_trees = self._has_trees(standard, ask)
        if candidates is None or self.parser is None or self.parser.standard != standard:
            return found, self._parsed(found, None, given, threads) if has_trees else None
        count = max(len(self.encodings[standard].tags or ()), 1)
        likely = likely_tags(found, count, candidates)
        trees = self._parsed(found, likely, given, threads, wants_trees=has_trees)
        if trees.tag is not None and self._proposer is not None:
            calibrated = functools.partial(self._proposer.calibrated, standard)
            found = with_tags(found, count, trees.tag, likely, calibrated)
        return found, trees if has_trees else None

    def _parsed(
        self,
        found: Segmentation,
        likely: TagRows | None,
        given: Sequence[Layer],
        threads: int,
        *,
        wants_trees: bool = True,
    ) -> Trees:
        assert self.parser is not None
        tags = self.encodings[self.parser.standard].tags or ()
        numbers = found.labels % max(len(tags), 1)
        sentences = TaggedWords(found.sentences(), numbers, tags, likely, wants_trees)
        return self.parser.annotate(sentences, given, threads)


def _warn(impossible: int) -> None:
    if impossible:
        _log.warning("%s could not be analysed with the lexicon's words", counted(impossible, "sentence"))
