"""The files of a side: names, numbered files, and how often sentences of training files are drawn."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from duilian.errors import ConfigError
from duilian.models.coupled.sampling import MAX_WEIGHT
from duilian.settings import Settings, setting

NUMBERS = re.compile(r"\{(\d+)-(\d+)\}")
WEIGHTED = "coupled"  # the only kind that draws sentences by weight


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
    """The names of files, without weights."""
    listed = (named,) if isinstance(named, str) else named or ()
    return tuple(each.file if isinstance(each, TrainFile) else each for each in listed)


def numbered_files(folder: Path, name: str) -> list[Path]:
    """The path of a name or, for `chtb_{1-270}.*`, the existing files with such numbers, in order.

    Leading zeros do not count, and some numbers may be missing, as in the Chinese Treebank.
    """
    found = NUMBERS.search(name)
    if found is None:
        return [folder / name]
    before, after = name[: found.start()], name[found.end() :]
    rest = re.escape(after).replace(r"\*", ".*")
    number = re.compile(re.escape(Path(before + "0").name[:-1]) + r"(\d+)" + rest)
    home = (folder / (before + "0")).parent
    matches = {int(match[1]): path for path in home.glob("*") if (match := number.fullmatch(path.name))}
    first, last = int(found[1]), int(found[2])
    return [path for place, path in sorted(matches.items()) if first <= place <= last]


def file_weights(named: Named) -> tuple[float, ...] | None:
    """The weight of each file; None if no file has one."""
    if isinstance(named, str) or not any(isinstance(each, TrainFile) for each in named or ()):
        return None
    return tuple(each.weight if isinstance(each, TrainFile) else 1.0 for each in named or ())


def refuse_weights(recipe: str, kind: str, named: Iterable[Named]) -> None:
    """Raise ConfigError if files have weights, but the kind draws all sentences alike."""
    if kind != WEIGHTED and any(file_weights(each) is not None for each in named):
        raise ConfigError(
            f"{recipe}: [[side]] train has weights, which a model of kind {kind!r} does not use"
        )
