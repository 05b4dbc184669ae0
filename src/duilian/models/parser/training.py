"""Training the parser: predicted tags, the pruning model, trees to learn relations on, the iterations."""

from __future__ import annotations

import abc
import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError
from duilian.evaluation import accuracy, tree_score
from duilian.learning import Perceptron, PerceptronRule, Scores, Session, Trainer, fingerprint, jackknifed
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel
from duilian.models.parser.arc_pruning import learn_pruning
from duilian.models.parser.config import BATCH, ParserConfig, TreeConfig, TreeSearch
from duilian.models.parser.predictor import ParserPredictor
from duilian.models.parser.storage import ParserModel
from duilian.models.parser.tree_packing import Ids, TreePacker, Weights
from duilian.models.parser.treebank import Treebank, jackknifed_tags, retagged

AnyPacker = TypeVar("AnyPacker", bound=TreePacker)

GUESS_FOLDS = 4
GUESS_BITS = 22


@dataclasses.dataclass(frozen=True)
class TrainedParser:
    """The result of training: the best dev score, the iterations run, and the model."""

    score: float | None
    iterations: int
    model: ParserModel


class TreeTrainer(abc.ABC):
    """A training run, with the steps that all parsers share."""

    model_type: ClassVar[type[ParserModel]] = ParserModel

    def __init__(self, config: TreeConfig, session: Session, hinter: CrfModel | None = None) -> None:
        self.config, self.session, self.hinter = config, session, hinter
        rounds = config.learning
        # The rule averages over all rounds already.
        self.learning = dataclasses.replace(rounds, batch=rounds.batch or BATCH, average=False)

    @abc.abstractmethod
    def run(self, layers: Sequence[Layer], dev: Sequence[Layer] | None = None) -> TrainedParser:
        """Learn from sentences with trees; with a dev set, keep the weights that do best on it."""

    def objective(
        self, packer: TreePacker, treebank: Treebank, allowed: npt.NDArray[np.uint8]
    ) -> _native.TreeObjective:
        """The objective for trees with the arcs that survive pruning."""
        guesses = self.guess_heads(packer, treebank.layers)
        return _native.TreeObjective(
            packer.native, packer.data(treebank.layers), allowed, guesses, packer.options()
        )

    def with_hints(self, packer: AnyPacker) -> AnyPacker:
        """The packer with the tagger that finds hints, which only the parser itself sees."""
        if self.hinter is None:
            return packer
        return dataclasses.replace(packer, hinter=CrfPredictor(self.hinter))

    def guess_heads(self, packer: TreePacker, layers: Sequence[Layer]) -> Ids:
        """Trees to learn relations on besides gold ones, from small parsers that have not seen them."""
        iterations, many = self.config.relations.guess_iterations, len(layers)
        if not packer.relations or iterations == 0 or many < 2:
            return np.zeros(0, np.int32)
        config = ParserConfig(
            standard=self.config.standard,
            order=1,
            script=self.config.script,
            trees=TreeSearch(bits=min(self.config.trees.bits, GUESS_BITS)),
            learning=Perceptron(batch=self.learning.batch, iterations=iterations, seed=self.learning.seed),
        )
        threads = self.session.threads

        def guess(train: list[Layer], held_out: list[Layer]) -> list[int]:
            model = ParserTrainer(config, Session(threads=threads)).run(train).model
            found = ParserPredictor(model).predict_layers(held_out, threads=threads)
            return [head for layer in found for head in layer.heads or () if head is not None]

        bare = [dataclasses.replace(layer, relations=None) for layer in layers]
        folds = jackknifed(bare, min(GUESS_FOLDS, many), guess, self.session, "trees for relations")
        return np.array(list(itertools.chain.from_iterable(folds)), np.int32)

    def learn(
        self,
        objective: _native.TreeObjective | _native.JointObjective,
        layers: Sequence[Layer],
        evaluate: Callable[[Weights], Scores] | None,
        marks: Iterable[npt.NDArray[np.int32]] = (),
    ) -> Trainer:
        """Run the perceptron for all iterations; the trainer returned has the best weights. `marks` and the
        sentences identify the data of the run.
        """
        assert isinstance(self.learning, Perceptron)
        rule = PerceptronRule(objective, self.learning, self.session.threads)
        trainer = Trainer(rule, objective.weights, len(layers), self.learning)
        rows = (repr((layer.words, layer.tags, layer.heads, layer.relations)) for layer in layers)
        mark = lambda: fingerprint(self.config, itertools.chain(rows, marks))  # noqa: E731
        trainer.run_kept(evaluate, mark, self.session)
        return trainer

    def trained(
        self, trainer: Trainer, packer: TreePacker, treebank: Treebank, pruning: Weights, **own: Any
    ) -> TrainedParser:
        """The result of the run; `own` is what its kind of model has besides, or a changed config."""
        shared: dict[str, Any] = {
            "config": self.config,
            "tags": packer.tags,
            "relations": packer.relations,
            "tag_class": packer.tag_class,
            "root_relations": packer.root_relations,
            "lifted": treebank.lifted,
            "weights": trainer.best,
            "pruning": pruning,
            "hinter": self.hinter,
        }
        score = None if np.isinf(trainer.best_score) else float(trainer.best_score)
        return TrainedParser(score, trainer.iteration, self.model_type(**(shared | own)))


