"""A study: a TOML file that lists systems to train, corpora, and tables of results.

`[systems.NAME]` is a recipe with changes, `[[data]]` names corpora for its sides, `[[tables]]` has rows
(a system, perhaps over a grid of settings), columns (a metric of one side) and the paper's own figures.
`[sample]` and `[quick]` are shorter forms of the whole: fewer sentences, rows and tables. The studies of the
package are in `studies/`.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from duilian.errors import ConfigError, did_you_mean
from duilian.recipes.tables import Table, read_toml
from duilian.settings import SettingError, Settings, UnknownSettingError, setting
from duilian.wording import counted

FOLDER = Path(__file__).with_name("studies")
FORMS = ("full", "sample", "quick")
STUDY_KEYS = (
    "title",
    "paper",
    "differs",
    "seeds",
    "demo",
    "systems",
    "data",
    "prepare",
    "quick",
    "sample",
    "tables",
)
ROW_KEYS = ("name", "system", "set", "vary", "paper", *FORMS)
WHOLE_NUMBERS = ("tokens_per_second", "train.iterations", "train.bytes", "train.memory")
RANKS = "label_ranks."
S = TypeVar("S", bound=Settings)


@dataclasses.dataclass(frozen=True, kw_only=True)
class System(Settings):
    """`[systems.NAME]`: a recipe, the corpora of its sides, and changes."""

    recipe: str = setting("", "Name of a recipe of the package, or path of a recipe beside the study.")
    sides: tuple[int, ...] = setting((1,), "Which corpora of the data are the sides of the recipe.")
    set: tuple[str, ...] = setting(
        (),
        "Settings to change, as in `duilian train --set`; a new learning.algorithm starts from its defaults.",
    )
    quick: tuple[str, ...] = setting((), "Further changes in the quick form.")
    sample: tuple[str, ...] = setting((), "Further changes in the form on samples.")
    tagger: str | None = setting(
        None,
        "A system whose model tags the words that a parser reads, or that a segmenter of two chains finds.",
    )
    by_table: bool = setting(
        False,
        "Convert by a table: each tag of the second corpus becomes the tag that its words get most often.",
    )
    rival: Literal["", "udpipe", "udpipe-parser"] = setting(
        "", "Another program to train on the files of the recipe, with its number of iterations."
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DataChoice(Settings):
    """One of `[[data]]`: corpora by name."""

    name: str = setting("", "Name in the tables.")
    corpora: tuple[str, ...] = setting((), "Names of corpora: of corpora.toml, or prepared by the study.")
    sample: int | None = setting(None, "Sentences drawn per iteration, where recipes say so.", at_least=1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShortForm(Settings):
    """`[quick]` or `[sample]`: fewer sentences, fewer iterations, fewer tables."""

    limit: int | None = setting(None, "Training sentences of a corpus.", at_least=1)
    other_limit: int | None = setting(
        None, "Training sentences of corpora after the first of the data (default: `limit`).", at_least=1
    )
    dev_limit: int | None = setting(None, "Sentences of a dev or test set.", at_least=1)
    set: tuple[str, ...] = setting((), "Settings to change in every system.")
    data: tuple[str, ...] = setting((), "Data to use (default: the first available).")
    notes: tuple[str, ...] = setting((), "What differs from the paper in this form, in place of `differs`.")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Column(Settings):
    """A column of a table: a metric of the answers on one side's corpus."""

    title: str = setting("", "Heading.")
    side: int = setting(1, "Which corpus of the data is judged.", at_least=1)
    metric: str = setting("", "A figure of `duilian evaluate --json`, such as word.f1, or train.seconds.")
    mode: Literal["", "segment", "joint", "tag", "convert"] = setting(
        "", "The mode of two chains; convert: judge the conversion of given sentences."
    )

    @property
    def decimals(self) -> int:
        """Number of decimals to show: none for speeds and sizes, three for probabilities from 0 to 1."""
        return 0 if self.metric in WHOLE_NUMBERS else 3 if self.metric.startswith(RANKS) else 2


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of a table: a system with changes, and the paper's figures."""

    name: str
    system: str
    set: tuple[str, ...] = ()
    paper: tuple[float | None, ...] = ()
    forms: tuple[str, ...] = FORMS


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResultTable(Settings):
    """One of `[[tables]]` without rows and columns."""

    name: str = setting("", "The paper's name for it.")
    title: str = setting("", "Contents of the table, in a few words.")
    part: Literal["dev", "test"] = setting("dev", "Which part of the corpora is judged.")
    data: tuple[str, ...] = setting((), "Data to show (default: all).")
    compare: str | None = setting(None, "The row that others are compared with, by stratified shuffling.")
    vocabulary: bool = setting(False, "Score words known and unknown to the training corpora separately.")
    chart: str | None = setting(None, "Name of the x axis, if the rows are points of a line chart.")
    full: bool = setting(True, "Whether the full form includes the table.")
    sample: bool = setting(True, "Whether the form on samples includes the table.")
    across: str | None = setting(
        None, "Name of the x axis, if numbers in headings are points of a line chart, and rows its lines."
    )
    quick: bool = setting(True, "Whether the quick form includes the table.")
    note: str = setting("", "A note below the table, such as what differs from the paper.")
    short_note: str | None = setting(None, "The note of shorter forms, if `note` is not true of them.")

    def shortened(self) -> ResultTable:
        """The table of a shorter form."""
        return self if self.short_note is None else dataclasses.replace(self, note=self.short_note)


