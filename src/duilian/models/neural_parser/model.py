"""The neural parser (kind `neural-parser`): Dozat and Manning (2017), with exact projective trees.

Words go in; bidirectional LSTMs read the sentence; a product of a word with each other one scores its heads.
The best projective tree is found exactly. Training needs PyTorch, answers do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from duilian import evaluation
from duilian.arguments import checked
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError
from duilian.models.base.estimator import Estimator
from duilian.models.base.sentences import Sentences, layer_of, layers_of
from duilian.models.neural_parser.config import NeuralParserConfig
from duilian.models.neural_parser.predictor import NeuralParserPredictor
from duilian.models.neural_parser.storage import NeuralParserModel
from duilian.models.roles import Ability, TaggedWords, Trees
from duilian.text import Script


class NeuralParser(Estimator[NeuralParserConfig, NeuralParserModel]):
    """Finds the trees of words, and tags to go with them, with a network that is read from a file."""

    kind: ClassVar[str] = "neural-parser"
    abilities: frozenset[Ability] = frozenset(
        {Ability.TAGS, Ability.TREES, Ability.NBEST, Ability.CONSTRAINTS}
    )
    config_type = NeuralParserConfig
    model_type = NeuralParserModel
    predictor_: NeuralParserPredictor

    def __init__(
        self,
        standard: str = "tags",
        *,
        script: Script = "as-is",
        chooses_tags: bool = True,
        tag_share: float = NeuralParserConfig.tag_share,
        max_length: int = NeuralParserConfig.max_length,
    ) -> None:
        self.standard = standard
        self.script = script
        self.chooses_tags = chooses_tags
        self.tag_share = tag_share
        self.max_length = max_length

    def compile(self, model: NeuralParserModel) -> None:
        self.predictor_ = NeuralParserPredictor(model)
        if not model.config.chooses_tags:
            self.abilities = type(self).abilities - {Ability.TAGS}

    @property
    def tags_(self) -> tuple[str, ...]:
        """The tags that the parser finds, or that it can be given."""
        return self.model_.output_tags or self.model_.tags

    @property
    def relations_(self) -> tuple[str, ...]:
        """The relations that the parser finds."""
        return self.model_.relations

    def layers(self, X: Sentences) -> list[Layer]:  # noqa: N803
        """Sentences in any of the accepted forms, as layers."""
        return layers_of(X, self.standard)

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer] = (), threads: int = 1) -> Trees:
        """Parse sentences of any length; `given` is annotation to keep: none, or one layer per sentence."""
        return self.predictor_.annotate(sentences, given, threads)

    @checked
    def predict_layers(self, X: Sentences, *, keep_heads: bool = False, threads: int = 1) -> list[Layer]:  # noqa: N803
        """The sentences with trees and tags; with `keep_heads`, given tags, heads and relations stay."""
        return self.predictor_.predict_layers(self.layers(X), keep_heads=keep_heads, threads=threads)

    @checked
    def k_best(
        self, sentence: Layer | Sentence, k: int, *, keep_heads: bool = False
    ) -> list[tuple[float, Layer]]:
        """The k best trees of a sentence with their log probabilities, best first; fewer if it has no more.

        With `keep_heads`, given heads and relations stay.
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
