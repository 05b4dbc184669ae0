"""A run of training of the joint parser: the taggers, candidates by jack-knifing, then as for a parser.

Everything but the search sees the training sentences with the tags of the jack-knifed taggers, as it will see
new ones; a gold tag that is not among a word's candidates is added to them, because the loss needs it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.evaluation import accuracy
from duilian.evaluation.attachment import tree_score
from duilian.learning import Scores
from duilian.models.joint_parser.tag_candidates import candidates, jackknifed_marginals, tag_numbers
from duilian.models.parser.training import ParserRun, tag_classes

if TYPE_CHECKING:
    from duilian.models.joint_parser.model import JointParser
    from duilian.models.parser.model import Weights


class JointRun(ParserRun):
    """The data of a run, and its steps."""

    _parser: JointParser

    def __init__(self, parser: JointParser, layers: Sequence[Layer]) -> None:
        usable = [layer for layer in layers if layer.heads is not None and layer.tags is not None]
        # In the order in which the parser's run has them.
        self._gold = sorted(usable, key=lambda layer: None in (layer.heads or ()))
        tags = sorted({tag for layer in self._gold for tag in layer.tags or () if isinstance(tag, str)})
        if not tags:
            raise ConfigError("there is no sentence with tags and a tree to learn from")
        parser.tags_ = tuple(tags)
        parser.tagger_ = parser.new_tagger().fit(self._gold)
        marginals = jackknifed_marginals(parser.new_tagger, self._gold, tags, parser.folds)
        self._gold_tags = tag_numbers(self._gold, tags)
        self._candidates = candidates(marginals, parser.tag_threshold, added=self._gold_tags)
        super().__init__(parser, parser.with_tags(self._gold, self._candidates.best))

    def _set_labels(self) -> None:
        relations = {name for layer in self._gold for name in layer.relations or () if name is not None}
        tags = self._parser.tags_
        self._parser.set_labels(tags, sorted(relations), tag_classes(tags, self._gold))

    def _objective(self) -> _native.JointObjective:
        data = self._parser.joint_data(self.layers, self._candidates, self._gold_tags)
        guessed, options = self._guessed_heads(), self._parser.options()
        return _native.JointObjective(self._parser.joint_, data, self._allowed, guessed, options)

    def _evaluator(self, dev: Sequence[Layer]) -> Callable[[Weights], Scores]:
        """Attachment on a dev set, without punctuation; beside it the accuracy of tags."""

        def evaluate(weights: Weights) -> Scores:
            guess = self._parser._parsed(weights, dev)
            found = tree_score(dev, guess)
            if found is None:
                raise ConfigError("the dev set has no trees to compare with")
            rows = [[layer.tags or (None,) * len(layer) for layer in side] for side in (dev, guess)]
            details = {} if found.las is None else {"las": found.las}
            return Scores((found.uas,), details | {"tags": accuracy(*rows)})

        return evaluate

    def _fingerprint(self) -> str:
        gold = hashlib.blake2b(self._gold_tags.tobytes(), digest_size=8)
        return super()._fingerprint() + gold.hexdigest()
