"""The models of the papers, one module each."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.models.coupled import CoupledTagger
    from duilian.models.coupled_conversion import Converted
    from duilian.models.coupled_side import CoupledSide
    from duilian.models.crf import CRF
    from duilian.models.dynamic import DynamicTagger
    from duilian.models.guided import GuidedTagger
    from duilian.models.joint_parser import JointParser
    from duilian.models.loading import (
        Model,
        StandardTagger,
        is_parser,
        is_suite,
        load,
        load_parser,
        reading_of,
        standards_of,
        tagger_for,
    )
    from duilian.models.margin import MarginTagger
    from duilian.models.multitask import MultitaskTagger
    from duilian.models.parser import Parser
    from duilian.models.suite import Suite
    from duilian.models.tagger import Tagger
    from duilian.models.two_chain import TwoChainTagger

__all__ = [
    "CRF",
    "Converted",
    "CoupledSide",
    "CoupledTagger",
    "DynamicTagger",
    "GuidedTagger",
    "JointParser",
    "MarginTagger",
    "Model",
    "MultitaskTagger",
    "Parser",
    "StandardTagger",
    "Suite",
    "Tagger",
    "TwoChainTagger",
    "is_parser",
    "is_suite",
    "load",
    "load_parser",
    "reading_of",
    "standards_of",
    "tagger_for",
]

__getattr__ = lazily(
    __name__,
    {
        "duilian.models.coupled": ("CoupledTagger",),
        "duilian.models.coupled_conversion": ("Converted",),
        "duilian.models.coupled_side": ("CoupledSide",),
        "duilian.models.crf": ("CRF",),
        "duilian.models.dynamic": ("DynamicTagger",),
        "duilian.models.guided": ("GuidedTagger",),
        "duilian.models.joint_parser": ("JointParser",),
        "duilian.models.loading": (
            "Model",
            "StandardTagger",
            "is_parser",
            "is_suite",
            "load",
            "load_parser",
            "reading_of",
            "standards_of",
            "tagger_for",
        ),
        "duilian.models.margin": ("MarginTagger",),
        "duilian.models.multitask": ("MultitaskTagger",),
        "duilian.models.parser": ("Parser",),
        "duilian.models.suite": ("Suite",),
        "duilian.models.tagger": ("Tagger",),
        "duilian.models.two_chain": ("TwoChainTagger",),
    },
)
