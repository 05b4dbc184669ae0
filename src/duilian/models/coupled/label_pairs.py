"""Labels of two sides that may go together, according to a mapping of their tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from duilian.errors import StandardError
from duilian.labels.encoding import Encoding
from duilian.standards import Mapping
from duilian.standards.mapping_table import TABLE_KINDS

MappingName = Literal[
    "complete",
    "strict",
    "tight",
    "relaxed",
    "automatic",
    "automatic-intersection",
    "automatic-first",
    "automatic-second",
]
MAPPINGS = get_args(MappingName)


def table_mapping(
    mapping: str | Mapping, standards: tuple[str, str], tags_a: Sequence[str], tags_b: Sequence[str]
) -> Mapping:
    """A mapping without a tagger, for the tags of a model: a kind of table, a path, or a `Mapping`."""
    if isinstance(mapping, Mapping):
        _check_tags(mapping.tags_a, tags_a, standards[0])
        _check_tags(mapping.tags_b, tags_b, standards[1])
        pairs = [(x, y) for x in mapping.tags_a for y in mapping.tags_b if mapping(x, y)]
        return Mapping.from_pairs(pairs, tags_a, tags_b)
    name = f"{standards[0]}-{standards[1]}.{mapping}" if mapping in TABLE_KINDS else mapping
    return Mapping.from_table(name, tags_a, tags_b, unknown="keep")


def _check_tags(named: Sequence[str], known: Sequence[str], standard: str) -> None:
    foreign = [tag for tag in named if tag not in set(known)]
    if foreign:
        raise StandardError(
            f"the mapping names the tag {foreign[0]!r}, which the corpus of {standard!r} does not have"
        )


def label_tags(encoding: Encoding) -> npt.NDArray[np.int64]:
    """The number of the tag of each label; at character level, labels are ordered by letter."""
    count = len(encoding.tags or ())
    return np.arange(len(encoding.labels)) % max(count, 1)


def on_labels(
    matrix: npt.NDArray[np.bool_], encoding_a: Encoding, encoding_b: Encoding
) -> npt.NDArray[np.bool_]:
    """Extend a matrix of tags to labels; at character level, boundaries do not matter."""
    return matrix[np.ix_(label_tags(encoding_a), label_tags(encoding_b))]
