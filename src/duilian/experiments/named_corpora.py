"""Corpora that studies name: those of corpora.toml, and those that a study prepares from them.

A prepared corpus is a file in the output folder. Its name contains the fingerprint of its sources, so it is
made only once. Ways to prepare: `mix` (English words, Zhao et al. 2012), `share` (a random part of the
training sentences; those after the share `bare_from` lose their tags), and `align` (the same sentences in two
standards, to judge conversion).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from duilian.atomic_files import replacing
from duilian.corpus import Layer, Sentence, read, read_sentences
from duilian.corpus.formats.jsonlines import write_jsonlines
from duilian.corpus.mixing import mix, preset
from duilian.errors import ConfigError, did_you_mean
from duilian.recipes.parts import Part
from duilian.recipes.tables import read_toml
from duilian.recipes.train_files import file_names, numbered_files

TABLE = Path(__file__).with_name("corpora.toml")
PREPARED = "./../../data/"  # the folder of prepared files, seen from a cell's folder
PARTS: tuple[Part, ...] = ("train", "dev", "test")
READING = ("format", "column", "columns", "encoding", "cut")


@dataclasses.dataclass(frozen=True)
class NamedCorpus:
    """A corpus: its `[[side]]` and, if it is for judging conversion, the sentences to convert."""

    name: str
    about: str
    side: Mapping[str, Any]
    given: Mapping[str, Any] | None = None  # the `[[side]]` of the source, with a test set

    def names(self, *parts: str) -> list[str]:
        """The names of the files of some parts."""
        return [name for part in parts for name in file_names(self.side.get(part))]


class CorpusShelf:
    """Finds corpora by name in a folder, and prepares those that a study needs."""

    def __init__(self, data: Path, output: Path, limits: tuple[int | None, int | None]) -> None:
        self.data, self.output = data, output
        self._limits = limits  # of training sentences, and of dev and test sentences
        self._known = {name: _corpus(name, values) for name, values in read_toml(TABLE)[1].items()}
        self._hashes: dict[Path, str] = {}
        self._sizes: dict[str, tuple[int, int]] = {}  # counted once: reading a large corpus takes seconds

    def prepare(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Prepare the corpora of a study whose sources exist."""
        for step in steps:
            source = self[str(step.get("of"))]
            if self.missing(source) is None:
                self._known[str(step["name"])] = self._prepared(step, source)

    def __getitem__(self, name: str) -> NamedCorpus:
        if name not in self._known:
            raise ConfigError(f"there is no corpus {name!r}", did_you_mean(name, self._known))
        return self._known[name]

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def missing(self, corpus: NamedCorpus) -> Path | None:
        """The first file that does not exist."""
        return next((path for path in self.files(corpus, *PARTS) if not path.is_file()), None)

    def files(self, corpus: NamedCorpus, *parts: str) -> list[Path]:
        """The files of some parts of a corpus, whether they exist or not."""
        return [path for name in corpus.names(*parts) for path in self._paths(name)]

    def _paths(self, name: str) -> list[Path]:
        if name.startswith(PREPARED):
            return [self.output / "data" / Path(name).name]
        return numbered_files(self.data, name) or [self.data / name]

    def fingerprint(self, path: Path) -> str:
        """SHA-256 of a file's bytes."""
        path = path.resolve()
        if path not in self._hashes:
            with open(path, "rb") as file:
                self._hashes[path] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[path]

    def size(self, side: Mapping[str, Any], part: Part) -> tuple[int, int]:
        """The number of sentences and of words in a part of a `[[side]]`, within its limit."""
        said = [side.get(key) for key in (part, _limit(part), *READING)]
        key = json.dumps([part, *said])
        if key not in self._sizes:
            corpus = NamedCorpus("", "", side)
            found = self._sentences(corpus, part, limited=False, check_tags=False)
            sizes = [len(each[side["standard"]]) for each in found]
            self._sizes[key] = len(sizes), sum(sizes)
        return self._sizes[key]

    def _prepared(self, step: Mapping[str, Any], source: NamedCorpus) -> NamedCorpus:
        steps: dict[str, Callable[[Mapping[str, Any], NamedCorpus], NamedCorpus]] = {
            "mix": self._mixed,
            "share": self._shared,
            "align": self._aligned,
        }
        kind = str(step.get("step"))
        if kind not in steps:
            raise ConfigError(f"[[prepare]] has no step {kind!r}", did_you_mean(kind, steps))
        return steps[kind](step, source)

    def _mixed(self, step: Mapping[str, Any], source: NamedCorpus) -> NamedCorpus:
        standard, files = source.side["standard"], {}
        for seed, part in ((1, "train"), (3, "dev"), (2, "test")):
            how = preset(str(step.get(f"{part}_preset", step["preset"])))

            def sentences(part: str = part, seed: int = seed, how: Any = how) -> Iterable[Sentence]:
                found = itertools.islice(self._sentences(source, part), step.get(_limit(part)))
                return mix(found, how, standard=standard, seed=seed)

            files[part] = self._file(step, source, part, sentences)
        return NamedCorpus(str(step["name"]), source.about, {"standard": standard, "format": "jsonl"} | files)

    def _shared(self, step: Mapping[str, Any], source: NamedCorpus) -> NamedCorpus:
        first, last, seed = float(step["from"]), float(step["to"]), int(step.get("seed", 1))
        bare_from = float(step.get("bare_from", last))

        def sentences() -> Iterable[Sentence]:
            found = list(self._sentences(source, "train"))
            random.Random(seed).shuffle(found)
            begin, bare, end = (round(share * len(found)) for share in (first, bare_from, last))
            return [*found[begin:bare], *(_without_tags(each) for each in found[bare:end])]

        own = {
            part: self._file(step, source, part, functools.partial(self._sentences, source, part))
            for part in ("dev", "test")
            if source.side.get(part)
        }
        own["train"] = self._file(step, source, "train", sentences)
        side = {"standard": source.side["standard"], "format": "jsonl"} | own
        return NamedCorpus(str(step["name"]), source.about, side)

    def _aligned(self, step: Mapping[str, Any], source: NamedCorpus) -> NamedCorpus:
        """The dev set of a corpus, and its sentences in another file and standard.

        The first sentences of the other file are for training. Conversion is judged on the rest, where the
        words have the same lengths, with the words of the source.
        """
        standard, first = str(step["standard"]), int(step["first"])
        other = self.data / str(step["file"])
        if not other.is_file():
            raise ConfigError(f"there is no file {str(other)!r}")
        given = source.side["standard"]

        def pairs() -> list[tuple[Layer, Layer]]:
            target = read(other, standard=standard, column=step.get("column"), check_tags=False)
            both = zip(self._sentences(source, "dev", limited=False), target, strict=True)
            return [(a[given], b[standard]) for a, b in both]

        def alike() -> list[tuple[Layer, Layer]]:
            held_out = pairs()[first:]
            return [(a, b) for a, b in held_out if [*map(len, a.words)] == [*map(len, b.words)]]

        makers = {
            "train": lambda: [Sentence({standard: b}) for _, b in pairs()[:first]],
            "test": lambda: [Sentence({standard: Layer(a.words, b.tags)}) for a, b in alike()],
            "given": lambda: [Sentence({given: Layer(a.words, a.tags)}) for a, _ in alike()],
        }
        own = {part: self._file(step, source, part, make, other) for part, make in makers.items()}
        asked = {"standard": given, "format": "jsonl", "test": own.pop("given")}
        return NamedCorpus(
            str(step["name"]), str(step["file"]), {"standard": standard, "format": "jsonl"} | own, asked
        )

    def _file(
        self,
        step: Mapping[str, Any],
        source: NamedCorpus,
        part: str,
        sentences: Callable[[], Iterable[Sentence]],
        *more: Path,
    ) -> str:
        """The name of a prepared file, seen from a cell's folder; the file is made if it is missing."""
        prints = [self.fingerprint(path) for path in (*self.files(source, *PARTS), *more)]
        said = json.dumps([sorted(step.items()), prints, self._limits], default=str)
        name = f"{step['name']}-{hashlib.sha256(said.encode()).hexdigest()[:12]}.{part}.jsonl"
        path = self.output / "data" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.writelines(line.encode() for line in write_jsonlines(sentences()))
        return f"{PREPARED}{name}"

    def _sentences(
        self, source: NamedCorpus, part: str, *, limited: bool = True, check_tags: bool = True
    ) -> Iterable[Sentence]:
        side = source.side
        limit = self._limits[part != "train"] if limited else None
        own = side.get(_limit(part))
        reading: dict[str, Any] = {key: side[key] for key in READING if key in side}
        if "columns" in reading:
            reading["names"] = reading.pop("columns")
        count = 0
        for path in self.files(source, part):
            for sentence in read_sentences(path, standard=side["standard"], check_tags=check_tags, **reading):
                if count in (limit, own):
                    return
                count += 1
                yield sentence


def _without_tags(sentence: Sentence) -> Sentence:
    return Sentence({name: Layer(layer.words) for name, layer in sentence.layers.items()})


def _limit(part: str) -> str:
    return "limit" if part == "train" else f"{part}_limit"


def _corpus(name: str, values: Mapping[str, Any]) -> NamedCorpus:
    side = {key: value for key, value in values.items() if key != "about"}
    return NamedCorpus(name, str(values.get("about", name)), side)
