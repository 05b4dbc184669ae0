"""Recipes: one TOML file names everything that a training run needs, and `train` carries it out.

A kind of model is its settings (the keys of `[model]` and a table for each group) and a function that trains;
`register` adds one. The model file records recipe, fingerprints of the corpora and the score on the dev
set, and nothing that differs from machine to machine: the same recipe, seed and data give the same bytes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from duilian.arguments import checked
from duilian.corpus import Corpus, ReadReport, Sentence, TreeCheck, read_sentences
from duilian.corpus.output_files import refuse_input
from duilian.errors import ConfigError, did_you_mean
from duilian.features.templates import presets
from duilian.learning import IterationReport
from duilian.learning.run_log import RunLog
from duilian.modelfile import is_model
from duilian.models.base.precision import Precision
from duilian.recipes.run import Run
from duilian.recipes.shipped import find_recipe
from duilian.recipes.tables import FORMER_KEYS, Table, override, read_toml
from duilian.recipes.train_files import TrainFile, file_names, file_weights, numbered_files, refuse_weights
from duilian.settings import RENAMED, SettingError, Settings, UnknownSettingError, setting

DATA_VARIABLE = "DUILIAN_DATA"
Part = Literal["train", "dev", "test"]
PARTS = ("model", "side", "saving", "card")
ANALYZER = "analyzer"
BY_SIDES = ("standard", "standards", "source_standard")

S = TypeVar("S", bound=Settings)


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """A checked recipe; it reports to `run` on the corpora that it reads.

    Paths are relative to `folder`, except that a path with ./ is relative to the recipe itself.
    """

    file: str
    text: str
    overrides: tuple[str, ...]
    kind: str
    config: Settings
    sides: tuple[Side, ...]
    saving: Saving
    card: Mapping[str, Any]
    folder: Path
    path: Path
    run: Run | None = None

    @classmethod
    def load(cls, path: str | Path, data: str | Path | None = None, overrides: Sequence[str] = ()) -> Self:
        """Load a recipe. The corpora are in `data`, else in the folder DUILIAN_DATA, else beside the recipe.

        A name such as `papers/li2017-coupled` refers to a recipe in the package.
        """
        path = find_recipe(path)
        text, content = read_toml(path)
        for each in overrides:
            override(content, each)
        file, folder = Path(path).name, data or os.environ.get(DATA_VARIABLE) or Path(path).parent
        top = Table(file, "the recipe", content)
        kind = _kind(top.table("model"))
        sides = _sides(top, kind)
        config = _config(top, kind, sides)
        saving, card = _updated(Saving(), top.table("saving")), _card(top.table("card"))
        top.raise_mistakes()
        return cls(
            file=file,
            text=text,
            overrides=tuple(overrides),
            kind=kind.name,
            config=_with_paths(config, Path(path).parent, Path(folder)),
            sides=sides,
            saving=saving,
            card=card,
            folder=Path(folder),
            path=Path(path),
        )

    def corpus(self, side: Side, part: Part, trees: TreeCheck = "any") -> Corpus | None:
        """Read one part of a side, which has trees of this sort; None if the recipe does not name it."""
        named = getattr(side, part)
        if named is None:
            return None
        paths = [path for name in file_names(named) for path in self._existing(name, part)]
        with contextlib.closing(self._read(side, paths, trees)) as found:
            limited = itertools.islice(found, side.limit_of(part))
            return Corpus(limited, standard=side.standard, source=", ".join(map(str, paths)))

    def _read(self, side: Side, paths: Sequence[Path], trees: TreeCheck) -> Generator[Sentence, None, None]:
        """Yield the sentences of files, and tell the run which is being read and what looks wrong in it."""
        run = self.run or Run(output=Path())
        sizes = run.sizes[tuple(paths)] = [0] * len(paths)
        for k, path in enumerate(paths):
            report = ReadReport()
            run.say_reading(path.name)
            try:
                for sentence in read_sentences(
                    path,
                    standard=side.standard,
                    format=side.format,
                    encoding=side.encoding,
                    lenient=run.lenient,
                    cut=side.cut,
                    column=side.column,
                    names=side.columns,
                    trees=trees,
                    report=report,
                ):
                    sizes[k] += 1
                    yield sentence
            finally:  # also if no more sentences are wanted
                run.say_reading("")
                for warning in report.warnings:
                    run.warn(warning)

    def inputs(self) -> Iterator[Path]:
        """The files that a run reads."""
        yield self.path
        for side in self.sides:
            for part in ("train", "dev", "test"):
                yield from self.files(side, part)

    def files(self, side: Side, part: Part) -> list[Path]:
        """The files of one part of a side, whether they exist or not; only numbered files do."""
        return [path for name in file_names(getattr(side, part)) for path in self._paths(name)]

    def _paths(self, name: str) -> list[Path]:
        return numbered_files(self.path.parent if name.startswith("./") else self.folder, name)

    def train_weights(self, side: Side) -> list[float] | None:
        """How often each training sentence of a side is drawn, compared with the others; None: all alike.

        The corpus must have been read.
        """
        assert self.run is not None
        weights = file_weights(side.train)
        if weights is None:
            return None
        names = zip(file_names(side.train), weights, strict=True)
        found = [weight for name, weight in names for _ in self._paths(name)]
        sizes = self.run.sizes[tuple(self.files(side, "train"))]
        return [weight for weight, size in zip(found, sizes, strict=True) for _ in range(size)]

    def _existing(self, name: str, part: Part) -> list[Path]:
        paths = self._paths(name)
        missing = next((path for path in paths if not path.is_file()), None if paths else self.folder / name)
        if missing is not None:
            hint = data_hint(self.folder)
            raise ConfigError(f"{self.file}: [[side]] {part}: there is no file {str(missing)!r}", hint)
        return paths


def data_hint(folder: Path) -> str:
    """What to do if corpora are not in a folder; names the variable if the folder comes from it."""
    named = os.environ.get(DATA_VARIABLE)
    if named and Path(named) == folder:
        lost = "" if folder.is_dir() else ", which is not a folder"
        return f"the variable {DATA_VARIABLE} is {named!r}{lost}: correct it, or use --data DIR"
    return f"say where the corpora are with --data DIR or the variable {DATA_VARIABLE}"


def _updated(settings: S, table: Table) -> S:
    """Settings with the values of a table; wrong ones are noted and left out."""
    values = dict(table.values)
    while True:
        try:
            return settings.updated(values)
        except SettingError as error:
            _note(error, table)
            values.pop(error.path[0])
        except ConfigError as error:  # values that conflict, perhaps because some were left out
            if not table.mistakes:
                table.note(error.message, error.hint)
            return settings


def _note(error: SettingError, table: Table) -> None:
    *groups, key = error.path
    place = table.inside(".".join(groups))
    if isinstance(error, UnknownSettingError):
        place.note(f"has no key {key!r}", error.hint)
    else:
        place.note(f"{key} {error.what}", error.hint)


def _card(table: Table) -> dict[str, str | list[str]]:
    """The author's words about a model: strings and lists of strings by title."""
    for key, value in table.values.items():
        lines = value if isinstance(value, list) else [value]
        if not all(isinstance(line, str) for line in lines):
            table.note(f"{key} must be a string or a list of strings")
    return dict(table.values)


