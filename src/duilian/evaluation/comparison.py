"""Two or more systems on the same gold: which is better, by how much, whether it may be luck, and where.

All other systems are compared with the first. A system may have several runs, for example with different
seeds: then its scores have a mean and a spread, and tests use the mean of the counts in each sentence.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from duilian.corpus.sentence import Layer
from duilian.errors import ConfigError
from duilian.evaluation.breakdown import scores_by_tag
from duilian.evaluation.changes import (
    ChangedSentence,
    ChangedWord,
    PatternChange,
    changed_patterns,
    changed_sentences,
    changed_words,
    relation_patterns,
    right_words,
    tag_patterns,
)
from duilian.evaluation.judged import Judged
from duilian.evaluation.score import Score
from duilian.evaluation.significance import McNemar, bootstrap_all, mcnemar, p_value
from duilian.result_tables import frame, html_table
from duilian.wording import counted

TRIALS = 10_000
TITLES = ("metric", "system", "score", "spread", "runs", "difference", "low", "high", "p")
LEVEL = 95.0  # percent, of intervals
METRICS = {
    "word": "F1 of words",
    "word_tag": "F1 of words with tags",
    "character": "accuracy of characters",
    "accuracy": "accuracy of tags",
    "chunk": "F1 of chunks",
    "uas": "UAS",
    "las": "LAS",
    "root": "roots",
    "complete": "complete trees",
    "raw_uas": "UAS in raw text",
    "raw_las": "LAS in raw text",
}


@dataclasses.dataclass(frozen=True)
class SystemScores:
    """A system: its name, and by metric the scores of its runs, in percent."""

    name: str
    scores: Mapping[str, Sequence[float]]
    by_tag: Mapping[str, float] = dataclasses.field(default_factory=dict)  # mean F1

    @property
    def runs(self) -> int:
        """Number of runs."""
        return max(map(len, self.scores.values()), default=0)

    def mean(self, metric: str) -> float:
        """The mean of the runs."""
        return float(np.mean(self.scores[metric]))

    def spread(self, metric: str) -> float | None:
        """The standard deviation of the runs; None if there is only one."""
        return float(np.std(self.scores[metric], ddof=1)) if len(self.scores[metric]) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        scores = {
            name: {"mean": self.mean(name), "runs": list(runs)}
            | ({} if len(runs) < 2 else {"spread": self.spread(name)})
            for name, runs in self.scores.items()
        }
        tags = {"by_tag": dict(self.by_tag)} if self.by_tag else {}
        return {"name": self.name, "runs": self.runs, "scores": scores, **tags}


@dataclasses.dataclass(frozen=True)
class Difference:
    """The difference between a system and the first, in points of one metric, with interval and p-value."""

    metric: str
    difference: float
    low: float
    high: float
    p: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contrast:
    """A system against the first: differences of all metrics, and what changed."""

    first: str
    other: str
    differences: Sequence[Difference]
    tokens: McNemar | None  # words right in the first or in the other only; None if there are several runs
    tags: Sequence[PatternChange]
    relations: Sequence[PatternChange]
    words: Sequence[ChangedWord]
    sentences: Sequence[ChangedSentence]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found: dict[str, Any] = {
            "first": self.first,
            "other": self.other,
            "differences": [dataclasses.asdict(each) for each in self.differences],
        }
        if self.tokens is not None:
            counts = {"only_first": self.tokens.only_a, "only_other": self.tokens.only_b}
            found["mcnemar"] = counts | {"p": self.tokens.p}
        for name in ("tags", "relations", "words", "sentences"):
            found[name] = [dataclasses.asdict(each) for each in getattr(self, name)]
        return found


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """Scores of all systems, and each of them against the first."""

    standard: str
    sentences: int
    tokens: int
    trials: int
    systems: Sequence[SystemScores]
    contrasts: Sequence[Contrast]

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON of `duilian compare --json`; shares are percentages."""
        numbers = {name: getattr(self, name) for name in ("standard", "sentences", "tokens", "trials")}
        parts = {name: [each.to_dict() for each in getattr(self, name)] for name in ("systems", "contrasts")}
        return numbers | parts

    def rows(self) -> list[tuple[Any, ...]]:
        """A row for each metric and system, with the columns `TITLES`; the first has no differences."""
        rows: list[tuple[Any, ...]] = []
        for metric in self.systems[0].scores:
            for system, contrast in zip(self.systems, (None, *self.contrasts), strict=True):
                score = (system.mean(metric), system.spread(metric), system.runs)
                differences = () if contrast is None else contrast.differences
                found = next((each for each in differences if each.metric == metric), None)
                values = (None,) * 4 if found is None else (found.difference, found.low, found.high, found.p)
                rows.append((METRICS[metric], system.name, *score, *values))
        return rows

    def to_frame(self) -> Any:
        """The same rows as a pandas DataFrame."""
        return frame(TITLES, self.rows())

    def _repr_html_(self) -> str:
        rows = ((*row[:2], *("" if x is None else f"{x:.4g}" for x in row[2:])) for row in self.rows())
        return html_table(TITLES, rows, caption=f"{self.standard}: {counted(self.sentences, 'sentence')}")


