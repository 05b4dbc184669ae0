"""Recipes: one TOML file names everything that a training run needs."""

from duilian.recipes.kinds import (
    CoupledSettings,
    CrfSettings,
    GuidedSettings,
    JointParserSettings,
    ParserSettings,
    TwoChainSettings,
)
from duilian.recipes.recipe import KINDS, Kind, Learn, Recipe, Run, Save, Side, register, train

__all__ = [
    "KINDS",
    "CoupledSettings",
    "CrfSettings",
    "GuidedSettings",
    "JointParserSettings",
    "Kind",
    "Learn",
    "ParserSettings",
    "Recipe",
    "Run",
    "Save",
    "Side",
    "TwoChainSettings",
    "register",
    "train",
]
