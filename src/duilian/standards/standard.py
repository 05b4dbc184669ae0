"""A standard: the tag set of one annotation guideline, with the meaning of each tag.

Each standard is a TOML file: those in `tables/` are built in, a user's own is read from a path. A standard
without tags is open: it has whatever tags its corpus has.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from duilian.arguments import checked
from duilian.errors import StandardError

COLUMNS = ("tag", "upos", "xpos")
FIELDS = ("title", "column", "tags", "whole", "classes", "upos")
DESCRIPTION_FIELDS = ("english", "chinese", "example")


@dataclasses.dataclass(frozen=True, slots=True)
class TagDescription:
    """The meaning of one tag in two languages, and an example word."""

    english: str
    chinese: str
    example: str


@dataclasses.dataclass(frozen=True)
class Standard:
    """One annotation guideline.

    `tags` is None for an open standard. `column` says where a CoNLL file has the tags: in `upos` (the fourth
    column), in `xpos` (the fifth), or, for `tag`, in either: the fifth if it has any.
    `whole` has the tags of addresses, @names and the like, by kind (see `text.whole_spans`); `classes` has
    the tags of punctuation, numbers and nouns; `upos` has the universal tag of each tag with only one.

    >>> pku = Standard.load("pku")
    >>> len(pku.tags), "vn" in pku
    (44, True)
    """

    name: str
    tags: tuple[str, ...] | None = None
    column: str = "tag"
    title: str = ""
    descriptions: Mapping[str, TagDescription] = dataclasses.field(
        default_factory=dict, repr=False, hash=False
    )
    whole: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict, repr=False, hash=False)
    classes: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict, repr=False, hash=False)
    upos: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False, hash=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise StandardError("a standard needs a name")
        if self.column not in COLUMNS:
            raise StandardError(
                f"standard {self.name!r}: column must be one of {', '.join(COLUMNS)}, got {self.column!r}"
            )
        if self.tags is not None:
            _check_tags(self.name, self.tags)

    @classmethod
    @checked
    def load(cls, name: str | Path) -> Standard:
        """Load a built-in standard by name, or your own by the path of its `.toml` file."""
        if isinstance(name, Path) or name.endswith(".toml"):
            path = Path(name)
            return _parse(path.stem, str(path), _read_file(path))
        if name not in standard_names():
            raise StandardError(f"there is no standard {name!r}", _standard_hint(name))
        return _load_built_in(name)

    @property
    def is_open(self) -> bool:
        """Whether the tags are whatever the data has."""
        return self.tags is None

    def __contains__(self, tag: object) -> bool:
        return self.tags is None or tag in self.tags

    def with_tags(self, tags: Iterable[str]) -> Standard:
        """The same standard with exactly these tags: closes an open one with the tags of a corpus."""
        return dataclasses.replace(self, tags=tuple(tags))

    def explain(self, tag: str) -> str:
        """Describe a tag on one line: its meaning in English and Chinese, and an example."""
        if tag not in self:
            import difflib

            near = difflib.get_close_matches(tag, self.tags or (), n=3, cutoff=0.5)
            hint = (
                f"did you mean {' or '.join(near)}?" if near else f"its tags are {' '.join(self.tags or ())}"
            )
            raise StandardError(f"standard {self.name!r} has no tag {tag!r}", hint)
        about = self.descriptions.get(tag)
        if about is None:
            return f"{tag}: not described"
        return f"{tag}: {about.english} ({about.chinese}), as in {about.example}"


@functools.cache
def standard_names() -> tuple[str, ...]:
    """The names of the built-in standards.

    >>> standard_names()
    ('ctb', 'gsd', 'pku', 'ud', 'ud1')
    """
    return tuple(sorted(entry.name[: -len(".toml")] for entry in _tables() if entry.name.endswith(".toml")))


@functools.cache
def table_names() -> tuple[str, ...]:
    """The names of the built-in mapping tables, such as `ctb-pku.tight`."""
    return tuple(sorted(entry.name[: -len(".txt")] for entry in _tables() if entry.name.endswith(".txt")))


def table_file(file_name: str) -> Path:
    """A file of the folder `tables/`."""
    return Path(__file__).with_name("tables") / file_name


@functools.cache
def _tables() -> tuple[Path, ...]:
    return tuple(Path(__file__).with_name("tables").iterdir())


@functools.cache
def _load_built_in(name: str) -> Standard:
    file_name = f"{name}.toml"
    return _parse(name, file_name, table_file(file_name).read_bytes())


def _standard_hint(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name.lower(), standard_names(), n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"choose {', '.join(standard_names())}, or declare your own in a .toml file and give its path"


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StandardError(f"{path}: cannot be read: {error.strerror}") from None


def _parse(name: str, path: str, content: bytes) -> Standard:
    import tomllib  # taggers in use rarely read a table

    try:
        table = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise StandardError(f"{path}: this is not UTF-8 (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise StandardError(f"{path}: this is not TOML: {error}") from None
    for key in table:
        if key not in FIELDS:
            raise StandardError(f"{path}: unknown field {key!r}, expected one of {', '.join(FIELDS)}")
    tags = table.get("tags")
    if tags is not None and not isinstance(tags, dict):
        raise StandardError(
            f"{path}: tags must be a table, got {tags!r}", 'write NN = { english = "…" } under [tags]'
        )
    title = table.get("title", "")
    if not isinstance(title, str):
        raise StandardError(f"{path}: title must be a string, got {title!r}")
    descriptions = {tag: _describe(path, tag, entry) for tag, entry in (tags or {}).items()}
    return Standard(
        name=name,
        tags=None if tags is None else tuple(descriptions),
        column=table.get("column", "tag"),
        title=title,
        descriptions=descriptions,
        whole={kind: tuple(row) for kind, row in _checked_rows(path, table, "whole", list)},
        classes={name: tuple(row) for name, row in _checked_rows(path, table, "classes", list)},
        upos=dict(_checked_rows(path, table, "upos", str)),
    )


def _checked_rows(path: str, table: dict[str, Any], name: str, wanted: type) -> Iterator[tuple[str, Any]]:
    """The rows of a table whose values must all have one type, and whose tags must be the standard's."""
    rows = table.get(name, {})
    if not isinstance(rows, dict):
        raise StandardError(f"{path}: {name} must be a table, got {rows!r}")
    for key, value in rows.items():
        used, known = [key] if wanted is str else value, table.get("tags")
        names = [
            tag if tag in (known or ()) else str(tag).partition("+")[0] for tag in used
        ]  # of pairs, upos
        if not isinstance(value, wanted) or not all(known is None or name in known for name in names):
            raise StandardError(
                f"{path}: {name}: {key!r} = {value!r} does not refer to tags of this standard"
            )
        yield key, value


