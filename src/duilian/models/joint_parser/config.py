"""Settings of the joint parser."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from duilian.models.parser.config import TreeConfig, table_bits
from duilian.settings import Settings, setting


@dataclasses.dataclass(frozen=True, kw_only=True)
class JointTagging(Settings):
    """Which tags to try, and how the search scores them."""

    templates: str = setting("pos-word", "Features of tags: name of a preset, or path of a template file.")
    bits: int = table_bits(22, "tags")
    threshold: float = setting(
        0.01,
        "Try tags that are at least this fraction as probable as the best one for the word.",
        at_least=0,
        at_most=1,
    )
    folds: int = setting(
        10,
        "On the training sentences, probabilities come from plain taggers that have not seen them, "
        "jack-knifed in this many folds.",
        at_least=2,
    )
    likelihoods: bool = setting(True, "Use the probability of a tag as a feature of it, unlike the paper.")
    iterations: int = setting(10, "Iterations of the plain taggers.", at_least=1)
    min_weight: float = setting(
        0.0, "Drop weights smaller than this from the plain tagger in the model.", at_least=0
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class JointParserConfig(TreeConfig):
    """Kind `joint-parser`: tags and trees from one search. Pruning pays off at every order."""

    kind: ClassVar[str] = "joint-parser"

    tagging: JointTagging = setting(JointTagging(), "Tags.")
