"""Conversion of corpora of any length from one standard to another.

Puts the answers of a model that converts back into the user's sentences, and reports the line of a tag that
it has never seen. At word level, a sentence keeps everything but its tags. At character level, text is
segmented again; a sentence whose words stay the same keeps its other annotation.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from duilian import text as texts
from duilian.annotation.selection import probable_tags
from duilian.conversion.respelling import join_layers, restore
from duilian.corpus import Corpus, Layer, Sentence
from duilian.corpus.batches import batches
from duilian.corpus.cut import cut_sentences
from duilian.corpus.files import display_name
from duilian.corpus.formats.lookup import Format, FormatOptions
from duilian.corpus.formats.rows import TAG_COLUMNS, tag_column
from duilian.corpus.places import PlacedSentence, read_placed
from duilian.corpus.storage import ReadReport
from duilian.corpus.tag_spelling import UNKNOWN_FIELD, format_tags
from duilian.engine.analyzer import Analyzer
from duilian.errors import ConfigError, CorpusError
from duilian.labels.encoding import Encoding, Level
from duilian.models import Converted
from duilian.models.coupled.conversion_answers import ConversionPlan
from duilian.models.roles import chosen_standard


@dataclasses.dataclass(frozen=True, slots=True)
class Conversion:
    """A sentence with its layer in the target standard.

    `confidence` is the probability of each word's tag (at character level, that of its least certain
    character); `candidates` are its most probable tags, if requested. `unknown` counts the source tags that
    the model has never seen.
    """

    sentence: Sentence
    layer: Layer
    confidence: tuple[float, ...]
    candidates: tuple[frozenset[str], ...] | None = None
    unknown: int = 0


class ConversionModel(Protocol):
    """A model of any kind that converts, such as `CoupledTagger` and `GuidedTagger`."""

    level: Level

    @property
    def conversions(self) -> tuple[tuple[str, str], ...]:
        """The directions in which it converts: pairs of source and target."""

    def conversion(self, source: str, target: str, *, mapping: str | None = None) -> ConversionPlan:
        """Plan a conversion of many batches."""


class Converter:
    """Converts in one direction; `unknown_tags` treats tags new to the model as unknown."""

    def __init__(
        self,
        model: ConversionModel,
        source: str,
        target: str,
        *,
        mapping: str | None = None,
        unknown_tags: bool = False,
        threads: int = 1,
    ) -> None:
        names = list(dict.fromkeys(name for pair in model.conversions for name in pair))
        source, target = (chosen_standard(name, names) for name in (source, target))
        if source == target:
            raise ConfigError(f"there is nothing to convert from {source!r} to {target!r}")
        self.model, self.unknown_tags, self.threads = model, unknown_tags, threads
        self.source, self.target = source, target
        self.plan = model.conversion(source, target, mapping=mapping)
        self._reading = _reading(model, source)

    @property
    def target_column(self) -> str:
        """The column of the target's tags in row formats."""
        return tag_column(_reading(self.model, self.target).get("column"), self.target)

    def open(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        encoding: str = "utf-8",
        report: ReadReport | None = None,
    ) -> tuple[Format, Iterator[PlacedSentence]]:
        """Return the format of an annotated file and an iterator over its sentences.

        With a report, malformed sentences are skipped and counted there.
        """
        options = FormatOptions(
            standard=self.source,
            column=self._reading.get("column"),
            names=_column_names(self._reading),
        )
        form, sentences = read_placed(path, options, format=format, encoding=encoding, report=report)
        if form.name == "segmented" and self.model.level == "word":
            raise ConfigError(
                f"{display_name(path)}: words without tags cannot be converted",
                f"tag them with duilian tag --standard {self.target}",
            )
        return form, sentences

    def run(
        self, sentences: Iterable[PlacedSentence], *, with_candidates: bool = False
    ) -> Iterator[Conversion]:
        """Convert sentences, in order."""
        if with_candidates and self.plan.encodings[1].tags is None:
            raise ConfigError("the model only segments: there are no tags to review", "leave out --review")
        for batch in batches(sentences):
            yield from self._convert_batch(batch, with_candidates)

    def _convert_batch(self, batch: Sequence[PlacedSentence], with_candidates: bool) -> Iterator[Conversion]:
        layers = [each.sentence[self.source] for each in batch]
        unknown = self.plan.unknown_tags(layers)
        if unknown and not self.unknown_tags:
            sentence, word, tag = unknown[0]
            raise CorpusError(
                batch[sentence].path,
                batch[sentence].line_of(word),
                f"the model has never seen the tag {tag!r} of {self.source!r}",
                "--unknown-tags treats such tags as unknown",
            )
        counts = [0] * len(batch)
        for sentence, _, _ in unknown:
            counts[sentence] += 1
        pieces = [self._pieces(layer) for layer in layers]
        found = iter(
            self.plan.convert(
                list(itertools.chain.from_iterable(pieces)),
                unknown_tags=True,
                with_marginals=with_candidates,
                threads=self.threads,
            )
        )
        for place, parts, count in zip(batch, pieces, counts, strict=True):
            answers = list(itertools.islice(found, len(parts)))
            yield self._conversion(place.sentence, answers, with_candidates, count)

    def _pieces(self, layer: Layer) -> list[Layer]:
        """Cut a line into sentences, if the training corpus was cut that way."""
        if self._reading.get("cut") != "sentence":
            return [layer]
        cut = cut_sentences([Sentence({self.source: layer})], self.source)
        return [piece[self.source] for piece in cut]

    def _conversion(
        self, sentence: Sentence, answers: Sequence[Converted], with_candidates: bool, unknown: int
    ) -> Conversion:
        given, encoding = sentence[self.source], self.plan.encodings[1]
        guess = join_layers([each.layer for each in answers])
        confidence = tuple(itertools.chain.from_iterable(each.confidence for each in answers))
        sets = tuple(
            itertools.chain.from_iterable(_word_candidates(each, encoding) for each in answers)
            if with_candidates
            else ()
        )
        layer, owners = guess, list(range(len(guess)))
        if guess.words == given.words:
            layer = dataclasses.replace(given, tags=guess.tags)
        elif "".join(guess.words) != given.text:
            layer, owners = _respell(given, guess, encoding, _all_ends(answers))
        return Conversion(
            sentence,
            layer,
            tuple(confidence[k] for k in owners),
            tuple(sets[k] for k in owners) if with_candidates else None,
            unknown,
        )


