"""Several analyses of a text as JSON, and the formats of annotation tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from duilian.corpus.formats.brat import brat_name
from duilian.corpus.formats.spans import UNTAGGED
from duilian.document import Doc
from duilian.document.word_table import PLACES


def ranked_json_line(text: str, docs: Sequence[Doc]) -> str:
    """A text and its best analyses, most probable first, each like `Doc.to_json` without the text."""
    analyses = [{key: value for key, value in doc.to_dict().items() if key != "text"} for doc in docs]
    return json.dumps({"text": text, "analyses": analyses}, ensure_ascii=False)


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


def _arcs(doc: Doc, standard: str, first: int = 1) -> Iterator[tuple[int, int, str]]:
    """Head, dependent and relation of every arc except the roots'; words are numbered from `first`."""
    for tokens in doc.sentences(standard):
        for number, token in enumerate(tokens, start=first):
            if token.head:
                yield first + token.head - 1, number, token.relation or "dep"
        first += len(tokens)
