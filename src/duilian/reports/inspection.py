"""The card of a model file, and what a coupled model has learned about its standards.

The learned mapping is counted on sentences (expected counts of tag pairs, Li et al. 2017, Section V), because
corresponding tags depend on context; ambiguous words are those for which they do.
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

from duilian.conversion import Converter
from duilian.corpus import Layer, ReadReport
from duilian.corpus.batches import batches
from duilian.corpus.places import PlacedSentence
from duilian.errors import ConfigError, ModelFileError
from duilian.evaluation.breakdown import in_context
from duilian.modelfile import checksum_of, read_model
from duilian.models import Suite, TwoChainTagger
from duilian.models.base.dictionary_settings import dictionary_of
from duilian.models.base.estimator import refuse_older
from duilian.models.base.notes import ANY, check_notes, check_shape
from duilian.models.base.table_codec import below
from duilian.models.offers import OffersConversions
from duilian.models.registry import level_of
from duilian.wording import counted

MIN_SHARE = 0.01  # smaller shares of a target tag are not shown
MIN_READING_SHARE, MIN_READING_COUNT = 0.1, 2  # below, a reading counts as an accident
FIRST_TITLES = ("title", "does")  # of a card, in this order
SAMPLE_SENTENCES = 200  # to guess the standard of a file
HEADS = "UAS of gold words, without punctuation"
NAMES = (type(None), [str])
OWN = {  # what a card shows of the header of a model, or of its tagger
    "config": {"standard": str, "standards": [str], "level": str, ANY: object},
    "tags": (type(None), [str], [NAMES]),
    "templates_name": str,
    "mapping": {ANY: [str]},
    ANY: object,
}
SCORES_SUFFIX = ".scores.json"  # of the file with a model's scores, next to the model


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelCard:
    """The contents of a model file, for people."""

    file: str
    bytes: int
    kind: str
    level: str
    standards: Mapping[str, Sequence[str] | None]  # tags; None: segmentation only
    guides: Sequence[str]
    parser: str  # of an analyser, as a short description
    templates: str
    dictionary: Mapping[str, Any]  # name, licence, words, fingerprint, replaces; empty if there is none
    settings: Mapping[str, Any]
    weights: int
    arrays: Sequence[tuple[str, str, int]]  # name, type, bytes
    notes: Mapping[str, Any]
    # Of a multi-task tagger: label of the first standard → of the second.
    mapping: Mapping[str, Sequence[str]]
    # Measured on the file itself (tools/scores.py): by standard, set and metric.
    scores: Mapping[str, Mapping[str, Mapping[str, float]]]

    @property
    def texts(self) -> dict[str, list[str]]:
        """The texts of its authors, by title."""
        card = self.notes.get("card", {})
        # In the file they are in alphabetical order.
        titles = [
            *(title for title in FIRST_TITLES if title in card),
            *(title for title in card if title not in FIRST_TITLES),
        ]
        return {title: [card[title]] if isinstance(card[title], str) else card[title] for title in titles}

    @classmethod
    def read(cls, path: str | Path) -> ModelCard:
        """Read the card of a model file without building the model."""
        header, arrays = read_model(path)
        refuse_older(path, header)
        try:
            return cls._of(os.fspath(path), header, arrays)
        except (ConfigError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFileError(
                os.fspath(path), f"the model's parts do not fit together ({error})"
            ) from None

    @classmethod
    def _of(cls, path: str, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> ModelCard:
        own = header["tagger"] if header.get("kind") == Suite.kind else header
        settings = own.get("config", {})
        check_notes(header.get("notes", {}))
        check_shape(own, OWN, "the header")
        return cls(
            file=path,
            bytes=os.path.getsize(path),
            kind=str(header.get("kind")),
            level=settings.get("level", level_of(str(own.get("kind")))),
            standards=_tags_by_standard(settings, own.get("tags")),
            guides=[own[key]["config"]["standard"] for key in ("source", "own") if key in own],
            parser=_describe_parser(header["parser"]) if header.get("kind") == Suite.kind else "",
            templates=own.get("templates_name", ""),
            dictionary=_describe_dictionary(own, arrays if own is header else below(arrays, "tagger.")),
            settings=settings,
            weights=sum(array.size for name, array in arrays.items() if _holds_weights(name)),
            arrays=[(name, str(array.dtype), array.nbytes) for name, array in arrays.items()],
            notes=header.get("notes", {}),
            mapping=header.get("mapping", {}),
            scores=_read_scores(path),
        )

    def metric(self, standard: str) -> str:
        """Name the metric of the dev score in training."""
        if "parser" in self.kind:
            return HEADS
        if self.level == "char":
            return "F1 of words" if self.standards[standard] is None else "F1 of words with tags"
        return "F1 of chunks" if self.kind == TwoChainTagger.kind else "accuracy of tags"

    def side_notes(self, standard: str) -> Mapping[str, Any]:
        """Return the notes of the training run on one standard."""
        found: Mapping[str, Any] = self.notes.get("sides", {}).get(standard, self.notes)
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the stable JSON of `duilian inspect --json`."""
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
            **({"dictionary": dict(self.dictionary)} if self.dictionary else {}),
            "settings": dict(self.settings),
            "weights": self.weights,
            "arrays": [{"name": name, "type": dtype, "bytes": size} for name, dtype, size in self.arrays],
            "notes": rest,
            **({"mapping": dict(self.mapping)} if self.mapping else {}),
        }


