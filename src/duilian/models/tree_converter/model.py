"""The tree converter (kind `tree-converter`): a parser whose features see the tree of another treebank.

The best target tree is found exactly, as by a parser; guide features tell how two words are linked in the
source tree. Relations and tags follow. Rewriting rules may run before the search, and punctuation may be
attached after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from duilian import evaluation
from duilian.arguments import checked
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.learning import Learning, Session
from duilian.models.base.estimator import Estimator
from duilian.models.base.sentences import Sentences, layers_of
from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch
from duilian.models.roles import Ability, ConvertedTree
from duilian.models.tree_converter.config import ConversionSteps, TreeConverterConfig
from duilian.models.tree_converter.pairs import align
from duilian.models.tree_converter.predictor import TreeConverterPredictor
from duilian.models.tree_converter.storage import TreeConverterModel
from duilian.text import Script


class TreeConverter(Estimator[TreeConverterConfig, TreeConverterModel]):
    """Converts trees and tags from one standard to another.

    >>> from duilian.corpus import Layer
    >>> words = ("他", "看", "书")
    >>> source = Layer(words, ("PN", "VV", "NN"), (2, 0, 2), ("nsubj", "root", "dobj"))
    >>> target = Layer(words, ("PRON", "VERB", "NOUN"), (2, 0, 2), ("nsubj", "root", "obj"))
    >>> converter = TreeConverter("ud").set_params(conversion__source="ud1").fit([source], [target])
    >>> converter.convert([source])[0].relations
    ('nsubj', 'root', 'obj')
    """

    kind: ClassVar[str] = "tree-converter"
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.CONVERSION})
    config_type: type[TreeConverterConfig] = TreeConverterConfig
    model_type: type[TreeConverterModel] = TreeConverterModel
    predictor_: TreeConverterPredictor
    level: ClassVar[Literal["word"]] = "word"

    def __init__(
        self,
        standard: str = "tags",
        *,
        conversion: ConversionSteps = TreeConverterConfig.conversion,
        order: Literal[1, 2, 3] = 2,
        script: Script = "as-is",
        trees: TreeSearch = TreeConverterConfig.trees,
        relations: RelationSearch = TreeConverterConfig.relations,
        pruning: ArcPruning = TreeConverterConfig.pruning,
        learning: Learning = TreeConverterConfig.learning,
    ) -> None:
        self.standard = standard
        self.conversion = conversion
        self.order = order
        self.script = script
        self.trees = trees
        self.relations = relations
        self.pruning = pruning
        self.learning = learning

    @checked
    def fit(
        self,
        source: Sentences,
        target: Sentences,
        *,
        dev: tuple[Sentences, Sentences] | None = None,
        threads: int = 1,
        session: Session | None = None,
    ) -> Self:
        """Learn from the same sentences in both standards, in the same order, with complete trees.

        Words may be cut differently; sentences with different characters are left out (`unaligned_`). With a
        dev set (source, target), the weights of the iteration that does best on it are kept.
        """
        from duilian.models.tree_converter.training import TreeConverterTrainer  # not needed to convert

        aligned = align(layers_of(source, self.source_standard), layers_of(target, self.standard))
        if not aligned.pairs:
            raise ConfigError("source and target have no sentences in common")
        held_out = None
        if dev is not None:
            held_out = align(layers_of(dev[0], self.source_standard), layers_of(dev[1], self.standard)).pairs
        trainer = TreeConverterTrainer(self.config, Session.of(session, threads))
        found = trainer.run_pairs(aligned.pairs, held_out)
        self.unaligned_ = aligned.unaligned
        self.best_score_, self.iterations_ = found.score, found.iterations
        assert isinstance(found.model, TreeConverterModel)
        return self.use(found.model)

    def compile(self, model: TreeConverterModel) -> None:
        self.predictor_ = TreeConverterPredictor(model)

    @property
    def source_standard(self) -> str:
        """The standard to convert from."""
        return self.conversion.source

    @property
    def standards(self) -> tuple[str, str]:
        """The standards of the target and the source."""
        return self.standard, self.source_standard

    @property
    def conversions(self) -> tuple[tuple[str, str], ...]:
        """The only conversion: from the source to the target."""
        return ((self.source_standard, self.standard),)

    @property
    def lifted_(self) -> int:
        """How many words were lifted in training because their arcs cross others."""
        return self.model_.lifted

    @checked
    def trim(self, min_weight: float) -> Self:
        """Feature selection: drop weights smaller than `min_weight`."""
        return self.use(self.model_.trimmed(min_weight))

    @checked
    def convert(self, sentences: Sentences, *, threads: int = 1) -> list[Layer]:
        """Convert sentences with complete trees to the target's standard."""
        layers = layers_of(sentences, self.source_standard)
        return [found.layer for found in self.convert_trees(layers, threads)]

    def convert_trees(self, layers: Sequence[Layer], threads: int = 1) -> list[ConvertedTree]:
        """Convert sentences; the answers have the probability of each head."""
        return self.predictor_.convert(layers, threads)

    def unknown_relations(self, layer: Layer) -> list[tuple[int, str]]:
        """The relations of a sentence that the converter has never seen, each with its word (from 0)."""
        return self.predictor_.unknown_relations(layer)

    @checked
    def score(self, source: Sentences, target: Sentences) -> float:
        """Labelled attachment score without punctuation, from 0 to 1."""
        gold: Sequence[Layer] = layers_of(target, self.standard)
        found = evaluation.tree_score(gold, self.convert(source))
        if found is None:
            raise ConfigError("the sentences have no trees to compare with")
        return (found.uas if found.las is None else found.las) / 100.0
