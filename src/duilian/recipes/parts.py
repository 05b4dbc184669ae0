"""The parts of a recipe: its sides, how it saves the model, and the kinds of models that it can name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from duilian.models.base.precision import Precision
from duilian.recipes.train_files import TrainFile
from duilian.settings import Settings, setting

if TYPE_CHECKING:
    from duilian.recipes.recipe import Recipe
    from duilian.recipes.run import Run

Part = Literal["train", "dev", "test"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Side(Settings):
    """One `[[side]]`: a standard, and where to find its sentences."""

    standard: str = setting("", "Name of the standard.")
    train: str | tuple[str | TrainFile, ...] = setting(
        "", "Training files; `{ file = …, weight = 0.5 }` is drawn half as often as others of the side."
    )
    dev: str | tuple[str, ...] | None = setting(None, "Dev files, used to choose the best weights.")
    test: str | tuple[str, ...] | None = setting(None, "Files to report a final score on.")
    sample: int | None = setting(None, "Sentences drawn per iteration; none: all.", at_least=1)
    format: str | None = setting(None, "Format of the files; none: detected.")
    column: str | None = setting(None, "Column with the tags.")
    columns: tuple[str, ...] | None = setting(None, "Names of the columns.")
    min_pairs: int = setting(
        1, "With column upos+xpos: reduce pairs rarer than this in train to their XPOS.", at_least=1
    )
    cut: Literal["line", "sentence"] = setting("line", "What counts as a sentence of the corpus.")
    encoding: str = setting("utf-8", "Encoding of the files.")
    limit: int | None = setting(None, "Use only this many sentences of train.", at_least=1)
    dev_limit: int | None = setting(None, "Use only this many sentences of dev.", at_least=1)
    test_limit: int | None = setting(None, "Use only this many sentences of test.", at_least=1)

    def reading(self) -> dict[str, Any]:
        """How to read more of the same, for the model's notes, without defaults."""
        columns = None if self.columns is None else list(self.columns)
        found = {"format": self.format, "column": self.column, "columns": columns, "cut": self.cut}
        return {name: value for name, value in found.items() if value not in (None, "line")}

    def limit_of(self, part: Part) -> int | None:
        """Maximum number of sentences of a part; None: all."""
        limits = {"train": self.limit, "dev": self.dev_limit, "test": self.test_limit}
        return limits[part]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Saving(Settings):
    """`[saving]`: how the weights are stored."""

    precision: Precision = setting("float32", "Precision of the stored weights.")
    min_weight: float = setting(0.0, "Drop weights smaller than this.", at_least=0)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of model: its name and settings, how many sides it may have, how it is trained."""

    name: str
    config: type[Settings]
    sides: range
    train: Callable[[Recipe, Run], float | None]
    answers_all: bool = False  # whether the model answers in every side's standard, not only the first's

    def with_sides(self, config: Settings, sides: Sequence[Side]) -> Settings:
        """Settings with the standards of the sides, and their sentences per iteration."""
        samples = [side.sample for side in sides]
        if config.get("standards") is None:
            return config.updated({"standard": sides[0].standard, "learning": {"sample": samples[0]}})
        names = tuple(side.standard for side in sides)
        drawn = tuple(samples) if any(sample is not None for sample in samples) else None
        return config.updated({"standards": names, "learning": {"sample": drawn}})


KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind of model known to recipes."""
    KINDS[kind.name] = kind