def _read_scores(path: str) -> Mapping[str, Any]:
    """Read the scores next to a model, if they belong to exactly this file."""
    scores_file = Path(path).with_suffix(SCORES_SUFFIX)
    if not scores_file.is_file():
        return {}
    try:
        found = json.loads(scores_file.read_text(encoding="utf-8"))
        return dict(found["scores"]) if found["checksum"] == checksum_of(path) else {}
    except (ValueError, KeyError, TypeError):
        raise ModelFileError(
            os.fspath(scores_file), "this is not a file of scores from tools/scores.py"
        ) from None


def _describe_parser(header: Mapping[str, Any]) -> str:
    found = header["config"]
    what = f"order {found['order']}" if "order" in found else header["kind"]
    return f"{found['standard']}, {what}, {counted(len(header['relations']), 'relation')}"


def _describe_dictionary(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    found = dictionary_of(header, arrays)
    if found is None:
        return {}
    names = ("name", "licence", "fingerprint", "replaces")
    return {"words": len(found), **{name: getattr(found, name) for name in names}}


def _tags_by_standard(settings: Mapping[str, Any], tags: Any) -> dict[str, Sequence[str] | None]:
    if "standards" in settings:
        return dict(zip(settings["standards"], tags, strict=True))
    return {settings["standard"]: tags} if "standard" in settings else {}


def _holds_weights(name: str) -> bool:
    return name.rpartition(".")[2] in ("weight", "transition")


@dataclasses.dataclass(frozen=True)
class LearnedMapping:
    """Expected counts of pairs of source and target tags; at character level, counts of characters."""

    source: str
    target: str
    source_tags: tuple[str, ...]
    target_tags: tuple[str, ...]
    counts: npt.NDArray[np.float64]  # [source tags, target tags]
    mapping: str = "complete"  # the tag pairs that were allowed

    def rows(self, min_share: float = MIN_SHARE) -> Iterator[tuple[str, float, list[tuple[str, float]]]]:
        """Yield each source tag with its count and the shares of its target tags, largest first."""
        totals = self.counts.sum(axis=1)
        for a in np.argsort(-totals, kind="stable").tolist():
            if totals[a] <= 0:
                continue
            shares = self.counts[a] / totals[a]
            order = [b for b in np.argsort(-shares, kind="stable").tolist() if shares[b] >= min_share]
            yield (
                self.source_tags[a],
                float(totals[a]),
                [(self.target_tags[b], float(shares[b])) for b in order],
            )

    def as_json(self) -> dict[str, Any]:
        """Return percentages by source and target tag, from 1 % up."""
        return {
            "from": self.source,
            "to": self.target,
            "mapping": self.mapping,
            "tags": {
                tag: {"count": total, "to": {name: 100.0 * share for name, share in found}}
                for tag, total, found in self.rows()
            },
        }


@dataclasses.dataclass(frozen=True)
class TagReading:
    """One of the tags that a word is converted to, with its count and a short example."""

    tag: str
    count: int
    example: str


@dataclasses.dataclass(frozen=True)
class AmbiguousWord:
    """A word with a source tag whose target tag depends on context."""

    word: str
    tag: str
    readings: tuple[TagReading, ...]  # the most frequent first

    @property
    def weight(self) -> int:
        """The number of tokens that a fixed tag per word would get wrong."""
        return sum(reading.count for reading in self.readings[1:])

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "word": self.word,
            "tag": self.tag,
            "to": [dataclasses.asdict(each) for each in self.readings],
        }


