"""Recipes: one TOML file names everything that a training run needs."""

from duilian.recipes import kinds as _kinds  # registers every kind
from duilian.recipes.parts import KINDS, Kind, Saving, Side, register
from duilian.recipes.recipe import Recipe, train
from duilian.recipes.run import Run

__all__ = ["KINDS", "Kind", "Recipe", "Run", "Saving", "Side", "register", "train"]

del _kinds
