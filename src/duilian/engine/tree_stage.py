"""The analyser's labels as a parser reads them, and its trees as the analyser does."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.models.roles import TaggedWords, TreeAnnotator


@dataclasses.dataclass(frozen=True)
class Trees:
    """Head (counted from 1 in its sentence, 0 for the root) and relation of all words, concatenated."""

    heads: list[int]
    relations: list[str] | None


class TreeStage:
    """Parses words with the tagger's labels; `tags` has the tag of each label."""

    def __init__(self, parser: TreeAnnotator, tags: Sequence[str | None]) -> None:
        self._parser, self._names = parser, tuple(map(str, tags))

    def __call__(
        self, words: list[list[str]], labels: npt.NDArray[np.int32], given: Sequence[Layer], threads: int
    ) -> Trees:
        """Parse sentences; `labels` are those of all words, `given` the same sentences as annotated."""
        found = self._parser.annotate(TaggedWords(words, labels, self._names), given, threads)
        names = found.names
        relations = None if found.relation is None else [names[k] for k in found.relation.tolist()]
        return Trees(found.heads.tolist(), relations)
