"""The two seams between models and the analyser: a `Labeler` finds words and tags, a `TreeAnnotator` trees.

Every model of ours that reads sentences has one of these roles, and so can anyone else's: the analyser needs
no more from a model. Its abilities tell what it can do.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.arguments import check_fields
from duilian.corpus import Layer
from duilian.errors import ArgumentError, ConfigError, did_you_mean
from duilian.labels.encoding import Encoding
from duilian.labels.segmentation import Segmentation
from duilian.labels.units import UnitBatch
from duilian.lexicon.letter_words import English, LetterWords
from duilian.models.offers import OffersConfidence, OffersReading, OffersWayOut

Ints = npt.NDArray[np.int32]
Table = npt.NDArray[np.float64]


class Ability(enum.StrEnum):
    """What a model can do."""

    WORDS = "find words"
    TAGS = "find tags"
    CONSTRAINTS = "take a lexicon or given annotation"
    MARGINALS = "give probabilities"
    NBEST = "give n-best lists"
    TREES = "find trees"
    CONVERSION = "convert annotation"


@dataclasses.dataclass(frozen=True)
class Ask:
    """What the caller requests from an analysis; nothing else is computed.

    `standards` are those to answer in, all if empty. `confidence` is the probability of each word and tag,
    which costs coupled models no time. `marginals` are the probabilities of all likely tags. `fast` takes
    words from the model's fast segmenter, if it has one: less accurate, and without tags and trees.

    >>> Ask(standards=("pku",), trees=False).tags
    True
    """

    standards: tuple[str, ...] = ()
    tags: bool = True
    trees: bool = True
    confidence: bool = False
    marginals: bool = False
    fast: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.standards, str):
            raise ConfigError("standards must be a list of names", f"write standards=[{self.standards!r}]")
        if isinstance(self.standards, Iterable):
            object.__setattr__(self, "standards", tuple(self.standards))
        check_fields(self)
        for name in self.standards:
            if not isinstance(name, str):
                raise ArgumentError(f"standards must be a list of names, got {name!r} in it")


class LabelRows(NamedTuple):
    """Probable labels of units, one row per unit and label."""

    unit: npt.NDArray[np.int64]
    label: Ints
    p: npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class SideLabels:
    """The labels of all units of a batch in one standard."""

    label: Ints  # [units]
    p: npt.NDArray[np.float32] | None = None  # [units]  probability of each label, if requested
    marginals: Table | LabelRows | None = None  # of all labels, [units, labels], or of the likely ones

    @classmethod
    def with_table(cls, label: Ints, table: Table, ask: Ask) -> SideLabels:
        """Labels with the probabilities that are requested, out of those of all labels."""
        p = np.take_along_axis(table, label[:, None].astype(np.int64), axis=1)[:, 0].astype(np.float32)
        return cls(label, p, table if ask.marginals else None)

    def rows(self) -> LabelRows:
        """The probabilities as rows."""
        if isinstance(self.marginals, LabelRows):
            return self.marginals
        assert self.marginals is not None
        unit, label = np.nonzero(self.marginals)
        return LabelRows(unit, label.astype(np.int32), self.marginals[unit, label])

    def updated(self, places: npt.NDArray[np.int64], other: SideLabels, labels: int) -> SideLabels:
        """The same with the units at these places taken from `other`; `labels` is the number of labels."""
        label = self.label.copy()
        label[places] = other.label
        p, marginals = self.p, self.marginals
        if p is not None and other.p is not None:
            p = p.copy()
            p[places] = other.p
        if marginals is not None:
            marginals = self.table(labels).copy()
            marginals[places] = other.table(labels)
        return SideLabels(label, p, marginals)

    def table(self, labels: int) -> Table:
        """The probabilities as a table, with 0 for pruned labels."""
        if not isinstance(self.marginals, LabelRows):
            assert self.marginals is not None
            return self.marginals
        found = np.zeros((len(self.label), labels))
        found[self.marginals.unit, self.marginals.label] = self.marginals.p
        return found


@dataclasses.dataclass(frozen=True)
class Labels:
    """The answer of a labeler: labels by standard, and the number of sentences that broke constraints."""

    of: Mapping[str, SideLabels]
    impossible: int = 0


Constraints = Mapping[str, _native.Constraints]
"""Constraints on labels by standard; a standard that is missing is unconstrained."""


Analysis = TypeVar("Analysis")


class Ranked(NamedTuple, Generic[Analysis]):
    """One of the best analyses of a sentence: its labels, or words and tags as a layer."""

    score: float
    probability: float
    analysis: Analysis


@runtime_checkable
class Labeler(Protocol):
    """Finds words and tags: labels the units of a batch."""

    @property
    def kind(self) -> str:
        """The name of the kind of model."""

    @property
    def reads(self) -> Literal["text", "words"]:
        """What it takes: text, which it cuts into words, or words."""

    @property
    def standards(self) -> tuple[str, ...]:
        """The standards it answers in; the first is the default."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can do."""

    def encoding(self, standard: str) -> Encoding:
        """How words and tags in a standard become labels."""

    def label(self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int) -> Labels:
        """Label all units in the requested standards."""

    def k_best_labels(
        self, sentence: UnitBatch, standard: str, constraints: Constraints, k: int, first: Ints | None = None
    ) -> list[Ranked[Ints]]:
        """Return the best analyses of one sentence in one standard, most probable first.

        `first` are the labels of an analysis to put first, whatever its rank.
        """


