"""Rewriting rules for trees: a TOML file of regular differences between two treebanks.

A rule looks at a word and its head, and moves one of them. Rules run in order, each over all words from left
to right. The result is a draft, which is the guide tree of the learned step. docs/howto/convert-trees.md
describes the file.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from duilian.corpus import Layer
from duilian.corpus.trees import word_in_cycle
from duilian.errors import ConfigError, did_you_mean
from duilian.models.tree_converter.pairs import JOINT, joint_tags

MAX_SIZE = 1_000_000  # characters of a file of rules
FIELDS = ("form", "tag", "relation", "side")
KEYS = ("name", "word", "head", "above", "child", "action", "relation", "head_relation", "moves")


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition on a word: one of these forms, tags and relations, on this side of its head."""

    form: frozenset[str] = frozenset()
    tag: frozenset[str] = frozenset()
    relation: frozenset[str] = frozenset()
    side: str = ""

    def holds(self, draft: Draft, word: int) -> bool:
        """Whether the condition holds for a word, counted from 1; for 0, only if it is empty."""
        if word == 0:
            return not (self.form or self.tag or self.relation or self.side)
        at = word - 1
        return (
            (not self.form or draft.words[at] in self.form)
            and (not self.tag or not self.tag.isdisjoint(draft.tags[at]))
            and (not self.relation or draft.relations[at] in self.relation)
            and (not self.side or (self.side == "left") == (word < draft.heads[at]))
        )


@dataclasses.dataclass
class Draft:
    """A tree that is being rewritten."""

    words: Sequence[str]
    tags: Sequence[tuple[str, ...]]  # the tags of each word: one, or a universal and a specific one
    heads: list[int]
    relations: list[str]

    def dependents(self, head: int) -> list[int]:
        """The words that depend on a word, from left to right."""
        return [word for word, above in enumerate(self.heads, 1) if above == head]


@dataclasses.dataclass(frozen=True)
class TreeRule:
    """One rule: conditions on a word, its head, the head's head and a child of the word; and an action."""

    name: str
    action: str
    word: Condition = Condition()
    head: Condition = Condition()
    above: Condition = Condition()
    child: Condition = Condition()
    moves: Condition = Condition()
    relation: str = ""
    head_relation: str = ""

    def apply(self, draft: Draft) -> None:
        """Rewrite a tree, without steps that would make a cycle."""
        for word in range(1, len(draft.words) + 1):
            if self._holds(draft, word):
                before = list(draft.heads), list(draft.relations)
                ACTIONS[self.action](self, draft, word)
                if draft.heads.count(0) != 1 or word_in_cycle(draft.heads) is not None:
                    draft.heads[:], draft.relations[:] = before

    def _holds(self, draft: Draft, word: int) -> bool:
        head = draft.heads[word - 1]
        return (
            self.word.holds(draft, word)
            and (self.action == "rename" or head != 0)
            and self.head.holds(draft, head)
            and (head == 0 or self.above.holds(draft, draft.heads[head - 1]))
            and (self.child == Condition() or any(self.child.holds(draft, c) for c in draft.dependents(word)))
        )


def _swap(rule: TreeRule, draft: Draft, word: int) -> None:
    """The word takes the place of its head, which then depends on it."""
    head = draft.heads[word - 1]
    above, role = draft.heads[head - 1], draft.relations[head - 1]
    for other in draft.dependents(head) if rule.moves != Condition() else ():
        if other != word and rule.moves.holds(draft, other):
            draft.heads[other - 1] = word
    draft.heads[word - 1], draft.heads[head - 1] = above, word
    draft.relations[head - 1] = rule.head_relation or draft.relations[word - 1]
    draft.relations[word - 1] = rule.relation or role


def _lift(rule: TreeRule, draft: Draft, word: int) -> None:
    """The word depends on the head of its head."""
    above = draft.heads[draft.heads[word - 1] - 1]
    if above:
        draft.heads[word - 1] = above
        draft.relations[word - 1] = rule.relation or draft.relations[word - 1]


def _first(rule: TreeRule, draft: Draft, word: int) -> None:
    """The first word of its kind takes the place of its head, which then depends on it, like the others."""
    head = draft.heads[word - 1]
    kin = [other for other in draft.dependents(head) if rule.word.holds(draft, other)]
    if kin[0] != word:
        return
    _swap(rule, draft, word)
    for other in kin[1:]:
        draft.heads[other - 1] = word
        draft.relations[other - 1] = rule.head_relation or draft.relations[other - 1]


def _next(rule: TreeRule, draft: Draft, word: int) -> None:
    """The word depends on its next sibling to the right that meets the condition `moves`."""
    for other in draft.dependents(draft.heads[word - 1]):
        if other > word and rule.moves.holds(draft, other):
            draft.heads[word - 1] = other
            draft.relations[word - 1] = rule.relation or draft.relations[word - 1]
            return


def _rename(rule: TreeRule, draft: Draft, word: int) -> None:
    draft.relations[word - 1] = rule.relation


ACTIONS: Mapping[str, Callable[[TreeRule, Draft, int], None]] = {
    "swap": _swap,
    "lift": _lift,
    "first": _first,
    "next": _next,
    "rename": _rename,
}


