"""Duilian in spaCy: a tokenizer, and a component that sets tags, trees and the words of the other standards.

spaCy finds both by entry points: `duilian.Tokenizer.v1` and the factory `duilian`. A saved pipeline keeps a
copy of its model, unless that is the bundled one.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from spacy import util
from spacy.attrs import DEP, HEAD, POS, SENT_START, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS as UPOS
from spacy.tokens import Doc as SpacyDoc
from spacy.tokens import Token as SpacyToken
from spacy.vocab import Vocab

from duilian import text as texts
from duilian.corpus import Layer, Sentence
from duilian.document import Doc, Token
from duilian.engine import Analyzer, load
from duilian.errors import ConfigError
from duilian.models.roles import Ask
from duilian.standards import universal_tags, universal_under

ROOT = "ROOT"  # spaCy's name of the relation; ours is root
SPACE_TAG = "_SP"
EXTENSION = "duilian"
KEPT = "duilian.model"  # the copy of a model in a saved pipeline


@functools.lru_cache(maxsize=4)
def _load(model: str | None) -> Analyzer:
    """One analyser for the tokenizer and the component."""
    return load(model)


class _WithModel:
    """A part of a pipeline with a model, which is loaded on first use and saved with the pipeline."""

    def __init__(self, model: str | None, standard: str | None) -> None:
        self.model, self._standard = model, standard

    @property
    def analyzer(self) -> Analyzer:
        return _load(self.model)

    @functools.cached_property
    def standard(self) -> str:
        """The standard of the tokens: that of the trees, or the first, unless another was asked for."""
        parser = self.analyzer.parser
        default = parser.standard if parser is not None else None
        return self.analyzer.standard_for(self._standard or default)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save a copy of the model, unless it is the bundled one."""
        if self.model is not None:
            folder = util.ensure_path(path)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.model, folder / KEPT)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Any:
        """Use the saved model, if any."""
        kept = util.ensure_path(path) / KEPT
        if kept.exists():
            self.model = str(kept)
            self.__dict__.pop("standard", None)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model, unless it is the bundled one, as bytes."""
        return b"" if self.model is None else Path(self.model).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Any:
        """Accept only the bytes of the model that it already has: models are loaded from files."""
        if data != self.to_bytes():
            raise ConfigError(
                "these bytes belong to a different model file", "save the pipeline with to_disk"
            )
        return self


class DuilianTokenizer(_WithModel):
    """The words of a text in one standard; white space becomes tokens where spaCy requires it."""

    def __init__(self, vocab: Vocab, model: str | None = None, standard: str | None = None) -> None:
        super().__init__(model, standard)
        self.vocab = vocab

    def __call__(self, text: str) -> SpacyDoc:
        ask = Ask((self.standard,), tags=False, trees=False)
        words, spaces = _tokens(text, self.analyzer(text, ask=ask).layer(self.standard))
        return SpacyDoc(self.vocab, words=words, spaces=spaces)


def _tokens(text: str, layer: Any) -> tuple[list[str], list[bool]]:
    """Words and, as tokens of their own, white space other than a single space after a word."""
    words: list[str] = []
    spaces: list[bool] = []
    at = 0
    for start, end in zip([*layer.start.tolist(), len(text)], [*layer.end.tolist(), len(text)], strict=True):
        gap = text[at:start]
        if gap.startswith(" ") and words:
            spaces[-1], gap = True, gap[1:]
        if gap:
            words.append(gap)
            spaces.append(False)
        if end > start:
            words.append(text[start:end])
            spaces.append(False)
        at = end
    return words, spaces


def make_tokenizer(
    model: str | None = None, standard: str | None = None
) -> Callable[[Language], DuilianTokenizer]:
    """Return the factory of the tokenizer: `duilian.Tokenizer.v1` in a pipeline's config."""
    return lambda nlp: DuilianTokenizer(nlp.vocab, model, standard)


class DuilianComponent(_WithModel):
    """Sets tags, universal tags, heads, relations and sentences, and words of all standards in `._.duilian`.

    Tokens of another tokenizer stay as they are, and get tags and trees.
    """

    def __init__(self, model: str | None = None, standard: str | None = None, threads: int = 1) -> None:
        super().__init__(model, standard)
        self.threads = threads

    def __call__(self, doc: SpacyDoc) -> SpacyDoc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[SpacyDoc], batch_size: int = 128) -> Iterator[SpacyDoc]:
        """Annotate many texts."""
        for docs in util.minibatch(stream, batch_size):
            answers = self.analyzer.pipe([doc.text for doc in docs], threads=self.threads)
            for doc, answer in zip(docs, answers, strict=True):
                self._annotate(doc, answer)
                yield doc

    def _annotate(self, doc: SpacyDoc, answer: Doc) -> None:
        doc._.set(EXTENSION, _plain(answer))
        starts = answer.layer(self.standard).start.tolist()
        places = _visible(doc, frozenset(starts))
        if [token.idx for token in places] == starts:
            sentences = answer.sentences(self.standard)
        else:
            sentences = [self._filled(words) for words in self._sentences_of(places, answer.text)]
        _set(doc, places, sentences, self.standard)

    def _sentences_of(self, places: list[SpacyToken], text: str) -> Iterator[list[str]]:
        """The words of each sentence."""
        ends = [end for _, end in texts.sentences(text).tolist()]
        for _, words in itertools.groupby(places, key=lambda token: bisect.bisect_right(ends, token.idx)):
            yield [token.text for token in words]

    def _filled(self, words: list[str]) -> list[Token]:
        (found,) = self.analyzer.fill([Sentence({self.standard: Layer(tuple(words))})], self.standard)
        return found.tokens(self.standard)


