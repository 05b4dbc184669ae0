"""Converting constituents to dependencies by head-finding rules, which are data.

For one phrase label, a rule says which child is the head. The head word of a constituent is the head word of
that child; the head words of the other children depend on it. The result is a projective tree with one root,
because exactly one word of every constituent has its head outside. The built-in rules are those of Zhang and
Clark (2008), in `headrules/`, which also explains the syntax.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from duilian.errors import ConfigError

if TYPE_CHECKING:
    from duilian.corpus.formats.brackets import Tree

DEFAULT_RULES = "zhang-clark-2008"
DEFAULT_LABEL = "default"


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One attempt to find the head: the first listed label that a child has; without labels, the first child.

    Children are searched from the right or from the left.
    """

    is_from_right: bool
    labels: tuple[str, ...] = ()

    def find(self, children: Sequence[str]) -> int | None:
        """The index of the head among children with these labels, or None if the step finds none."""
        order = range(len(children))
        if self.is_from_right:
            order = order[::-1]
        if not self.labels:
            return order[0]
        for label in self.labels:
            for index in order:
                if children[index] == label:
                    return index
        return None


@dataclasses.dataclass(frozen=True)
class HeadRules:
    """The steps for each phrase label, and the default for labels without a rule."""

    steps: Mapping[str, tuple[Step, ...]]
    default: tuple[Step, ...]

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str] = DEFAULT_RULES) -> HeadRules:
        """Load built-in rules by name, or a file by its path (which ends in `.txt` or has a folder)."""
        place = os.fspath(name_or_path)
        if not isinstance(name_or_path, str) or place.endswith(".txt") or os.path.dirname(place):
            try:
                text = Path(place).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(f"{place}: the head rules cannot be read ({error})") from None
            return cls.parse(text.splitlines(), path=place)
        tables = {
            entry.name.removesuffix(".txt"): entry
            for entry in importlib.resources.files("duilian.corpus").joinpath("headrules").iterdir()
            if entry.name.endswith(".txt")
        }
        if place not in tables:
            known = ", ".join(sorted(tables))
            hint = "for your own file, give a path that ends in .txt"
            raise ConfigError(f"unknown head rules {place!r} (known: {known})", hint=hint)
        return cls.parse(tables[place].read_text(encoding="utf-8").splitlines(), path=f"{place}.txt")

    @classmethod
    def parse(cls, lines: Iterable[str], *, path: str) -> HeadRules:
        """Parse the lines of a table; errors start with `path:line:`."""
        steps: dict[str, tuple[Step, ...]] = {}
        first_line: dict[str, int] = {}
        for number, line in enumerate(lines, start=1):
            label, _, rule = line.partition("#")[0].strip().replace("\t", " ").partition(" ")
            if not label:
                continue
            if label in steps:
                raise ConfigError(
                    f"{path}:{number}: {label!r} already has a rule, on line {first_line[label]}"
                )
            steps[label] = _parse_rule(label, rule, where=f"{path}:{number}")
            first_line[label] = number
        default = steps.pop(DEFAULT_LABEL, None)
        if default is None:
            hint = f"end the file with a line '{DEFAULT_LABEL} r'"
            raise ConfigError(f"{path}: no rule for labels that are not listed", hint=hint)
        return cls(steps, default)

    def head_child(self, label: str, children: Sequence[str]) -> int:
        """The index of the head among the children of a phrase; all labels are bare."""
        for step in self.steps.get(label, self.default):
            index = step.find(children)
            if index is not None:
                return index
        raise ConfigError(f"the head rule for {label!r} finds no head among the children {list(children)!r}")


def to_dependencies(tree: Tree, rules: HeadRules) -> list[int]:
    """The head of every word of the tree, counted from 1; 0 is the root."""
    heads: list[int] = []
    finished: list[int] = []  # head words of finished constituents whose parent is unfinished
    pending = [(tree, False)]
    while pending:
        node, has_children_finished = pending.pop()
        if node.word is not None:
            heads.append(0)
            finished.append(len(heads))
        elif not has_children_finished:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(node.children))
        else:
            words = finished[-len(node.children) :]
            del finished[-len(node.children) :]
            head = words[rules.head_child(node.bare_label, [child.bare_label for child in node.children])]
            for word in words:
                if word != head:
                    heads[word - 1] = head
            finished.append(head)
    return heads


def _parse_rule(label: str, rule: str, *, where: str) -> tuple[Step, ...]:
    steps = tuple(_parse_step(label, step.split(), where=where) for step in rule.split(";"))
    if steps[-1].labels:
        hint = "end it with '; r' or '; l'"
        raise ConfigError(
            f"{where}: the rule for {label!r} finds no head among children it does not list", hint=hint
        )
    if any(not step.labels for step in steps[:-1]):
        raise ConfigError(f"{where}: the rule for {label!r} goes on after a step that always finds a head")
    return steps


def _parse_step(label: str, parts: list[str], *, where: str) -> Step:
    if not parts:
        hint = "a step is 'l' or 'r' and labels, as in 'r NP NN'; ';' separates steps"
        raise ConfigError(f"{where}: the rule for {label!r} has an empty step", hint=hint)
    direction, labels = parts[0], tuple(parts[1:])
    if direction not in ("l", "r"):
        raise ConfigError(
            f"{where}: a step must begin with 'l' (from the left) or 'r' (from the right), not {direction!r}"
        )
    twice = [name for index, name in enumerate(labels) if name in labels[:index]]
    if twice:
        raise ConfigError(f"{where}: the rule for {label!r} names {twice[0]!r} twice in one step")
    return Step(direction == "r", labels)
