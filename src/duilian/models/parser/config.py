"""Settings of the parser."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

from duilian.errors import ConfigError
from duilian.learning import Learning, Perceptron
from duilian.settings import Settings, setting
from duilian.text import Script

BATCH = 2


def table_bits(bits: int, what: str) -> Any:
    """A setting for the size of a table that features are hashed into."""
    return setting(bits, f"The table for {what} has 2^bits weights.", at_least=4, at_most=28)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TreeSearch(Settings):
    """How the heads of words are found."""

    bits: int = table_bits(24, "parts of trees")
    max_length: int = setting(200, "Parse longer sentences in parts (in words).", at_least=0, at_most=2000)
    head_cost: float = setting(
        200.0, "Margin in training: by how much the gold tree must win for each wrong head.", at_least=0
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class RelationSearch(Settings):
    """How the relations of arcs are found."""

    bits: int = table_bits(23, "relations")
    relation_cost: float = setting(
        40.0, "Margin in training: by how much the gold relations must win for each wrong one.", at_least=0
    )
    guess_iterations: int = setting(
        3,
        "Learn relations on gold trees and on trees of small parsers that have not seen the sentences, "
        "trained for this many iterations; 0: only on gold trees.",
        at_least=0,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArcPruning(Settings):
    """Which arcs to try, according to a small model of order 1."""

    bits: int = table_bits(20, "pruning")
    threshold: float = setting(
        0.01,
        "Try arcs that are at least this fraction as probable as the best one for the word; 0: try all.",
        at_least=0,
        at_most=1,
    )
    iterations: int = setting(4, "Passes over the training data.", at_least=1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TreeConfig(Settings):
    """Settings that all parsers share."""

    kind: ClassVar[str]

    standard: str = setting("tags", "Name of the standard.")
    order: Literal[1, 2, 3] = setting(
        2, "1 scores arcs; 2 also neighbouring siblings and grandparents; 3 also both together."
    )
    script: Script = setting("as-is", "`simplified`: features see traditional characters as simplified ones.")
    trees: TreeSearch = setting(TreeSearch(), "Heads.")
    relations: RelationSearch = setting(RelationSearch(), "Relations.")
    pruning: ArcPruning = setting(ArcPruning(), "Arcs worth trying.")
    learning: Learning = setting(Perceptron(iterations=20, batch=BATCH), "How to learn.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.learning.check_rule(self.kind, Perceptron)

    @property
    def min_share(self) -> float:
        """The pruning threshold in use; 0 if nothing is pruned."""
        return self.pruning.threshold


@dataclasses.dataclass(frozen=True, kw_only=True)
class ParserConfig(TreeConfig):
    """Kind `parser`: trees of tagged words."""

    kind: ClassVar[str] = "parser"

    tag_folds: int = setting(
        0,
        "Train on the tags of plain taggers that have not seen the sentences, jack-knifed in this many "
        "folds; 0: on gold tags.",
        at_least=0,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tag_folds == 1:
            raise ConfigError("tag_folds must be 0 or at least 2, got 1")

    @property
    def min_share(self) -> float:
        """The pruning threshold; 0 at order 1, where pruning would cost more than it saves."""
        return 0.0 if self.order == 1 else self.pruning.threshold
