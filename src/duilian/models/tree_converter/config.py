"""Settings of the tree converter."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from duilian.learning import Learning, Perceptron
from duilian.models.parser.config import BATCH, TreeConfig, TreeSearch, table_bits
from duilian.settings import Settings, setting


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConversionSteps(Settings):
    """What is converted, and the steps around the search."""

    source: str = setting("source", "Name of the standard to convert from.")
    rules: str | None = setting(
        None, "File of rewriting rules to apply before the learned step; none: no rules."
    )
    is_learned: bool = setting(True, "Whether to run the learned step; without it, only the rules convert.")
    tag_bits: int = table_bits(20, "tags")
    punctuation: Literal["learned", "projective"] = setting(
        "learned",
        "`projective`: attach punctuation as UD version 2 requires, whatever the source says.",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class TreeConverterConfig(TreeConfig):
    """Kind `tree-converter`: converts trees and tags from one standard to another."""

    kind: ClassVar[str] = "tree-converter"

    trees: TreeSearch = setting(TreeSearch(bits=22), "Heads.")
    learning: Learning = setting(Perceptron(iterations=10, batch=BATCH), "How to learn.")
    conversion: ConversionSteps = setting(ConversionSteps(), "The source, the rules, and what is learned.")

    @property
    def min_share(self) -> float:
        """The pruning threshold; 0 at order 1, where nothing is pruned, not even in training."""
        return 0.0 if self.order == 1 else self.pruning.threshold
