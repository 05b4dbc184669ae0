"""What turns a model and examples into weights."""

from duilian.learning.config import Algorithm, LearnConfig, suitable_batch
from duilian.learning.jackknife import jackknifed
from duilian.learning.rules import AdaGrad, Exponentiated, PassiveAggressive, Perceptron, Rule, Sgd
from duilian.learning.trainer import IterationReport, Scores, Trainer

__all__ = [
    "AdaGrad",
    "Algorithm",
    "Exponentiated",
    "IterationReport",
    "LearnConfig",
    "PassiveAggressive",
    "Perceptron",
    "Rule",
    "Scores",
    "Sgd",
    "Trainer",
    "jackknifed",
    "suitable_batch",
]
