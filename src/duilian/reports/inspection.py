"""What is in a model: the card of any model file, and what a coupled one has learned about its standards.

The learned mapping is counted on sentences (expected counts of tag pairs, Li et al. 2017, Section V), because
what goes with what depends on context; `ambiguous_words` finds the words for which it does.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian.conversion.converter import BATCH, Conversion, Converter
from duilian.corpus.places import PlacedSentence
from duilian.errors import ConfigError, ModelFileError
from duilian.modelfile import checksum_of, read_model
from duilian.models import CoupledTagger, Suite, TwoChainTagger

LEAST_SHARE = 0.01  # of a target tag, to be shown
REAL_SHARE, REAL_COUNT = 0.1, 2  # from here on a tag is no accident
CONTEXT = 4  # words on either side of an example
FIRST = ("title", "does")  # of a card
PROBE = 200  # sentences that tell a file's standard
HEADS = "UAS of gold words, without punctuation"
SCORES = ".scores.json"  # how the name of the file ends that has a model's scores, beside it


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelCard:
    """What a model file says of itself."""

    file: str
    bytes: int
    kind: str
    level: str
    standards: Mapping[str, Sequence[str] | None]  # tags; None: it only cuts text into words
    guides: Sequence[str]
    parser: str  # of an analyser, in a few words
    templates: str
    parameters: Mapping[str, Any]
    weights: int
    arrays: Sequence[tuple[str, str, int]]  # name, type, bytes
    notes: Mapping[str, Any]
    # Of a multi-task tagger: label of the first standard → of the second.
    mapping: Mapping[str, Sequence[str]]
    # Measured on the file itself (tools/scores.py): by standard, set and metric.
    scores: Mapping[str, Mapping[str, Mapping[str, float]]]

    @property
    def texts(self) -> dict[str, list[str]]:
        """What its authors say of it to people, by title."""
        card = self.notes.get("card", {})
        # A file has them in order of name.
        titles = [
            *(title for title in FIRST if title in card),
            *(title for title in card if title not in FIRST),
        ]
        return {title: [card[title]] if isinstance(card[title], str) else card[title] for title in titles}

    @classmethod
    def read(cls, path: str | Path) -> ModelCard:
        """The card of a model file; the model itself is not built."""
        header, arrays = read_model(path)
        try:
            return cls._of(os.fspath(path), header, arrays)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFileError(
                os.fspath(path), f"the model's parts do not fit together ({error})"
            ) from None

    @classmethod
    def _of(cls, path: str, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> ModelCard:
        own = header["tagger"] if header.get("kind") == Suite.kind else header
        parameters = own.get("parameters", {})
        return cls(
            file=path,
            bytes=os.path.getsize(path),
            kind=str(header.get("kind")),
            level=parameters.get("level", ""),
            standards=_standards(parameters, own.get("tags")),
            guides=[own[key]["parameters"]["standard"] for key in ("source", "own") if key in own],
            parser=_parser(header["parser"]) if header.get("kind") == Suite.kind else "",
            templates=own.get("templates_name", ""),
            parameters=parameters,
            weights=sum(array.size for name, array in arrays.items() if _holds_weights(name)),
            arrays=[(name, str(array.dtype), array.nbytes) for name, array in arrays.items()],
            notes=header.get("notes", {}),
            mapping=header.get("mapping", {}),
            scores=_scores(path),
        )

    def metric(self, standard: str) -> str:
        """What the score of a dev set in training is."""
        if "parser" in self.kind:
            return HEADS
        if self.level == "char":
            return "F1 of words" if self.standards[standard] is None else "F1 of words with tags"
        return "F1 of chunks" if self.kind == TwoChainTagger.kind else "accuracy of tags"

    def side_notes(self, standard: str) -> Mapping[str, Any]:
        """What the training run noted of one standard's corpora."""
        found: Mapping[str, Any] = self.notes.get("sides", {}).get(standard, self.notes)
        return found

    def as_json(self) -> dict[str, Any]:
        """The stable form that `duilian inspect --json` prints."""
        sides = {
            name: {
                "tags": None if tags is None else list(tags),
                **{key: self.side_notes(name).get(key) for key in ("dev_score", "corpora", "reading")},
                **({"scores": self.scores[name]} if name in self.scores else {}),
            }
            for name, tags in self.standards.items()
        }
        rest = {key: value for key, value in self.notes.items() if key not in ("sides", "corpora", "reading")}
        return {
            "file": self.file,
            "bytes": self.bytes,
            "kind": self.kind,
            "level": self.level,
            "standards": sides,
            "guides": list(self.guides),
            **({"parser": self.parser} if self.parser else {}),
            "templates": self.templates,
            "parameters": dict(self.parameters),
            "weights": self.weights,
            "arrays": [{"name": name, "type": dtype, "bytes": size} for name, dtype, size in self.arrays],
            "notes": rest,
            **({"mapping": dict(self.mapping)} if self.mapping else {}),
        }


