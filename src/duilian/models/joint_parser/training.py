"""Training the joint parser: taggers, candidates by jack-knifing, then the steps of a parser.

All steps but the search see the training sentences with tags of jack-knifed taggers, which are like those of
new sentences. A gold tag that is not among a word's candidates is added, because the loss needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import Templates
from duilian.learning import AdaGrad, Scores, Session
from duilian.models.base.feature_settings import Features
from duilian.models.crf.config import CrfConfig
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.crf.storage import CrfModel
from duilian.models.crf.training import CrfTrainer
from duilian.models.joint_parser.config import JointParserConfig
from duilian.models.joint_parser.joint_packing import JointPacker
from duilian.models.joint_parser.storage import JointParserModel
from duilian.models.joint_parser.tag_candidates import (
    candidates,
    jackknifed_marginals,
    marginals_of,
    tag_numbers,
)
from duilian.models.parser.arc_pruning import learn_pruning
from duilian.models.parser.training import TrainedParser, TreeTrainer, attachment
from duilian.models.parser.tree_packing import Weights, open_heads
from duilian.models.parser.treebank import Treebank


class JointParserTrainer(TreeTrainer):
    """A training run of the joint parser."""

    model_type = JointParserModel
    config: JointParserConfig

    def run(self, layers: Sequence[Layer], dev: Sequence[Layer] | None = None) -> TrainedParser:
        """Learn from sentences with tags and trees; with a dev set, keep the weights that do best on it.

        Sentences with tags but without trees are used for the plain tagger in the model.
        """
        tagging, threads = self.config.tagging, self.session.threads
        self.session.stage(f"tagging in {tagging.folds} folds")
        gold, config = Treebank.of(layers), self._tagger_config()
        packer = self.packer(gold)
        bare, known = [layer for layer in layers if layer.heads is None], set(packer.tags)
        others = [layer for layer in bare if known.issuperset(layer.tags or (None,))]
        tagger = _fit_tagger(config, [*gold.layers, *others], threads, tagging.min_weight)
        gold_tags = tag_numbers(gold.layers, packer.tags)
        marginals = jackknifed_marginals(
            lambda others: CrfPredictor(_fit_tagger(config, others, threads)),
            gold.layers,
            packer.tags,
            tagging.folds,
            self.session,
        )
        found = candidates(marginals, tagging.threshold, added=gold_tags)
        treebank = Treebank(packer.with_tags(gold.layers, found.best)).lift()
        pruning = learn_pruning(packer, treebank.layers, self.session)
        packer = self.with_hints(packer)
        objective = _native.JointObjective(
            packer.joint,
            packer.joint_data(treebank.layers, found, gold_tags),
            pruning.allowed,
            self.guess_heads(packer, treebank.layers),
            packer.options(),
        )
        evaluate = None if dev is None else self._evaluator(packer, tagger, pruning.weights, dev)
        trainer = self.learn(objective, treebank.layers, evaluate, [gold_tags])
        return self.trained(
            trainer,
            packer,
            treebank,
            pruning.weights,
            config=self.config.updated({"tagging": {"templates": packer.templates.name}}),
            templates=packer.templates,
            tagger=tagger,
            trained_threshold=tagging.threshold,
        )

    def packer(self, gold: Treebank) -> JointPacker:
        """The packer for the tags and relations of a treebank."""
        tags = sorted({tag for layer in gold.layers for tag in layer.tags or () if isinstance(tag, str)})
        if not tags:
            raise ConfigError("there are no sentences with tags and trees to learn from")
        templates = Templates.load(self.config.tagging.templates)
        roots = gold.root_relations()
        return JointPacker(self.config, *gold.labels(tags), templates, root_relations=roots)

    def _tagger_config(self) -> CrfConfig:
        config, tagging = self.config, self.config.tagging
        return CrfConfig(
            standard=config.standard,
            features=Features(templates=tagging.templates, script=config.script),
            learning=AdaGrad(iterations=tagging.iterations, seed=self.learning.seed),
        )

    def _evaluator(
        self, packer: JointPacker, tagger: CrfModel, pruning: Weights, dev: Sequence[Layer]
    ) -> Callable[[Weights], Scores]:
        """A function from weights to scores on a dev set, for which candidates are found once."""
        threads = self.session.threads
        marginals = marginals_of(CrfPredictor(tagger), dev, packer.tags, threads)
        found = candidates(marginals, self.config.tagging.threshold)
        words, heads = [layer.words for layer in dev], open_heads(len(found.best))

        def parse(weights: Weights) -> list[Layer]:
            trees = packer.parse_jointly(weights, pruning, words, found, heads, threads)
            return packer.with_trees(dev, trees)

        return attachment(dev, parse, judge_tags=True)


def _fit_tagger(
    config: CrfConfig, layers: Sequence[Layer], threads: int, min_weight: float = 0.0
) -> CrfModel:
    return CrfTrainer(config, Session(threads=threads)).run(layers).model(min_weight)
