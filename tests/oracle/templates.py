"""The feature template language, read and applied as slowly and plainly as it is specified.

    w[0] c[-1,-1] c[1,0] if single[0]   # atoms, then an optional condition

A template is parsed into `Call`s (a name, its arguments); at a position each atom gives a list of values,
and a template gives one feature for every combination of them. An atom that does not apply gives no value,
so its template gives no feature. A character is a code point; the pseudo units beyond the ends are one
character each. Left open by the specification and decided here: see `test_templates.py`.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from duilian.errors import TemplateError

BEFORE, AFTER = "<s>", "</s>"
TYPES = ("digit", "letter", "han", "punct", "space", "emoji", "other", "mixed", "edge")
LONGEST_LENGTH = 5

INT, RANGE, INNER = r"(-?[0-9]+)", r"([0-9]+)\.\.([0-9]+)", r"\*"
ATOMS = {  # form of an atom: how it is written
    "text": rf"[wx]\[{INT}\]",
    "character": rf"c\[{INT},{INT}\]",
    "inner": rf"c\[{INT},{INNER}\]",
    "repeat": rf"repeat\[{INT}\]",
    "prefix": rf"prefix\[{INT},([0-9]+)\]",
    "suffix": rf"suffix\[{INT},([0-9]+)\]",
    "prefixes": rf"prefix\[{INT},{RANGE}\]",
    "suffixes": rf"suffix\[{INT},{RANGE}\]",
    "type": rf"type\[{INT}\]",
    "character type": rf"type\[{INT},{INT}\]",
    "length": rf"len\[{INT}\]",
    "same": rf"same\[{INT},{INT}\]",
    "column": rf"@([^\s\[\]#]+)\[{INT}\]",
    "bias": r"bias",
    "transition": r"t\[-1\]",
}
CONDITIONS = {
    "single": rf"single\[{INT}\]",
    "same": rf"same\[{INT},{INT}\]",
    "type is": rf"type\[{INT}\]=({'|'.join(TYPES)})",
}
SEVERAL = ("inner", "repeat", "prefixes", "suffixes")  # forms that may give more than one value


@dataclasses.dataclass(frozen=True)
class Call:
    """An atom or a condition: its form and what stands between its brackets."""

    form: str
    arguments: tuple[str, ...]
    is_negated: bool = False

    def integers(self) -> list[int]:
        return [int(argument) for argument in self.arguments]


@dataclasses.dataclass(frozen=True)
class Template:
    """One line: `text` is how its features begin."""

    text: str
    atoms: tuple[Call, ...]
    conditions: tuple[Call, ...]


@dataclasses.dataclass(frozen=True)
class Templates:
    """What a template file says."""

    templates: tuple[Template, ...]
    has_transitions: bool


@dataclasses.dataclass(frozen=True)
class Token:
    """A piece of a line between blanks."""

    text: str
    line: int
    column: int

    def error(self, message: str) -> TemplateError:
        return TemplateError(f"templates:{self.line}:{self.column}: {message}")


def parse(template_text: str) -> Templates:
    """Read a template file, or raise TemplateError at its first mistake."""
    templates, has_transitions = [], False
    for number, line in enumerate(template_text.split("\n"), start=1):
        tokens = tokens_of(line, number)
        if not tokens:
            continue
        template = parse_template(tokens)
        if any(atom.form == "transition" for atom in template.atoms):
            if len(tokens) > 1:
                raise tokens[0].error("t[-1] must stand alone on its line")
            has_transitions = True
        else:
            templates.append(template)
    return Templates(tuple(templates), has_transitions)


def tokens_of(line: str, number: int) -> list[Token]:
    """The pieces of a line, without its comment."""
    content = line.removesuffix("\r").split("#")[0]
    return [Token(match[0], number, match.start() + 1) for match in re.finditer(r"[^ \t]+", content)]


def parse_template(tokens: list[Token]) -> Template:
    """atom+ [ `if` [`not`] condition { `and` [`not`] condition } ]"""
    words = [token.text for token in tokens]
    split = words.index("if") if "if" in words else len(words)
    if split == 0:
        raise tokens[0].error("a template needs an atom before 'if'")
    atoms = [parse_atom(token) for token in tokens[:split]]
    several = [token for token, atom in zip(tokens, atoms, strict=False) if atom.form in SEVERAL]
    if len(several) > 1:
        raise several[1].error(f"{several[0].text!r} already gives several values, one atom at most may")
    conditions = parse_conditions(tokens[split:])
    return Template(" ".join(words), tuple(atoms), tuple(conditions))


def parse_conditions(tokens: list[Token]) -> Iterator[Call]:
    """The conditions of `if ... and ...`; `tokens` begins with the `if`, or is empty."""
    rest = list(tokens)
    while rest:
        joint = rest.pop(0)
        if joint.text != "if" and joint.text != "and":
            raise joint.error(f"expected 'and' or the end of the line, found {joint.text!r}")
        if joint.text == "if" and joint is not tokens[0]:
            raise joint.error("a second 'if': join conditions by 'and'")
        is_negated = bool(rest) and rest[0].text == "not"
        if is_negated:
            rest.pop(0)
        if not rest:
            raise joint.error(f"{joint.text!r} needs a condition after it")
        yield dataclasses.replace(parse_call(rest.pop(0), CONDITIONS, "condition"), is_negated=is_negated)


def parse_atom(token: Token) -> Call:
    atom = parse_call(token, ATOMS, "atom")
    if atom.form in ("prefix", "suffix", "prefixes", "suffixes"):
        first, last = atom.integers()[1], atom.integers()[-1]
        if not 1 <= first <= last:
            raise token.error(f"{token.text!r}: a number of characters starts at 1 and a range does not fall")
    return atom


def parse_call(token: Token, forms: dict[str, str], what: str) -> Call:
    for form, pattern in forms.items():
        match = re.fullmatch(pattern, token.text)
        if match:
            return Call(form, match.groups())
    raise token.error(f"unknown {what} {token.text!r}")


@dataclasses.dataclass(frozen=True)
class Units:
    """A sentence as templates see it: any position may be asked for."""

    units: list[str]
    columns: dict[str, list[str]]
    type_of: Callable[[str], str]

    def is_edge(self, p: int) -> bool:
        return not 0 <= p < len(self.units)

    def in_row(self, row: list[str], p: int) -> str:
        if self.is_edge(p):
            return BEFORE if p < 0 else AFTER
        return row[p]

    def text(self, p: int) -> str:
        return self.in_row(self.units, p)

    def characters(self, p: int) -> list[str]:
        return [self.text(p)] if self.is_edge(p) else list(self.units[p])

    def character(self, p: int, i: int) -> list[str]:
        """Character i as a list of one, or no value."""
        characters = self.characters(p)
        return [characters[i]] if -len(characters) <= i < len(characters) else []

    def character_types(self, p: int) -> list[str]:
        return ["edge"] if self.is_edge(p) else [self.type_of(character) for character in self.units[p]]

    def character_type(self, p: int, i: int) -> list[str]:
        types = self.character_types(p)
        return [types[i]] if -len(types) <= i < len(types) else []

    def type(self, p: int) -> str:
        types = set(self.character_types(p))
        return types.pop() if len(types) == 1 else "mixed"

    def length(self, p: int) -> str:
        count = len(self.characters(p))
        return str(count) if count < LONGEST_LENGTH else f"{LONGEST_LENGTH}+"

    def repeated(self, p: int) -> list[str]:
        return [left for left, right in itertools.pairwise(self.characters(p)) if left == right]

    def prefixes(self, p: int, sizes: Sequence[int]) -> list[str]:
        characters = self.characters(p)
        return ["".join(characters[:n]) for n in sizes if n <= len(characters)]

    def suffixes(self, p: int, sizes: Sequence[int]) -> list[str]:
        characters = self.characters(p)
        return ["".join(characters[len(characters) - n :]) for n in sizes if n <= len(characters)]

    def column(self, name: str, p: int) -> str:
        if name not in self.columns:
            raise TemplateError(
                f"the sentence has no column {name!r} (it has: {', '.join(self.columns) or 'none'})"
            )
        return self.in_row(self.columns[name], p)


def values(atom: Call, units: Units, t: int) -> list[str] | list[None]:
    """The values of an atom at position t; `bias` fires without one, which is the value None."""
    if atom.form == "bias":
        return [None]
    if atom.form == "column":
        name, offset = atom.arguments
        return [units.column(name, t + int(offset))]
    k, *rest = atom.integers()
    p = t + k
    match atom.form:
        case "text":
            return [units.text(p)]
        case "character":
            return units.character(p, rest[0])
        case "inner":
            return list(units.characters(p)[1:-1])
        case "repeat":
            return units.repeated(p)
        case "prefix" | "prefixes":
            return units.prefixes(p, range(rest[0], rest[-1] + 1))
        case "suffix" | "suffixes":
            return units.suffixes(p, range(rest[0], rest[-1] + 1))
        case "type":
            return [units.type(p)]
        case "character type":
            return units.character_type(p, rest[0])
        case "length":
            return [units.length(p)]
        case "same":
            return ["yes" if units.text(p) == units.text(t + rest[0]) else "no"]
    raise AssertionError(atom)


def holds(condition: Call, units: Units, t: int) -> bool:
    p = t + int(condition.arguments[0])
    match condition.form:
        case "single":
            is_true = len(units.characters(p)) == 1
        case "same":
            is_true = units.text(p) == units.text(t + int(condition.arguments[1]))
        case "type is":
            is_true = units.type(p) == condition.arguments[1]
        case _:
            raise AssertionError(condition)
    return is_true != condition.is_negated


def features_of(template: Template, units: Units, t: int) -> list[str]:
    """The features of one template at position t."""
    if not all(holds(condition, units, t) for condition in template.conditions):
        return []
    rows = itertools.product(*(values(atom, units, t) for atom in template.atoms))
    return [render(template.text, [value for value in row if value is not None]) for row in rows]


def render(text: str, row: list[str]) -> str:
    return f"{text}={' '.join(row)}" if row else text


def extract(
    units: list[str], columns: dict[str, list[str]], template_text: str, type_of: Callable[[str], str]
) -> list[list[str]]:
    """For each position its features: templates in the order of the file, values in the order of the unit.

    `type_of` gives the type of one character.
    """
    if "" in units:
        raise ValueError(f"unit {units.index('')} is empty: a unit has at least one character")
    for name, column in columns.items():
        if len(column) != len(units):
            raise ValueError(f"column {name!r} has {len(column)} values for {len(units)} units")
    sentence = Units(units, columns, type_of)
    templates = parse(template_text).templates
    return [
        [feature for template in templates for feature in features_of(template, sentence, t)]
        for t in range(len(units))
    ]
