"""The two seams between models and the analyser: a `Labeler` finds words and tags, a `TreeAnnotator` trees.

Every model of ours that reads sentences has one of these roles, and so can a foreign tagger: the analyser
asks nothing else of a model. What a model cannot do, its abilities say.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.labels.encoding import Encoding, Level
from duilian.labels.units import UnitBatch

Ints = npt.NDArray[np.int32]


class Ability(enum.StrEnum):
    """What a model can be asked for."""

    WORDS = "words"  # it cuts text into words
    TAGS = "tags"
    CONSTRAINTS = "lexicon and given annotation"
    MARGINALS = "probabilities"
    NBEST = "n best"
    TREES = "trees"
    CONVERSION = "conversion"


@dataclasses.dataclass(frozen=True)
class Ask:
    """What is wanted of an analysis; nothing else is computed.

    `standards`: the standards to answer in, all if empty. `fast`: words from the small segmenter that a model
    may have, less accurate. `marginals`: the probability of every likely tag.
    """

    standards: tuple[str, ...] = ()
    tags: bool = True
    trees: bool = True
    confidence: bool = True
    marginals: bool = False
    fast: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.standards, str):
            raise ConfigError("standards must be a list of names", f"write standards=[{self.standards!r}]")
        object.__setattr__(self, "standards", tuple(self.standards))


class LabelRows(NamedTuple):
    """Probable labels of units, one row per unit and label."""

    unit: npt.NDArray[np.int64]
    label: Ints
    p: npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class SideLabels:
    """The labels of all units of a batch in one standard."""

    label: Ints  # [units]
    p: npt.NDArray[np.float32] | None = None  # [units]  probability of each label, if asked for and known
    rows: LabelRows | None = None  # if marginals were asked for


@dataclasses.dataclass(frozen=True)
class Labels:
    """The answer of a labeler: labels by standard, and the number of sentences that broke constraints."""

    of: Mapping[str, SideLabels]
    impossible: int = 0


Constraints = Mapping[str, _native.Constraints]
"""What is known of the labels in each standard; a standard that is missing is free."""


@runtime_checkable
class Labeler(Protocol):
    """Finds words and tags: labels the units of a batch."""

    @property
    def kind(self) -> str:
        """The name of the kind of model."""

    @property
    def level(self) -> Level:
        """Whether units are words or characters."""

    @property
    def standards(self) -> tuple[str, ...]:
        """The standards it answers in; the first is the default."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can be asked for."""

    def encoding(self, standard: str) -> Encoding:
        """How words and tags in a standard become labels."""

    def label(self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int) -> Labels:
        """Label all units in the standards asked for."""

    def k_best(
        self, sentence: UnitBatch, standard: str, constraints: Constraints, k: int
    ) -> list[tuple[float, Ints]]:
        """Return probability and labels of the best analyses of one sentence in one standard."""


class TaggedWords(NamedTuple):
    """Sentences for a parser: their words, and for all words in a row the number of their tag in `names`."""

    words: Sequence[Sequence[str]]
    tag: Ints  # [words of all sentences]
    names: tuple[str, ...]


class Trees(NamedTuple):
    """Head (counted from 1 in its sentence, 0 for the root) and relation of all words, in a row."""

    heads: Ints
    relation: Ints | None  # numbers of `names`; None if the parser has no relations
    names: tuple[str, ...]


@runtime_checkable
class TreeAnnotator(Protocol):
    """Finds heads and relations of tagged words."""

    @property
    def kind(self) -> str:
        """The name of the kind of model."""

    @property
    def standard(self) -> str:
        """The standard whose words and tags it takes."""

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer], threads: int) -> Trees:
        """Parse sentences of any length; `given` (none, or one for each sentence) is annotation to keep."""
