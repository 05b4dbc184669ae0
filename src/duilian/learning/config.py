"""The settings of a training run: one frozen object that refuses bad values."""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

from duilian.errors import ConfigError

Algorithm = Literal["adagrad", "sgd", "eg", "pa"]
ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)

LARGEST_BATCH = 30
LEAST_STEPS = 64


def suitable_batch(sentences: int) -> int:
    """Sentences per step for so many an iteration.

    Threads share the sentences of a batch; but an iteration of too few steps learns less.
    """
    return max(1, min(LARGEST_BATCH, sentences // LEAST_STEPS))


@dataclasses.dataclass(frozen=True, kw_only=True)
class LearnConfig:
    """How to learn. The same settings, seed and data give the same weights for any number of threads."""

    algorithm: Algorithm = "adagrad"
    # adagrad: the step size (0.3 if None); sgd: the first step (calibrated if None); pa: the largest step C
    rate: float | None = None
    l2: float = 0.1  # sgd and eg: c2 of the penalty c2 ‖w‖² on the whole training set
    batch: int = 1  # sentences per step
    sample: int | None = None  # sentences per iteration, drawn anew each time; None: all
    iterations: int = 10
    patience: int = 30  # stop after so many iterations without improvement on the dev set
    average: bool = True  # also try the mean of the weights after each iteration; the better one is kept
    seed: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise ConfigError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {self.algorithm!r}")
        if self.rate is not None and not self.rate > 0:
            raise ConfigError(f"rate must be > 0, got {self.rate!r}")
        if not self.l2 > 0 and self.algorithm in ("sgd", "eg"):
            raise ConfigError(f"l2 must be > 0 for {self.algorithm}, got {self.l2!r}")
        for name in ("batch", "iterations", "patience", "threads"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        if self.sample is not None and self.sample < 1:
            raise ConfigError(f"sample must be at least 1, got {self.sample!r}")
