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
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from duilian.arguments import checked
from duilian.corpus import Corpus, ReadReport, Sentence, TreeCheck, read_sentences
from duilian.corpus.output_files import refuse_input
from duilian.errors import ConfigError
from duilian.learning import IterationReport
from duilian.learning.run_log import RunLog
from duilian.modelfile import is_model
from duilian.recipes.contents import card_of, config_of, kind_of, sides_of, updated, with_paths
from duilian.recipes.parts import KINDS, Part, Saving, Side
from duilian.recipes.run import Run
from duilian.recipes.shipped import find_recipe
from duilian.recipes.tables import Table, override, read_toml
from duilian.recipes.train_files import file_names, file_weights, numbered_files, refuse_weights
from duilian.settings import Settings

DATA_VARIABLE = "DUILIAN_DATA"
ANALYZER = "analyzer"


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
        kind = kind_of(top.table("model"))
        sides = sides_of(top, kind)
        config = config_of(top, kind, sides)
        saving, card = updated(Saving(), top.table("saving")), card_of(top.table("card"))
        top.raise_mistakes()
        return cls(
            file=file,
            text=text,
            overrides=tuple(overrides),
            kind=kind.name,
            config=with_paths(config, Path(path).parent, Path(folder)),
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
        parser = self.config.get("parser")
        if parser is not None and parser.file is not None:
            yield Path(parser.file)
        for side in self.sides:
            for part in ("train", "dev", "test"):
                yield from self.files(side, part)

    def files(self, side: Side, part: Part) -> list[Path]:
        """The files of one part of a side, whether they exist or not; of numbered files, those that exist."""
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
            raise ConfigError(f"{target}: this file exists and is not a model", hint)
    folder = output.resolve().parent
    if output.is_dir():
        raise ConfigError(f"{output}: this is a folder, not a file", f"write -o {output / 'my.model'}")
    if not folder.is_dir():
        raise ConfigError(
            f"{output}: there is no folder {output.parent}", f"make it first: mkdir {output.parent}"
        )
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"{output}: no permission to write to this folder", "choose another output with -o")