class ParserTrainer(TreeTrainer):
    """A training run of the parser."""

    config: ParserConfig

    def run(self, layers: Sequence[Layer], dev: Sequence[Layer] | None = None) -> TrainedParser:
        """Learn from sentences with tags and trees; with a dev set, keep the weights that do best on it."""
        threads = self.session.threads
        if self.config.tag_folds:
            layers, dev = self._with_predicted_tags(layers, dev)
        treebank = Treebank.of(layers).lift()
        packer = self.packer(treebank)
        pruning = learn_pruning(packer, treebank.layers, self.session)
        packer = self.with_hints(packer)
        objective = self.objective(packer, treebank, pruning.allowed)
        evaluate = None
        if dev is not None:
            parse = lambda x: packer.parse_layers(x, pruning.weights, dev, threads=threads)  # noqa: E731
            evaluate = attachment(dev, parse)
        trainer = self.learn(objective, treebank.layers, evaluate)
        return self.trained(trainer, packer, treebank, pruning.weights)

    def _with_predicted_tags(
        self, layers: Sequence[Layer], dev: Sequence[Layer] | None
    ) -> tuple[list[Layer], list[Layer] | None]:
        folds, standard, threads = self.config.tag_folds, self.config.standard, self.session.threads
        self.session.stage(f"tagging in {folds} folds")
        train = [layer for layer in layers if layer.heads is not None]
        found = jackknifed_tags(train, folds, standard, self.session)
        return found, None if dev is None else retagged(dev, train, standard, threads)

    def packer(self, treebank: Treebank) -> TreePacker:
        """The packer for the tags and relations of a treebank."""
        tags = {tag for layer in treebank.layers for tag in layer.tags or ()}
        if not all(isinstance(tag, str) for tag in tags):
            raise StandardError("a parser learns from words with one tag each")
        labels = treebank.labels(sorted(map(str, tags)))
        return TreePacker(self.config, *labels, root_relations=treebank.root_relations())


def attachment(
    dev: Sequence[Layer], answer: Callable[[Weights], list[Layer]], *, judge_tags: bool = False
) -> Callable[[Weights], Scores]:
    """A function from weights to attachment on a dev set, with the accuracy of tags if `judge_tags`."""

    def evaluate(weights: Weights) -> Scores:
        guess = answer(weights)
        found = tree_score(dev, guess)
        if found is None:
            raise ConfigError("the dev set has no trees to compare with")
        details = {} if found.las is None else {"las": found.las}
        if judge_tags:
            rows = [[layer.tags or (None,) * len(layer) for layer in side] for side in (dev, guess)]
            details["tags"] = accuracy(*rows)
        return Scores((found.uas,), details)

    return evaluate
