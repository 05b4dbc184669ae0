"""How text formats write a tag, including partial annotation.

    n       the gold tag
    ?       unknown (in column formats: _, which the others accept too)
    {n|v}   one of these

Braces are the only syntax: no tag of a real tag set starts with { and ends with }.
"""

from __future__ import annotations

from sys import intern

from duilian.corpus.lines import Malformed, shown
from duilian.corpus.sentence import Tag
from duilian.errors import ConfigError

UNKNOWN = "?"
UNKNOWN_FIELD = "_"


def parse_tag(text: str, unknown: str) -> Tag:
    """Parse a non-empty tag."""
    if text == unknown:
        return None
    if text[0] == "{" and text[-1] == "}":
        names = text[1:-1].split("|")
        if "" in names:
            raise Malformed(f"the set of tags {shown(text)} has an empty member", "write a set as {n|v}")
        return frozenset(map(intern, names))
    return intern(text)


def format_tag(tag: Tag, unknown: str) -> str:
    """Write a tag so that `parse_tag` reads it back."""
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
    """Parse the tags of a sentence with one row per word; None if all are unknown."""
    tags = []
    for number, text in zip(numbers, texts, strict=True):
        try:
            tags.append(parse_tag(text, UNKNOWN_FIELD))
        except Malformed as problem:
            raise problem.at(path, number) from None
    return None if all(tag is None for tag in tags) else tuple(tags)


def format_tags(tags: tuple[Tag, ...] | None, count: int, unknown: str) -> list[str]:
    """Write the tag of each of `count` words."""
    if tags is None:
        return [unknown] * count
    spelled = {tag: format_tag(tag, unknown) for tag in set(tags)}  # few
    return [spelled[tag] for tag in tags]
