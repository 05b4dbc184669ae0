"""Label Studio's exports, JSON and JSON-MIN: a list of tasks, each a text with regions and relations.

If a task has several annotations, the ground truth counts or, if there is none, the last one. Skipped tasks
and tasks without an annotation are left out. Predictions do not count: annotators only started from them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from duilian.corpus.formats.spans import AnnotatedText, Arc, Span, is_span, label_names, text_field
from duilian.corpus.lines import Lines, Malformed, shown
from duilian.corpus.sentence import Sentence
from duilian.corpus.trees import TreeCheck

REGIONS = ("labels", "hypertextlabels")


def read_label_studio(
    lines: Lines, *, path: str, standard: str, trees: TreeCheck = "any"
) -> Iterator[Sentence]:
    """Read the sentences of all tasks; errors are raised after the valid ones."""
    numbered = list(lines)
    problems: list[Malformed] = []
    try:
        tasks = _tasks("\n".join(line for _, line in numbered))
    except Malformed as problem:
        raise problem.at(path, 1) from None
    for number, task in enumerate(tasks, start=1):
        try:
            found = _annotated(task)
            if found is not None:
                yield from list(found.sentences(standard, trees))
        except Malformed as problem:
            problems.append(Malformed(f"task {_name(task, number)}: {problem}", problem.hint))
    if problems:
        more = f" ({len(problems) - 1} more tasks are wrong)" if len(problems) > 1 else ""
        raise Malformed(f"{problems[0]}{more}", problems[0].hint).at(path, numbered[-1][0])


def _tasks(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise Malformed("unreadable JSON: a number is too long or the nesting too deep") from None
    if not isinstance(found, list):
        raise Malformed("expected a list of tasks", "export as JSON or JSON-MIN")
    return found


def _name(task: Any, number: int) -> str:
    return str(task.get("id", number)) if isinstance(task, dict) else str(number)


def _annotated(task: Any) -> AnnotatedText | None:
    """The text and its words; None if nobody has annotated it."""
    if not isinstance(task, dict):
        raise Malformed(f"expected an object, found {shown(task)}")
    if "data" not in task and "annotations" not in task:
        return _minimal(task)
    data = task.get("data")
    text = text_field(data if isinstance(data, dict) else {}, "text")
    result = _chosen(task.get("annotations") or [])
    if result is None:
        return None
    regions = [each for each in result if each.get("type") in REGIONS]
    values = [each.get("value") for each in regions]
    names = [str(each.get("id", number)) for number, each in enumerate(regions)]
    arcs = [_arc(each) for each in result if each.get("type") == "relation"]
    return AnnotatedText(text, _spans(text, names, values), arcs, str(task.get("id", "")))


def _minimal(task: dict[str, Any]) -> AnnotatedText:
    values = task.get("label") or []
    if not isinstance(values, list):
        raise Malformed(f"expected a list in the field label, found {shown(values)}")
    text, names = text_field(task, "text"), [str(number) for number in range(len(values))]
    return AnnotatedText(text, _spans(text, names, values), id=str(task.get("id", "")))


def _chosen(annotations: Any) -> list[dict[str, Any]] | None:
    """The result of the annotation that counts."""
    if not _are_objects(annotations):
        raise Malformed("annotations must be a list of objects")
    done = [each for each in annotations if not each.get("was_cancelled")]
    best = [each for each in done if each.get("ground_truth")] or done
    result = best[-1].get("result") if best else None
    if result is not None and not _are_objects(result):
        raise Malformed("the result of an annotation must be a list of objects")
    return result


def _are_objects(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(each, dict) for each in found)


def _spans(text: str, names: Sequence[str], values: Sequence[Any]) -> dict[str, Span]:
    """Regions as spans. Browsers count in UTF-16, so offsets are compared with the text of each region."""
    for value in values:
        if not isinstance(value, dict) or not is_span(value.get("start"), value.get("end")):
            raise Malformed(f"a region has no offsets: {shown(value)}")
    points = list(range(len(text) + 1))
    halves = list(itertools.accumulate((1 + (char > "\uffff") for char in text), initial=0))
    tried: list[list[Any]] = []  # the wrong regions of each way to count
    for edges in (points, halves):
        place = {edge: number for number, edge in enumerate(edges)}
        found = [(place.get(each["start"], -1), place.get(each["end"], -1)) for each in values]
        wrong = [
            each
            for each, (a, b) in zip(values, found, strict=True)
            if min(a, b) < 0 or each.get("text", text[a:b]) != text[a:b]
        ]
        if not wrong:
            labels = [label_names(each.get("labels") or ()) for each in values]
            return {name: Span(a, b, each) for name, (a, b), each in zip(names, found, labels, strict=True)}
        tried.append(wrong)
    raise Malformed(f"a region does not have the text at its place: {shown(min(tried, key=len)[0])}")


def _arc(found: dict[str, Any]) -> Arc:
    head, dependent = str(found.get("from_id")), str(found.get("to_id"))
    if found.get("direction") == "left":
        head, dependent = dependent, head
    labels = label_names(found.get("labels") or ())
    return Arc(head, dependent, min(labels) if labels else None)
