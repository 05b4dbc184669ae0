"""The coupled tagger of Li et al. (2017): one CRF over bundles of tags, learned from corpora that disagree.

Each corpus tells the tags of one standard. Its sentences constrain the lattice of bundles on that side and
leave the others open (ambiguous labelling); joint features tie the sides together, separate features back
them off. A tagger for one standard is the same with one side.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Corpus, Layer, Sentence
from duilian.errors import ConfigError, StandardError
from duilian.features import Templates, pack
from duilian.lattice import SideMapping, Succession
from duilian.learning import AdaGrad, IterationReport, LearnConfig, Trainer
from duilian.standards import Mapping
from duilian.text import Folding

Words = Sequence[str]


LEARN = LearnConfig(algorithm="adagrad", rate=0.2, batch=5, iterations=6, average=False)


class CoupledTagger:
    """Tags words in the style of each of its standards.

    `mapping` is "complete", "tight", "relaxed" (the shipped tables), or a `Mapping` between two standards.
    """

    weights_: npt.NDArray[np.float32]

    def __init__(
        self,
        standards: Sequence[str],
        *,
        templates: str = "pos-word",
        mapping: str | Mapping = "complete",
        learn: LearnConfig = LEARN,
    ) -> None:
        self.standards = tuple(standards)
        self.templates = templates
        self.mapping = mapping
        self.learn = learn
        if learn.algorithm != "adagrad":
            raise ConfigError(f"a coupled tagger learns by 'adagrad', not {learn.algorithm!r}")
        if not self.standards or len(set(self.standards)) < len(self.standards):
            raise ConfigError(f"standards must be different names, got {self.standards}")
        if isinstance(mapping, Mapping) and len(self.standards) != 2:
            raise ConfigError(f"one mapping is for two standards, not for {len(self.standards)}")

    def fit(
        self,
        corpora: Sequence[Corpus],
        dev: Sequence[Corpus] | None = None,
        on_iteration: Callable[[IterationReport], None] | None = None,
    ) -> Self:
        """Learns from one corpus per standard; with dev sets, keeps the weights that do best on average."""
        for which in (corpora, dev or corpora):
            if len(which) != len(self.standards):
                raise ConfigError(f"{len(which)} corpora for {len(self.standards)} standards")
        layers = [
            [sentence[standard] for sentence in corpus]
            for standard, corpus in zip(self.standards, corpora, strict=True)
        ]
        self._set_tags(layers)
        objective = self._objective(layers)
        rule = AdaGrad(objective, self.learn)
        trainer = Trainer(rule, objective.weights, sum(map(len, layers)), self.learn)

        def evaluate(weights: npt.NDArray[np.float32]) -> float:
            self.weights_ = weights
            return float(
                np.mean(
                    [self.score(side, name) for side, name in zip(dev or (), self.standards, strict=True)]
                )
            )

        for report in trainer.run(evaluate if dev else None):
            if on_iteration:
                on_iteration(report)
        self.weights_ = trainer.best
        return self

    def _objective(self, layers: Sequence[Sequence[Layer]]) -> _native.CoupledObjective:
        self._templates, self._folding = Templates.load(self.templates), Folding()
        sentences = pack([layer.words for side in layers for layer in side], self._folding)
        keys = _native.count_keys(self._templates.native, sentences, 1)
        self.index_ = _native.FeatureIndex(keys)
        rows = _native.extract_rows(self._templates.native, sentences, self.index_)
        sides = [side for side, found in enumerate(layers) for _ in found]
        flat = [layer for found in layers for layer in found]
        examples = [
            self._example(layer, side, first)
            for layer, side, first in zip(flat, sides, sentences.first.tolist()[:-1], strict=True)
        ]
        free = [Succession.free(len(tags)).native() for tags in self.tags_]
        joint = _native.JointFeatures.none if len(self.tags_) == 1 else _native.JointFeatures.correct
        counts = [len(tags) for tags in self.tags_]
        self.model_ = _native.lay_out_model(counts, free, len(keys), rows, examples, joint)
        return _native.CoupledObjective(self.model_, rows, examples)

    def _set_tags(self, layers: Sequence[Sequence[Layer]]) -> None:
        self.tags_: list[tuple[str, ...]] = []
        for standard, side in zip(self.standards, layers, strict=True):
            seen = {tag for layer in side for tag in layer.tags or () if isinstance(tag, str)}
            if not seen:
                raise StandardError(f"the corpus of {standard!r} has no tags to learn from")
            self.tags_.append(tuple(sorted(seen)))
        self._number = [{tag: k for k, tag in enumerate(tags)} for tags in self.tags_]
        mappings = [
            SideMapping(a, b, found.matrix)
            for a, b in itertools.combinations(range(len(self.tags_)), 2)
            if (found := self._mapping(a, b)) is not None
        ]
        every = [
            _native.TagSets(np.array([0, len(t)], np.int32), np.arange(len(t), dtype=np.int32))
            for t in self.tags_
        ]
        native = [_native.SideMapping(m.side_a, m.side_b, m.allows.astype(np.uint8)) for m in mappings]
        self._column = _native.product_lattice(every, native)  # the bundles that any word may have

    def _mapping(self, a: int, b: int) -> Mapping | None:
        if isinstance(self.mapping, Mapping):
            return self.mapping
        if self.mapping == "complete":
            return None
        table = f"{self.standards[a]}-{self.standards[b]}.{self.mapping}"
        return Mapping.from_table(table, self.tags_[a], self.tags_[b], unknown="complete")

    def _lattice(self, length: int) -> _native.Lattice:
        """The same bundles for every word."""
        first = np.arange(length + 1, dtype=np.int32) * self._column.states
        return _native.Lattice(len(self.tags_), first, np.tile(self._column.tags.ravel(), length))

    def _allowed(self, layer: Layer, side: int) -> _native.TagSets:
        """The tags that the annotation leaves open at each word."""
        number, sets = self._number[side], []
        for tag in layer.tags or (None,) * len(layer):
            names = number if tag is None else {tag} if isinstance(tag, str) else tag
            unknown = [name for name in names if name not in number]
            if unknown:
                raise StandardError(f"the tag {unknown[0]!r} of {self.standards[side]!r} was not in training")
            sets.append(sorted(number[name] for name in names))
        flat = np.array([tag for tags in sets for tag in tags], np.int32)
        return _native.TagSets(np.cumsum([0, *map(len, sets)], dtype=np.int32), flat)

    def _example(self, layer: Layer, side: int, first_unit: int) -> _native.Example:
        possible = self._lattice(len(layer))
        return _native.Example(
            first_unit, possible, _native.restrict(possible, side, self._allowed(layer, side))
        )

    def _decode(
        self, sentences: Sequence[Words], lattices: list[_native.Lattice]
    ) -> list[npt.NDArray[np.int32]]:
        packed = pack(sentences, self._folding)
        rows = _native.extract_rows(self._templates.native, packed, self.index_)
        first = packed.first.tolist()[:-1]
        return _native.decode(self.model_, self.weights_, rows, first, lattices, True, self.learn.threads)

    def predict(self, sentences: Sequence[Words]) -> list[dict[str, list[str]]]:
        """For every sentence its tags in each standard."""
        found = self._decode(sentences, [self._lattice(len(words)) for words in sentences])
        return [
            {
                standard: [self.tags_[k][tag] for tag in tags[:, k]]
                for k, standard in enumerate(self.standards)
            }
            for tags in found
        ]

    def convert(self, corpus: Sequence[Sentence], source: str, target: str) -> list[list[str]]:
        """The tags in `target` of sentences annotated in `source`: decoding with the source side fixed."""
        a, b = self._side(source), self._side(target)
        layers = [sentence[source] for sentence in corpus]
        lattices = [
            _native.restrict(self._lattice(len(layer)), a, self._allowed(layer, a)) for layer in layers
        ]
        found = self._decode([layer.words for layer in layers], lattices)
        return [[self.tags_[b][tag] for tag in tags[:, b]] for tags in found]

    def score(self, corpus: Corpus, standard: str) -> float:
        """Tagging accuracy in percent on one side's gold tags."""
        layers = [sentence[standard] for sentence in corpus]
        guesses = [tags[standard] for tags in self.predict([layer.words for layer in layers])]
        pairs = [
            (gold, guess)
            for layer, tags in zip(layers, guesses, strict=True)
            for gold, guess in zip(layer.tags or (), tags, strict=True)
        ]
        return 100.0 * sum(gold == guess for gold, guess in pairs) / max(len(pairs), 1)

    def _side(self, standard: str) -> int:
        if standard not in self.standards:
            raise ConfigError(f"the tagger has no standard {standard!r}, only {', '.join(self.standards)}")
        return self.standards.index(standard)
