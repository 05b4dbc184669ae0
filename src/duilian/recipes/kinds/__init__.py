"""The kinds of models that a recipe can name, one module each: how to train and save a model."""

from duilian.recipes.kinds import (
    analyzer,
    coupled,
    crf,
    dynamic,
    guided,
    joint_parser,
    multitask,
    parser,
    tree_converter,
    two_chain,
)

__all__ = [
    "analyzer",
    "coupled",
    "crf",
    "dynamic",
    "guided",
    "joint_parser",
    "multitask",
    "parser",
    "tree_converter",
    "two_chain",
]