def compare_layers(
    gold: Sequence[Layer],
    systems: Mapping[str, Sequence[Sequence[Layer]]],
    *,
    standard: str = "",
    trials: int = TRIALS,
    seed: int = 1,
) -> Comparison:
    """Compare the answers of two or more systems, each with one run or more.

    >>> gold, bad = [Layer(("我们", "去"), ("r", "v"))], [Layer(("我们", "去"), ("r", "n"))]
    >>> found = compare_layers(gold, {"bad": [bad], "good": [gold]}, standard="pku")
    >>> found.contrasts[0].differences[0].difference
    50.0
    """
    if len(systems) < 2 or not all(systems.values()):
        raise ConfigError(f"there must be at least two systems with answers, got {len(systems)}")
    flat = Judged.of_all(gold, [run for runs in systems.values() for run in runs])
    rest = iter(flat)
    judged = {name: [next(rest) for _ in runs] for name, runs in systems.items()}
    counts = _counts(judged)
    scores = [
        SystemScores(
            name,
            {metric: [Score.of(run).f1 for run in runs] for metric, runs in of.items()},
            _f1_by_tag(judged[name]),
        )
        for name, of in counts.items()
    ]
    first, *others = systems
    return Comparison(
        standard=standard,
        sentences=len(flat[0].gold),
        tokens=len(flat[0].alignment.gold_words),
        trials=trials,
        systems=scores,
        contrasts=[_contrast((first, other), judged, counts, trials, seed) for other in others],
    )


Counts = Mapping[str, Mapping[str, list[Any]]]


def _counts(judged: Mapping[str, Sequence[Judged]]) -> dict[str, dict[str, list[Any]]]:
    """Counts per sentence for each system, metric and run; only metrics that apply to all systems."""
    runs = [run for each in judged.values() for run in each]
    # If only some systems have tags, they share only words, even if all words are right.
    is_parallel = all(run.is_parallel for run in runs) and len({run.is_tagged for run in runs}) == 1
    found = {name: [run.counts_as(is_parallel=is_parallel) for run in each] for name, each in judged.items()}
    every = [metrics for each in found.values() for metrics in each]
    shared = [metric for metric in METRICS if all(metric in metrics for metrics in every)]
    return {
        name: {metric: [run[metric] for run in each] for metric in shared} for name, each in found.items()
    }


def _f1_by_tag(runs: Sequence[Judged]) -> dict[str, float]:
    """The mean F1 of each tag that gold has."""
    found = [scores_by_tag(run) for run in runs if run.is_tagged]
    tags = sorted({tag for scores in found for tag, score in scores.items() if score.gold})
    return {tag: float(np.mean([each[tag].f1 for each in found if tag in each])) for tag in tags}


def _contrast(
    names: tuple[str, str], judged: Mapping[str, Sequence[Judged]], counts: Counts, trials: int, seed: int
) -> Contrast:
    a, b = (judged[name] for name in names)
    is_single = len(a) == len(b) == 1
    # Tags or trees that only one system has cannot be compared.
    tags = all(run.is_tagged for run in (*a, *b))
    trees = all(run.is_parallel and run.has("heads") for run in (*a, *b))
    right = [np.mean([right_words(run, tags=tags, trees=trees) for run in runs], axis=0) for runs in (a, b)]
    return Contrast(
        first=names[0],
        other=names[1],
        differences=_differences(counts[names[0]], counts[names[1]], trials, seed),
        tokens=mcnemar(*(each > 0.5 for each in right)) if is_single else None,
        tags=changed_patterns([tag_patterns(runs) for runs in (a, b)]) if tags else [],
        relations=changed_patterns([relation_patterns(runs) for runs in (a, b)]) if trees else [],
        words=changed_words(a[0], right[0], right[1]),
        sentences=changed_sentences(a[0], b[0], right[0], right[1]),
    )


def _differences(
    first: Mapping[str, list[Any]], other: Mapping[str, list[Any]], trials: int, seed: int
) -> list[Difference]:
    """Compare every metric; for several runs, the mean of their counts."""
    pairs = [(np.mean(other[metric], axis=0), np.mean(first[metric], axis=0)) for metric in first]
    if not pairs:
        raise ConfigError("no metric applies to gold and to all systems")
    return [
        Difference(metric, each.difference, *each.interval(LEVEL), p_value(*pair, "f1", trials, seed))
        for metric, pair, each in zip(first, pairs, bootstrap_all(pairs, "f1", trials, seed), strict=True)
    ]
