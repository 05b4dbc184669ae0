"""Kind joint-parser: tags and trees of words from one search, of order 1, 2 or 3."""

from __future__ import annotations

from typing import cast

from duilian.models.joint_parser.config import JointParserConfig
from duilian.models.joint_parser.model import JointParser
from duilian.recipes.kinds.parser import fit_trees
from duilian.recipes.parts import Kind, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run


def train_joint_parser(recipe: Recipe, run: Run) -> float | None:
    """Train a joint parser; with --resume taggers and pruning are learned again."""
    return fit_trees(JointParser.with_config(cast(JointParserConfig, recipe.config)), recipe, run)


register(Kind("joint-parser", JointParserConfig, range(1, 2), train_joint_parser))
