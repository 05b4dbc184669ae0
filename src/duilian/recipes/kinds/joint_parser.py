"""Kind joint-parser: tags and trees of words from one search, of order 1, 2 or 3."""

from __future__ import annotations

import dataclasses

from duilian.models.joint_parser.model import JointParser
from duilian.recipes.kinds.parser import ITERATIONS, ParserSettings, fit_and_save
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, learn_settings


@dataclasses.dataclass(frozen=True, kw_only=True)
class JointParserSettings(ParserSettings):
    """`[model]` of kind joint-parser; what each means stands in `JointParser`."""

    folds: int = 10
    templates: str = "pos-word"
    tag_bits: int = 22
    tag_threshold: float = 0.01
    likelihoods: bool = True
    tagger_iterations: int = 10


def train_joint_parser(recipe: Recipe, run: Run) -> float | None:
    """The parser from a recipe of kind joint-parser; with --resume taggers and pruning are learned again."""
    (side,) = recipe.sides
    settings = {"iterations": ITERATIONS} | learn_settings(recipe, run)
    parser = JointParser(side.standard, **recipe.model, **settings)
    if run.on_stage:
        run.on_stage(f"tagging in {parser.folds} folds")
    return fit_and_save(parser, recipe, run, corpora_of(recipe, side, trees="whole"))


register(Kind("joint-parser", JointParserSettings, range(1, 2), train_joint_parser, iterations=ITERATIONS))
