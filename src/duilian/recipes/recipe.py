"""Recipes: one TOML file names everything that a training run needs, and `train` carries it out.

A kind of model is a settings class (the keys of `[model]`) and a function that trains; `register` adds one.
The model file notes the recipe, the fingerprints of the corpora and the score on the dev set, and nothing
that differs from machine to machine: the same recipe, seed and data give the same bytes.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from duilian.corpus import Corpus, Sentence, TreeCheck, read_sentences
from duilian.errors import ConfigError
from duilian.features.templates import presets
from duilian.learning import Algorithm, IterationReport, LearnConfig
from duilian.models.base.precision import Precision
from duilian.recipes.settings import Table, nearest, override, read_toml

DATA_VARIABLE = "DUILIAN_DATA"
Part = Literal["train", "dev", "test"]
PARTS = ("model", "side", "learn", "save", "card")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Side:
    """One `[[side]]`: a standard, and where its sentences stand."""

    standard: str
    train: str | list[str]
    dev: str | list[str] | None = None
    test: str | list[str] | None = None
    sample: int | None = None  # sentences drawn per iteration; None: all
    format: str | None = None
    column: str | None = None
    columns: list[str] | None = None
    cut: Literal["line", "sentence"] = "line"
    encoding: str = "utf-8"
    limit: int | None = None  # only the first sentences of train

    def __post_init__(self) -> None:
        for name in ("sample", "limit"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, got {value}")

    def reading(self) -> dict[str, Any]:
        """How to read more of the same, for the model's notes; only what is not usual."""
        found = {"format": self.format, "column": self.column, "columns": self.columns, "cut": self.cut}
        return {name: value for name, value in found.items() if value not in (None, "line")}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Save:
    """`[save]`: how the weights are stored; those smaller than `least` are left out."""

    precision: Precision = "float32"
    least: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Learn:
    """`[learn]`: what a recipe may say about learning; what it leaves out is as in `LearnConfig`."""

    algorithm: Algorithm | None = None
    rate: float | None = None
    l2: float | None = None
    batch: int | None = None
    iterations: int | None = None
    patience: int | None = None
    average: bool | None = None
    seed: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        LearnConfig(**self.chosen())  # refuses bad values

    def chosen(self) -> dict[str, Any]:
        """The settings that the recipe names."""
        found = dataclasses.asdict(self)
        return {name: value for name, value in found.items() if value is not None}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """A checked recipe. `folder` is what its paths are relative to."""

    file: str
    text: str
    overrides: tuple[str, ...]
    kind: str
    model: Mapping[str, Any]
    sides: tuple[Side, ...]
    learn: Learn
    save: Save
    card: Mapping[str, Any]
    folder: Path

    @classmethod
    def load(cls, path: str | Path, data: str | Path | None = None, overrides: Sequence[str] = ()) -> Self:
        """The recipe in a file; `data` (or DUILIAN_DATA) is the folder of the corpora, else the recipe's."""
        text, content = read_toml(path)
        for setting in overrides:
            override(content, setting)
        file, folder = Path(path).name, data or os.environ.get(DATA_VARIABLE) or Path(path).parent
        top = Table(file, "the recipe", content)
        for key in content:
            if key not in PARTS:
                raise top.wrong(f"has no part [{key}]", nearest(key, PARTS))
        kind, model = _model(_table(top, "model"), Path(path).parent)
        return cls(
            file=file,
            text=text,
            overrides=tuple(overrides),
            kind=kind.name,
            model=model,
            sides=_sides(top, kind),
            learn=_build(Learn, _table(top, "learn")),
            save=_build(Save, _table(top, "save")),
            card=_card(_table(top, "card")),
            folder=Path(folder),
        )

    def corpus(self, side: Side, part: Part, trees: TreeCheck = "any") -> Corpus | None:
        """The sentences of one part of a side, with such trees; None if the recipe does not name it."""
        named = getattr(side, part)
        if named is None:
            return None
        names = [named] if isinstance(named, str) else named
        paths = [self._existing(name, part) for name in names]
        found = itertools.chain.from_iterable(_read(side, path, trees) for path in paths)
        limited = itertools.islice(found, side.limit if part == "train" else None)
        return Corpus(limited, standard=side.standard, source=", ".join(map(str, paths)))

    def _existing(self, name: str, part: Part) -> Path:
        path = self.folder / name
        if not path.is_file():
            hint = f"say where the corpora are: --data DIR, or the variable {DATA_VARIABLE}"
            raise ConfigError(f"{self.file}: [[side]] {part}: there is no file {str(path)!r}", hint)
        return path