@runtime_checkable
class WordLabeler(Labeler, Protocol):
    """A labeler that makes words of its labels itself, without arrays on the way: for short texts."""

    def label_words(
        self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int
    ) -> tuple[dict[str, Segmentation], int]:
        """Return the words that `label` finds, and the number of sentences that broke constraints."""


@runtime_checkable
class BoundaryLabeler(Labeler, Protocol):
    """A labeler that is faster if only the boundaries of words matter."""

    def label_boundaries(
        self, batch: UnitBatch, standard: str, constraints: Constraints, threads: int
    ) -> tuple[Ints, int]:
        """Return labels that make the words of `label`, perhaps with other tags; and the number of sentences
        that broke constraints.
        """


@runtime_checkable
class TagProposer(Labeler, Protocol):
    """A labeler that proposes tags to a parser which chooses them together with the tree."""

    def label_with_candidates(
        self, batch: UnitBatch, ask: Ask, constraints: Constraints, threads: int, standard: str
    ) -> tuple[Labels, LabelRows]:
        """Label as `label` does; add the probabilities of all labels in one standard that pruning left."""

    def calibrated(self, standard: str, p: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Turn probabilities of labels into confidence."""


def is_sure(labeler: Labeler) -> bool:
    """Whether a labeler gives confidence even if nobody asks for it."""
    return isinstance(labeler, OffersConfidence) and labeler.is_always_sure


def chosen_standard(name: str | None, standards: Collection[str]) -> str:
    """The standard of this name, in upper or lower case; the first if there is no name."""
    if name is None:
        return next(iter(standards))
    if not isinstance(name, str):
        raise ConfigError(
            f"expected the name of a standard, got {name!r}", f"such as {next(iter(standards))!r}"
        )
    for each in standards:
        if each.casefold() == name.casefold():
            return each
    raise ConfigError(f"there is no standard {name!r}", did_you_mean(name.casefold(), standards))


def letter_words(labeler: Labeler, english: English) -> LetterWords | None:
    """Facts about alphabetic words, if a labeler has learned to tag them and can use facts; else None."""
    if Ability.CONSTRAINTS not in labeler.abilities:
        return None
    return LetterWords.of(labeler.reading, english) if isinstance(labeler, OffersReading) else None


def refuse(model: Labeler | TreeAnnotator, what: Ability, instead: str = "") -> ConfigError:
    """The error for something that a model cannot do; the hint is the model's own, if it has one."""
    hint = model.way_out if isinstance(model, OffersWayOut) else instead
    message = f"a model of kind {model.kind!r} cannot {what.value}"
    return ConfigError(message, hint or "docs/models.md says which kinds can")


def with_first(found: list[Ranked[Ints]], first: Ranked[Ints], k: int) -> list[Ranked[Ints]]:
    """Put an analysis at the front of the k best."""
    others = [each for each in found if not np.array_equal(each.analysis, first.analysis)]
    return [first, *others[: k - 1]]


class TagRows(NamedTuple):
    """Probable tags of words, one row per word and tag, sorted by both."""

    word: npt.NDArray[np.int64]
    tag: npt.NDArray[np.int64]
    p: npt.NDArray[np.float64]


class TaggedWords(NamedTuple):
    """Sentences for a parser: the words of each, and the tags of all words, as numbers of `names`."""

    words: Sequence[Sequence[str]]
    tag: Ints  # [words of all sentences]
    names: tuple[str, ...]
    likely: TagRows | None = None  # tags to choose from, for a parser that finds tags itself
    wants_trees: bool = True  # if not, such a parser may leave heads open where there is no choice


class Trees(NamedTuple):
    """Heads (counted from 1 in the sentence, 0 for the root) and relations of the words of all sentences."""

    heads: Ints
    relation: Ints | None  # numbers of `names`; None if the parser has no relations
    names: tuple[str, ...]
    tag: Ints | None = None  # from a parser that chose among the likely tags


@dataclasses.dataclass(frozen=True)
class ConvertedTree:
    """A sentence in the standard that it was converted to, with the confidence of each head."""

    layer: Layer
    confidence: tuple[float, ...]


@runtime_checkable
class TreeTranslator(Protocol):
    """Converts trees from one standard to another; other models that convert are labelers."""

    @property
    def standards(self) -> tuple[str, ...]:
        """The standards it converts to, then those it converts from."""

    @property
    def conversions(self) -> tuple[tuple[str, str], ...]:
        """The conversions it can do, as pairs (from, to)."""

    def unknown_relations(self, layer: Layer) -> list[tuple[int, str]]:
        """The relations of a sentence that it has never seen, each with its word (from 0)."""

    def convert_trees(self, layers: Sequence[Layer], threads: int) -> list[ConvertedTree]:
        """Convert sentences with complete trees."""


@runtime_checkable
class TreeAnnotator(Protocol):
    """Finds heads and relations of tagged words."""

    @property
    def kind(self) -> str:
        """The name of the kind of model."""

    @property
    def standard(self) -> str:
        """The standard whose words and tags it takes."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can be asked for; with `Ability.TAGS`, it also chooses tags."""

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer], threads: int) -> Trees:
        """Parse sentences of any length; `given` is annotation to keep: none, or one layer per sentence."""
