"""Two tags in one: `SCONJ+RB` is the universal tag SCONJ and the language-specific tag RB of one word.

In Universal Dependencies version 2 neither follows from the other, so a tagger that finds both learns pairs.
Corpora and models have pairs; output splits them. A part alone (`SCONJ`, `RB`), as in a lexicon or a treebank
with one column of tags, stands for all pairs that contain it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from duilian.standards.standard import Standard

SIGN = "+"


@functools.cache
def universal_names() -> frozenset[str]:
    """The universal tags of both versions of Universal Dependencies."""
    return frozenset([*(Standard.load("ud").tags or ()), *(Standard.load("ud1").tags or ())])


def paired(universal: str, specific: str) -> str:
    """Return both tags as one.

    >>> paired("SCONJ", "RB")
    'SCONJ+RB'
    """
    return f"{universal}{SIGN}{specific}"


def split_pair(tag: str) -> tuple[str | None, str | None]:
    """Return the universal and the specific tag; one of them is None if the tag is not a pair.

    >>> split_pair("SCONJ+RB"), split_pair("SCONJ"), split_pair("RB")
    (('SCONJ', 'RB'), ('SCONJ', None), (None, 'RB'))
    """
    universal, _, specific = tag.partition(SIGN)
    if universal not in universal_names():
        return None, tag
    return (universal, specific) if specific else (tag, None)


def is_pair(tag: str) -> bool:
    """Whether a tag has two parts."""
    return None not in split_pair(tag)


@functools.lru_cache(maxsize=256)
def are_pairs(tags: tuple[str | None, ...]) -> bool:
    """Whether some tags are pairs, and the others universal tags."""
    parts = [split_pair(tag) for tag in tags if tag is not None]
    return all(universal for universal, _ in parts) and any(specific for _, specific in parts)


@functools.lru_cache(maxsize=256)
def split_names(
    tags: tuple[str | None, ...],
) -> tuple[tuple[str | None, ...], tuple[str | None, ...]] | None:
    """Return the universal and the specific tag of each; None if they are not pairs."""
    if not are_pairs(tags):
        return None
    parts = [(None, None) if tag is None else split_pair(tag) for tag in tags]
    return tuple(universal for universal, _ in parts), tuple(specific for _, specific in parts)


def universal_of(tag: str) -> str:
    """Return the universal tag of a pair; any other tag as it is."""
    return split_pair(tag)[0] or tag if is_pair(tag) else tag


def pairs_with(name: str, tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags that a name stands for: itself or, failing that, the pairs that contain it.

    >>> pairs_with("SCONJ", ["ADV+RB", "SCONJ+RB", "SCONJ+DEC"]), pairs_with("RB", ["ADV+RB", "SCONJ+RB"])
    (('SCONJ+RB', 'SCONJ+DEC'), ('ADV+RB', 'SCONJ+RB'))
    """
    known = tuple(tags)
    if name in known:
        return (name,)
    return tuple(tag for tag in known if is_pair(tag) and name in split_pair(tag))


def with_parts(tags: Iterable[str]) -> frozenset[str]:
    """Return the tags, and the parts of those that are pairs."""
    known = tuple(tags)
    parts = (part for tag in known if is_pair(tag) for part in split_pair(tag) if part is not None)
    return frozenset([*known, *parts])
