"""Training: learning rules, their settings, and the loop that runs them."""

from typing import TYPE_CHECKING

from duilian.lazy import lazily
from duilian.learning.config import (
    AdaGrad,
    ExponentiatedGradient,
    Learning,
    PassiveAggressive,
    Perceptron,
    Sgd,
)
from duilian.learning.session import Session, fingerprint

if TYPE_CHECKING:
    from duilian.learning.jackknife import jackknifed
    from duilian.learning.rules import (
        AdaGradRule,
        ExponentiatedRule,
        PassiveAggressiveRule,
        PerceptronRule,
        Rule,
        SgdRule,
        TouchedAdaGradRule,
    )
    from duilian.learning.trainer import IterationReport, Scores, Trainer

__all__ = [
    "AdaGrad",
    "AdaGradRule",
    "ExponentiatedGradient",
    "ExponentiatedRule",
    "IterationReport",
    "Learning",
    "PassiveAggressive",
    "PassiveAggressiveRule",
    "Perceptron",
    "PerceptronRule",
    "Rule",
    "Scores",
    "Session",
    "Sgd",
    "SgdRule",
    "TouchedAdaGradRule",
    "Trainer",
    "fingerprint",
    "jackknifed",
]

__getattr__ = lazily(
    __name__,
    {
        "duilian.learning.jackknife": ("jackknifed",),
        "duilian.learning.rules": (
            "AdaGradRule",
            "ExponentiatedRule",
            "PassiveAggressiveRule",
            "PerceptronRule",
            "Rule",
            "SgdRule",
            "TouchedAdaGradRule",
        ),
        "duilian.learning.trainer": ("IterationReport", "Scores", "Trainer"),
    },
)
