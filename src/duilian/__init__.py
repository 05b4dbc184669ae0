"""Duilian 对联: one Chinese analyser learned from corpora that disagree."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
    from duilian.conversion import convert
    from duilian.corpus import Corpus, Layer, Sentence, read, write
    from duilian.document import Doc, Token
    from duilian.engine import Analyzer, compare, evaluate, load
    from duilian.errors import DuilianError
    from duilian.experiments import experiment
    from duilian.features import Dictionary, Templates
    from duilian.lattice import Chain, Lattice
    from duilian.learning import AdaGrad, ExponentiatedGradient, PassiveAggressive, Perceptron, Session, Sgd
    from duilian.lexicon import Lexicon
    from duilian.models import (
        CRF,
        CoupledTagger,
        DynamicTagger,
        Features,
        GuidedTagger,
        JointParser,
        MultitaskTagger,
        Parser,
        Tagger,
        TreeConverter,
        TwoChainTagger,
    )
    from duilian.models.roles import Ask
    from duilian.recipes import train
    from duilian.standards import BoundaryScheme, Mapping, Standard, explain
    from duilian.text import Folding

__version__: str

__all__ = [
    "CRF",
    "AdaGrad",
    "Analyzer",
    "Ask",
    "BoundaryScheme",
    "Chain",
    "Corpus",
    "CoupledTagger",
    "Dictionary",
    "Doc",
    "DuilianError",
    "DynamicTagger",
    "ExponentiatedGradient",
    "Features",
    "Folding",
    "GuidedTagger",
    "JointParser",
    "Lattice",
    "Layer",
    "Lexicon",
    "Mapping",
    "MultitaskTagger",
    "Parser",
    "PassiveAggressive",
    "Perceptron",
    "Sentence",
    "Session",
    "Sgd",
    "Standard",
    "Tagger",
    "Templates",
    "Token",
    "TreeConverter",
    "TwoChainTagger",
    "compare",
    "convert",
    "evaluate",
    "experiment",
    "explain",
    "load",
    "read",
    "train",
    "write",
]

__getattr__ = lazily(
    __name__,
    {
        "duilian.corpus": "Corpus Layer Sentence read write",
        "duilian.document": "Doc Token",
        "duilian.errors": "DuilianError",
        "duilian.features": "Dictionary Templates",
        "duilian.lattice": "Chain Lattice",
        "duilian.learning": "AdaGrad ExponentiatedGradient PassiveAggressive Perceptron Session Sgd",
        "duilian.lexicon": "Lexicon",
        "duilian.models": "CRF CoupledTagger DynamicTagger Features GuidedTagger "
        "JointParser MultitaskTagger Parser Tagger TreeConverter TwoChainTagger",
        "duilian.models.roles": "Ask",
        "duilian.engine": "Analyzer compare evaluate load",
        "duilian.conversion": "convert",
        "duilian.recipes": "train",
        "duilian.experiments": "experiment",
        "duilian.standards": "BoundaryScheme Mapping Standard explain",
        "duilian.text": "Folding",
        "duilian.version": "__version__",
    },
)


def __dir__() -> list[str]:
    return sorted(__all__)
