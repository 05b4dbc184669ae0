"""Dynamic features and their search, by definition (Zhao et al. 2012, Algorithm 1).

A path is a list of labels (`B@NN`). Its words up to unit t, with their tags, are a little sentence: the
words before, the current one (unit t included), and the units ahead. A template about words is an ordinary
one, seen from the current word.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

Path = tuple[int, ...]

UNKNOWN = "?"


def words_so_far(units: Sequence[str], labels: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Words and tags with `labels` for the first units, and where among them the current word is."""
    t = len(labels)
    words: list[str] = []
    tags: list[str] = []
    for unit, label in zip(units, labels, strict=False):
        letter, tag = label.split("@")
        if letter in "BS":
            words.append(unit)
            tags.append(tag)
        else:
            words[-1] += unit
    if labels and labels[-1][0] in "BI":
        words[-1] += units[t]
    else:
        words.append(units[t])
        tags.append(UNKNOWN)
    place = len(words) - 1
    return [*words, *units[t + 1 :]], [*tags, *[UNKNOWN] * (len(units) - t - 1)], place


@dataclasses.dataclass(frozen=True)
class Search:
    """What a search needs to know. `word_score(prefix, label)` is what the words of a path say of a label."""

    length: int
    labels: int
    state: Callable[[int, int], float]  # (t, label): start and stop included
    between: Callable[[int, int], float]
    is_legal: Callable[[Path], bool]  # as the beginning of a path, or as all of it
    is_open: Callable[[int], bool]  # label: its word goes on
    word_score: Callable[[Path, int], float]

    def own_score(self, path: Path) -> float:
        """Every label with the words of its own path."""
        return sum(
            self.state(t, label)
            + self.word_score(path[:t], label)
            + (self.between(path[t - 1], label) if t else 0.0)
            for t, label in enumerate(path)
        )

    def exhaustive(self) -> tuple[Path, float]:
        """The best of all paths, each with its own words."""
        paths = [
            path
            for path in itertools.product(range(self.labels), repeat=self.length)
            if all(self.is_legal(path[: t + 1]) for t in range(self.length))
        ]
        best = max(paths, key=self.own_score)
        return best, self.own_score(best)

    def beam(self, k: int, kind_gap: float, path_gap: float = math.inf) -> Path:
        """Every label keeps its k best paths; the k best of all show their own words, the others those of the
        best path of their kind if it is within `kind_gap` of the best, else of the best. Words of a path that
        is more than `path_gap` from the best are ignored.
        """
        paths: list[tuple[float, Path]] = [
            (self.state(0, label) + self.word_score((), label), (label,))
            for label in range(self.labels)
            if self.is_legal((label,))
        ]
        paths = self._kept(paths, k)
        for t in range(1, self.length):
            found = []
            for rank, (score, path) in enumerate(paths):
                reached, told = (score, path) if rank < k else self.teller(paths, path, kind_gap)
                for label in range(self.labels):
                    if self.is_legal((*path, label)):
                        step = self.between(path[-1], label) + self.state(t, label)
                        is_near = paths[0][0] - reached <= path_gap
                        words = self.word_score(told, label) if is_near else 0.0
                        found.append((score + step + words, (*path, label)))
            paths = self._kept(found, k)
        return paths[0][1]

    def _kept(self, paths: list[tuple[float, Path]], k: int) -> list[tuple[float, Path]]:
        best: list[tuple[float, Path]] = []
        for label in range(self.labels):
            own = [each for each in paths if each[1][-1] == label]
            best += sorted(own, key=lambda each: -each[0])[:k]
        return sorted(best, key=lambda each: -each[0])

    def teller(self, paths: list[tuple[float, Path]], path: Path, kind_gap: float) -> tuple[float, Path]:
        """The path whose words are shown to what follows a path."""
        kind = self.is_open(path[-1])
        own = next(each for each in paths if self.is_open(each[1][-1]) == kind)
        return own if paths[0][0] - own[0] <= kind_gap else paths[0]
