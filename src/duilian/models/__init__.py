"""The models of the papers, one module each."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.models.attribute_crf.model import CRF
    from duilian.models.coupled.conversion_answers import Converted
    from duilian.models.coupled.model import CoupledTagger
    from duilian.models.coupled.side import CoupledSide
    from duilian.models.crf.model import Tagger
    from duilian.models.crf.uncalibrated import UncalibratedTagger
    from duilian.models.dynamic.model import DynamicTagger
    from duilian.models.guided.model import GuidedTagger
    from duilian.models.joint_parser.model import JointParser
    from duilian.models.multitask.model import MultitaskTagger
    from duilian.models.parser.model import Parser
    from duilian.models.registry import (
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
    from duilian.models.suite.model import Suite
    from duilian.models.two_chain.model import TwoChainTagger
    from duilian.models.two_chain.predictor import TwoChainPredictor

__all__ = [
    "CRF",
    "Converted",
    "CoupledSide",
    "CoupledTagger",
    "DynamicTagger",
    "GuidedTagger",
    "JointParser",
    "Model",
    "MultitaskTagger",
    "Parser",
    "StandardTagger",
    "Suite",
    "Tagger",
    "TwoChainPredictor",
    "TwoChainTagger",
    "UncalibratedTagger",
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
        "duilian.models.coupled.model": ("CoupledTagger",),
        "duilian.models.coupled.conversion_answers": ("Converted",),
        "duilian.models.coupled.side": ("CoupledSide",),
        "duilian.models.attribute_crf.model": ("CRF",),
        "duilian.models.dynamic.model": ("DynamicTagger",),
        "duilian.models.guided.model": ("GuidedTagger",),
        "duilian.models.joint_parser.model": ("JointParser",),
        "duilian.models.registry": (
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
        "duilian.models.crf.uncalibrated": ("UncalibratedTagger",),
        "duilian.models.multitask.model": ("MultitaskTagger",),
        "duilian.models.parser.model": ("Parser",),
        "duilian.models.suite.model": ("Suite",),
        "duilian.models.crf.model": ("Tagger",),
        "duilian.models.two_chain.model": ("TwoChainTagger",),
        "duilian.models.two_chain.predictor": ("TwoChainPredictor",),
    },
)