@dataclasses.dataclass(frozen=True)
class TablePlan:
    """A table with its columns and rows."""

    about: ResultTable
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Study:
    """A checked study.

    >>> Study.load("demo").title
    'Learned alone and learned together'
    """

    name: str
    path: Path
    text: str
    title: str
    paper: str = ""
    differs: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (1,)
    is_demo: bool = False  # whether it uses the corpora of the package
    systems: Mapping[str, System]
    data: tuple[DataChoice, ...]
    prepare: tuple[Mapping[str, Any], ...] = ()
    quick: ShortForm
    sample: ShortForm | None = None
    tables: tuple[TablePlan, ...]
    form: str = "full"
    limits: ShortForm = ShortForm()  # of this form

    @classmethod
    def load(cls, name: str | Path) -> Self:
        """The study of this name, or in this file."""
        path = find_study(name)
        text, content = read_toml(path)
        top = Table(path.name, "the study", content)
        _check_keys(top)
        systems = {
            key: _settings(System(), Table(top.file, f"[systems.{key}]", values, top.mistakes), "recipe")
            for key, values in top.table("systems").values.items()
        }
        study = cls(
            name=path.stem,
            path=path,
            text=text,
            title=str(content.get("title", path.stem)),
            paper=str(content.get("paper", "")),
            differs=tuple(map(str, content.get("differs", ()))),
            seeds=tuple(content.get("seeds", (1,))),
            is_demo=bool(content.get("demo", False)),
            systems=systems,
            data=tuple(_settings(DataChoice(), each, "name", "corpora") for each in _tables(top, "data")),
            prepare=tuple(each.values for each in _tables(top, "prepare")),
            quick=_settings(ShortForm(), top.table("quick")),
            sample=_settings(ShortForm(), top.table("sample")) if "sample" in content else None,
            tables=tuple(_table(each, systems) for each in _tables(top, "tables")),
        )
        for needed in ("systems", "data", "tables"):
            if not getattr(study, needed):
                top.note(f"has no [{needed}]" if needed == "systems" else f"has no [[{needed}]]")
        top.raise_mistakes()
        return study

    def in_form(self, form: str) -> Study:
        """This study in a form: its tables, rows and limits, and notes that are true of it."""
        is_full = form == "full"
        limits = ShortForm() if is_full else self.quick if form == "quick" else self.sample
        if limits is None:
            raise ConfigError(f"the study {self.name!r} has no [sample]", "run it in full, or with --quick")
        tables = [
            TablePlan(
                each.about if is_full else each.about.shortened(),
                each.columns,
                tuple(row for row in each.rows if form in row.forms),
            )
            for each in self.tables
            if getattr(each.about, form)
        ]
        return dataclasses.replace(
            self,
            seeds=self.seeds if is_full else self.seeds[:1],
            tables=tuple(each for each in tables if each.rows),
            differs=self.differs if is_full else limits.notes,
            form=form,
            limits=limits,
        )


