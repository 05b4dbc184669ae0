"""Tagging of text and corpora in batches: input of any length, in order and in constant memory.

At character level the input is text, and none of its characters is lost: units and the gaps between them (see
`text`) are put together again after tagging. White space always separates words; invisible characters stay
with the word that they are in or follow.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian import text as texts
from duilian.corpus import Layer, Sentence, read_lines
from duilian.corpus.files import display_name, peek
from duilian.corpus.formats.lookup import (
    SAMPLE_LINES,
    TEXT,
    FormatOptions,
    find_format,
    guess_by_content,
    guess_by_name,
)
from duilian.errors import ConfigError, CorpusError
from duilian.labels.encoding import word_ends
from duilian.lexicon import Lexicon
from duilian.models import StandardTagger, TwoChainPredictor, TwoChainTagger

BATCH_SENTENCES = 2000
BATCH_CHARACTERS = 200_000
_SEPARATORS = re.compile("[ \t\u3000]+")
# A gap: what belongs to the word before, white space, what belongs to the word after.
_GAP = re.compile(r"(\S*)((?:\s(?:.*\s)?)?)(\S*)", re.DOTALL)
_LEAD = re.compile(r"((?:.*\s)?)(\S*)", re.DOTALL)
_MIN_TOKENS = 5  # to recognise a format by its content
_NO_UNITS = np.zeros((0, 2), np.int64)


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """An input: a line of text, or a sentence of a corpus."""

    line: str = ""
    sentence: Sentence | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Analysis:
    """A source with its words and tags; `lead` is the white space before the first word.

    `confidence` is the probability of each word's tag; at character level, that of the word's least certain
    character.
    """

    source: Source
    layer: Layer
    lead: str = ""
    confidence: tuple[float, ...] | None = None
    probability: float | None = None  # of the whole analysis, in k-best lists


def read_sources(
    path: str | os.PathLike[str],
    tagger: StandardTagger,
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    column: str | None = None,
) -> Iterator[Source]:
    """Yield the lines or sentences of a file.

    At character level a file is text unless `format` or its extension says that it is a corpus. At word level
    it is words separated by spaces, unless format, extension or unmistakable content say otherwise.
    """
    lines = read_lines(path, encoding=encoding)
    name = format or guess_by_name(path)
    first, lines = peek(lines, SAMPLE_LINES if name is None and takes_words(tagger) else 1)
    if name is None:
        name = _guess_word_format(first, display_name(path), tagger) if takes_words(tagger) else TEXT
    if name in (TEXT, "segmented"):
        # At character level, the words of a segmented file are joined and segmented again.
        is_joined = name == "segmented" and not takes_words(tagger)
        yield from (Source(_SEPARATORS.sub("", line) if is_joined else line) for _, line in lines)
        return
    form = find_format(name)
    options = FormatOptions(standard=None if name == "jsonl" else tagger.standard, column=column)
    if first:
        for sentence in form.read(lines, display_name(path), form.settle(options, first[0])):
            yield Source(sentence=sentence)


def _guess_word_format(lines: list[str], path: str, tagger: StandardTagger) -> str:
    try:
        name = guess_by_content(lines, path) if lines else TEXT
    except CorpusError:
        return TEXT
    if name == "columns":  # lines of two or three words look like columns
        return name if tagger.templates_.columns else TEXT
    sign = {"slash": "/", "underscore": "_"}.get(name)
    if sign is not None:
        tokens = [token for line in lines if line.lstrip()[:1] != "<" for token in line.split()]
        is_sure = len(tokens) >= _MIN_TOKENS and all(sign in token[1:] for token in tokens)
        return name if is_sure else TEXT
    return TEXT if name == "ctb-brackets" else name


def analyse(
    tagger: StandardTagger,
    sources: Iterable[Source],
    *,
    with_confidence: bool = False,
    lexicon: Lexicon | None = None,
    threads: int = 1,
) -> Iterator[Analysis]:
    """Yield the best analysis of each source, with the user's lexicon if given."""
    options = {"lexicon": lexicon, "threads": threads}
    for batch in _source_batches(sources):
        answer = _analyse_words if takes_words(tagger) else _analyse_text
        yield from answer(tagger, batch, with_confidence, options)


def analyse_k_best(
    tagger: StandardTagger, sources: Iterable[Source], k: int, lexicon: Lexicon | None = None
) -> Iterator[list[Analysis]]:
    """Yield the k most probable analyses of each source, taken as one sentence."""
    if k < 1:
        raise ConfigError(f"the number of analyses must be at least 1, got {k}")
    for source in sources:
        if takes_words(tagger):
            given = given_layer(source, tagger)
            yield [
                Analysis(
                    source, dataclasses.replace(given, tags=each.layer.tags), probability=each.probability
                )
                for each in (tagger.k_best(given, k, lexicon=lexicon) if given.words else [])
            ]
        else:
            line = _text_of(source, tagger)
            spans = _units_of_line(line, tagger)
            options = _text_option(tagger, is_text=source.sentence is None)
            found = tagger.k_best((line,), k, lexicon=lexicon, **options) if len(spans) else []
            yield [_analysis(source, line, spans, each.layer, None, each.probability) for each in found]


