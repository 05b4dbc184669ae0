"""The training files of a side: names, and how often their sentences are drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from duilian.errors import ConfigError
from duilian.models.coupled.sampling import MAX_WEIGHT
from duilian.settings import Settings, setting

WEIGHTED = "coupled"  # the kind that draws sentences by weight


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainFile(Settings):
    """One training file with a weight."""

    file: str = setting("", "Name of the file.")
    weight: float = setting(
        1.0,
        "How often its sentences are drawn, compared with the side's other files.",
        above=0,
        at_most=MAX_WEIGHT,
    )


Named = str | Sequence[str | TrainFile] | None


def file_names(named: Named) -> tuple[str, ...]:
    """The names alone."""
    listed = (named,) if isinstance(named, str) else named or ()
    return tuple(each.file if isinstance(each, TrainFile) else each for each in listed)


def file_weights(named: Named) -> tuple[float, ...] | None:
    """A weight for each file; None if no file names one."""
    if isinstance(named, str) or not any(isinstance(each, TrainFile) for each in named or ()):
        return None
    return tuple(each.weight if isinstance(each, TrainFile) else 1.0 for each in named or ())


def refuse_weights(recipe: str, kind: str, named: Iterable[Named]) -> None:
    """Refuse weights in recipes of kinds that draw all sentences alike."""
    if kind != WEIGHTED and any(file_weights(each) is not None for each in named):
        raise ConfigError(
            f"{recipe}: [[side]] train has weights, which a model of kind {kind!r} does not use"
        )
