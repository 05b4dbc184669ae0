"""A run of training of the parser: labels, whole trees, the model that prunes, the perceptron's rounds."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.corpus.trees import projectivise_layer
from duilian.errors import ConfigError, StandardError
from duilian.evaluation import tree_score
from duilian.learning import IterationReport, LearnConfig, Perceptron, Scores, Trainer, jackknifed
from duilian.text import is_punctuation

if TYPE_CHECKING:
    from duilian.models.parser.model import Parser, Weights

PRUNING_RATE = 0.3
PRUNING_BATCH = 8
PRUNING_FOLDS = 4
GUESS_FOLDS = 4
GUESS_BITS = 22
GUESS_MARGIN = 200.0
OTHER, VERB, CONJUNCTION, MARK = range(4)
CONJUNCTIONS = ("CC", "CONJ", "CCONJ", "SCONJ", "c")


def tag_classes(tags: Sequence[str], layers: Sequence[Layer]) -> list[int]:
    """Which tags are verbs, conjunctions and punctuation marks: by name, and marks by their words."""
    words, marks = Counter[str](), Counter[str]()
    for layer in layers:
        for word, tag in zip(layer.words, layer.tags or (), strict=True):
            words[str(tag)] += 1
            marks[str(tag)] += is_punctuation(word)
    return [_class(tag, is_mark=2 * marks[tag] > words[tag]) for tag in tags]


def _class(tag: str, *, is_mark: bool) -> int:
    if is_mark:
        return MARK
    return VERB if tag[:1] in ("V", "v") else CONJUNCTION if tag in CONJUNCTIONS else OTHER


def _without_relations(layer: Layer) -> Layer:
    return dataclasses.replace(layer, relations=None)


class ParserRun:
    """The data of a run, and its steps."""

    def __init__(self, parser: Parser, layers: Sequence[Layer]) -> None:
        self._parser = parser
        self._config = LearnConfig(
            batch=parser.batch,
            iterations=parser.iterations,
            patience=parser.patience,
            seed=parser.seed,
            threads=parser.threads,
            average=False,
        )
        usable = [layer for layer in layers if layer.heads is not None and layer.tags is not None]
        if not usable:
            raise ConfigError("there is no sentence with tags and a tree to learn from")
        pairs = [projectivise_layer(layer) for layer in usable if None not in (layer.heads or ())]
        pairs += [(layer, 0) for layer in usable if None in (layer.heads or ())]
        self.layers = [layer for layer, _ in pairs]
        self.lifted = sum(count for _, count in pairs)
        self._set_labels()
        self.data = parser.data(self.layers)

    def _set_labels(self) -> None:
        tags = {tag for layer in self.layers for tag in layer.tags or ()}
        if not all(isinstance(tag, str) for tag in tags):
            raise StandardError("a parser learns from words with one tag each")
        names = sorted(str(tag) for tag in tags)
        relations = {name for layer in self.layers for name in layer.relations or () if name is not None}
        self._parser.set_labels(names, sorted(relations), tag_classes(names, self.layers))

    def learn_pruning(self) -> None:
        """The model that says which arcs are worth trying; and what it leaves of the training sentences.

        They are pruned by models that did not see them (jack-knifing): one that knows them would leave fewer
        arcs there than in new text, and the parser would learn to choose between too few.
        """
        parser = self._parser
        self._allowed = np.zeros(0, np.uint8)
        parser.pruning_ = np.zeros(parser.native_.pruning_weights, np.float32)
        if parser.least_share <= 0:
            return
        parser.pruning_ = self._pruning_weights(self.data, len(self.layers))

        def allowed(train: list[Layer], held_out: list[Layer]) -> npt.NDArray[np.uint8]:
            weights = self._pruning_weights(parser.data(train), len(train))
            data = parser.data(held_out)
            return parser.native_.allowed_arcs(weights, data, parser.threshold, parser.threads)

        if len(self.layers) > 1:
            folds = min(PRUNING_FOLDS, len(self.layers))
            self._allowed = np.concatenate(jackknifed(self.layers, folds, allowed))

    def _pruning_weights(self, data: _native.TreeData, count: int) -> Weights:
        """By log likelihood of trees under a model of order 1."""
        parser = self._parser
        objective = _native.PruningObjective(parser.native_, data)
        weights, squares = (np.zeros(objective.weights, np.float32) for _ in range(2))
        for iteration in range(parser.pruning_iterations):
            order = np.random.default_rng([parser.seed, iteration, 1]).permutation(count).astype(np.int64)
            objective.adagrad_pass(weights, squares, PRUNING_RATE, order, PRUNING_BATCH, parser.threads)
        return weights

    def train(
        self,
        dev: Sequence[Layer] | None,
        *,
        on_iteration: Callable[[IterationReport], None] | None,
        checkpoint: str | Path | None,
        resume: bool,
    ) -> Trainer:
        """The perceptron over all iterations; the trainer has the best weights."""
        objective = self._objective()
        rule = Perceptron(objective, self._config)
        trainer = Trainer(rule, objective.weights, len(self.layers), self._config)
        trainer.run_kept(
            None if dev is None else self._evaluator(dev),
            self._fingerprint,
            on_iteration=on_iteration,
            checkpoint=checkpoint,
            resume=resume,
        )
        return trainer

    def _objective(self) -> _native.TreeObjective | _native.JointObjective:
        parser = self._parser
        guessed = self._guessed_heads()
        return _native.TreeObjective(parser.native_, self.data, self._allowed, guessed, parser.options())

    def _guessed_heads(self) -> npt.NDArray[np.int32]:
        """Trees for the relations to learn on beside gold ones: by small parsers that did not see them."""
        parser, many = self._parser, len(self.layers)
        if not parser.relations_ or parser.guess_iterations == 0 or many < 2:
            return np.zeros(0, np.int32)

        def guess(train: list[Layer], held_out: list[Layer]) -> list[int]:
            found = self._small_parser().fit(train).predict_layers(held_out)
            return [head for layer in found for head in layer.heads or () if head is not None]

        folds = jackknifed([_without_relations(each) for each in self.layers], min(GUESS_FOLDS, many), guess)
        return np.array(list(itertools.chain.from_iterable(folds)), np.int32)

    def _small_parser(self) -> Parser:
        from duilian.models.parser.model import Parser

        parser = self._parser
        return Parser(
            parser.standard,
            order=1,
            bits=min(parser.bits, GUESS_BITS),
            script=parser.script,
            margin=GUESS_MARGIN,
            batch=parser.batch,
            iterations=parser.guess_iterations,
            seed=parser.seed,
            threads=parser.threads,
        )

    def _evaluator(self, dev: Sequence[Layer]) -> Callable[[Weights], Scores]:
        """Attachment on a dev set, without punctuation."""

        def evaluate(weights: Weights) -> Scores:
            found = tree_score(dev, self._parser._parsed(weights, dev))
            if found is None:
                raise ConfigError("the dev set has no trees to compare with")
            return Scores((found.uas,), {} if found.las is None else {"las": found.las})

        return evaluate

    def _fingerprint(self) -> str:
        parser = self._parser
        settings = {
            name: value
            for name, value in parser.get_params().items()
            if name not in ("threads", "iterations")
        }
        digest = hashlib.blake2b(repr(sorted(settings.items())).encode(), digest_size=16)
        for layer in self.layers:
            digest.update(repr((layer.words, layer.tags, layer.heads, layer.relations)).encode())
        return digest.hexdigest()