def takes_words(tagger: StandardTagger) -> bool:
    """Return whether the tagger takes words rather than text."""
    return tagger.level == "word" or (isinstance(tagger, TwoChainPredictor) and tagger.mode == "tag")


def _source_batches(sources: Iterable[Source]) -> Iterator[list[Source]]:
    batch: list[Source] = []
    size = 0
    for source in sources:
        batch.append(source)
        size += len(source.line)
        if len(batch) >= BATCH_SENTENCES or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def given_layer(source: Source, tagger: StandardTagger) -> Layer:
    """Return the words to tag, with their annotation."""
    if source.sentence is None:
        return Layer(tuple([word for word in _SEPARATORS.split(source.line) if word]))
    layers = source.sentence.layers
    return layers.get(tagger.standard) or next(iter(layers.values()))


def _analyse_words(
    tagger: StandardTagger, batch: Sequence[Source], with_confidence: bool, options: Mapping[str, Any]
) -> Iterator[Analysis]:
    given = [given_layer(source, tagger) for source in batch]
    found = tagger.predict_layers(given, **options)
    marginals = tagger.marginals(given, **options) if with_confidence else None
    for place, (source, layer, guess) in enumerate(zip(batch, given, found, strict=True)):
        confidence = None
        if marginals is not None:
            labels = [tagger.encoding_.number[str(tag)] for tag in guess.tags or ()]
            confidence = tuple(marginals[place][np.arange(len(labels)), labels].tolist())
        yield Analysis(source, dataclasses.replace(layer, tags=guess.tags), confidence=confidence)


def _text_of(source: Source, tagger: StandardTagger) -> str:
    return source.line if source.sentence is None else given_layer(source, tagger).text


def _units_of_line(line: str, tagger: StandardTagger) -> texts.Spans:
    encoding = tagger.encoding_
    return texts.units(line, join_letters=encoding.join_letters, join_digits=encoding.join_digits)


def _analyse_text(
    tagger: StandardTagger, batch: Sequence[Source], with_confidence: bool, options: Mapping[str, Any]
) -> Iterator[Analysis]:
    lines = [_text_of(source, tagger) for source in batch]
    # Corpora come in sentences; lines of text are cut into sentences.
    is_text = all(source.sentence is None for source in batch)
    if is_text:
        guesses = _cut_lines(tagger, lines, options)
    else:
        guesses = tagger.predict_layers([(line,) for line in lines], **options)
    split = _sentence_units if is_text else lambda line, tagger: [_units_of_line(line, tagger)]
    marginals = None
    if with_confidence:
        parts = [piece for line in lines for piece in (_sentence_texts(line) if is_text else [(line,)])]
        known = _text_option(tagger, is_text=is_text)
        marginals = np.concatenate(tagger.marginals(parts or [()], **options, **known))
    first = 0  # the row of the line's first unit in marginals
    for source, line, guess in zip(batch, lines, guesses, strict=True):
        if marginals is None and "".join(guess.words) == line:  # nothing to restore
            yield Analysis(source, guess)
            continue
        units = np.concatenate([_NO_UNITS, *split(line, tagger)])
        probabilities = None
        if marginals is not None:
            rows = marginals[first : first + len(units)]
            probabilities = _label_probabilities(tagger, units, guess, rows)
            first += len(units)
        yield _analysis(source, line, units, guess, probabilities, None)


def _cut_lines(tagger: StandardTagger, lines: Sequence[str], options: Mapping[str, Any]) -> list[Layer]:
    """Cut lines into sentences and tag them, on the native path for whole files if possible."""
    # The native path has neither guide features nor constraints nor two-chain models.
    if isinstance(tagger, TwoChainTagger | TwoChainPredictor):
        return _cut_sentences(tagger, lines, options)
    if tagger.templates_.columns or options["lexicon"] is not None:
        return _cut_sentences(tagger, lines, options)
    # Control characters are in no unit, so these separators are in no word.
    text = "".join(texts.check_text(line) + "\n" for line in lines).encode()
    answer = tagger.tag_lines(text, between="\x01", before_tag="\x02", threads=options["threads"]).decode()
    layers = []
    for line in answer.split("\n")[:-1]:
        pairs = [word.partition("\x02")[::2] for word in line.split("\x01")] if line else []
        tags = None if tagger.encoding_.tags is None else tuple([tag for _, tag in pairs])
        layers.append(Layer(tuple([word for word, _ in pairs]), tags))
    return layers


