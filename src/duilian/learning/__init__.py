"""What turns a model and examples into weights."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily

if TYPE_CHECKING:
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

__getattr__ = lazily(
    __name__,
    {
        "duilian.learning.config": (
            "Algorithm",
            "LearnConfig",
            "suitable_batch",
        ),
        "duilian.learning.jackknife": ("jackknifed",),
        "duilian.learning.rules": (
            "AdaGrad",
            "Exponentiated",
            "PassiveAggressive",
            "Perceptron",
            "Rule",
            "Sgd",
        ),
        "duilian.learning.trainer": (
            "IterationReport",
            "Scores",
            "Trainer",
        ),
    },
)
