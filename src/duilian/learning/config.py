"""How to learn: one settings class for each learning rule, chosen by type.

The same settings, seed and data give the same weights for any number of threads. Models do not need learning
settings to tag, so the rules are imported when training begins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from duilian.errors import ConfigError
from duilian.settings import Settings, setting

if TYPE_CHECKING:
    from duilian.learning.rules import Descent, Objective, Rule

LARGEST_BATCH = 30
MIN_STEPS = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class Learning(Settings):
    """Settings that all learning rules share; `AdaGrad`, `Sgd` and the others add their own."""

    alternative_key: ClassVar[str] = "algorithm"

    iterations: int = setting(10, "Passes over the training data, or over a sample of it.", at_least=1)
    patience: int = setting(
        30, "Stop after this many iterations without improvement on the dev set.", at_least=1
    )
    average: bool = setting(
        True, "Also try the mean of the weights after each iteration, and keep the better ones."
    )
    batch: int | None = setting(
        None, "Sentences per step; none: depends on the size of the corpus.", at_least=1
    )
    sample: int | tuple[int | None, ...] | None = setting(
        None,
        "Sentences drawn per iteration, one number per corpus; none: all (coupled: size of the smallest).",
        at_least=1,
    )
    keep: Literal["all", "average"] = setting(
        "all", "With several corpora: keep the best weights for each of them, or only the best on average."
    )
    seed: int = setting(1, "Random seed.", at_least=0)

    @classmethod
    def alternatives(cls) -> Mapping[str, type[Settings]]:
        return RULES

    def shared(self) -> set[str]:
        return {field.name for field in dataclasses.fields(Learning)}

    def check_rule(self, kind: str, *rules: type[Learning]) -> None:
        """Raise ConfigError unless this is one of the rules that can train a kind of model."""
        if not isinstance(self, rules):
            names = {rule: name for name, rule in RULES.items()}
            known = " or ".join(repr(names[rule]) for rule in rules)
            raise ConfigError(f"a model of kind {kind!r} learns by {known}, got {names[type(self)]!r}")

    def with_batch(self, sentences: int) -> Self:
        """The same settings with a batch size for this many sentences per iteration.

        Threads share the sentences of a batch, but an iteration with too few steps learns less.
        """
        if self.batch is not None:
            return self
        drawn = min(sentences, self.sample) if isinstance(self.sample, int) else sentences
        return dataclasses.replace(self, batch=max(1, min(LARGEST_BATCH, drawn // MIN_STEPS)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class AdaGrad(Learning):
    """Each weight has its own step size, rate / √(1 + Σ g²) (Duchi et al. 2011).

    >>> AdaGrad(iterations=5, rate=0.2).rate
    0.2
    """

    rate: float = setting(0.3, "Step size.", above=0)

    def rule(self, objective: Objective, examples: int, threads: int) -> Rule:
        """The rule at work on an objective with this many examples."""
        from duilian.learning.rules import AdaGradRule

        return AdaGradRule(objective, self, threads)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sgd(Learning):
    """Stochastic gradient descent with an L2 penalty, annealed as in CRFsuite.

    >>> Sgd(l2=0.5).l2  # Tagger(learning=Sgd(l2=0.5))
    0.5
    """

    rate: float | None = setting(None, "First step size; none: calibrated on a sample.", above=0)
    l2: float = setting(0.1, "c2 of the penalty c2 ‖w‖² on the whole training set.", above=0)

    def rule(self, objective: Descent, examples: int, threads: int) -> Rule:
        """The rule at work on an objective with this many examples."""
        from duilian.learning.rules import SgdRule

        return SgdRule(objective, examples, self, threads)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExponentiatedGradient(Learning):
    """Exponentiated gradient on the dual (Collins et al. 2008).

    >>> ExponentiatedGradient(l2=0.5).average
    True
    """

    l2: float = setting(0.1, "c2 of the penalty c2 ‖w‖² on the whole training set.", above=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PassiveAggressive(Learning):
    """Passive-aggressive: the smallest step that restores the margin, up to a limit (Crammer et al. 2006).

    >>> PassiveAggressive(aggressiveness=0.1).aggressiveness
    0.1
    """

    aggressiveness: float = setting(1.0, "Maximum step size, the C of the paper.", above=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Perceptron(Learning):
    """The averaged perceptron (Collins 2002).

    >>> Perceptron(iterations=3).iterations
    3
    """


RULES: dict[str, type[Settings]] = {
    "adagrad": AdaGrad,
    "sgd": Sgd,
    "eg": ExponentiatedGradient,
    "pa": PassiveAggressive,
    "perceptron": Perceptron,
}
"""Learning rules by their names in recipes and model files."""
