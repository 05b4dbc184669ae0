"""The graph-based parser (kind `parser`) of order 1, 2 or 3: Li et al. (2014), Section II-B.

Words with tags go in, a projective tree with relations comes out. A small model of order 1 first decides
which arcs to try; the best tree with these arcs is found exactly; then every arc gets a relation. A sentence
of more than `max_length` words is parsed in parts, whose trees are joined. Features are hashed into tables of
weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from duilian import evaluation
from duilian.arguments import checked
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError
from duilian.learning import Learning, Session
from duilian.models.base.estimator import Estimator
from duilian.models.base.sentences import Sentences, layer_of, layers_of
from duilian.models.crf.model import Tagger
from duilian.models.parser.config import ArcPruning, ParserConfig, RelationSearch, TreeConfig, TreeSearch
from duilian.models.parser.predictor import ParserPredictor
from duilian.models.parser.storage import ParserModel, check_hinter
from duilian.models.roles import Ability, TaggedWords, Trees
from duilian.text import Script

if TYPE_CHECKING:
    from duilian.models.parser.training import TreeTrainer


class Parser(Estimator[TreeConfig, ParserModel]):
    """Finds the tree of tagged words.

    >>> from duilian.corpus import Layer
    >>> tree = Layer(("他", "看", "书"), ("PN", "VV", "NN"), (2, 0, 2), ("nsubj", "root", "obj"))
    >>> parser = Parser("ctb", order=1).set_params(trees__bits=16, relations__bits=16)
    >>> parser.fit([tree]).predict_layers([Layer(tree.words, tree.tags)])[0].heads
    (2, 0, 2)
    """

    kind: ClassVar[str] = "parser"
    abilities: ClassVar[frozenset[Ability]] = frozenset({Ability.TREES, Ability.NBEST, Ability.CONSTRAINTS})
    config_type: type[TreeConfig] = ParserConfig
    model_type: type[ParserModel] = ParserModel
    predictor_type: ClassVar[type[ParserPredictor]] = ParserPredictor
    predictor_: ParserPredictor

    def __init__(
        self,
        standard: str = "tags",
        *,
        order: Literal[1, 2, 3] = 2,
        script: Script = "as-is",
        trees: TreeSearch = ParserConfig.trees,
        relations: RelationSearch = ParserConfig.relations,
        pruning: ArcPruning = ParserConfig.pruning,
        learning: Learning = ParserConfig.learning,
        tag_folds: int = 0,
    ) -> None:
        self.standard = standard
        self.order = order
        self.script = script
        self.trees = trees
        self.relations = relations
        self.pruning = pruning
        self.learning = learning
        self.tag_folds = tag_folds

    @checked
    def fit(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        *,
        dev: Sentences | None = None,
        hinter: Tagger | None = None,
        threads: int = 1,
        session: Session | None = None,
    ) -> Self:
        """Learn from sentences with tags and trees. Crossing arcs are lifted first.

        With a dev set, the weights of the iteration that does best on it are kept. `hinter` is a plain tagger
        of words in another standard, which must not have seen the sentences: it becomes part of the parser,
        and features see its tags, too. For `session`, see `Tagger.fit`.
        """
        if hinter is not None:
            check_hinter(hinter.model_)
        hints = None if hinter is None else hinter.model_
        trainer = self.trainer_type(self.config, Session.of(session, threads), hints)
        held_out = None if dev is None else self.layers(dev)
        if any(layer.heads is None for layer in held_out or ()):
            raise ConfigError("all dev sentences must have trees")
        found = trainer.run(self.layers(X), held_out)
        self.best_score_, self.iterations_ = found.score, found.iterations
        return self.use(found.model)

    @property
    def trainer_type(self) -> type[TreeTrainer]:
        """The class of a training run; it is not needed to parse."""
        from duilian.models.parser.training import ParserTrainer

        return ParserTrainer

    def compile(self, model: ParserModel) -> None:
        self.predictor_ = self.predictor_type(model)

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name.

        A trained parser uses new settings of pruning and maximum length at once, others when it is trained
        again.
        """
        if self.is_trained():
            wanted = type(self)(**self.get_params(deep=False)).set_params(**params)
            self.use(self.model_.searching_as(wanted.config))
        return super().set_params(**params)

    def layers(self, X: Sentences) -> list[Layer]:  # noqa: N803
        """Sentences in any of the accepted forms, as layers."""
        return layers_of(X, self.standard)

    @property
    def tags_(self) -> tuple[str, ...]:
        """The tags that the parser knows."""
        return self.model_.tags

    @property
    def relations_(self) -> tuple[str, ...]:
        """The relations that the parser finds."""
        return self.model_.relations

    @property
    def lifted_(self) -> int:
        """How many words were lifted in training because their arcs cross others."""
        return self.model_.lifted

    @checked
    def trim(self, min_weight: float) -> Self:
        """Feature selection: drop weights smaller than `min_weight`."""
        return self.use(self.model_.trimmed(min_weight))

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer] = (), threads: int = 1) -> Trees:
        """Parse sentences of any length; `given` is annotation to keep: none, or one layer per sentence."""
        return self.predictor_.annotate(sentences, given, threads)

    @checked
    def predict_layers(self, X: Sentences, *, keep_heads: bool = False, threads: int = 1) -> list[Layer]:  # noqa: N803
        """The sentences with their trees; with `keep_heads`, given heads and relations stay.

        Complete trees stay as they are. If given heads fit into no projective tree, the search runs without
        them, and then they are put back.
        """
        return self.predictor_.predict_layers(self.layers(X), keep_heads=keep_heads, threads=threads)

    @checked
    def k_best(
        self, sentence: Layer | Sentence, k: int, *, keep_heads: bool = False
    ) -> list[tuple[float, Layer]]:
        """The k best trees of a sentence with their scores, best first; fewer if it has no more.

        From order 2 on, they are the best with the arcs that survive pruning. With `keep_heads`, given heads
        and relations stay.
        """
        return self.predictor_.k_best(layer_of(sentence, self.standard), k, keep_heads=keep_heads)

    @checked
    def score(self, X: Sentences) -> float:  # noqa: N803
        """Unlabelled attachment score without punctuation, from 0 to 1."""
        gold = self.layers(X)
        found = evaluation.tree_score(gold, self.predict_layers(gold))
        if found is None:
            raise ConfigError("the sentences have no trees to compare with")
        return found.uas / 100.0
