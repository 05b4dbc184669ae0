"""How a tag is spelled in a text format, partial annotation included.

    n       the gold tag
    ?       unknown (in the formats with one column a field: _, which the others read too)
    {n|v}   one of these

The braces are the whole syntax: a tag of a real tag set never starts with { and ends with }.
"""

from __future__ import annotations

from sys import intern

from duilian.corpus.lines import Malformed, shown
from duilian.corpus.sentence import Tag
from duilian.errors import ConfigError

UNKNOWN = "?"
UNKNOWN_FIELD = "_"


def parse_tag(text: str, unknown: str) -> Tag:
    """The tag that a non-empty text spells."""
    if text == unknown:
        return None
    if text[0] == "{" and text[-1] == "}":
        names = text[1:-1].split("|")
        if "" in names:
            raise Malformed(f"the set of tags {shown(text)} has an empty member", "write a set as {n|v}")
        return frozenset(map(intern, names))
    return intern(text)


def format_tag(tag: Tag, unknown: str) -> str:
    """The spelling that `parse_tag` reads back as this tag."""
    if tag is None:
        return unknown
    if isinstance(tag, frozenset):
        if not tag or any(not name or "|" in name for name in tag):
            raise ConfigError(f"the set of tags {sorted(tag)} cannot be written as {{a|b}}")
        return "{" + "|".join(sorted(tag)) + "}"
    if not tag or tag in (unknown, UNKNOWN_FIELD) or (tag[0] == "{" and tag[-1] == "}"):
        raise ConfigError(f"the tag {shown(tag)} cannot be written: it would be read as partial annotation")
    return tag


def parse_column(texts: tuple[str, ...], numbers: list[int], path: str) -> tuple[Tag, ...] | None:
    """The tags of a sentence with one row a word; None when not one of them is known."""
    tags = []
    for number, text in zip(numbers, texts, strict=True):
        try:
            tags.append(parse_tag(text, UNKNOWN_FIELD))
        except Malformed as problem:
            raise problem.at(path, number) from None
    return None if all(tag is None for tag in tags) else tuple(tags)


def format_tags(tags: tuple[Tag, ...] | None, count: int, unknown: str) -> list[str]:
    """One spelling for each of `count` words."""
    return [unknown] * count if tags is None else [format_tag(tag, unknown) for tag in tags]
