"""Answers to compare with gold: those of a model, asked as its users ask it, or those of a file."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any

from duilian.corpus import Corpus, Layer, ReadReport, Sentence, read
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.places import read_placed
from duilian.engine.analyzer import Analyzer
from duilian.errors import CorpusError
from duilian.evaluation.same_text import TextDifferenceError
from duilian.models import StandardTagger
from duilian.models.roles import Ask

STANDARD_INPUT = "-"


@dataclasses.dataclass(frozen=True)
class Answer:
    """Gold sentences, what was answered to them, and how long it took if a model was asked."""

    gold: list[Layer]
    guess: list[Layer]
    seconds: float | None = None
    is_raw: bool = False  # whether the words were found in raw text


def answer_of_file(answer: Corpus, gold: Corpus) -> Answer:
    """The annotation of a file; each corpus has its own name for the standard."""
    return Answer(_layers(gold), _layers(answer))


def answer_of_tagger(tagger: StandardTagger, gold: list[Layer], threads: int) -> Answer:
    """What an estimator says of gold sentences: of their words or, at character level, of their text."""
    start = time.perf_counter()
    guess = tagger.predict_layers(gold, threads=threads)
    seconds = time.perf_counter() - start
    if tagger.scores_segments:
        gold, guess = ([tagger.segments_of(each) for each in side] for side in (gold, guess))
    elif tagger.encoding_.level == "char":
        gold = [_shown(*pair, tagger.encoding_) for pair in zip(gold, guess, strict=True)]
    return Answer(gold, guess, seconds)


def answer_of_text(analyzer: Analyzer, gold: list[Layer], standard: str, threads: int) -> Answer:
    """What users get for raw text: each gold sentence is one text, and all defaults hold."""
    start = time.perf_counter()
    docs = analyzer.pipe((layer.text for layer in gold), ask=_ask(gold, standard), threads=threads)
    answers = [[each[standard] for each in doc.to_sentences()] for doc in docs]
    seconds = time.perf_counter() - start
    encoding = analyzer.labeler.encoding(standard)
    shown = [
        _shown(layer, Layer(tuple(word for part in parts for word in part.words)), encoding)
        for layer, parts in zip(gold, answers, strict=True)
    ]
    return Answer(shown, [part for parts in answers for part in parts], seconds, is_raw=True)


def answer_of_words(analyzer: Analyzer, gold: list[Layer], standard: str, threads: int) -> Answer:
    """What users get for given words."""
    bare = (Sentence({standard: Layer(layer.words, columns=layer.columns)}) for layer in gold)
    start = time.perf_counter()
    docs = analyzer.anew(bare, standard, ask=_ask(gold, standard), threads=threads)
    guess = [next((each[standard] for each in doc.to_sentences()), Layer((), ())) for doc in docs]
    return Answer(gold, guess, time.perf_counter() - start)


def _ask(gold: list[Layer], standard: str) -> Ask:
    """Ask for what gold can judge."""
    return Ask((standard,), trees=any(layer.heads is not None for layer in gold))


def _shown(gold: Layer, guess: Layer, encoding: Any) -> Layer:
    """Drop white space and invisible characters from gold words: they are in no unit."""
    if "".join(gold.words) == "".join(guess.words):
        return gold
    return dataclasses.replace(gold, words=tuple("".join(encoding.split([word])[0]) for word in gold.words))


def _layers(corpus: Corpus) -> list[Layer]:
    return [sentence[corpus.standard] for sentence in corpus]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FileReading:
    """How annotated files are read; see `duilian.read`."""

    standard: str | None = None
    format: str | None = None
    encoding: str = "utf-8"
    cut: str = "line"
    column: str | None = None
    names: tuple[str, ...] | None = None
    lenient: bool = False

    def corpus(self, paths: Sequence[str]) -> Corpus:
        """Read several files as one corpus."""
        parts = [read(path, **vars(self), check_tags=False) for path in paths]
        standard = self.standard or parts[0].standard
        sentences = [sentence for part in parts for sentence in part]
        return Corpus(sentences, standard=standard, source=", ".join(part.source for part in parts))

    def place(self, paths: Sequence[str], at: int) -> tuple[str, int] | None:
        """File and line of a character, white space aside; None if it cannot be read again."""
        found = None
        if STANDARD_INPUT in paths:
            return None
        for path in paths:
            report = ReadReport() if self.lenient else None
            options = FormatOptions(standard=self.standard, column=self.column, names=self.names)
            _, sentences = read_placed(
                path, options, format=self.format, encoding=self.encoding, report=report
            )
            for placed in sentences:
                layer = placed.sentence[self.standard or next(iter(placed.sentence))]
                for number, word in enumerate(layer.words):
                    found = placed.path, placed.line_of(number)
                    at -= len("".join(word.split()))
                    if at < 0:
                        return found
        return found


@dataclasses.dataclass(frozen=True)
class AnnotatedFiles:
    """Files, and how they are read."""

    paths: Sequence[str]
    reading: FileReading

    def corpus(self) -> Corpus:
        """Read them as one corpus."""
        return self.reading.corpus(self.paths)


@contextlib.contextmanager
def naming_lines(answer: AnnotatedFiles, gold: AnnotatedFiles) -> Iterator[None]:
    """Let an error about different texts name the files and lines."""
    try:
        yield
    except TextDifferenceError as error:
        here = answer.reading.place(answer.paths, error.at)
        there = gold.reading.place(gold.paths, error.at)
        if here is None or there is None:
            raise
        theirs, ours = error.texts
        where = f"{there[0]}:{there[1]}"
        if not ours:
            message = f"the text ends here, but gold continues: {where}: {theirs!r}"
        elif not theirs:
            message = f"the text continues with {ours!r}, but gold ends: {where}"
        else:
            message = f"the text differs from gold: {ours!r} here, {theirs!r} in {where}"
        raise CorpusError(*here, message, error.hint) from None
