"""The results of an evaluation as data, which the command line shows as a table or JSON."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Set
from typing import Any

from duilian.evaluation.attachment import TreeScore
from duilian.evaluation.breakdown import Breakdown, breakdown
from duilian.evaluation.judged import Judged
from duilian.evaluation.raw_text import RawTreeScore
from duilian.evaluation.score import Score
from duilian.result_tables import frame, html_table


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnknownWords:
    """Scores of gold words that the vocabulary lacks, and of known ones for comparison; in percent.

    Recall is that of segmentation. None means that there are no such words, or no tags to judge.
    """

    tokens: int
    share: float
    recall: float | None = None
    known_recall: float | None = None
    accuracy: float | None = None
    known_accuracy: float | None = None

    def as_json(self) -> dict[str, float]:
        """The available figures."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value is not None}


@dataclasses.dataclass(frozen=True, kw_only=True)
class PruningScore:
    """What is left after pruning: heads per word, and the percentage of words that keep their gold head.

    No parser can attach more than `oracle` percent of the words correctly; every word counts.
    """

    heads: float
    oracle: float

    def as_json(self) -> dict[str, float]:
        """The figures by name."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evaluation:
    """All metrics of one standard that the gold data allows, else None; shares are percentages."""

    standard: str
    sentences: int
    tokens: int  # gold words
    accuracy: float | None = None
    character: float | None = None  # accuracy, if the answer has its own words
    word: Score | None = None
    word_tag: Score | None = None
    chunk: Score | None = None
    trees: TreeScore | None = None
    raw_trees: RawTreeScore | None = None  # if the answer has its own words
    pruning: PruningScore | None = None
    oov: UnknownWords | None = None
    seconds: float | None = None
    judged: Judged | None = dataclasses.field(default=None, repr=False, compare=False)
    vocabularies: tuple[Set[str] | None, Set[str] | None] = dataclasses.field(
        default=(None, None), repr=False, compare=False
    )

    @functools.cached_property
    def details(self) -> Breakdown:
        """By tag, relation, sentence length, arc distance and vocabulary; confusions."""
        return Breakdown() if self.judged is None else breakdown(self.judged, *self.vocabularies)

    @property
    def tokens_per_second(self) -> float | None:
        """The speed, if the time was measured."""
        return self.tokens / self.seconds if self.seconds else None

    def timed(self, seconds: float) -> Evaluation:
        """The same evaluation with the time that answering took."""
        return dataclasses.replace(self, seconds=seconds)

    def as_json(self) -> dict[str, object]:
        """The overall figures: unrounded, without missing values."""
        found: dict[str, object] = {
            "standard": self.standard,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "accuracy": self.accuracy,
            "character": self.character,
        }
        for name, part in self._parts():
            found[name] = None if part is None else part.as_json()
        if self.trees is not None:
            found |= self.trees.as_json()
        found["raw_text"] = None if self.raw_trees is None else self.raw_trees.as_json()
        found["pruning"] = None if self.pruning is None else self.pruning.as_json()
        found["oov"] = None if self.oov is None else self.oov.as_json()
        found["seconds"] = self.seconds
        found["tokens_per_second"] = self.tokens_per_second
        return {name: value for name, value in found.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """All figures and details, the stable JSON of `duilian evaluate --json`."""
        return self.as_json() | self.details.as_json()

    def to_frame(self) -> Any:
        """The overall figures as a pandas DataFrame: `metric` and `value`."""
        figures = ((name, value) for name, value in _flat(self.as_json()) if not isinstance(value, str))
        return frame(("metric", "value"), figures)

    def _repr_html_(self) -> str:
        return html_table(("metric", "value"), self.rows(), caption=f"{self.standard}: evaluation")

    def rows(self) -> list[tuple[str, str]]:
        """The name and value of each figure, formatted with two decimals: `("word f1", "97.25")`."""
        return [(name, _shown(value)) for name, value in _flat(self.as_json())]

    def _parts(self) -> list[tuple[str, Score | None]]:
        return [("word", self.word), ("word_tag", self.word_tag), ("chunk", self.chunk)]


def _flat(found: dict[str, object], prefix: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in found.items():
        title = prefix + name.replace("_", " ")
        rows += _flat(value, title + " ") if isinstance(value, dict) else [(title, value)]
    return rows


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