def studies() -> list[str]:
    """The names of the studies that come with the package.

    >>> "demo" in studies()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find_study(name: str | Path) -> Path:
    """The file of a study, by its name or path."""
    if str(name) in studies():
        return FOLDER / f"{name}.toml"
    path = Path(name)
    if path.suffix != ".toml":
        raise ConfigError(f"there is no study {str(name)!r}", did_you_mean(str(name), studies()))
    return path


def _check_keys(top: Table) -> None:
    for key in top.values:
        if key not in STUDY_KEYS:
            top.note(f"has no key {key!r}", did_you_mean(key, STUDY_KEYS))
    seeds = top.values.get("seeds", [1])
    if not isinstance(seeds, list) or not seeds or not all(type(seed) is int for seed in seeds):
        top.note(f"seeds must be a list of whole numbers, got {seeds!r}")


def _tables(top: Table, key: str) -> list[Table]:
    """The tables of a list, each with a name for messages."""
    found = top.values.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        top.note(f"{key} must be a list of tables: [[{key}]]")
        return []
    return [Table(top.file, f"[[{key}]] {k}", each, top.mistakes) for k, each in enumerate(found, 1)]


def _settings(usual: S, table: Table, *needed: str) -> S:
    """Settings with the values of a table; mistakes are noted."""
    values = dict(table.values)
    for key in needed:
        if key not in values:
            table.note(f"needs the key {key!r}")
    while True:
        try:
            return usual.updated(values)
        except SettingError as error:
            key = error.path[0]
            unknown = isinstance(error, UnknownSettingError)
            table.note(f"has no key {key!r}" if unknown else f"{key} {error.what}", error.hint)
            values.pop(key)


def _table(table: Table, systems: Mapping[str, System]) -> TablePlan:
    about = _settings(ResultTable(), table.without("columns", "rows"), "name", "title")
    columns = tuple(_settings(Column(), each, "title", "metric") for each in _tables(table, "columns"))
    rows = tuple(row for each in _tables(table, "rows") for row in _rows(each, systems, len(columns)))
    if about.compare is not None and about.compare not in [row.name for row in rows]:
        table.note(f"compare names no row: {about.compare!r}")
    return TablePlan(about, columns, rows)


def _rows(table: Table, systems: Mapping[str, System], width: int) -> list[Row]:
    """A row, or one for each point of its grid."""
    values = dict(table.values)
    name, system = str(values.pop("name", "")), str(values.pop("system", ""))
    changes, vary = values.pop("set", []), values.pop("vary", {})
    paper, forms = values.pop("paper", []), tuple(each for each in FORMS if values.pop(each, True))
    for key in values:
        table.note(f"has no key {key!r}", did_you_mean(key, ROW_KEYS))
    if system not in systems:
        table.note(f"names no system: {system!r}", did_you_mean(system, systems))
    grid = list(itertools.product(*vary.values()))
    figures = paper if vary else [paper]
    if paper and len(figures) != len(grid):
        table.note(
            f"has {counted(len(grid), 'point')} and {counted(len(figures), 'list')} of the paper's figures"
        )
        figures = []
    found = []
    for k, point in enumerate(grid):
        own = tuple(f"{key}={_toml(value)}" for key, value in zip(vary, point, strict=True))
        known = _figures(figures[k] if figures else [], width, table)
        found.append(Row(name.format(*point) if vary else name, system, (*changes, *own), known, forms))
    return found


def _figures(figures: Sequence[Any], width: int, table: Table) -> tuple[float | None, ...]:
    """The paper's figures in column order; a string means that there is none."""
    if len(figures) > width:
        table.note(f"has {counted(len(figures), 'figure')} of the paper for {counted(width, 'column')}")
    return tuple(None if isinstance(each, str) else float(each) for each in figures)


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
