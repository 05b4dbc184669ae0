"""The graph-based parser (kind `parser`) of order 1, 2 or 3: Li et al. (2014), Section II-B.

Words with their tags in, a projective tree with relations out. A small model of order 1 first says which arcs
are worth trying; the best tree over those is found exactly; then every arc gets a relation. Weights stand in
tables that features are hashed into. `parser_training.py` is a run of training.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from duilian import _native, evaluation, learning
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError, StandardError
from duilian.features import pack
from duilian.models.base.precision import Precision, dequantise, quantise
from duilian.models.base.storable import Arrays, Stored
from duilian.models.base.table_codec import below
from duilian.text import Folding, Script

if TYPE_CHECKING:
    from duilian.models.parser.training import ParserRun

Sentences = Iterable[Layer] | Iterable[Sentence]
Weights = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]
Parsed = tuple[Ids, Ids, npt.NDArray[np.float64], list[int], list[int]]
"""Heads and relations of all words, scores, sentences parsed at order 1, sentences without a tree."""

FEATURES = 2
"""Rises when features change: weights of other features would answer, and answer wrong."""

_log = logging.getLogger("duilian")


class Parser(Stored):
    """Finds the tree of tagged words.

    `order`: 1 scores arcs; 2 also neighbouring siblings and grandparents; 3 also both together. Tables have
    2^bits weights: of trees, relations and pruning. `threshold`: an arc is tried if it is at least so
    probable, compared with the likeliest head of the word; 0 tries all, and so does order 1. Sentences of
    more than `longest` words are parsed at order 1. `margin`: by how much, for each wrong head, the gold tree
    must win in training; `relation_margin`: the same for each wrong relation. Relations are learned on gold
    trees and on those of small parsers that did not see the sentences, trained for `guess_iterations` (0: on
    gold trees alone). `batch`: sentences that are parsed with the same weights in training.
    """

    kind: ClassVar[str] = "parser"
    weights_: Weights
    pruning_: Weights
    tags_: tuple[str, ...]
    relations_: tuple[str, ...]

    def __init__(
        self,
        standard: str = "tags",
        *,
        order: int = 2,
        bits: int = 24,
        relation_bits: int = 23,
        pruning_bits: int = 20,
        threshold: float = 1e-4,
        pruning_iterations: int = 2,
        longest: int = 200,
        script: Script = "as-is",
        margin: float = 200.0,
        relation_margin: float = 40.0,
        guess_iterations: int = 3,
        batch: int = 2,
        iterations: int = 20,
        patience: int = 30,
        seed: int = 1,
        threads: int = 1,
    ) -> None:
        self.standard = standard
        self.order = order
        self.bits = bits
        self.relation_bits = relation_bits
        self.pruning_bits = pruning_bits
        self.threshold = threshold
        self.pruning_iterations = pruning_iterations
        self.longest = longest
        self.script = script
        self.margin = margin
        self.relation_margin = relation_margin
        self.guess_iterations = guess_iterations
        self.batch = batch
        self.iterations = iterations
        self.patience = patience
        self.seed = seed
        self.threads = threads

    def fit(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        *,
        dev: Sentences | None = None,
        on_iteration: Callable[[learning.IterationReport], None] | None = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
    ) -> Self:
        """Learns from sentences with tags and trees. Arcs that cross others are lifted first.

        With `checkpoint` the state is saved after each iteration; with `resume` training goes on from there.
        """
        run = self._new_run(self.layers(X))
        self.lifted_ = run.lifted
        run.learn_pruning()
        trainer = run.train(
            None if dev is None else self.layers(dev),
            on_iteration=on_iteration,
            checkpoint=checkpoint,
            resume=resume,
        )
        self.best_score_ = None if dev is None else float(trainer.best_score)
        self.iterations_ = trainer.iteration
        self.weights_ = trainer.best
        return self

    def _new_run(self, layers: list[Layer]) -> ParserRun:
        from duilian.models.parser.training import ParserRun  # not needed to parse

        return ParserRun(self, layers)

    def layers(self, X: Sentences) -> list[Layer]:  # noqa: N803
        """Sentences in any of the accepted forms, as layers."""
        return [each[self.standard] if isinstance(each, Sentence) else each for each in X]

    def set_labels(self, tags: Sequence[str], relations: Sequence[str], classes: Sequence[int]) -> None:
        """What the parser knows of a standard; `classes`: which tags are verbs, conjunctions and marks."""
        self.tags_, self.relations_ = tuple(tags), tuple(relations)
        self.tag_class_ = np.array(classes, np.uint8)
        self.folding_ = Folding(script=self.script)
        self.native_ = _native.TreeParser(
            self.order,
            self.bits,
            self.relation_bits,
            self.pruning_bits,
            len(self.relations_),
            self.tag_class_,
        )

    def data(self, layers: Sequence[Layer]) -> _native.TreeData:
        """The sentences as the native core reads them; an unknown tag is number len(tags_)."""
        places = {tag: k for k, tag in enumerate(self.tags_)}
        known = {relation: k for k, relation in enumerate(self.relations_)}
        tags = [places.get(str(tag), len(places)) for layer in layers for tag in layer.tags or ()]
        heads = [
            -1 if head is None else head for layer in layers for head in layer.heads or (None,) * len(layer)
        ]
        relations = [
            known.get(relation, -1) if relation is not None else -1
            for layer in layers
            for relation in layer.relations or (None,) * len(layer)
        ]
        return self.rows(
            [layer.words for layer in layers], *(np.array(row, np.int32) for row in (tags, heads, relations))
        )

    def rows(self, words: Iterable[Sequence[str]], tags: Ids, heads: Ids, relations: Ids) -> _native.TreeData:
        """Words of sentences, and for all words in a row the numbers of their tags, heads and relations."""
        packed = pack(words, self.folding_)
        return _native.TreeData(packed, tags, heads, relations, len(self.tags_), len(self.relations_))

    def options(self, *, keep_heads: bool = False) -> _native.ParseOptions:
        """How to search."""
        return _native.ParseOptions(
            self.least_share, self.longest, keep_heads, self.margin, self.relation_margin
        )

    @property
    def least_share(self) -> float:
        """The threshold of pruning; at order 1 it would cost more than it saves."""
        return 0.0 if self.order == 1 else self.threshold

    def pruning_tags(self, layers: list[Layer]) -> list[Layer]:
        """The sentences with the tags that pruning looks at."""
        return layers

    def predict_layers(self, X: Sentences, *, keep_heads: bool = False) -> list[Layer]:  # noqa: N803
        """The sentences with their trees; with `keep_heads` given heads and relations stay."""
        layers = self.layers(X)
        self.check_tags(layers)
        return self._parsed(self.weights_, layers, keep_heads)

    def k_best(
        self, sentence: Layer | Sentence, k: int, *, keep_heads: bool = False
    ) -> list[tuple[float, Layer]]:
        """The k best trees of a sentence with their scores, best first; fewer if it has no more.

        From order 2 on they are the best over the arcs that pruning leaves. With `keep_heads` given heads
        and relations stay.
        """
        layer = sentence[self.standard] if isinstance(sentence, Sentence) else sentence
        self.check_tags([layer] if layer.words else [])
        return self.ranked_trees(layer, k, keep_heads=keep_heads)

    def ranked_trees(self, layer: Layer, k: int, *, keep_heads: bool = False) -> list[tuple[float, Layer]]:
        """The same for words whose tags have been checked: a rare tag alone tells no other set."""
        if not layer.words:
            return []
        data = self.data([layer])
        if self.order == 1 and not keep_heads:
            found = _native.k_best_trees(self.native_.arc_scores(self.weights_, data, 0), k)
        else:
            options = self.options(keep_heads=keep_heads)
            found = self.native_.k_best(self.weights_, self.pruning_, data, 0, k, options)
        given = layer.relations if keep_heads else None
        trees = [dataclasses.replace(layer, heads=tuple(heads), relations=given) for _, heads in found]
        labelled = self._parsed(self.weights_, trees, keep_heads=True)
        return [(score, tree) for (score, _), tree in zip(found, labelled, strict=True)]

    def _parsed(self, weights: Weights, layers: Sequence[Layer], keep_heads: bool = False) -> list[Layer]:
        parsed = self.native_.parse(
            weights, self.pruning_, self.data(layers), self.options(keep_heads=keep_heads), self.threads
        )
        return self._with_trees(layers, parsed, keep_heads)

    def _with_trees(self, layers: Sequence[Layer], parsed: Parsed, keep: bool) -> list[Layer]:
        heads, relations, _, simplified, impossible = parsed
        if simplified:
            _log.warning(
                "%d sentences of more than %d words were parsed at order 1", len(simplified), self.longest
            )
        if impossible:
            raise no_tree(impossible[0] + 1)
        found, at = [], 0
        all_heads, all_relations = heads.tolist(), relations.tolist()
        for layer in layers:
            end = at + len(layer)
            found.append(self._with_tree(layer, all_heads[at:end], all_relations[at:end], keep))
            at = end
        return found

    def _with_tree(self, layer: Layer, heads: list[int], relations: list[int], keep: bool) -> Layer:
        names: list[str | None] = [self.relations_[k] for k in relations] if self.relations_ else []
        if keep and layer.relations is not None and names:
            names = [
                mine if given is None else given for mine, given in zip(names, layer.relations, strict=True)
            ]
        return dataclasses.replace(layer, heads=tuple(heads), relations=tuple(names) if names else None)

    def check_tags(self, layers: Sequence[Layer], first: int = 1) -> None:
        """Refuse words without tags, and tags of another set; `first` is the number of the first sentence."""
        seen = set()
        for number, layer in enumerate(layers, first):
            if layer.tags is None or not all(isinstance(tag, str) for tag in layer.tags):
                raise StandardError(f"sentence {number} has words without a tag", "name a --tagger")
            seen |= set(layer.tags)
        if seen and not seen & set(self.tags_):
            ours, theirs = (
                ", ".join(sorted(map(str, tags), key=lambda tag: (not tag[:1].isalpha(), tag))[:5])
                for tags in (self.tags_, seen)
            )
            raise StandardError(
                f"not one tag is known to the parser: it has {ours} …, the sentences have {theirs} …",
                f"the parser was trained for {self.standard!r}",
            )

    def score(self, X: Sentences) -> float:  # noqa: N803
        """Unlabelled attachment without punctuation, from 0 to 1."""
        gold = self.layers(X)
        found = evaluation.tree_score(gold, self.predict_layers(gold))
        if found is None:
            raise ConfigError("the sentences have no trees to compare with")
        return found.uas / 100.0

    def is_trained(self) -> bool:
        return hasattr(self, "weights_")

    def trim(self, least: float) -> Self:
        """Feature selection: forgets weights smaller than `least`."""
        for name in ("weights_", "pruning_"):
            weights = getattr(self, name).copy()
            weights[np.abs(weights) < least] = 0.0
            setattr(self, name, weights)
        return self

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps of the parser: plain values, and the weights that are not 0."""
        header = {
            "kind": self.kind,
            "features": FEATURES,
            "parameters": self.get_params() | {"threads": 1},
            "tags": self.tags_,
            "relations": self.relations_,
            "lifted": self.lifted_,
        }
        arrays: Arrays = {"tag_class": self.tag_class_}
        for name, weights in (("tree", self.weights_), ("pruning", self.pruning_)):
            is_used = weights != 0.0
            arrays[f"{name}.used"] = np.packbits(is_used)
            kept = quantise(weights[is_used], precision)
            arrays |= {f"{name}.{key}": array for key, array in kept.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """The parser again."""
        parser = cls(**header["parameters"])
        parser._restore(header, arrays)
        return parser

    def _restore(self, header: Mapping[str, Any], arrays: Arrays) -> None:
        if header.get("features") != FEATURES:
            raise ValueError("it was made for other features of relations; train it again")
        self.set_labels(header["tags"], header["relations"], arrays["tag_class"].tolist())
        self.lifted_ = int(header["lifted"])
        self.weights_ = _unpacked(arrays, "tree", self._table_size())
        self.pruning_ = _unpacked(arrays, "pruning", self.native_.pruning_weights)

    def _table_size(self) -> int:
        return self.native_.weights


def no_tree(sentence: int) -> ConfigError:
    """What is wrong with the given heads of a sentence, counted from 1."""
    return ConfigError(f"sentence {sentence}: the given heads fit into no projective tree with one root")


def _unpacked(arrays: Arrays, name: str, size: int) -> Weights:
    parts = below(arrays, f"{name}.")
    used = parts.pop("used")
    if used.dtype != np.uint8 or used.shape != (-(-size // 8),):
        raise ValueError(f"the table {name!r} does not have {size} places")
    is_used = np.unpackbits(used, count=size).view(np.bool_)
    weights = np.zeros(size, np.float32)
    weights[is_used] = dequantise(parts)  # refuses another number of weights
    return weights
