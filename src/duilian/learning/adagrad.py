"""AdaGrad on mini-batches, as a generator: the caller watches, evaluates and stops."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError, DuilianError


@dataclasses.dataclass(frozen=True, kw_only=True)
class AdaGradConfig:
    """Settings of a run; the same settings, seed and data give the same weights for any `threads`."""

    rate: float = 0.2
    batch: int = 5
    seed: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise ConfigError(f"rate must be > 0, got {self.rate!r}")
        if self.batch < 1 or self.threads < 1:
            raise ConfigError(
                f"batch and threads must be at least 1, got {self.batch!r} and {self.threads!r}"
            )


def adagrad(
    objective: _native.CoupledObjective | _native.TaggingObjective,
    examples: int,
    weights: npt.NDArray[np.float32],
    config: AdaGradConfig,
) -> Iterator[float]:
    """Changes the weights in place, one shuffled pass at a time, for ever; yields each pass's loss."""
    squares = np.zeros_like(weights)
    rng = np.random.default_rng(config.seed)
    while True:
        order = rng.permutation(examples)
        try:
            yield objective.adagrad_pass(weights, squares, config.rate, order, config.batch, config.threads)
        except RuntimeError as error:
            raise DuilianError(f"training failed: {error}", hint=f"the rate was {config.rate}") from None
