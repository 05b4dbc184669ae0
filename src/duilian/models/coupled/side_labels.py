"""Labels of a coupled tagger's sides: from layers and back, and from one side's to another's by a mapping."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer, Tag
from duilian.errors import StandardError
from duilian.labels.encoding import Encoding
from duilian.standards import Mapping

NO_SETS = _native.TagSets(np.array([0], np.int32), np.array([], np.int32))


def table_mapping(
    mapping: str | Mapping, standards: tuple[str, str], tags_a: Sequence[str], tags_b: Sequence[str]
) -> Mapping:
    """A mapping that needs no tagger, on the tags of a model: "tight", "relaxed", a table's path, or one made
    already."""
    if isinstance(mapping, Mapping):
        _check_tags(mapping.tags_a, tags_a, standards[0])
        _check_tags(mapping.tags_b, tags_b, standards[1])
        pairs = [(x, y) for x in mapping.tags_a for y in mapping.tags_b if mapping(x, y)]
        return Mapping.from_pairs(pairs, tags_a, tags_b)
    name = f"{standards[0]}-{standards[1]}.{mapping}" if mapping in ("tight", "relaxed") else mapping
    return Mapping.from_table(name, tags_a, tags_b, unknown="keep")


def _check_tags(named: Sequence[str], known: Sequence[str], standard: str) -> None:
    foreign = [tag for tag in named if tag not in set(known)]
    if foreign:
        raise StandardError(
            f"the mapping names the tag {foreign[0]!r}, which the corpus of {standard!r} has not"
        )


def tag_numbers(encoding: Encoding) -> npt.NDArray[np.int64]:
    """For every label the number of its tag; at character level labels go letter by letter."""
    count = len(encoding.tags or ())
    return np.arange(len(encoding.labels)) % max(count, 1)


def on_labels(
    matrix: npt.NDArray[np.bool_], encoding_a: Encoding, encoding_b: Encoding
) -> npt.NDArray[np.bool_]:
    """What tags allow, for labels: at character level whatever the boundaries are."""
    return matrix[np.ix_(tag_numbers(encoding_a), tag_numbers(encoding_b))]


def blank_unknown(encoding: Encoding, layers: Sequence[Layer]) -> list[Layer]:
    """The layers with tags that the encoding does not know left open."""
    known = set(encoding.tags or ())
    return [
        layer
        if layer.tags is None
        else dataclasses.replace(
            layer, tags=tuple(tag if _is_known(tag, known) else None for tag in layer.tags)
        )
        for layer in layers
    ]


def _is_known(tag: Tag, known: set[str]) -> bool:
    return tag is not None and known.issuperset((tag,) if isinstance(tag, str) else tag)


def gold_labels(encoding: Encoding, layers: Sequence[Layer]) -> npt.NDArray[np.int32]:
    """The label of every unit; -1 where the annotation leaves it open or has a tag that is not known."""
    return encoding.encode(blank_unknown(encoding, layers)).label


def decode_layers(
    encoding: Encoding,
    units: Sequence[Sequence[str]],
    labels: npt.NDArray[np.int32],
    first: npt.NDArray[np.int64],
) -> list[Layer]:
    """Words and tags of sentences whose labels stand in a row."""
    flat, at = labels.tolist(), first.tolist()
    return [encoding.decode(each, flat[at[k] : at[k + 1]]) for k, each in enumerate(units)]