def tags_of_wholes(standard: str) -> Mapping[str, tuple[str, ...]]:
    """The tags that a built-in standard has for addresses, @names and the like; empty for any other."""
    return Standard.load(standard).whole if standard in standard_names() else {}


def tag_classes(standard: str) -> Mapping[str, tuple[str, ...]]:
    """The tags for `punctuation`, `noun` and so on in a built-in standard; empty for any other."""
    return Standard.load(standard).classes if standard in standard_names() else {}


def universal_tags(standard: str) -> Mapping[str, str]:
    """The universal tag of each tag of a built-in standard; empty for any other."""
    return Standard.load(standard).upos if standard in standard_names() else {}


@functools.cache
def conll_column(standard: str) -> str:
    """The column of a CoNLL file for a standard's tags if there is a choice: upos for universal tags and for
    standards that are not built in, xpos for all others.
    """
    return "upos" if standard not in standard_names() or Standard.load(standard).column == "upos" else "xpos"


@functools.cache
def tags_in_either_column(standard: str) -> frozenset[str]:
    """The tags of a built-in standard that does not say which column of a CoNLL file has them."""
    found = Standard.load(standard) if standard in standard_names() else None
    return frozenset(found.tags or ()) if found is not None and found.column == "tag" else frozenset()


def _describe(path: str, tag: str, entry: Any) -> TagDescription:
    if not isinstance(entry, dict):
        raise StandardError(f"{path}: tag {tag!r} must be a table, got {entry!r}")
    for key, value in entry.items():
        if key not in DESCRIPTION_FIELDS:
            raise StandardError(
                f"{path}: tag {tag!r}: unknown field {key!r}, expected one of {', '.join(DESCRIPTION_FIELDS)}"
            )
        if not isinstance(value, str):
            raise StandardError(f"{path}: tag {tag!r}: {key} must be a string, got {value!r}")
    return TagDescription(*(entry.get(key, "") for key in DESCRIPTION_FIELDS))


def _check_tags(name: str, tags: tuple[str, ...]) -> None:
    if not tags:
        raise StandardError(f"standard {name!r} has no tags", "omit the tags for an open standard")
    seen = set()
    for tag in tags:
        if not tag or tag != "".join(tag.split()):
            raise StandardError(f"standard {name!r}: a tag must be a string without spaces, got {tag!r}")
        if tag in seen:
            raise StandardError(f"standard {name!r} has the tag {tag!r} twice")
        seen.add(tag)