@dataclasses.dataclass(frozen=True)
class TreeRules:
    """A file of rules, and how the target writes words and features."""

    rules: tuple[TreeRule, ...] = ()
    forms: Mapping[str, str] = dataclasses.field(default_factory=dict)
    feats: Mapping[str, str] = dataclasses.field(default_factory=dict)
    has_lemmas: bool = False  # whether the target writes words as their own lemmas
    text: str = ""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load the rules in a file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: cannot be read ({error})") from None
        return cls.parsed(text, str(path))

    @classmethod
    def parsed(cls, text: str, name: str) -> Self:
        """Parse rules; `name` is that of the file, for messages."""
        if not isinstance(text, str) or len(text) > MAX_SIZE:
            raise ConfigError(f"{name}: the rules must be a string of at most {MAX_SIZE:,} characters")
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{name}: {error}") from None
        for key in content:
            if key not in ("rule", "forms", "feats", "lemma"):
                raise ConfigError(f"{name}: there is no table [{key}]", "write [[rule]], [forms] or [feats]")
        lemma = content.get("lemma")
        if lemma not in (None, "form"):
            raise ConfigError(f"{name}: lemma must be 'form', got {lemma!r}", "or leave it out")
        rows = content.get("rule", [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ConfigError(f"{name}: rule must be a list of tables: [[rule]]")
        rules = tuple(_rule(row, f"{name}: rule {number}") for number, row in enumerate(rows, start=1))
        tables = [_table(content.get(key, {}), f"{name}: [{key}]") for key in ("forms", "feats")]
        return cls(rules, tables[0], tables[1], lemma is not None, text)

    def rewritten(self, layer: Layer) -> Layer:
        """Apply the rules to the tree of a sentence; without a complete tree, it stays as it is."""
        heads, relations, tags = layer.heads or (None,), layer.relations or (None,), layer.tags or (None,)
        if not self.rules or None in heads or None in relations or None in tags:
            return layer
        draft = Draft(
            layer.words,
            [tuple(str(tag).split(JOINT)) for tag in joint_tags(layer)],
            [head for head in heads if head is not None],
            list(map(str, relations)),
        )
        for rule in self.rules:
            rule.apply(draft)
        return dataclasses.replace(layer, heads=tuple(draft.heads), relations=tuple(draft.relations))

    def respelled(self, given: Layer, tree: Layer) -> Layer:
        """The tree with words and features as in the target, and the columns of the given sentence."""
        words = tuple(
            self._spelling(word, str(tag).split(JOINT))
            for word, tag in zip(given.words, joint_tags(given), strict=True)
        )
        columns = {name: row for name, row in given.columns.items() if name not in DROPPED}
        columns.setdefault("xpos", tuple(map(str, given.tags or ())))
        if "feats" in columns and self.feats:
            columns["feats"] = tuple(self.feats.get(each, each) for each in columns["feats"])
        if self.has_lemmas:
            columns["lemma"] = words
        return dataclasses.replace(
            tree, words=words, spaces=given.spaces, columns=columns, extra_rows=given.extra_rows
        )

    def _spelling(self, word: str, tags: Sequence[str]) -> str:
        found = (self.forms[f"{word}/{tag}"] for tag in tags if f"{word}/{tag}" in self.forms)
        return next(found, self.forms.get(word, word))


DROPPED = ("upos", "deps", "phead", "pdep")  # columns of the source with no meaning in the target


def _rule(row: Mapping[str, Any], place: str) -> TreeRule:
    for key in row:
        if key not in KEYS:
            raise ConfigError(f"{place}: a rule has no key {key!r}", did_you_mean(key, KEYS))
    action = row.get("action")
    if not isinstance(action, str) or action not in ACTIONS:
        raise ConfigError(
            f"{place}: action {action!r} does not exist", f"choose one of: {', '.join(ACTIONS)}"
        )
    texts = {key: row.get(key, "") for key in ("name", "relation", "head_relation")}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise ConfigError(f"{place}: {key} must be a string")
    if action == "rename" and not texts["relation"]:
        raise ConfigError(f"{place}: rename needs the key 'relation'")
    if action == "next" and "moves" not in row:
        raise ConfigError(f"{place}: next needs the key 'moves'")
    conditions: dict[str, Any] = {
        key: _condition(row[key], f"{place}: {key}")
        for key in ("word", "head", "above", "child", "moves")
        if key in row
    }
    return TreeRule(action=action, **texts, **conditions)


def _condition(row: object, place: str) -> Condition:
    if not isinstance(row, dict):
        raise ConfigError(f"{place} must be a table, such as {{ relation = 'nummod' }}")
    found: dict[str, Any] = {}
    for key, value in row.items():
        if key not in FIELDS:
            raise ConfigError(f"{place} has no key {key!r}", did_you_mean(key, FIELDS))
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not values or not all(isinstance(each, str) for each in values):
            raise ConfigError(f"{place}: {key} must be a string or a list of strings")
        if key == "side" and value not in ("left", "right"):
            raise ConfigError(f"{place}: side must be left or right, got {value!r}")
        found[key] = value if key == "side" else frozenset(values)
    return Condition(**found)


def _table(row: object, place: str) -> dict[str, str]:
    if not isinstance(row, dict) or not all(isinstance(each, str) and each for each in row.values()):
        raise ConfigError(f"{place} must map strings to strings")
    return dict(row)
