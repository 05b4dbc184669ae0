"""Answers requests as finished bytes, with the engine; runs in the threads of `work`."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from duilian.conversion import Converter
from duilian.corpus import FORMATS, Corpus, Layer, Sentence, read
from duilian.corpus.files import PastedText
from duilian.corpus.formats.lookup import FormatOptions, find_format
from duilian.corpus.places import ROW_FORMATS
from duilian.document import Doc
from duilian.engine import Analyzer, evaluate
from duilian.errors import ConfigError, TextError, did_you_mean
from duilian.lexicon import Entry, Lexicon
from duilian.models.roles import Ask
from duilian.serve.limits import MAX_WORD, Limits, RefusedError
from duilian.serve.questions import Analyze, Convert, Evaluate, Segment
from duilian.text import check_text, sentences
from duilian.views.forms import find_form, form_standard

PLACES = 4  # of confidences, as in a Doc's own JSON


class Wanted(NamedTuple):
    """What requests must have in common to be answered together."""

    model: str
    ask: Ask
    words: tuple[Entry, ...] = ()
    to: str = "json"
    nbest: int = 1


class Responder:
    """The models of a service by name, and its answers."""

    def __init__(self, models: Mapping[str, Analyzer], limits: Limits) -> None:
        if not models:
            raise ConfigError("a service needs a model")
        self.models, self.limits = dict(models), limits

    def analyzer(self, name: str | None) -> Analyzer:
        """The model of this name, or the first."""
        return self.models[self.model_name(name)]

    def model_name(self, name: str | None) -> str:
        """Check the name of a model; the default is the first."""
        if name is None:
            return next(iter(self.models))
        if name not in self.models:
            raise ConfigError(f"unknown model {name!r}", did_you_mean(name, self.models))
        return name

    def texts(self, given: str | list[str]) -> tuple[list[str], int]:
        """Check texts against the limits, and count their characters."""
        found = [given] if isinstance(given, str) else given
        size = sum(map(len, found))
        self._check_characters(size)
        for text in found:
            _checked(text)
        if size > self.limits.sentences:  # a sentence has a character at least
            self._check_sentences(sum(len(sentences(text)) for text in found))
        if len(found) > self.limits.sentences:
            raise RefusedError(f"there are more than {self.limits.sentences:,} texts: send fewer at a time")
        return found, size

    def wanted(self, question: Analyze) -> Wanted:
        """Check a request for analysis."""
        model = self.model_name(question.model)
        analyzer = self.models[model]
        names = tuple(analyzer.standard_for(name) for name in question.standards)
        if question.to != "json":
            names = names[:1] or (form_standard(analyzer, question.to),)
        if len(question.words) > self.limits.user_words:
            raise RefusedError(f"there are more than {self.limits.user_words:,} user words")
        entries = tuple(map(_entry, question.words))
        if any(len(each.word) > MAX_WORD for each in entries):
            raise RefusedError(f"a user word has more than {MAX_WORD} characters")
        if question.nbest > self.limits.nbest:
            raise RefusedError(f"nbest is more than {self.limits.nbest}")
        ask = Ask(
            names,
            tags=question.tags,
            trees=question.trees and question.to in ("json", "conllu"),
            confidence=question.confidence,
            marginals=question.marginals,
        )
        return Wanted(model, ask, entries, question.to, question.nbest)

    def analyze(self, wanted: Wanted, requests: Sequence[list[str]]) -> list[bytes]:
        """Answer requests, each with its texts."""
        analyzer = self.models[wanted.model]
        if wanted.words:
            analyzer = analyzer.with_lexicon(Lexicon(wanted.words))
        docs = analyzer.pipe(itertools.chain.from_iterable(requests), ask=wanted.ask)
        if wanted.to != "json":
            name = wanted.ask.standards[0]
            return [_in_form(wanted.to, name, itertools.islice(docs, len(texts))) for texts in requests]
        return [self._as_json(analyzer, wanted, texts, docs) for texts in requests]

    def _as_json(self, analyzer: Analyzer, wanted: Wanted, texts: list[str], docs: Iterator[Doc]) -> bytes:
        written = b",".join(doc.to_json_bytes() for doc in itertools.islice(docs, len(texts)))
        if wanted.nbest == 1:
            return b'{"docs":[%b]}' % written
        names = wanted.ask.standards or analyzer.standards
        best = [{name: _k_best(analyzer, text, wanted.nbest, name) for name in names} for text in texts]
        return b'{"docs":[%b],"nbest":%b}' % (written, _json(best))

    def check_nbest(self, nbest: int, characters: int) -> None:
        """Refuse n-best lists of long texts."""
        if nbest > 1 and characters > self.limits.nbest_characters:
            most = self.limits.nbest_characters
            raise RefusedError(f"n-best lists are limited to {most:,} characters of text")

    def wanted_words(self, question: Segment) -> Wanted:
        """Check a request for segmentation."""
        model = self.model_name(question.model)
        name = self.models[model].standard_for(question.standard, fast=question.fast)
        return Wanted(model, Ask((name,), tags=False, trees=False, fast=question.fast))

    def segment(self, wanted: Wanted, requests: Sequence[list[str]]) -> list[bytes]:
        """Answer requests, each with its texts."""
        (name,), texts = wanted.ask.standards, itertools.chain.from_iterable(requests)
        words = self.models[wanted.model].segment(texts, name, fast=wanted.ask.fast)
        return [
            _json({"standard": name, "words": list(itertools.islice(words, len(each)))}) for each in requests
        ]

    def convert(self, _: None, questions: Sequence[Convert]) -> list[bytes]:
        """Convert annotated text."""
        return [self._converted(question) for question in questions]

    def _converted(self, question: Convert) -> bytes:
        converter = Converter(
            self.analyzer(question.model).model,
            question.source,
            question.to,
            unknown_tags=question.unknown_tags,
        )
        form, placed = converter.open(PastedText(question.text), format=_known(question.format))
        given = list(itertools.islice(placed, self.limits.sentences + 1))
        self._check_sentences(len(given))
        to = find_format(question.to_format or form.name).name
        found, texts, unknown = [], [], 0
        for sentence, answer in converter.run(given):
            is_rows = to in ROW_FORMATS
            layer = (
                converter.layer_of_rows(sentence, answer) if is_rows else converter.layer(sentence, answer)
            )
            texts.append(_written(Sentence({converter.target: layer}, sentence.id), converter, to))
            source = _side(sentence[converter.source])
            target = _side(layer) | {"confidence": _rounded(answer.layer().confidence)}
            found.append({"from": source, "to": target})
            unknown += converter.count_unknown(sentence)
        return _json({"format": to, "text": "".join(texts), "unknown": unknown, "sentences": found})

    def evaluate(self, _: None, questions: Sequence[Evaluate]) -> list[bytes]:
        """Score the model on pasted gold."""
        return [self._evaluated(question) for question in questions]

    def _evaluated(self, question: Evaluate) -> bytes:
        analyzer = self.analyzer(question.model)
        name = analyzer.standard_for(question.standard)
        gold: Corpus = read(
            PastedText(question.gold), standard=name, format=_known(question.format), check_tags=False
        )
        self._check_sentences(len(gold))
        found = evaluate(analyzer, gold).to_dict()
        return _json({key: value for key, value in found.items() if "second" not in key})

    def check_pasted(self, text: str) -> int:
        """Check annotated text against the limit, and count its characters."""
        self._check_characters(len(_checked(text)))
        return len(text)

    def _check_characters(self, number: int) -> None:
        if number > self.limits.characters:
            most = self.limits.characters
            raise RefusedError(f"the text has {number:,} characters, more than {most:,}: send less at a time")

    def _check_sentences(self, number: int) -> None:
        if number > self.limits.sentences:
            most = self.limits.sentences
            raise RefusedError(f"the text has more than {most:,} sentences: send fewer at a time")


def _checked(text: str) -> str:
    """Check a text; the engine's own hint is for people who write Python."""
    try:
        return check_text(text)
    except TextError as error:
        raise RefusedError(error.message, "replace it with U+FFFD before you send the text") from None