def _read(side: Side, path: Path, trees: TreeCheck) -> Iterator[Sentence]:
    return read_sentences(
        path,
        standard=side.standard,
        format=side.format,
        encoding=side.encoding,
        cut=side.cut,
        column=side.column,
        names=side.columns,
        trees=trees,
    )


def _table(top: Table, key: str) -> Table:
    values = top.values.get(key, {})
    if not isinstance(values, dict):
        raise top.wrong(f"{key} must be a table: [{key}]")
    return Table(top.file, f"[{key}]", values)


def _build(cls: type[Any], table: Table) -> Any:
    arguments = table.settings(cls)
    try:
        return cls(**arguments)
    except ConfigError as error:
        raise table.wrong(error.message, error.hint) from None


def _card(table: Table) -> dict[str, str | list[str]]:
    """What a model's file tells people of it, in the author's words: texts and lists of texts by title."""
    for key, value in table.values.items():
        lines = value if isinstance(value, list) else [value]
        if not all(isinstance(line, str) for line in lines):
            raise table.wrong(f"{key} must be a text or a list of texts")
    return dict(table.values)


def _model(table: Table, recipe_folder: Path) -> tuple[Kind, dict[str, Any]]:
    name = table.values.get("kind")
    if name not in KINDS:
        wrong = "needs the key 'kind'" if name is None else f"kind {name!r} does not exist"
        raise table.wrong(wrong, f"there are: {', '.join(KINDS)}")
    kind = KINDS[name]
    model = table.without("kind").settings(kind.settings)
    templates = model.get("templates")
    if templates is not None and templates not in presets():
        model["templates"] = str(recipe_folder / templates)
    if model.get("mapping", "").endswith(".txt"):
        model["mapping"] = str(recipe_folder / model["mapping"])
    return kind, model


def _sides(top: Table, kind: Kind) -> tuple[Side, ...]:
    tables = top.values.get("side", [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise top.wrong("side must be a list of tables: [[side]]")
    if len(tables) not in kind.sides:
        least, most = kind.sides[0], kind.sides[-1]
        wanted = str(least) if least == most else f"{least} to {most}"
        raise top.wrong(f"has {len(tables)} [[side]]; a model of kind {kind.name!r} needs {wanted}")
    return tuple(_build(Side, Table(top.file, "[[side]]", values)) for values in tables)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """What a run is told besides its recipe: where to write, and whom to tell."""

    output: Path
    resume: bool = False
    threads: int | None = None
    on_iteration: Callable[[IterationReport], None] | None = None
    on_stage: Callable[[str], None] | None = None  # what is done before the first iteration
    on_warning: Callable[[str], None] | None = None

    def stage(self, name: str) -> Path:
        """Where a finished part of the model is kept until the whole is done."""
        return self.output.with_name(f"{self.output.name}.{name}")

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume from."""
        return self.checkpoint.exists() or self.stage("tagger").exists()

    @property
    def checkpoint(self) -> Path:
        """Where the state is kept between iterations."""
        return self.output.with_name(f"{self.output.name}.checkpoint")

    def warn(self, message: str) -> None:
        """Tell what may be a mistake."""
        if self.on_warning:
            self.on_warning(message)


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of model: its name, the keys of `[model]`, how many sides it may have, how it is trained."""

    name: str
    settings: type[Any]
    sides: range
    train: Callable[[Recipe, Run], float | None]
    iterations: int = LearnConfig().iterations  # if the recipe does not say
    answers_all: bool = False  # whether the model answers after every side's standard, not the first's only


KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind of model known to recipes."""
    KINDS[kind.name] = kind


def train(recipe: Recipe, run: Run) -> float | None:
    """Train, save the model, remove the checkpoint; gives the best score on the dev set, in percent."""
    _check_output(run.output)
    score = KINDS[recipe.kind].train(recipe, run)
    run.checkpoint.unlink(missing_ok=True)
    return score


def _check_output(output: Path) -> None:
    # Before hours of training, not behind them.
    folder = output.resolve().parent
    if output.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ConfigError(f"{output}: cannot be written here", "choose another place with -o")
