"""Our own lossless format: one JSON object per line, with every layer of the sentence.

    {"id":"1","layers":{"pku":{"words":["他","来"],"tags":["r",["v","vn"]]}}}

A tag is a string, a list (one of these) or null (unknown). Missing annotation is left out.
Every other format can be converted to this one and back without loss; corpus fingerprints are based on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from duilian.corpus.lines import Lines, Malformed, shown
from duilian.corpus.sentence import NO_COLUMNS, Entity, Layer, Sentence, Tag
from duilian.corpus.trees import TreeCheck, find_fault
from duilian.wording import counted

_SENTENCE_KEYS = {"id", "comments", "layers"}
_LAYER_KEYS = {"words", "tags", "heads", "relations", "spaces", "columns", "entities", "extra_rows"}
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_jsonlines(
    lines: Lines, *, path: str, standard: str | None = None, trees: TreeCheck = "any"
) -> Iterator[Sentence]:
    """Read one sentence per line; if a standard is named, every sentence must have a layer in it."""
    for number, line in lines:
        if not line or line.isspace():
            continue
        try:
            sentence = _sentence(_parse(line))
            if standard is not None and standard not in sentence.layers:
                have = ", ".join(sentence) or "none"
                raise Malformed(f"the sentence has no layer {standard!r} (it has: {have})")
            if trees != "any":
                for name in sentence if standard is None else [standard]:
                    _check_tree(sentence[name], trees)
        except Malformed as problem:
            raise problem.at(path, number) from None
        yield sentence


def _check_tree(layer: Layer, trees: TreeCheck) -> None:
    wrong = find_fault((None,) * len(layer) if layer.heads is None else layer.heads, trees)
    if wrong is not None:
        raise Malformed(wrong.message, wrong.hint)


def _parse(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise Malformed("unreadable JSON: a number is too long or the nesting too deep") from None


def _sentence(found: Any) -> Sentence:
    _require(isinstance(found, dict), "expected an object with the key layers")
    _check_keys(found, _SENTENCE_KEYS, "the sentence")
    layers = found.get("layers")
    _require(isinstance(layers, dict) and layers != {}, "layers must be an object with at least one layer")
    read = {_text(name, "the name of a layer"): _layer(layer) for name, layer in layers.items()}
    spelled = {"".join(layer.words) for layer in read.values()}
    _require(len(spelled) == 1, "the layers do not have the same characters")
    return Sentence(read, _text(found.get("id", ""), "id"), _texts(found.get("comments", []), "comments"))


def _layer(found: Any) -> Layer:
    _require(isinstance(found, dict) and "words" in found, "a layer must be an object with the key words")
    _check_keys(found, _LAYER_KEYS, "the layer")
    words = _texts(found["words"], "words")
    _require(all(words), "a word is empty")
    count = len(words)
    return Layer(
        words,
        _column(found, "tags", count, _tag),
        _column(found, "heads", count, lambda head: _head(head, count)),
        _column(found, "relations", count, lambda name: None if name is None else _text(name, "relations")),
        _column(found, "spaces", count, lambda space: _text(space, "spaces")),
        _columns(found.get("columns", {}), count),
        _entities(found.get("entities", []), count),
        _extra_rows(found.get("extra_rows", []), count),
    )


def _column(found: dict[str, Any], key: str, count: int, parse: Any) -> tuple[Any, ...] | None:
    values = found.get(key)
    if values is None:
        return None
    _require(isinstance(values, list), f"{key} must be a list")
    _require(
        len(values) == count,
        f"{key} has {counted(len(values), 'entry', 'entries')} for {counted(count, 'word')}",
    )
    return tuple([parse(value) for value in values])


def _tag(found: Any) -> Tag:
    if isinstance(found, list):
        _require(found != [], "an empty list of tags allows nothing", "write null for an unknown tag")
        return frozenset(_texts(found, "tags"))
    return None if found is None else _text(found, "tags")


def _head(found: Any, count: int) -> int | None:
    if found is None:
        return None
    _require(type(found) is int, f"the head {shown(found)} is not a number")
    _require(0 <= found <= count, f"head {found} is outside the sentence ({counted(count, 'word')})")
    return int(found)


def _columns(found: Any, count: int) -> dict[str, tuple[str, ...]] | Any:
    _require(isinstance(found, dict), "columns must be an object")
    columns = {}
    for name, values in found.items():
        columns[_text(name, "columns")] = _texts(values, f"the column {name}")
        _require(
            len(values) == count,
            f"the column {name} has {counted(len(values), 'entry', 'entries')} for {counted(count, 'word')}",
        )
    return columns or NO_COLUMNS


def _entities(found: Any, count: int) -> tuple[Entity, ...]:
    _require(isinstance(found, list), "entities must be a list")
    entities = []
    for entry in found:
        shape = isinstance(entry, list) and [type(part) for part in entry] == [int, int, str]
        _require(shape, f"expected an entity as [start, end, label], found {shown(entry)}")
        start, end, label = entry
        _require(
            0 <= start < end <= count,
            f"the entity {shown(entry)} is outside the sentence ({counted(count, 'word')})",
        )
        entities.append(Entity(start, end, _text(label, "entities")))
    return tuple(entities)


def _extra_rows(found: Any, count: int) -> tuple[tuple[int, str], ...]:
    _require(isinstance(found, list), "extra_rows must be a list")
    for entry in found:
        shape = isinstance(entry, list) and [type(part) for part in entry] == [int, str]
        _require(shape and 0 <= entry[0] <= count, f"expected [words before, row], found {shown(entry)}")
    return tuple([(before, _text(row, "extra_rows")) for before, row in found])


def _texts(found: Any, what: str) -> tuple[str, ...]:
    _require(isinstance(found, list), f"{what} must be a list")
    return tuple([_text(value, what) for value in found])


def _text(found: Any, what: str) -> str:
    if not isinstance(found, str):
        raise Malformed(f"expected text in {what}, found {shown(found)}")
    if _SURROGATE.search(found):
        raise Malformed(
            f"a lone surrogate in {what}: {shown(found)}", "it is half a character; write the whole one"
        )
    return found


def _check_keys(found: dict[str, Any], known: set[str], what: str) -> None:
    unknown = sorted(set(found) - known)
    _require(
        not unknown, f"{what} has an unknown key {shown(unknown[:1])}", f"known: {', '.join(sorted(known))}"
    )


def _require(holds: bool, otherwise: str, hint: str = "") -> None:
    if not holds:
        raise Malformed(otherwise, hint)


def write_jsonlines(sentences: Iterable[Sentence], *, standard: str | None = None) -> Iterator[str]:
    """Write one line per sentence, with all its layers or only the named one."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    for sentence in sentences:
        layers = sentence.layers if standard is None else {standard: sentence[standard]}
        found: dict[str, Any] = {}
        if sentence.id:
            found["id"] = sentence.id
        if sentence.comments:
            found["comments"] = sentence.comments
        found["layers"] = {name: _plain_layer(layer) for name, layer in layers.items()}
        yield encode(found) + "\n"


def _plain_layer(layer: Layer) -> dict[str, Any]:
    plain: dict[str, Any] = {"words": layer.words}
    if layer.tags is not None:
        plain["tags"] = [sorted(tag) if isinstance(tag, frozenset) else tag for tag in layer.tags]
    for key, values in (("heads", layer.heads), ("relations", layer.relations), ("spaces", layer.spaces)):
        if values is not None:
            plain[key] = values
    if layer.columns:
        plain["columns"] = dict(layer.columns)
    if layer.entities:
        plain["entities"] = [(entity.start, entity.end, entity.label) for entity in layer.entities]
    if layer.extra_rows:
        plain["extra_rows"] = layer.extra_rows
    return plain