def _entry(word: Any) -> Entry:
    try:
        return Entry(word) if isinstance(word, str) else Entry(word.word, tuple(word.tags), word.weight)
    except ConfigError as error:
        raise RefusedError(error.message) from None  # hints are about files of words


def _in_form(name: str, standard: str, docs: Iterable[Doc]) -> bytes:
    form = find_form(name)(standard)
    return "".join([form.begin(""), *map(form.text, docs), form.end()]).encode()


def _k_best(analyzer: Analyzer, text: str, k: int, standard: str) -> list[dict[str, Any]]:
    return [doc.to_dict() for doc in analyzer.nbest(text, k, standard)]


def _known(format: str | None) -> str | None:
    """Check the name of a format."""
    return None if format is None else find_format(format).name


def _written(sentence: Sentence, converter: Converter, to: str) -> str:
    column = converter.target_column if to in ROW_FORMATS else None
    write = FORMATS[to].write
    if write is None:
        raise ConfigError(f"the format {to} can only be read", "choose another as to_format")
    return "".join(write([sentence], FormatOptions(standard=converter.target, column=column)))


def _side(layer: Layer) -> dict[str, Any]:
    return {"words": list(layer.words), "tags": None if layer.tags is None else list(map(str, layer.tags))}


def _rounded(confidence: Any) -> list[float] | None:
    return None if confidence is None else [round(float(each), PLACES) for each in confidence]


def _json(found: Any) -> bytes:
    return json.dumps(found, ensure_ascii=False).encode()