def _scores(path: str) -> Mapping[str, Any]:
    """What stands beside the model, if it is about this very file."""
    beside = Path(path).with_suffix(SCORES)
    if not beside.is_file():
        return {}
    try:
        found = json.loads(beside.read_text(encoding="utf-8"))
        return dict(found["scores"]) if found["checksum"] == checksum_of(path) else {}
    except (ValueError, KeyError, TypeError):
        raise ModelFileError(
            os.fspath(beside), "is not a file of scores as tools/scores.py writes it"
        ) from None


def _parser(header: Mapping[str, Any]) -> str:
    found = header["parameters"]
    return f"{found['standard']}, order {found['order']}, {len(header['relations'])} relations"


def _standards(parameters: Mapping[str, Any], tags: Any) -> dict[str, Sequence[str] | None]:
    if "standards" in parameters:
        return dict(zip(parameters["standards"], tags, strict=True))
    return {parameters["standard"]: tags} if "standard" in parameters else {}


def _holds_weights(name: str) -> bool:
    return name.rpartition(".")[2] in ("weight", "transition")


@dataclasses.dataclass(frozen=True)
class LearnedMapping:
    """Expected counts of tag pairs: rows of the source's tags, columns of the target's.

    At character level it is characters that are counted.
    """

    source: str
    target: str
    source_tags: tuple[str, ...]
    target_tags: tuple[str, ...]
    counts: npt.NDArray[np.float64]  # [source tags, target tags]

    def rows(self, least: float = LEAST_SHARE) -> Iterator[tuple[str, float, list[tuple[str, float]]]]:
        """Each source tag with its count and the target tags that go with it, biggest share first."""
        totals = self.counts.sum(axis=1)
        for a in np.argsort(-totals, kind="stable").tolist():
            if totals[a] <= 0:
                continue
            shares = self.counts[a] / totals[a]
            order = [b for b in np.argsort(-shares, kind="stable").tolist() if shares[b] >= least]
            yield (
                self.source_tags[a],
                float(totals[a]),
                [(self.target_tags[b], float(shares[b])) for b in order],
            )

    def as_json(self) -> dict[str, Any]:
        """Percentages by source tag and target tag, those below 1 left out."""
        return {
            "from": self.source,
            "to": self.target,
            "tags": {
                tag: {"count": total, "to": {name: 100.0 * share for name, share in found}}
                for tag, total, found in self.rows()
            },
        }


@dataclasses.dataclass(frozen=True)
class Reading:
    """One of the tags that a word is converted to: how often, and an example in short."""

    tag: str
    count: int
    example: str


@dataclasses.dataclass(frozen=True)
class AmbiguousWord:
    """A word with a source tag whose target tag depends on context."""

    word: str
    tag: str
    readings: tuple[Reading, ...]  # the most frequent first

    @property
    def weight(self) -> int:
        """How many tokens a table of tags for words would get wrong."""
        return sum(reading.count for reading in self.readings[1:])

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "word": self.word,
            "tag": self.tag,
            "to": [dataclasses.asdict(each) for each in self.readings],
        }