def _kind(table: Table) -> Kind:
    """The kind of model; without one, nothing else can be checked."""
    name = table.values.get("kind")
    if name is None:
        table.note("needs the key 'kind'", f"there are: {', '.join(KINDS)}")
    elif not isinstance(name, str) or name not in KINDS:
        table.note(f"kind {name!r} does not exist", did_you_mean(str(name), KINDS))
    table.raise_mistakes()
    return KINDS[str(name)]


def _config(top: Table, kind: Kind, sides: tuple[Side, ...]) -> Settings:
    """The settings of the model: the keys of `[model]`, a table for each group, and what the sides say."""
    config = kind.config() if top.mistakes else kind.with_sides(kind.config(), sides)
    groups = _tables(config)
    _check_names(top, kind, groups)
    model = top.table("model").without("kind", *BY_SIDES, *groups)
    changed = {group: _group(settings, top, group) for group, settings in config.groups()}
    return _updated(config, dataclasses.replace(model, values={**model.values, **changed}))


def _tables(config: Settings) -> list[str]:
    """The tables of a config: its groups, and groups inside them."""
    return [name for group, own in config.groups() for name in (group, *dict(own.groups()))]


def _group(settings: S, top: Table, name: str) -> S:
    """A group with the values of its table; groups inside it have tables of their own."""
    inner = {each: _updated(own, top.table(each)) for each, own in settings.groups()}
    return _updated(settings.updated(inner), top.table(name))