def _visible(doc: SpacyDoc, starts: frozenset[int]) -> list[SpacyToken]:
    """The tokens that are words: neither white space nor invisible characters alone."""
    tokens = (token for token in doc if not token.is_space)
    return [token for token in tokens if token.idx in starts or len(texts.units(token.text))]


def _plain(answer: Doc) -> dict[str, dict[str, Any]]:
    """Words, tags and spans of every standard, as lists that spaCy can store."""
    found = {}
    for name in answer.standards:
        layer = answer.layer(name)
        tags = None if layer.tags is None else layer.tags.tolist()
        found[name] = {
            "words": answer.words(name),
            "tags": tags,
            "starts": layer.start.tolist(),
            "ends": layer.end.tolist(),
        }
    return found


def _set(doc: SpacyDoc, places: list[SpacyToken], sentences: list[list[Token]], standard: str) -> None:
    """Annotate the words at these places; the head of white space is the token before it."""
    add, universal, at = doc.vocab.strings.add, universal_tags(standard), 0
    blank = (add(SPACE_TAG), UPOS["SPACE"], -1, -1, add("dep"))
    rows = [blank] * len(doc)
    for tokens in sentences:
        numbers = [place.i for place in places[at : at + len(tokens)]]
        for k, token in zip(numbers, tokens, strict=True):
            head = numbers[token.head - 1] if token.head else k
            relation = ROOT if token.head == 0 else token.relation or ""
            tag = add(token.xpos or token.tag or "")
            rows[k] = (tag, _upos(token, universal), 1 if k == numbers[0] else -1, head - k, add(relation))
        at += len(tokens)
    if rows and rows[0] is blank:  # nothing precedes it, so the next word is its head
        rows[0] = (*blank[:2], 1, min(1, len(rows) - 1), blank[4])
        rows[1:2] = [(*row[:2], -1, *row[3:]) for row in rows[1:2]]
    has_trees = all(token.head is not None for tokens in sentences for token in tokens)
    # With heads, spaCy finds the sentences itself.
    names, columns = (
        ([TAG, POS, HEAD, DEP], (0, 1, 3, 4)) if has_trees else ([TAG, POS, SENT_START], (0, 1, 2))
    )
    unsigned = [[row[column] % 2**64 for column in columns] for row in rows]
    doc.from_array(names, np.array(unsigned, np.uint64).reshape(len(rows), len(names)))


def _upos(token: Token, universal: Any) -> int:
    """The universal tag as spaCy's number."""
    if token.xpos is not None:
        return int(UPOS.get(universal_under(token.relation, token.tag or "", token.xpos), 0))
    return int(UPOS.get(universal.get(token.tag, token.tag), 0))


def _words_over(token: SpacyToken) -> dict[str, list[tuple[str, str | None]]]:
    """For each standard, the words (with tags) that share characters with a token."""
    found = {}
    for name, layer in (token.doc._.get(EXTENSION) or {}).items():
        first = bisect.bisect_right(layer["ends"], token.idx)
        stop = bisect.bisect_left(layer["starts"], token.idx + len(token.text))
        tags = layer["tags"] or [None] * len(layer["words"])
        found[name] = list(zip(layer["words"][first:stop], tags[first:stop], strict=True))
    return found


if not SpacyDoc.has_extension(EXTENSION):
    SpacyDoc.set_extension(EXTENSION, default=None)
if not SpacyToken.has_extension(EXTENSION):
    SpacyToken.set_extension(EXTENSION, getter=_words_over)


@Language.factory(  # type: ignore[untyped-decorator]
    "duilian",
    assigns=["token.tag", "token.pos", "token.head", "token.dep", "token.is_sent_start", "token._.duilian"],
    default_config={"model": None, "standard": None, "threads": 1},
)
def make_component(
    nlp: Language, name: str, model: str | None, standard: str | None, threads: int
) -> DuilianComponent:
    """Make the pipeline component `duilian`."""
    return DuilianComponent(model, standard, threads)