@dataclasses.dataclass(frozen=True)
class Study:
    """What a coupled model makes of a corpus."""

    mapping: LearnedMapping
    words: tuple[AmbiguousWord, ...]


def study(converter: Converter, sentences: Iterable[PlacedSentence], *, examples: int = 0) -> Study:
    """The learned mapping on a corpus and, if asked for, so many words that show its dependence on context.

    The tags of the corpus are taken as given where it has some.
    """
    tagger, source, target = converter.tagger, converter.source, converter.target
    source_tags, target_tags = (tagger.of(name).encoding_.tags or () for name in (source, target))
    counts = np.zeros((len(source_tags), len(target_tags)))
    found = _Words()
    given = iter(sentences)
    while batch := list(itertools.islice(given, BATCH)):
        counts += tagger.learned_mapping([each.sentence for each in batch], source, target, given=True)
        for conversion in converter.run(batch) if examples else ():
            found.add(conversion, source)
    return Study(LearnedMapping(source, target, source_tags, target_tags, counts), found.ambiguous(examples))


class _Words:
    """What each word with its source tag was converted to, with one example each."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], dict[str, list[Any]]] = {}

    def add(self, conversion: Conversion, source: str) -> None:
        given, layer = conversion.sentence[source], conversion.layer
        places = {span: place for place, span in enumerate(layer.spans())}
        for word, span in enumerate(given.spans()):
            tag, place = (given.tags or (None,) * len(given))[word], places.get(span)
            if place is None or not isinstance(tag, str):  # cut differently, or not annotated
                continue
            readings = self._seen.setdefault((given.words[word], tag), {})
            entry = readings.setdefault(str((layer.tags or ())[place]), [0, ""])
            entry[0] += 1
            entry[1] = entry[1] or _in_context(given.words, word)

    def ambiguous(self, most: int) -> tuple[AmbiguousWord, ...]:
        words = []
        for (word, tag), found in self._seen.items():
            least = max(REAL_COUNT, math.ceil(REAL_SHARE * sum(count for count, _ in found.values())))
            readings = [Reading(name, *entry) for name, entry in found.items() if entry[0] >= least]
            readings.sort(key=lambda each: (-each.count, each.tag))
            if len(readings) > 1:
                words.append(AmbiguousWord(word, tag, tuple(readings)))
        words.sort(key=lambda each: (-each.weight, each.word, each.tag))
        return tuple(words[:most])


def _in_context(words: Sequence[str], place: int) -> str:
    before, behind = words[max(place - CONTEXT, 0) : place], words[place + 1 : place + 1 + CONTEXT]
    left = "… " if place > CONTEXT else ""
    right = " …" if place + 1 + CONTEXT < len(words) else ""
    return f"{left}{' '.join([*before, f'[{words[place]}]', *behind])}{right}"


def standard_of(
    tagger: CoupledTagger, path: str, *, format: str | None = None, encoding: str = "utf-8"
) -> str:
    """The standard of a file: the one that knows most of the tags in its first sentences."""
    known = {}
    for name in tagger.standards:
        other = next(each for each in tagger.standards if each != name)
        _, sentences = Converter(tagger, name, other).open(path, format=format, encoding=encoding)
        layers = [each.sentence[name] for each in itertools.islice(sentences, PROBE)]
        tags = sum(isinstance(tag, str) for layer in layers for tag in layer.tags or ())
        known[name] = tags - len(tagger.unknown_tags(layers, name))
    best = max(known, key=lambda name: known[name])
    if known[best] == 0:
        names = ", ".join(tagger.standards)
        raise ConfigError(f"{path}: its tags are of none of the model's standards", f"they are: {names}")
    return best
