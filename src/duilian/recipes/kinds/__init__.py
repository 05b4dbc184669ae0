"""The kinds of models that a recipe can name, a module each: settings, training, saving."""

from duilian.recipes.kinds.analyzer import AnalyzerSettings
from duilian.recipes.kinds.coupled import CoupledSettings
from duilian.recipes.kinds.crf import CrfSettings
from duilian.recipes.kinds.dynamic import DynamicSettings
from duilian.recipes.kinds.guided import GuidedSettings
from duilian.recipes.kinds.joint_parser import JointParserSettings
from duilian.recipes.kinds.multitask import MultitaskSettings
from duilian.recipes.kinds.parser import ParserSettings
from duilian.recipes.kinds.two_chain import TwoChainSettings

__all__ = [
    "AnalyzerSettings",
    "CoupledSettings",
    "CrfSettings",
    "DynamicSettings",
    "GuidedSettings",
    "JointParserSettings",
    "MultitaskSettings",
    "ParserSettings",
    "TwoChainSettings",
]