def _cut_sentences(tagger: StandardTagger, lines: Sequence[str], options: Mapping[str, Any]) -> list[Layer]:
    pieces = [_sentence_texts(texts.check_text(line)) for line in lines]
    flat = list(itertools.chain.from_iterable(pieces))
    found = iter(tagger.predict_layers(flat, **options, **_text_option(tagger, is_text=True)))
    return [join_layers(list(itertools.islice(found, len(each)))) for each in pieces]


def _text_option(tagger: StandardTagger, *, is_text: bool) -> dict[str, Any]:
    """Return the option `is_text` for taggers that have it: all but two-chain ones."""
    return {} if isinstance(tagger, TwoChainTagger | TwoChainPredictor) else {"is_text": is_text}


def _sentence_texts(line: str) -> list[tuple[str]]:
    """Return the sentences of a line, each as a single word for the tagger to cut."""
    return [(line[a:b],) for a, b in texts.sentences(line).tolist()]


def join_layers(parts: Sequence[Layer]) -> Layer:
    """Concatenate the words and tags of several layers."""
    words = tuple([word for part in parts for word in part.words])
    if any(part.tags is None for part in parts):
        return Layer(words)
    return Layer(words, tuple([tag for part in parts for tag in part.tags or ()]))


def _sentence_units(line: str, tagger: StandardTagger) -> list[texts.Spans]:
    """Return the units of each sentence of a line; no unit crosses a sentence boundary."""
    return [_units_of_line(line[a:b], tagger) + a for a, b in texts.sentences(line).tolist()]


def _label_probabilities(
    tagger: StandardTagger, units: texts.Spans, guess: Layer, marginals: npt.NDArray[np.float64]
) -> list[float]:
    """Return the marginal of each unit's label in the guess."""
    encoding, b = tagger.encoding_, tagger.encoding_.boundaries
    labels: list[int] = []
    for word, end in enumerate(word_ends(guess.words, units[:, 1] - units[:, 0])):
        count = end - len(labels)
        letters = [b.single] if count == 1 else [b.begin, *[b.inside] * (count - 2), b.end]
        suffix = "" if guess.tags is None else f"@{guess.tags[word]}"
        labels += [encoding.number[letter + suffix] for letter in letters]
    found: list[float] = marginals[np.arange(len(labels)), labels].tolist()
    return found


def _analysis(
    source: Source,
    line: str,
    units: texts.Spans,
    guess: Layer,
    probabilities: list[float] | None,
    probability: float | None,
) -> Analysis:
    if not len(units):
        return Analysis(source, guess, line, None if probabilities is None else (), probability)
    lead, layer, ends = restore(line, units, guess)
    confidence = None
    if probabilities is not None:
        confidence = tuple([min(probabilities[a:b]) for a, b in itertools.pairwise([0, *ends])])
    return Analysis(source, layer, lead, confidence, probability)


def restore(line: str, units: texts.Spans, guess: Layer) -> tuple[str, Layer, list[int]]:
    """Express the guess in the characters of the line.

    Return the leading white space, the layer with tags and spaces, and the number of units before the end of
    each word. A word that contains white space becomes two.
    """
    ends = word_ends(guess.words, units[:, 1] - units[:, 0])
    gaps = texts.gaps(line, units)
    if not any(gaps):
        return "", guess, ends
    match = _LEAD.fullmatch(gaps[0])
    assert match is not None
    lead, word = match.groups()
    words, spaces, owners, cuts = [], [], [], []
    owner = 0  # the word of the guess that the next unit belongs to
    for count, (piece, gap) in enumerate(zip(texts.cut(line, units), gaps[1:], strict=True), start=1):
        match = _GAP.fullmatch(gap)
        assert match is not None
        before, space, after = match.groups()
        word += piece + before
        is_end = count == ends[owner]
        if is_end or space:
            words.append(word)
            spaces.append(space)
            owners.append(owner)
            cuts.append(count)
            word = after
        owner += is_end
    spaces[-1] += word  # invisible characters after the last white space
    tags = None if guess.tags is None else tuple([guess.tags[k] for k in owners])
    return lead, Layer(tuple(words), tags, spaces=tuple(spaces)), cuts


def segmented_line(analysis: Analysis) -> str:
    """Join words with two spaces; white space of the text stays, padded to two characters."""
    layer = analysis.layer
    if not layer.words:
        return analysis.lead
    spaces = layer.spaces or ("",) * len(layer)
    inner = [word + space.ljust(2) for word, space in zip(layer.words[:-1], spaces[:-1], strict=True)]
    return analysis.lead + "".join(inner) + layer.words[-1] + spaces[-1]
