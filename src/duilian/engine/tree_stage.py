"""The parsing stage of the analyser: heads and relations of the words that the tagger found."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.engine.completion import with_given_heads, without_crossing
from duilian.models.parser.model import Parser
from duilian.text import is_punctuation

Ints = npt.NDArray[np.int64]
MAX_PART = 60  # words in a part of an overlong sentence; parsing takes cubic time
PART_RELATIONS = ("parataxis", "dep")  # relations that join the parts of an overlong sentence


@dataclasses.dataclass(frozen=True)
class Trees:
    """Head (counted from 1 in its sentence, 0 for the root) and relation of all words, concatenated."""

    heads: list[int]
    relations: list[str] | None


class TreeStage:
    """Parses words with the tagger's labels; `tags` has the tag of each label."""

    def __init__(self, parser: Parser, tags: Sequence[str | None]) -> None:
        self._parser = parser.predictor_
        number = {tag: k for k, tag in enumerate(parser.tags_)}
        self._tag_of_label = np.array([number.get(str(tag), len(number)) for tag in tags], np.int32)
        known = [parser.relations_.index(each) for each in PART_RELATIONS if each in parser.relations_]
        self._part_relation = known[0] if known else 0

    def __call__(
        self, words: list[list[str]], labels: npt.NDArray[np.int32], given: Sequence[Layer], threads: int
    ) -> Trees:
        """Parse sentences; `labels` are those of all words, `given` the same sentences as annotated."""
        if given:
            return self._completed(words, labels, given, threads)
        parts = list(itertools.chain.from_iterable(map(self._split, words)))
        heads, relations, _ = self._parse(parts, labels, None, threads)
        if len(parts) > len(words):
            self._join_parts(words, parts, heads, relations)
        return Trees(heads.tolist(), self._relation_names(relations))

    def _parse(
        self,
        words: list[list[str]],
        labels: npt.NDArray[np.int32],
        given: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None,
        threads: int,
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], list[int]]:
        """Return heads, relations, and the sentences whose given heads fit into no projective tree."""
        parser, unknown = self._parser, np.full(len(labels), -1, np.int32)
        data = parser.packer.rows(words, self._tag_of_label[labels], *(given or (unknown, unknown)))
        heads, relations, _, _, impossible = parser.parse(data, keep_heads=given is not None, threads=threads)
        return heads, relations, impossible

    def _relation_names(self, relations: npt.NDArray[np.int32]) -> list[str] | None:
        names = self._parser.packer.relations
        return [names[k] for k in relations.tolist()] if names else None

    def _completed(
        self, words: list[list[str]], labels: npt.NDArray[np.int32], given: Sequence[Layer], threads: int
    ) -> Trees:
        """Parse what is open and keep what is given; complete trees are not parsed."""
        known = {relation: k for k, relation in enumerate(self._parser.packer.relations)}
        given_names = [name for layer in given for name in layer.relations or (None,) * len(layer)]
        kept = np.array([-1 if name is None else known.get(name, -1) for name in given_names], np.int32)
        relations = kept.copy()
        given_heads = [[-1 if head is None else head for head in layer.heads or ()] for layer in given]
        asked = [own or [-1] * len(layer) for own, layer in zip(given_heads, given, strict=True)]
        heads = np.array(list(itertools.chain.from_iterable(asked)), np.int32)
        edges = np.cumsum([0, *map(len, given)])
        rows = [np.arange(a, b) for a, b in itertools.pairwise(edges.tolist())]
        left = [s for s, layer in enumerate(given) if _is_open(layer)]
        # The parser finds no crossing arcs. If given heads do not fit, hide those that cross from the search,
        # then all of them, and put them back afterwards.
        for loosen in (list, without_crossing, lambda own: [-1] * len(own)):
            if not left:
                break
            own = np.concatenate([rows[s] for s in left])
            wanted = np.array([head for s in left for head in loosen(asked[s])], np.int32)
            found = self._parse([words[s] for s in left], labels[own], (wanted, kept[own]), threads)
            heads[own], new, impossible = found
            relations[own] = np.where(kept[own] < 0, new, kept[own])
            for s in left if loosen is not list else ():
                heads[rows[s]] = with_given_heads(heads[rows[s]].tolist(), asked[s])
            left = [left[k] for k in impossible]
        names = self._relation_names(relations)
        if names is not None:
            names = [mine if name is None else name for mine, name in zip(names, given_names, strict=True)]
        return Trees(heads.tolist(), names)

    def _split(self, words: list[str]) -> list[list[str]]:
        """Split an overlong sentence into parts, after punctuation if possible."""
        if len(words) <= self._parser.packer.config.trees.max_length:
            return [words]
        found, at = [], 0
        while len(words) - at > MAX_PART:
            marks = [k for k in range(at + MAX_PART // 2, at + MAX_PART) if is_punctuation(words[k])]
            end = marks[-1] + 1 if marks else at + MAX_PART
            found.append(words[at:end])
            at = end
        return [*found, words[at:]]

    def _join_parts(
        self,
        words: list[list[str]],
        parts: list[list[str]],
        heads: npt.NDArray[np.int32],
        relations: npt.NDArray[np.int32],
    ) -> None:
        """Join the parts of each sentence into one tree: later roots depend on the first part's root."""
        at, rest = 0, iter(parts)
        for sentence in words:
            part = next(rest)
            begin, first = at, int(np.flatnonzero(heads[at : at + len(part)] == 0)[0]) if part else 0
            at += len(part)
            while at < begin + len(sentence):
                part = next(rest)
                own = heads[at : at + len(part)]
                is_root = own == 0
                own[:] = np.where(is_root, first + 1, own + (at - begin))
                relations[at : at + len(part)][is_root] = self._part_relation
                at += len(part)


def _is_open(layer: Layer) -> bool:
    """Return whether a head or relation is missing."""
    return None in (layer.heads or (None,)) or None in (layer.relations or (None,))