def _reading(model: ConversionModel, standard: str) -> dict[str, Any]:
    """How the training corpus of a standard was read, as far as the model's notes say."""
    notes = getattr(model, "notes_", {})
    own = notes if getattr(model, "standard", None) == standard else {}
    return dict(notes.get("sides", {}).get(standard, own).get("reading", {}))


def convert(
    model: Any,
    corpus: Corpus,
    to: str,
    *,
    mapping: str | None = None,
    unknown_tags: bool = False,
    threads: int = 1,
) -> Corpus:
    """Convert a corpus to another standard of a model; see `CoupledTagger.convert` for the options.

    >>> from duilian import CoupledTagger, demo
    >>> corpora = [demo.load("ctb", "ctb"), demo.load("pku", "pku")]
    >>> model = CoupledTagger(("ctb", "pku")).set_params(learning__iterations=2).fit(corpora)
    >>> convert(model, demo.load("both-pku", "pku"), to="ctb")[0]["ctb"].tags[:3]
    ('PN', 'NT', 'P')
    """
    if isinstance(model, Analyzer):
        model = model.model
    if not hasattr(model, "conversions"):
        hint = "train a model of kind coupled or guided"
        raise ConfigError(f"a model of kind {model.kind!r} cannot convert annotation", hint)
    converter = Converter(
        model, corpus.standard, to, mapping=mapping, unknown_tags=unknown_tags, threads=threads
    )
    found = converter.run(PlacedSentence(sentence, corpus.source) for sentence in corpus)
    sentences = [dataclasses.replace(each.sentence, layers={converter.target: each.layer}) for each in found]
    return Corpus(sentences, standard=converter.target, source=corpus.source)


def _column_names(reading: dict[str, Any]) -> tuple[str, ...] | None:
    return tuple(reading["columns"]) if "columns" in reading else None


def _word_candidates(answer: Converted, encoding: Encoding) -> Iterator[frozenset[str]]:
    """Yield the most probable tags of each word: those of its first unit, given that a word begins there."""
    assert answer.marginals is not None
    tags = encoding.tags or ()
    starts = [k for k, letter in enumerate(encoding.letters) if letter in _starters(encoding)]
    for first in (0, *answer.ends)[: len(answer.ends)]:
        # [letters, tags]; at word level there are no letters
        table = answer.marginals[first].reshape(-1, len(tags))
        shares: npt.NDArray[np.float64] = (table if len(table) == 1 else table[starts]).sum(axis=0)
        yield probable_tags(shares / max(float(shares.sum()), 1e-300), tags)


def _starters(encoding: Encoding) -> tuple[str, str]:
    return encoding.boundaries.begin, encoding.boundaries.single


def _all_ends(answers: Sequence[Converted]) -> list[int]:
    """Return the number of units before the end of each word, over all pieces of a line."""
    ends: list[int] = []
    for answer in answers:
        before = ends[-1] if ends else 0
        ends += [before + end for end in answer.ends]
    return ends


def _respell(given: Layer, guess: Layer, encoding: Encoding, ends: Sequence[int]) -> tuple[Layer, list[int]]:
    """Express the guess in the given characters; also return the guessed word that each word comes from."""
    line = given.text
    joins = {"join_letters": encoding.join_letters, "join_digits": encoding.join_digits}
    spans = [texts.units(line[a:b], **joins) + a for a, b in given.spans()]
    _, layer, cuts = restore(line, np.concatenate(spans), guess)
    return layer, [bisect.bisect_left(ends, cut) for cut in cuts]


def with_source_tags(conversion: Conversion, converter: Converter) -> Layer:
    """Return the converted layer for a row format; the source's tags keep their column if it is free."""
    layer, given = conversion.layer, conversion.sentence[converter.source]
    # A layer read from rows keeps the tag column that its own tags are not in.
    free = [column for column in TAG_COLUMNS if column not in given.columns]
    if layer.words != given.words or len(free) != 1 or free[0] == converter.target_column:
        return layer
    tags = tuple(format_tags(given.tags, len(given), UNKNOWN_FIELD))
    return dataclasses.replace(layer, columns={**layer.columns, free[0]: tags})
