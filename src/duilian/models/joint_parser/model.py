"""The joint parser (kind `joint-parser`) of order 1, 2 or 3: Li et al. (2014), Section III.

Words go in, tags and a tree come out, from one search that scores both. A plain tagger, which is part of the
model, decides which tags each word may have, and what the tags around a part of a tree are.

In an analyser with a coupled tagger, both taggers together decide which tags a word may have, and the tags of
the analysis are those of the tree. With a tagger of another kind, the parser takes only the words and finds
its own tags for the tree, and the tags of the analysis are the tagger's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from duilian.learning import Learning
from duilian.models.joint_parser.config import JointParserConfig, JointTagging
from duilian.models.joint_parser.predictor import JointParserPredictor
from duilian.models.joint_parser.storage import JointParserModel
from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch
from duilian.models.parser.model import Parser
from duilian.models.roles import Ability
from duilian.text import Script

if TYPE_CHECKING:
    from duilian.models.joint_parser.training import JointParserTrainer


class JointParser(Parser):
    """Finds the tags and the tree of words at once; otherwise like `Parser`, but without k best trees.

    >>> from duilian.corpus import Layer
    >>> tree = Layer(("他", "看", "书"), ("PN", "VV", "NN"), (2, 0, 2), ("nsubj", "root", "obj"))
    >>> parser = JointParser("ctb", order=1).set_params(trees__bits=16, relations__bits=16)
    >>> parser.fit([tree] * 4).predict_layers([Layer(tree.words)])[0].tags
    ('PN', 'VV', 'NN')
    """

    kind: ClassVar[str] = "joint-parser"
    abilities = frozenset({Ability.TAGS, Ability.TREES, Ability.CONSTRAINTS})
    config_type = JointParserConfig
    model_type = JointParserModel
    predictor_type = JointParserPredictor
    predictor_: JointParserPredictor

    def __init__(
        self,
        standard: str = "tags",
        *,
        order: Literal[1, 2, 3] = 2,
        script: Script = "as-is",
        trees: TreeSearch = JointParserConfig.trees,
        relations: RelationSearch = JointParserConfig.relations,
        pruning: ArcPruning = JointParserConfig.pruning,
        learning: Learning = JointParserConfig.learning,
        tagging: JointTagging = JointParserConfig.tagging,
    ) -> None:
        self.standard = standard
        self.order = order
        self.script = script
        self.trees = trees
        self.relations = relations
        self.pruning = pruning
        self.learning = learning
        self.tagging = tagging

    @property
    def trainer_type(self) -> type[JointParserTrainer]:
        from duilian.models.joint_parser.training import JointParserTrainer

        return JointParserTrainer