def _check_names(top: Table, kind: Kind, groups: Sequence[str]) -> None:
    """Note tables that do not exist, and keys of `[model]` that belong elsewhere."""
    for key in top.values:
        if key not in (*PARTS, *groups):
            known = [f"[{each}]" for each in (*PARTS, *groups)]
            is_elsewhere = any(key in _tables(other.config()) for other in KINDS.values())
            hint = f"a recipe of kind {kind.name!r} has {', '.join(known)}" if is_elsewhere else ""
            hint = RENAMED.get(key) or hint or did_you_mean(key, (*PARTS, *groups))
            top.note(f"has no table [{key}]", hint)
    model = top.table("model")
    for key in model.values:
        if key in groups:
            former = f", such as {FORMER_KEYS[key]}" if key in FORMER_KEYS else ""
            model.note(f"{key} is a table", f"write [{key}] and its keys{former}")
        if key in BY_SIDES:
            model.note(f"has no key {key!r}", "set it in [[side]]")


def _with_paths(config: Settings, folder: Path, data: Path) -> Settings:
    """Settings with paths of files, which are beside the recipe; word lists are in the data folder."""
    for group, settings in config.groups():
        templates = getattr(settings, "templates", None)
        if templates is not None and templates not in presets():
            config = config.updated({group: {"templates": str(folder / templates)}})
        rules = getattr(settings, "rules", None)
        if isinstance(rules, str):
            config = config.updated({group: {"rules": str(folder / rules)}})
        dictionary = getattr(settings, "dictionary", None)
        if dictionary is not None and dictionary.file is not None:
            config = config.updated({group: {"dictionary": {"file": str(data / dictionary.file)}}})
        mixing = getattr(settings, "mixing", None)
        if mixing is not None and mixing.file is not None:
            config = config.updated({group: {"mixing": {"file": str(data / mixing.file)}}})
    mapping = getattr(config, "mapping", None)
    if isinstance(mapping, str) and mapping.endswith(".txt"):
        config = config.updated({"mapping": str(folder / mapping)})
    teaching = getattr(getattr(config, "start", None), "self_training", None)
    if teaching is not None and (teaching.mapping or "").endswith(".txt"):
        path = str(folder / teaching.mapping)
        config = config.updated({"start": {"self_training": {"mapping": path}}})
    return config


