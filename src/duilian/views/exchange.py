"""An analysis for other programs: JSON, CoNLL-U, and the formats of annotation tools."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from duilian.corpus import Layer, Sentence
from duilian.corpus.tag_spelling import UNKNOWN_FIELD
from duilian.document import Doc, Token
from duilian.standards import conll_column, universal_tags

PLACES = 4  # decimal places of a confidence
UNTAGGED = "WORD"  # the label of a word where there are no tags
# brat accepts only names of ASCII letters, digits, - and _.
BRAT_NAMES = {
    ",": "COMMA",
    ".": "PERIOD",
    "...": "ELLIPSIS",
    ":": "COLON",
    "/": "SLASH",
    "(": "OPEN",
    ")": "CLOSE",
    '"': "QUOTE",
    "``": "OPEN-QUOTE",
    "''": "CLOSE-QUOTE",
}
_NOT_BRAT = re.compile(r"[^A-Za-z0-9_-]")


def json_line(doc: Doc) -> str:
    """The text and, for each standard, words, tags, spans and everything else known."""
    layers = {name: _layer_json(doc, name) for name in doc.standards}
    return json.dumps({"text": doc.text, "standards": layers}, ensure_ascii=False)


def ranked_json_line(text: str, docs: Sequence[Doc]) -> str:
    """A text and its best analyses, most probable first, each like `json_line`."""
    analyses = []
    for doc in docs:
        layers = {name: _layer_json(doc, name) for name in doc.standards}
        analyses.append({"probability": doc.probability, "standards": layers})
    return json.dumps({"text": text, "analyses": analyses}, ensure_ascii=False)


def _layer_json(doc: Doc, standard: str) -> dict[str, Any]:
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
    if layer.marginals is not None:
        found["marginals"] = [{tag: round(p, PLACES) for tag, p in each.items()} for each in layer.marginals]
    if layer.heads is not None:
        found["heads"] = list(layer.heads)
        found["relations"] = list(layer.relations or ())
    return found


def span_line(doc: Doc, standard: str) -> str:
    """A line of JSON for doccano: the text, and a labelled span for each word."""
    labels = [[token.start, token.end, token.tag or UNTAGGED] for token in doc.tokens(standard)]
    return json.dumps({"text": doc.text, "label": labels}, ensure_ascii=False)


def label_studio_task(doc: Doc, standard: str) -> str:
    """A Label Studio task with its prediction: a labelled region for each word, named w1, w2 and so on, and a
    relation from each head to its dependent.
    """
    tokens = doc.tokens(standard)
    result: list[dict[str, Any]] = []
    for number, token in enumerate(tokens, start=1):
        value = {"start": token.start, "end": token.end, "text": token.text}
        region = {"id": f"w{number}", "from_name": "label", "to_name": "text", "type": "labels"}
        result.append(region | {"value": value | {"labels": [token.tag or UNTAGGED]}})
        if token.confidence is not None:
            result[-1]["score"] = round(token.confidence, PLACES)
    for head, number, relation in _arcs(doc, standard):
        arc = {"type": "relation", "from_id": f"w{head}", "to_id": f"w{number}", "direction": "right"}
        result.append(arc | {"labels": [relation]})
    prediction = {"model_version": "duilian", "result": result}
    return json.dumps({"data": {"text": doc.text}, "predictions": [prediction]}, ensure_ascii=False)


def brat(doc: Doc, standard: str, *, first: int = 1, offset: int = 0) -> Iterator[str]:
    """The lines of a brat `.ann` file; `first` and `offset` are for a text that is part of a longer one.

    An arc of the tree is a relation from the head to the dependent, and has the dependent's number.
    """
    for number, token in enumerate(doc.tokens(standard), start=first):
        place = f"{token.start + offset} {token.end + offset}"
        yield f"T{number}\t{brat_name(token.tag or UNTAGGED)} {place}\t{token.text}"
    for head, number, relation in _arcs(doc, standard, first):
        yield f"R{number}\t{brat_name(relation)} Arg1:T{head} Arg2:T{number}"


def brat_name(label: str) -> str:
    """A tag or relation as brat's configuration allows it: `.` is PERIOD, `case:suff` is case-suff."""
    return BRAT_NAMES.get(label) or _NOT_BRAT.sub("-", label)


