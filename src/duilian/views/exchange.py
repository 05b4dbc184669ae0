"""Analyses for other programs: JSON lines, and the forms that annotation tools read."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from duilian.corpus import Sentence
from duilian.doc import Doc, Token
from duilian.standards import universal_tags

PLACES = 4  # of a confidence


def json_line(doc: Doc) -> str:
    """The text and, for each standard, words, tags, places and what else is known."""
    layers = {name: _layer(doc, name) for name in doc.standards}
    return json.dumps({"text": doc.text, "standards": layers}, ensure_ascii=False)


def _layer(doc: Doc, standard: str) -> dict[str, Any]:
    layer = doc.layer(standard)
    found: dict[str, Any] = {
        "words": doc.words(standard),
        "spans": [list(span) for span in zip(layer.start.tolist(), layer.end.tolist(), strict=True)],
        "sentences": layer.sentence.tolist(),
    }
    if layer.tags is not None:
        found["tags"] = list(layer.tags)
    if layer.confidence is not None:
        found["confidence"] = layer.confidence.round(PLACES).tolist()
    if layer.heads is not None:
        found["heads"] = list(layer.heads)
        found["relations"] = list(layer.relations or ())
    return found


def span_line(doc: Doc, standard: str) -> str:
    """A line of JSON as doccano reads it: the text, and a labelled span for each word."""
    labels = [[token.start, token.end, token.tag or "WORD"] for token in doc.tokens(standard)]
    return json.dumps({"text": doc.text, "label": labels}, ensure_ascii=False)


def brat(doc: Doc, standard: str, *, first: int = 1, offset: int = 0) -> Iterator[str]:
    """The lines of a brat `.ann` file; `first` and `offset` are for a text that is a part of a longer one."""
    tokens = doc.tokens(standard)
    for number, token in enumerate(tokens, start=first):
        place = f"{token.start + offset} {token.end + offset}"
        yield f"T{number}\t{token.tag or 'WORD'} {place}\t{token.text}"


def conllu_sentences(doc: Doc, standard: str) -> list[Sentence]:
    """The sentences for CoNLL-U, with each word's place in the text and how sure it is in MISC, and with
    universal tags beside those of a standard that has one for each.
    """
    found, universal = [], universal_tags(standard)
    for sentence, tokens in zip(doc.to_sentences(), doc.sentences(standard), strict=True):
        layer = sentence[standard]
        columns = {"misc": tuple(_misc(doc.text, token) for token in tokens)}
        if universal and layer.tags is not None:
            columns["upos"] = tuple(universal.get(str(tag), "_") for tag in layer.tags)
        comments = (f"# text = {' '.join(layer.text.split())}",)
        found.append(Sentence({standard: dataclasses.replace(layer, columns=columns)}, comments=comments))
    return found


def _misc(text: str, token: Token) -> str:
    behind = text[token.end : token.end + 1]
    notes = [] if not behind or behind.isspace() else ["SpaceAfter=No"]
    notes.append(f"TokenRange={token.start}:{token.end}")
    if token.confidence is not None:
        notes.append(f"Conf={token.confidence:.{PLACES}f}")
    return "|".join(notes)
