"""Explanations of tags for people: a definition and an example sentence, in Chinese and English.

A `Standard` has a short description of each tag. These are longer and cover more: the relations of Universal
Dependencies, boundary letters, tags that only some releases of a corpus use. They are tables in
`explanations/`, one row per tag: standard (or several that share the row), tag, English, Chinese, example,
translation. In the example, 【】 marks the word in question and 〔〕 the head of a relation.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Literal

from duilian.arguments import checked
from duilian.errors import StandardError
from duilian.result_tables import html_table
from duilian.standards.boundaries import SEPARATOR
from duilian.standards.paired_tags import split_pair
from duilian.standards.standard import Standard, standard_names

Kind = Literal["tag", "relation", "boundary"]
BOUNDARIES = "boundaries"
SPECIFIC = "gsd"  # the standard of specific tags in pairs
_KINDS: dict[str, Kind] = {"relations.tsv": "relation", "boundaries.tsv": "boundary"}
_COLUMNS = 6


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The explanation of one tag in one standard."""

    standard: str
    tag: str
    kind: Kind
    english: str
    chinese: str
    example: str  # the word in 【】, the head of a relation in 〔〕
    translation: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the example that have the tag."""
        return _inside(self.example, "【", "】")

    @property
    def head(self) -> str:
        """The word of the example that they depend on, if the tag is a relation."""
        return next(iter(_inside(self.example, "〔", "〕")), "")

    @property
    def sentence(self) -> str:
        """The example without the brackets."""
        return self.example.translate(str.maketrans("", "", "【】〔〕"))


class Explanations(tuple[Explanation, ...]):
    """Explanations in the order of their standards; a notebook shows them as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        titles = ("standard", "tag", "kind", "English", "Chinese", "example", "translation")
        return html_table(titles, map(dataclasses.astuple, self), caption="What tags mean")


@checked
def explain(tag: str, standard: str | None = None) -> Explanations:
    """Explain a tag in every standard that has it, or in the one named: a built-in one or a `.toml` file.

    Relations (`nsubj`) belong to `ud` and `ud1`, boundary letters (`B`) to `boundaries`; for a label such as
    `B@NN` or a pair such as `SCONJ+RB`, both parts are explained. An unknown tag raises StandardError, which
    names the nearest ones.

    >>> [(each.standard, each.english) for each in explain("ns")]
    [('pku', 'name of a place')]
    """
    if standard is None:
        return Explanations(_lookup(tag, _built_in(), None))
    name = Path(standard).stem if _is_file(standard) else standard
    return Explanations(_lookup(tag, explanations(standard), name))


def explanations(standard: str) -> tuple[Explanation, ...]:
    """All explanations of a standard: a built-in one or a `.toml` file."""
    if _is_file(standard):
        return _from_descriptions(Standard.load(standard))
    if standard not in explained_standards():
        Standard.load(standard)  # raises an error that names the nearest one
    return tuple(each for each in _built_in() if each.standard == standard)


def explained_standards() -> tuple[str, ...]:
    """The names of the standards with explanations."""
    return (*standard_names(), BOUNDARIES)


def _is_file(standard: str) -> bool:
    return standard.endswith(".toml")


def _lookup(tag: str, entries: tuple[Explanation, ...], standard: str | None) -> tuple[Explanation, ...]:
    letter, _, rest = tag.partition(SEPARATOR)
    letters = tuple(each for each in _built_in() if each.kind == "boundary" and each.tag == letter)
    if letters and rest:
        return (*letters, *_lookup(rest, tuple(each for each in entries if each.kind == "tag"), standard))
    universal, specific = split_pair(tag)
    if universal and specific:
        own = tuple(each for each in _built_in() if each.standard == SPECIFIC)
        return (*_lookup(universal, entries, standard), *_lookup(specific, own, SPECIFIC))
    found = tuple(each for each in entries if each.tag == tag)
    if found:
        return found
    message = "no standard has the tag" if standard is None else f"standard {standard!r} has no tag"
    raise StandardError(f"{message} {tag!r}", _tag_hint(tag, entries, standard))


def _tag_hint(tag: str, entries: tuple[Explanation, ...], standard: str | None) -> str:
    """The same tag in other case, other standards that have it, or similar tags; otherwise where to look."""
    known = tuple(dict.fromkeys(each.tag for each in entries))
    near = [each for each in known if each.casefold() == tag.casefold()]
    others = dict.fromkeys(each.standard for each in _built_in() if each.tag == tag)
    if others and not near:
        return f"{tag} belongs to {', '.join(others)}"
    near = near or difflib.get_close_matches(tag, known, n=3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if standard is None:
        return f"duilian explain --standard NAME shows all tags of {', '.join(explained_standards())}"
    tags = dict.fromkeys(each.tag for each in entries if each.kind != "relation")
    return f"its tags are {' '.join(tags)}"


@functools.cache
def _built_in() -> tuple[Explanation, ...]:
    files = (resources.files("duilian.standards") / "explanations").iterdir()
    return tuple(
        each
        for file in sorted(files, key=lambda file: file.name)
        if file.name.endswith(".tsv")
        for each in _parse_table(file.name, file.read_text(encoding="utf-8").splitlines())
    )


def _parse_table(file_name: str, lines: Iterable[str]) -> Iterator[Explanation]:
    kind = _KINDS.get(file_name, "tag")
    for number, line in enumerate(lines, start=1):
        if line.startswith("#") or not line:
            continue
        cells = line.split("\t")
        if len(cells) != _COLUMNS:
            raise StandardError(f"{file_name}:{number}: expected {_COLUMNS} columns, found {len(cells)}")
        standards, tag, english, chinese, example, translation = cells
        for standard in standards.split():
            yield Explanation(
                standard=standard,
                tag=tag,
                kind=kind,
                english=english,
                chinese=chinese,
                example=example,
                translation=translation,
            )


def _from_descriptions(standard: Standard) -> tuple[Explanation, ...]:
    """Explanations made from the descriptions in a user's own file."""
    return tuple(
        Explanation(
            standard=standard.name,
            tag=tag,
            kind="tag",
            english=about.english,
            chinese=about.chinese,
            example=about.example,
        )
        for tag, about in standard.descriptions.items()
    )


def _inside(text: str, opening: str, closing: str) -> tuple[str, ...]:
    return tuple(piece.partition(closing)[0] for piece in text.split(opening)[1:])