def _arcs(doc: Doc, standard: str, first: int = 1) -> Iterator[tuple[int, int, str]]:
    """Head, dependent and relation of every arc except the roots'; words are numbered from `first`."""
    for tokens in doc.sentences(standard):
        for number, token in enumerate(tokens, start=first):
            if token.head:
                yield first + token.head - 1, number, token.relation or "dep"
        first += len(tokens)


def conllu_sentences(doc: Doc, standard: str, column: str | None = None, *, first: int = 1) -> list[Sentence]:
    """The sentences for CoNLL-U, numbered from `first`, with each word's span and confidence in MISC.
    `column` has the tags and defaults to xpos, or upos for universal tags; if it is xpos, upos has the
    universal tags that follow from them.
    """
    if doc.given is not None and "misc" in doc.given[standard].columns:
        return [_completed_sentence(doc, standard)]
    found, universal = [], universal_tags(standard)
    pairs = zip(doc.to_sentences(), doc.sentences(standard), strict=True)
    for number, (sentence, tokens) in enumerate(pairs, start=first):
        layer = sentence[standard]
        is_fine = (column or conll_column(standard)) == "xpos"
        columns = _with_universal(layer, universal) if is_fine else dict(layer.columns)
        columns["misc"] = tuple(_misc(doc.text, token) for token in tokens)
        id = sentence.id or str(number)
        comments = (f"# sent_id = {id}", f"# text = {' '.join(layer.text.split())}")
        numbered = dataclasses.replace(layer, columns=columns)
        found.append(Sentence({standard: numbered}, id, comments))
    return found


def _completed_sentence(doc: Doc, standard: str) -> Sentence:
    """A given sentence, completed. Its annotation is unchanged; MISC has the confidence of each tag added."""
    assert doc.given is not None
    (sentence,) = doc.to_sentences()
    layer = sentence[standard]
    given = doc.given[standard].tags or (None,) * len(layer)
    columns = dict(layer.columns)
    if "upos" in columns:  # so the tags are in xpos
        columns = _with_universal(layer, universal_tags(standard))
    columns["misc"] = tuple(
        misc if isinstance(tag, str) or token.confidence is None else _with_confidence(misc, token.confidence)
        for tag, misc, token in zip(given, columns["misc"], doc.tokens(standard), strict=True)
    )
    filled = dataclasses.replace(layer, columns=columns)
    return dataclasses.replace(sentence, layers={standard: filled})


def _with_universal(layer: Layer, universal: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The columns of a layer, with universal tags in upos where it has none."""
    columns = dict(layer.columns)
    unknown = (UNKNOWN_FIELD,) * len(layer)
    columns["upos"] = tuple(
        universal.get(str(tag), UNKNOWN_FIELD) if upos == UNKNOWN_FIELD else upos
        for tag, upos in zip(layer.tags or unknown, columns.get("upos", unknown), strict=True)
    )
    return columns


def _with_confidence(misc: str, confidence: float) -> str:
    notes = [note for note in misc.split("|") if note != UNKNOWN_FIELD and not note.startswith("Conf=")]
    return "|".join([*notes, f"Conf={confidence:.{PLACES}f}"])


def _misc(text: str, token: Token) -> str:
    following = text[token.end : token.end + 1]
    notes = [] if not following or following.isspace() else ["SpaceAfter=No"]
    notes.append(f"TokenRange={token.start}:{token.end}")
    if token.confidence is not None:
        notes.append(f"Conf={token.confidence:.{PLACES}f}")
    return "|".join(notes)
