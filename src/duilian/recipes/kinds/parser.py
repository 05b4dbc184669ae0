"""Kind parser: trees of tagged words, of order 1, 2 or 3."""

from __future__ import annotations

from typing import cast

from duilian.models.parser.config import ParserConfig
from duilian.models.parser.model import Parser
from duilian.recipes.parts import Kind, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import corpora_of, save, side_notes, warn_of_overlap
from duilian.wording import counted


def train_parser(recipe: Recipe, run: Run) -> float | None:
    """Train a parser; with --resume pruning is learned again."""
    return fit_trees(Parser.with_config(cast(ParserConfig, recipe.config)), recipe, run)


def fit_trees(parser: Parser, recipe: Recipe, run: Run) -> float | None:
    """Train a parser on the trees of the recipe's only side, and save it."""
    (side,) = recipe.sides
    corpus, dev = corpora_of(recipe, side, trees="whole")
    warn_of_overlap([(corpus, dev)], "word", run)
    parser.fit(corpus, dev=dev, session=run.session())
    if parser.lifted_:
        words = counted(parser.lifted_, "word was", "words were")
        run.warn(f"{words} reattached to make trees with crossing arcs projective")
    return save(parser, recipe, run, side_notes(side, corpus, dev) | {"lifted": parser.lifted_})


register(Kind("parser", ParserConfig, range(1, 2), train_parser))