def _sides(top: Table, kind: Kind) -> tuple[Side, ...]:
    tables = top.values.get("side", [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        top.note("side must be a list of tables: [[side]]")
        return ()
    if len(tables) not in kind.sides:
        least, most = kind.sides[0], kind.sides[-1]
        wanted = str(least) if least == most else f"{least} to {most}"
        top.note(f"has {len(tables)} [[side]]; a model of kind {kind.name!r} needs {wanted}")
    return tuple(_side(Table(top.file, "[[side]]", values, top.mistakes)) for values in tables)


def _side(table: Table) -> Side:
    for key in ("standard", "train"):
        if key not in table.values:
            table.note(f"needs the key {key!r}")
    if isinstance(named := table.values.get("train"), list):
        found = tuple(_train_file(each, table) for each in named)
        table = dataclasses.replace(table, values={**table.values, "train": found})
    return _updated(Side(), table)


def _train_file(named: Any, table: Table) -> Any:
    """A training file: its name, or a table with a weight."""
    if not isinstance(named, dict):
        return named
    own = dataclasses.replace(table, name=f"{table.name} train", values=named)
    if "file" not in named:
        own.note("needs the key 'file'")
    return _updated(TrainFile(), own)


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
        if not hasattr(config, "standards"):
            return config.updated({"standard": sides[0].standard, "learning": {"sample": samples[0]}})
        names = tuple(side.standard for side in sides)
        drawn = tuple(samples) if any(sample is not None for sample in samples) else None
        return config.updated({"standards": names, "learning": {"sample": drawn}})


KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make a kind of model known to recipes."""
    KINDS[kind.name] = kind


@checked
def train(
    recipe: Recipe | str | Path,
    run: Run | str | Path,
    *,
    data: str | Path | None = None,
    overrides: Sequence[str] = (),
) -> float | None:
    """Train a model from a recipe, save it, and return the best score on the dev set, in percent.

    `recipe` may be the path of its file, with the folder of the corpora (`data`) and settings to change
    (`overrides`, such as "learning.iterations=5"); `run` may be the path of the model to write.

    >>> from duilian import demo
    >>> recipe = ['[model]', 'kind = "crf"', '[[side]]', 'standard = "ctb"', 'train = "ctb.txt"']
    >>> _ = Path("pos.toml").write_text("\\n".join([*recipe, 'dev = "ctb-dev.txt"']), encoding="utf-8")
    >>> round(train("pos.toml", "pos.model", data=Path(demo.__file__).parent))
    90
    """
    if not isinstance(recipe, Recipe):
        recipe = Recipe.load(recipe, data, overrides)
    if not isinstance(run, Run):
        run = Run(output=Path(run))
    _check_output(run, recipe)
    if recipe.kind != ANALYZER:  # which checks the kind of its tagger
        refuse_weights(recipe.file, recipe.kind, (side.train for side in recipe.sides))
    log = None
    if run.log is not None:
        facts = {"kind": recipe.kind, "recipe": str(recipe.file), "overrides": list(recipe.overrides)}
        log = RunLog(run.log, is_resumed=run.resume and run.is_begun, facts=facts | {"threads": run.threads})
        run = _logged(run, log)
    score = KINDS[recipe.kind].train(dataclasses.replace(recipe, run=run), run)
    if log is not None:
        log.end(score)
    run.forget()
    return score


def _logged(run: Run, log: RunLog) -> Run:
    """The same run, which also writes its log."""

    def tell_iteration(report: IterationReport) -> None:
        log.iteration(report)
        if run.on_iteration:
            run.on_iteration(report)

    def tell_stage(name: str) -> None:
        log.stage(name)
        if run.on_stage:
            run.on_stage(name)

    return dataclasses.replace(run, on_iteration=tell_iteration, on_stage=tell_stage)


def _check_output(run: Run, recipe: Recipe) -> None:
    # Before hours of training, not after them.
    output = run.output
    if not output.name:
        raise ConfigError("the model file has no name", "write -o my.model")
    for target in filter(None, (output, *run.kept, run.log)):
        refuse_input(target, recipe.inputs())
        if target.is_file() and target != run.log and not run.force and not is_model(target):
            hint = "choose another output, or overwrite it with --force"
            raise ConfigError(f"{target}: exists and is not a model", hint)
    folder = output.resolve().parent
    if output.is_dir():
        raise ConfigError(f"{output}: is a folder, not a file", f"write -o {output / 'my.model'}")
    if not folder.is_dir():
        raise ConfigError(
            f"{output}: there is no folder {output.parent}", f"make it first: mkdir {output.parent}"
        )
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"{output}: no permission to write to this folder", "choose another output with -o")
