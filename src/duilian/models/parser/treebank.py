"""The training data of a parser: projective trees, their labels, and tags as they will be in new text."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.corpus.trees import projectivise_layer
from duilian.errors import ConfigError
from duilian.learning import Session, jackknifed
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.training import CrfTrainer
from duilian.models.parser.storage import ROOT
from duilian.standards import split_pair
from duilian.text import is_punctuation

OTHER, VERB, CONJUNCTION, MARK = range(4)
CONJUNCTIONS = ("CC", "CONJ", "CCONJ", "SCONJ", "c")


@dataclasses.dataclass(frozen=True)
class Treebank:
    """Sentences with tags and trees: complete trees first, with crossing arcs lifted, then partial ones."""

    layers: list[Layer]
    lifted: int = 0

    @classmethod
    def of(cls, layers: Sequence[Layer]) -> Self:
        """A treebank of the sentences with tags and trees; crossing arcs stay."""
        usable = [layer for layer in layers if layer.heads is not None and layer.tags is not None]
        if not usable:
            raise ConfigError("there are no sentences with tags and trees to learn from")
        return cls(sorted(usable, key=_is_partial))

    def lift(self) -> Self:
        """The same treebank with projective trees; lifted words are counted."""
        pairs = [(each, 0) if _is_partial(each) else projectivise_layer(each) for each in self.layers]
        return type(self)([layer for layer, _ in pairs], sum(count for _, count in pairs))

    def labels(self, tags: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], npt.NDArray[np.uint8]]:
        """The tags, the relations of the treebank, and the classes of the tags."""
        relations = {name for layer in self.layers for name in layer.relations or () if name is not None}
        return tuple(tags), tuple(sorted(relations)), np.array(tag_classes(tags, self.layers), np.uint8)

    def root_relations(self) -> tuple[str, ...]:
        """The relations that only roots have, always including that of UD; none if most roots have others."""
        count: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for layer in self.layers:
            for head, name in zip(layer.heads or (), layer.relations or (), strict=False):
                if head is not None and name is not None:
                    count[head == 0][name] += 1
        of_roots = count[True]
        found = sorted(name for name in of_roots if name == ROOT or not count[False][name])
        is_usual = ROOT in found or 2 * sum(of_roots[name] for name in found) > of_roots.total()
        return tuple(found) if is_usual else ()


def _is_partial(layer: Layer) -> bool:
    return None in (layer.heads or ())


def tag_classes(tags: Sequence[str], layers: Sequence[Layer]) -> list[int]:
    """The classes of tags: verbs and conjunctions by name, punctuation marks by their words."""
    words, marks = Counter[str](), Counter[str]()
    for layer in layers:
        for word, tag in zip(layer.words, layer.tags or (), strict=True):
            words[str(tag)] += 1
            marks[str(tag)] += is_punctuation(word)
    return [_class(tag, is_mark=2 * marks[tag] > words[tag]) for tag in tags]


def _class(tag: str, *, is_mark: bool) -> int:
    if is_mark:
        return MARK
    specific = split_pair(tag)[1] or tag
    return VERB if tag[:1] in ("V", "v") else CONJUNCTION if specific in CONJUNCTIONS else OTHER


def retagged(layers: Sequence[Layer], others: Sequence[Layer], standard: str, threads: int) -> list[Layer]:
    """The sentences with the tags of a plain tagger that has learned from others."""
    tagger = CrfPredictor(
        CrfTrainer(CrfConfig(standard=standard), Session(threads=threads)).run(others).model(0.0)
    )
    found = tagger.predict_layers(layers, threads=threads)
    return [dataclasses.replace(gold, tags=guess.tags) for gold, guess in zip(layers, found, strict=True)]


def jackknifed_tags(layers: Sequence[Layer], folds: int, standard: str, session: Session) -> list[Layer]:
    """Training sentences with the tags of plain taggers that have not seen them."""
    retag = lambda others, held_out: retagged(held_out, others, standard, session.threads)  # noqa: E731
    parts = jackknifed(layers, folds, retag, session, "tagging")
    return list(itertools.chain.from_iterable(parts))
