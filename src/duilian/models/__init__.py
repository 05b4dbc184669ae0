"""The models of the papers, one package each, and their settings."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.models.attribute_crf.model import CRF
    from duilian.models.base.dictionary_settings import DictionarySettings
    from duilian.models.base.feature_settings import Features
    from duilian.models.base.mixing_settings import MixingSettings
    from duilian.models.base.standard_tagger import StandardTagger
    from duilian.models.coupled.config import CoupledFeatures, CoupledPruning, SelfTraining, Start
    from duilian.models.coupled.model import CoupledTagger
    from duilian.models.coupled.side import CoupledSide
    from duilian.models.crf.model import Tagger
    from duilian.models.crf.uncalibrated import UncalibratedTagger
    from duilian.models.dynamic.config import DynamicFeatures, DynamicSearch
    from duilian.models.dynamic.model import DynamicTagger
    from duilian.models.guided.model import GuidedTagger
    from duilian.models.joint_parser.config import JointTagging
    from duilian.models.joint_parser.model import JointParser
    from duilian.models.multitask.model import MultitaskTagger
    from duilian.models.neural_parser.model import NeuralParser
    from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch
    from duilian.models.parser.model import Parser
    from duilian.models.registry import (
        is_parser,
        load,
        load_parser,
        reading_of,
        standards_of,
        tagger_for,
    )
    from duilian.models.suite.model import Suite
    from duilian.models.tree_converter.config import ConversionSteps
    from duilian.models.tree_converter.model import TreeConverter
    from duilian.models.two_chain.model import TwoChainTagger
    from duilian.models.two_chain.predictor import TwoChainPredictor

__all__ = [
    "CRF",
    "ArcPruning",
    "ConversionSteps",
    "CoupledFeatures",
    "CoupledPruning",
    "CoupledSide",
    "CoupledTagger",
    "DictionarySettings",
    "DynamicFeatures",
    "DynamicSearch",
    "DynamicTagger",
    "Features",
    "GuidedTagger",
    "JointParser",
    "JointTagging",
    "MixingSettings",
    "MultitaskTagger",
    "NeuralParser",
    "Parser",
    "RelationSearch",
    "SelfTraining",
    "StandardTagger",
    "Start",
    "Suite",
    "Tagger",
    "TreeConverter",
    "TreeSearch",
    "TwoChainPredictor",
    "TwoChainTagger",
    "UncalibratedTagger",
    "is_parser",
    "load",
    "load_parser",
    "reading_of",
    "standards_of",
    "tagger_for",
]

__getattr__ = lazily(
    __name__,
    {
        "duilian.models.attribute_crf.model": "CRF",
        "duilian.models.base.dictionary_settings": "DictionarySettings",
        "duilian.models.base.feature_settings": "Features",
        "duilian.models.base.mixing_settings": "MixingSettings",
        "duilian.models.coupled.config": "CoupledFeatures CoupledPruning SelfTraining Start",
        "duilian.models.coupled.model": "CoupledTagger",
        "duilian.models.coupled.side": "CoupledSide",
        "duilian.models.crf.model": "Tagger",
        "duilian.models.crf.uncalibrated": "UncalibratedTagger",
        "duilian.models.dynamic.config": "DynamicFeatures DynamicSearch",
        "duilian.models.dynamic.model": "DynamicTagger",
        "duilian.models.guided.model": "GuidedTagger",
        "duilian.models.joint_parser.config": "JointTagging",
        "duilian.models.joint_parser.model": "JointParser",
        "duilian.models.multitask.model": "MultitaskTagger",
        "duilian.models.neural_parser.model": "NeuralParser",
        "duilian.models.parser.config": "ArcPruning RelationSearch TreeSearch",
        "duilian.models.parser.model": "Parser",
        "duilian.models.base.standard_tagger": "StandardTagger",
        "duilian.models.registry": "is_parser load load_parser reading_of standards_of tagger_for",
        "duilian.models.suite.model": "Suite",
        "duilian.models.tree_converter.config": "ConversionSteps",
        "duilian.models.tree_converter.model": "TreeConverter",
        "duilian.models.two_chain.model": "TwoChainTagger",
        "duilian.models.two_chain.predictor": "TwoChainPredictor",
    },
)
