"""doccano's JSONL export: one text per line with its labels, or with entities and relations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from duilian.corpus.formats.spans import AnnotatedText, Arc, Span, is_span, label_names, text_field
from duilian.corpus.lines import Lines, Malformed, shown
from duilian.corpus.sentence import Sentence
from duilian.corpus.trees import TreeCheck


def read_doccano(lines: Lines, *, path: str, standard: str, trees: TreeCheck = "any") -> Iterator[Sentence]:
    """Read the sentences of each line; a line without any label has not been annotated and is left out."""
    for number, line in lines:
        if not line or line.isspace():
            continue
        try:
            annotated = _annotated(_parse(line))
            found = list(annotated.sentences(standard, trees)) if annotated.spans else []
        except Malformed as problem:
            raise problem.at(path, number) from None
        yield from found


def _parse(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise Malformed("not a line of JSON") from None
    if not isinstance(found, dict):
        raise Malformed(f"expected an object, found {shown(found)}")
    return found


def _annotated(found: dict[str, Any]) -> AnnotatedText:
    text, id = text_field(found, "text"), str(found.get("id", ""))
    if "entities" not in found:
        return AnnotatedText(text, dict(_labelled(_list(found, "label"))), id=id)
    spans = {
        str(each.get("id")): _span(each.get("start_offset"), each.get("end_offset"), each.get("label"))
        for each in _objects(found, "entities")
    }
    arcs = [
        Arc(str(each.get("from_id")), str(each.get("to_id")), each.get("type") or None)
        for each in _objects(found, "relations")
    ]
    return AnnotatedText(text, spans, arcs, id)


def _labelled(labels: list[Any]) -> Iterator[tuple[str, Span]]:
    for number, each in enumerate(labels):
        if not (isinstance(each, list) and len(each) == 3):
            raise Malformed(f"expected a label as [start, end, label], found {shown(each)}")
        yield str(number), _span(*each)


def _span(start: Any, end: Any, label: Any) -> Span:
    if not is_span(start, end):
        raise Malformed(f"a label has no offsets: {shown([start, end, label])}")
    return Span(start, end, label_names([label]))


def _list(found: dict[str, Any], key: str) -> list[Any]:
    values = found.get(key) or []
    if not isinstance(values, list):
        raise Malformed(f"expected a list in the field {key}, found {shown(values)}")
    return values


def _objects(found: dict[str, Any], key: str) -> list[dict[str, Any]]:
    values = _list(found, key)
    if not all(isinstance(each, dict) for each in values):
        raise Malformed(f"expected objects in the field {key}")
    return values
