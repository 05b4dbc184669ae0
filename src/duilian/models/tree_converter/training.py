"""Training the tree converter: rules for the source's trees, the pruning model, the iterations."""

from __future__ import annotations

from collections.abc import Sequence

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.evaluation import accuracy, tree_score
from duilian.learning import Scores
from duilian.models.parser.arc_pruning import learn_pruning, pruning_weights
from duilian.models.parser.training import TrainedParser, TreeTrainer
from duilian.models.parser.tree_packing import Ids, TreePacker, Weights, open_heads
from duilian.models.parser.treebank import CONJUNCTION, CONJUNCTIONS, Treebank
from duilian.models.tree_converter.config import TreeConverterConfig
from duilian.models.tree_converter.packing import ConverterPacker
from duilian.models.tree_converter.pairs import JOINT, GuidedLayer, guided
from duilian.models.tree_converter.rewriting import TreeRules
from duilian.models.tree_converter.storage import TreeConverterModel

Pair = tuple[Layer, Layer]
"""A sentence in the source and in the target, with the same words."""


class TreeConverterTrainer(TreeTrainer):
    """A training run of the tree converter."""

    model_type = TreeConverterModel
    config: TreeConverterConfig

    def run_pairs(self, pairs: Sequence[Pair], dev: Sequence[Pair] | None = None) -> TrainedParser:
        """Learn from sentences in both standards; with a dev set, keep the weights that do best on it."""
        path = self.config.conversion.rules
        rules = TreeRules.load(path) if path else TreeRules()
        layers = [guided(rules.rewritten(source), target) for source, target in pairs]
        held_out = None if dev is None else [guided(rules.rewritten(one), other) for one, other in dev]
        self.rules = rules
        return self.run(layers, held_out)

    def run(self, layers: Sequence[Layer], dev: Sequence[Layer] | None = None) -> TrainedParser:
        """Learn from guided layers."""
        threads = self.session.threads
        treebank = Treebank.of(layers).lift()
        packer = self.packer(treebank)
        pruning = learn_pruning(packer, treebank.layers, self.session)
        kept = pruning.weights
        if not packer.config.min_share:  # nothing is pruned, but probabilities are needed
            kept = pruning_weights(packer, treebank.layers, threads)
        objective = self.objective(packer, treebank, pruning.allowed)
        evaluate = None
        if dev is not None:
            evaluate = lambda weights: _scores(packer, weights, kept, dev, threads)  # noqa: E731
        trainer = self.learn(objective, treebank.layers, evaluate, packer.guides(treebank.layers))
        return self.trained(
            trainer,
            packer,
            treebank,
            kept,
            config=self.config.updated({"conversion": {"rules": None}}),  # the rules are in the model
            target_tags=packer.target_tags,
            source_relations=packer.source_relations,
            rules=self.rules,
        )

    def guess_heads(self, packer: TreePacker, layers: Sequence[Layer]) -> Ids:
        """No trees: relations are learned on gold trees only, because nearly all heads found are right."""
        return open_heads(0)

    def packer(self, treebank: Treebank) -> ConverterPacker:
        """The packer for the tags and relations of a treebank."""
        found = [layer for layer in treebank.layers if isinstance(layer, GuidedLayer)]
        tags = sorted({str(tag) for layer in found for tag in layer.tags or ()})
        wanted = {tag for layer in found for tag in layer.wanted if tag is not None}
        source = {name for layer in found for name in layer.guide_relations}
        _, relations, classes = treebank.labels(tags)
        for place, tag in enumerate(tags):
            if not classes[place] and not set(tag.split(JOINT)).isdisjoint(CONJUNCTIONS):
                classes[place] = CONJUNCTION
        return ConverterPacker(
            self.config,
            tuple(tags),
            relations,
            classes,
            root_relations=treebank.root_relations(),
            target_tags=tuple(sorted(wanted)),
            source_relations=tuple(sorted(source)),
        )


def _scores(
    packer: ConverterPacker, weights: Weights, pruning: Weights, dev: Sequence[Layer], threads: int
) -> Scores:
    layers = [layer for layer in dev if isinstance(layer, GuidedLayer)]
    guess = packer.converted(layers, packer.convert(weights, pruning, layers, threads))
    found = tree_score(layers, guess)
    if found is None:
        raise ConfigError("the dev set has no trees to compare with")
    tags = accuracy([layer.wanted for layer in layers], [layer.tags or () for layer in guess])
    best = found.uas if found.las is None else found.las
    return Scores((best,), {"uas": found.uas, "tags": tags})