@dataclasses.dataclass(frozen=True)
class MappingStudy:
    """What a coupled model has learned, measured on a corpus."""

    mapping: LearnedMapping
    words: tuple[AmbiguousWord, ...]


def study(converter: Converter, sentences: Iterable[PlacedSentence], *, examples: int = 0) -> MappingStudy:
    """Count the learned mapping on a corpus, and find up to `examples` words that depend on context.

    The tags of the corpus are given; the converter's mapping limits what they can become.
    """
    model: Any = converter.model
    source, target, mapping = converter.source, converter.target, converter.plan.mapping
    source_tags, target_tags = (encoding.tags or () for encoding in converter.plan.encodings)
    counts = np.zeros((len(source_tags), len(target_tags)))
    found = _WordReadings()
    for batch in batches(sentences):
        several = [each.sentence for each in batch]
        how = {"mapping": mapping, "threads": converter.threads}
        counts += model.learned_mapping(several, source, target, given=True, **how)
        for sentence, answer in converter.run(batch) if examples else ():
            found.add(sentence[source], converter.layer(sentence, answer))
    learned = LearnedMapping(source, target, source_tags, target_tags, counts, str(mapping))
    return MappingStudy(learned, found.ambiguous(examples))


class _WordReadings:
    """The target tags of each word with its source tag, with counts and examples."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], dict[str, list[Any]]] = {}

    def add(self, given: Layer, layer: Layer) -> None:
        places = {span: place for place, span in enumerate(layer.spans())}
        for word, span in enumerate(given.spans()):
            tag, place = (given.tags or (None,) * len(given))[word], places.get(span)
            if place is None or not isinstance(tag, str):  # cut differently, or not annotated
                continue
            readings = self._seen.setdefault((given.words[word], tag), {})
            entry = readings.setdefault(str((layer.tags or ())[place]), [0, ""])
            entry[0] += 1
            entry[1] = entry[1] or in_context(given.words, word)

    def ambiguous(self, max_words: int) -> tuple[AmbiguousWord, ...]:
        words = []
        for (word, tag), found in self._seen.items():
            total = sum(count for count, _ in found.values())
            min_count = max(MIN_READING_COUNT, math.ceil(MIN_READING_SHARE * total))
            readings = [TagReading(name, *entry) for name, entry in found.items() if entry[0] >= min_count]
            readings.sort(key=lambda each: (-each.count, each.tag))
            if len(readings) > 1:
                words.append(AmbiguousWord(word, tag, tuple(readings)))
        words.sort(key=lambda each: (-each.weight, each.word, each.tag))
        return tuple(words[:max_words])


def guess_standard(
    model: OffersConversions,
    path: str,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    lenient: bool = False,
) -> str:
    """Guess the standard of a file: the one that knows most tags of its first sentences."""
    known = {}
    for name, other in dict(model.conversions).items():
        converter = Converter(model, name, other, mapping="complete")
        report = ReadReport() if lenient else None
        _, sentences = converter.open(path, format=format, encoding=encoding, report=report)
        layers = [each.sentence[name] for each in itertools.islice(sentences, SAMPLE_SENTENCES)]
        tags = sum(isinstance(tag, str) for layer in layers for tag in layer.tags or ())
        known[name] = tags - len(converter.plan.unknown_tags(layers))
    best = max(known, key=lambda name: known[name])
    if known[best] == 0:
        names = ", ".join(known)
        raise ConfigError(f"{path}: its tags belong to none of the model's standards", f"they are: {names}")
    return best
