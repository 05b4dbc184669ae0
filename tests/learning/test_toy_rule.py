"""How to add a learning rule. The toy rule is AdaGrad with a rate that falls with every pass."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from duilian import Tagger, demo
from duilian.learning import AdaGrad, AdaGradRule
from duilian.learning.config import RULES
from duilian.settings import setting

CTB = demo.load("ctb", "ctb")[:60]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Falling(AdaGrad):
    """AdaGrad with a rate that falls."""

    fall: float = setting(0.5, "What is left of the rate after each pass.", above=0)

    def rule(self, objective: object, examples: int, threads: int) -> FallingRule:
        return FallingRule(objective, self, threads)  # type: ignore[arg-type]


class FallingRule(AdaGradRule):
    """Its passes."""

    def __init__(self, objective: object, settings: Falling, threads: int) -> None:
        super().__init__(objective, settings, threads)  # type: ignore[arg-type]
        self._fall = settings.fall

    def run_pass(self, weights: npt.NDArray[np.float32], order: npt.NDArray[np.int64]) -> float:
        loss = super().run_pass(weights, order)
        self.numbers["rate"] *= self._fall
        return loss


def test_a_tagger_learns_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "falling", Falling)
    falling, usual = (Tagger("ctb", learning=rule(iterations=3)).fit(CTB) for rule in (Falling, AdaGrad))
    assert falling.score(CTB) > 0.9
    flat = Tagger("ctb", learning=Falling(iterations=3, fall=1.0)).fit(CTB)
    arrays = [tagger.state()[1]["weight"].tolist() for tagger in (falling, usual, flat)]
    assert arrays[0] != arrays[1] == arrays[2]
    header = falling.state()[0]["config"]["learning"]
    assert (header["algorithm"], header["fall"]) == ("falling", 0.5)
    assert Tagger.from_state(*falling.state()).learning == Falling(iterations=3)
