"""The joint parser compiled for answering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.models.crf.predictor import CrfPredictor
from duilian.models.joint_parser.joint_packing import JointPacker
from duilian.models.joint_parser.storage import JointParserModel
from duilian.models.parser.predictor import ParserPredictor


class JointParserPredictor(ParserPredictor):
    """Answers of a joint parser: tags and trees of words."""

    packer: JointPacker

    def __init__(self, model: JointParserModel) -> None:
        super().__init__(model)
        self.tagger = CrfPredictor(model.tagger)

    def predict_layers(
        self, layers: Sequence[Layer], *, keep_heads: bool = False, threads: int = 1
    ) -> list[Layer]:
        """The sentences with their tags and trees; with `keep_heads` given tags, heads and relations stay."""
        found = self.packer.candidates(self.tagger, layers, keep_tags=keep_heads, threads=threads)
        return self.packer.parse_jointly(
            self.weights, self.pruning, layers, found, keep_heads=keep_heads, threads=threads
        )

    def pruning_tags(self, layers: list[Layer], *, threads: int = 1) -> list[Layer]:
        """Those of the plain tagger."""
        return self.tagger.predict_layers(layers, threads=threads)

    def check_tags(self, layers: Sequence[Layer], first: int = 1) -> None:
        """Refuse nothing: the parser finds the tags itself."""

    def ranked_trees(self, layer: Layer, k: int, *, keep_heads: bool = False) -> NoReturn:
        """Refused: a joint parser gives one answer."""
        raise ConfigError("a joint parser has no k best trees", "tag first and ask a parser")
