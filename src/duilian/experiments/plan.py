"""The cells of a study. A cell is a recipe with every setting resolved, on certain files.

Its key is a fingerprint of everything that determines its result: the text of the recipe, the contents of its
files, and the version of the code that runs it. So a cell that two tables share is run once, and a finished
cell is never run again.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from duilian.errors import ConfigError
from duilian.experiments import udpipe
from duilian.experiments.named_corpora import CorpusShelf, NamedCorpus
from duilian.experiments.recipe_text import recipe_text
from duilian.experiments.study import Column, DataChoice, Row, Study, System, TablePlan
from duilian.recipes.parts import KINDS
from duilian.recipes.shipped import find_recipe
from duilian.recipes.tables import override, read_toml
from duilian.wording import counted

CELL_VERSION = 1  # increase it if cells are run differently: then all of them run again
TWO_CHAINS, MODES = "two-chain", ("segment", "joint", "tag")
TAGGED = "tagged"  # the mode of a parser that reads the tags of a tagger
TABLE = "table"  # in the key of a cell that converts by a table
ALGORITHM = "learning.algorithm="
KEPT = ("sample", "limit", "min_pairs")  # of a recipe's own sides
NOT_TRAINED_ON = ("test", "test_limit")


@dataclasses.dataclass(frozen=True)
class Measurement:
    """A measurement of a trained model on one part of one corpus."""

    part: str
    place: int  # of the corpus in the data, from 1
    mode: str = ""
    vocabulary: bool = False

    @property
    def name(self) -> str:
        """The name of its file."""
        words = ["words"] if self.vocabulary else []
        return "-".join(filter(None, (self.part, str(self.place), self.mode, *words)))


@dataclasses.dataclass(frozen=True, eq=False)
class Cell:
    """A recipe to train, and the measurements to make."""

    name: str
    key: str
    kind: str
    recipe: str  # the text of the resolved recipe
    gold: Mapping[int, Mapping[str, Any]]  # the [[side]] of each corpus that the model answers in, by place
    prints: Mapping[int, Mapping[str, Sequence[str]]]  # fingerprints of their dev and test files
    words: tuple[Mapping[str, Any], ...]  # the [[side]] of each training corpus
    given: Mapping[str, Any] | None
    tagger: Cell | None = None
    measurements: tuple[Measurement, ...] = ()
    rival: str = ""  # another program that is trained instead
    table_from: Mapping[str, Any] | None = None  # the [[side]] of the corpus whose tags a table converts

    @property
    def folder(self) -> str:
        """The name of its folder; systems with the same recipe share it."""
        return f"{self.kind}-{self.key[:12]}"


@dataclasses.dataclass(frozen=True)
class Place:
    """A row of a table on certain data: its cells, one for each seed."""

    table: TablePlan
    data: DataChoice
    row: Row
    cells: tuple[Cell, ...]
    is_quick: bool = False  # whether the form is the quick one

    @property
    def part(self) -> str:
        """The part that is judged; the dev set in the quick form, and if a corpus has no test set."""
        golds = self.cells[0].gold.values()
        has_dev, has_test = (all(part in gold for gold in golds) for part in ("dev", "test"))
        return "dev" if has_dev and (self.is_quick or not has_test) else self.table.about.part

    def measurement(self, column: Column) -> Measurement | None:
        """The measurement for a column; None if the system does not answer in that standard."""
        about, cell = self.table.about, self.cells[0]
        gold = cell.gold.get(column.side, {})
        if self.part not in gold or column.metric.startswith("train."):
            return None
        if column.mode in MODES and cell.kind != TWO_CHAINS:
            return None
        mode = column.mode or ("" if cell.tagger is None else TAGGED)
        return Measurement(self.part, column.side, mode, about.vocabulary)


class StudyPlan:
    """The cells of a study on the available corpora."""

    def __init__(self, study: Study, shelf: CorpusShelf) -> None:
        self.study, self.shelf = study, shelf
        self.absent: dict[str, str] = {}
        self.data = self._available()
        is_quick = study.form == "quick"
        self.places = [
            Place(table, data, row, tuple(self._cell(row, data, seed) for seed in study.seeds), is_quick)
            for table in study.tables
            for data in self.data
            if not table.about.data or data.name in table.about.data
            for row in table.rows
            if self._can_run(row)
        ]

    def _can_run(self, row: Row) -> bool:
        """Whether the program is installed that the row needs."""
        if not self.study.systems[row.system].rival or udpipe.is_installed():
            return True
        self.absent[row.name] = udpipe.MODULE
        return False

    @functools.cached_property
    def cells(self) -> list[Cell]:
        """Every cell once, with all measurements that the tables need."""
        asked: dict[str, dict[Measurement, None]] = {}
        found: dict[str, Cell] = {}
        for place in self.places:
            for cell in place.cells:
                if cell.key not in found or cell.tagger is not None:
                    found[cell.key] = cell
                wanted = (place.measurement(column) for column in place.table.columns)
                asked.setdefault(cell.key, {}).update(dict.fromkeys(filter(None, wanted)))
                if cell.tagger is not None:
                    found.setdefault(cell.tagger.key, cell.tagger)
        return [
            dataclasses.replace(cell, measurements=tuple(asked.get(key, ()))) for key, cell in found.items()
        ]

    def _available(self) -> list[DataChoice]:
        """The data whose files exist, or those of them that the form names."""
        found = []
        for data in self.study.data:
            names = [name for name in data.corpora if name not in self.shelf]
            gone = [self.shelf.missing(self.shelf[name]) for name in data.corpora if name in self.shelf]
            lost = next((str(path) for path in gone if path is not None), names[0] if names else None)
            if lost is None:
                found.append(data)
            else:
                self.absent[data.name] = lost
        if not found:
            wanted = "; ".join(f"{name} needs {path}" for name, path in self.absent.items())
            raise ConfigError(
                f"{self.shelf.data}: the corpora of the study {self.study.name!r} are missing: {wanted}",
                "name their folder with --data DIR or the variable DUILIAN_DATA",
            )
        named = self.study.limits.data
        if named:
            return [each for each in found if each.name in named]
        return found[:1] if self.study.form == "quick" else found

    def _cell(self, row: Row, data: DataChoice, seed: int) -> Cell:
        system = self.study.systems[row.system]
        tagger = None
        if system.tagger is not None:
            changes = row.set if system.rival else ()  # which tags with the same model
            tagger = self._cell(Row(system.tagger, system.tagger, changes), data, seed)
        corpora = {place: self.shelf[data.corpora[place - 1]] for place in system.sides}
        content = self._content(system, row, data, corpora, seed)
        text = recipe_text(content)
        kind = KINDS[str(content["model"]["kind"])]
        answered = system.sides if kind.answers_all else system.sides[:1]
        names = [f"{row.system}@{data.name}", *row.set, f"seed={seed}"]
        return Cell(
            name=" ".join(names),
            key=self._key(f"{system.rival}{TABLE if system.by_table else ''}{text}", corpora.values()),
            kind=system.rival or kind.name,
            recipe=text,
            gold={place: self._gold(corpora[place]) for place in answered},
            prints={place: self._prints(corpora[place]) for place in answered},
            words=tuple(self._words(corpora[place], place) for place in sorted(corpora)),
            given=self._given(corpora[system.sides[0]]),
            tagger=tagger,
            rival=system.rival,
            table_from=self._words(self.shelf[data.corpora[1]], 2) if system.by_table else None,
        )

    def _content(
        self,
        system: System,
        row: Row,
        data: DataChoice,
        corpora: Mapping[int, NamedCorpus],
        seed: int,
    ) -> dict[str, Any]:
        """The content of the recipe, with the sides of the data and all changes."""
        beside = self.study.path.parent / system.recipe
        _, content = read_toml(beside if beside.is_file() else find_recipe(system.recipe))
        sides = content.get("side", [])
        if len(sides) != len(system.sides):
            raise ConfigError(
                f"{self.study.name}: {row.system} has {counted(len(system.sides), 'side')}, "
                f"its recipe {system.recipe} has {len(sides)}"
            )
        content["side"] = [
            self._side(own, corpora[place], data) for own, place in zip(sides, system.sides, strict=True)
        ]
        own = {"quick": system.quick, "sample": system.sample}.get(self.study.form, ())
        short = (*self.study.limits.set, *own)
        for change in (*system.set, *row.set, *short, f"learning.seed={seed}"):
            if change.startswith(ALGORITHM):  # the other settings belong to the old algorithm
                content["learning"] = {}
            override(content, change)
        content["side"] = [
            self._limited(side, place, ("limit", "sample"), ("dev_limit",))
            for side, place in zip(content["side"], system.sides, strict=True)
        ]
        return content

    def _side(self, own: Mapping[str, Any], corpus: NamedCorpus, data: DataChoice) -> dict[str, Any]:
        side = {key: own[key] for key in KEPT if key in own} | dict(corpus.side)
        for key in NOT_TRAINED_ON:
            side.pop(key, None)
        if data.sample is not None and "sample" in side:
            side["sample"] = min(data.sample, self.study.limits.limit or data.sample)
        return side

    def _gold(self, corpus: NamedCorpus) -> dict[str, Any]:
        return self._limited(dict(corpus.side), 1, (), ("dev_limit", "test_limit"))

    def _given(self, corpus: NamedCorpus) -> dict[str, Any] | None:
        return None if corpus.given is None else self._limited(dict(corpus.given), 1, (), ("test_limit",))

    def _prints(self, corpus: NamedCorpus) -> dict[str, list[str]]:
        return {
            part: [self.shelf.fingerprint(path) for path in self.shelf.files(corpus, part)]
            for part in ("dev", "test")
        }

    def _words(self, corpus: NamedCorpus, place: int) -> dict[str, Any]:
        return self._limited(dict(corpus.side), place, ("limit",), ())

    def _limited(
        self, side: dict[str, Any], place: int, trained: Sequence[str], judged: Sequence[str]
    ) -> dict[str, Any]:
        """The side, of the corpus at this place of the data, with the limits of the form."""
        form = self.study.limits
        training = form.limit if place == 1 else form.other_limit or form.limit
        for keys, limit in ((trained, training), (judged, form.dev_limit)):
            for key in keys:
                part = key.removesuffix("_limit")
                is_there = key == "limit" or key in side or side.get(part) is not None
                if limit is not None and is_there:
                    side[key] = min(int(side.get(key, limit)), limit)
        return side

    def _key(self, text: str, corpora: Iterable[NamedCorpus]) -> str:
        """The fingerprint of the recipe and of the files that it reads."""
        prints = [
            self.shelf.fingerprint(path)
            for each in corpora
            for path in self.shelf.files(each, "train", "dev")
        ]
        said = json.dumps([CELL_VERSION, text, prints], ensure_ascii=False)
        return hashlib.sha256(said.encode()).hexdigest()
