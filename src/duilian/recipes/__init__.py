"""Recipes: one TOML file names everything that a training run needs."""

from duilian.recipes.kinds import (
    AnalyzerSettings,
    CoupledSettings,
    CrfSettings,
    DynamicSettings,
    GuidedSettings,
    JointParserSettings,
    MultitaskSettings,
    ParserSettings,
    TwoChainSettings,
)
from duilian.recipes.recipe import KINDS, Kind, Learn, Recipe, Run, Save, Side, register, train

__all__ = [
    "KINDS",
    "AnalyzerSettings",
    "CoupledSettings",
    "CrfSettings",
    "DynamicSettings",
    "GuidedSettings",
    "JointParserSettings",
    "Kind",
    "Learn",
    "MultitaskSettings",
    "ParserSettings",
    "Recipe",
    "Run",
    "Save",
    "Side",
    "TwoChainSettings",
    "register",
    "train",
]
