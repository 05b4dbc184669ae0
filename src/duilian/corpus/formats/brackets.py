"""Chinese Treebank bracket files: constituent trees, and the sentences they annotate.

A file has s-expressions such as `( (IP (NP-SBJ (PN 我)) (VP (VV 来))) )`, each on any number of lines,
between SGML lines. Trees are read without their functional tags (`NP-SBJ` is an `NP`) and without traces
(`-NONE-`, and constituents with nothing else in them). Tags and words are unchanged. Only one tree is in
memory at a time, and nothing here is recursive: a tree may be deeper than Python's stack.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import NoReturn

from duilian.corpus.heads import HeadRules, to_dependencies
from duilian.corpus.sentence import Layer, Sentence
from duilian.errors import ConfigError, CorpusError

TRACE = "-NONE-"

# Only ASCII spaces separate: an ideographic space may be part of a word.
NAME = re.compile(r"[^\s()]+", re.ASCII)
TOKEN = re.compile(r"[()]|[^\s()]+", re.ASCII)
BARE = re.compile("[^-=]+")
TAG_LINE = re.compile(r"<[^<>]*>")
TAG_LINE_IN_TREE = re.compile(r"<[^<>()]*>")
ELEMENT_LINE = re.compile(r"<(?!(?:s|seg|su)\b)(\w+)[^<>]*>(?!\s*\().*</\1\s*>", re.IGNORECASE)
SENTENCE_ID = re.compile(r"<(?:s|seg|su)\s(?:[^<>]*\s)?id\s*=\s*[\"']?([^\s\"'<>]+)", re.IGNORECASE)
SENTENCE_END = re.compile(r"</(?:s|seg|su)\s*>", re.IGNORECASE)
HEADER_START = re.compile(r"<header\b[^<>]*>", re.IGNORECASE)
HEADER_END = re.compile(r"</header\s*>", re.IGNORECASE)


def bare_label(label: str) -> str:
    """The label without functional tags and indices: `NP` of `NP-PN-SBJ`, `VP` of `VP=1`."""
    found = BARE.match(label)
    return found[0] if found else label  # `-NONE-` begins with a hyphen and has no parts


@dataclasses.dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A constituent with its children, or a leaf: a tag with its word.

    The empty label is for an outermost bracket with several trees.
    """

    label: str
    children: tuple[Tree, ...] = ()
    word: str | None = None

    def __post_init__(self) -> None:
        if bool(self.children) == (self.word is not None):
            raise ConfigError(f"a tree has either children or a word; {self.label!r} has neither or both")
        for text in (self.label or None, self.word):
            if text is not None and not NAME.fullmatch(text):
                raise ConfigError(
                    f"{text!r} cannot be a label or word: it is empty or has a space or bracket"
                )
        if not self.label and len(self.children) < 2:
            raise ConfigError("a tree without a label needs at least two children")
        if any(not child.label for child in self.children):
            raise ConfigError(f"{self.label!r} has a child without a label: only the root may lack one")

    @property
    def bare_label(self) -> str:
        """The label without functional tags and indices."""
        return bare_label(self.label)

    def leaves(self) -> Iterator[Tree]:
        """The leaves from left to right."""
        pending = [self]
        while pending:
            tree = pending.pop()
            if tree.word is not None:
                yield tree
            pending.extend(reversed(tree.children))

    def to_brackets(self) -> str:
        """The tree on one line, as in `(NP (NN 书))`."""
        pieces: list[str] = []
        pending: list[Tree | str] = [self]
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                pieces.append(item)
            elif item.word is not None:
                pieces.append(f"({item.label} {item.word})")
            else:
                pieces.append(f"({item.label}")
                pending.append(")")
                for child in reversed(item.children):
                    pending.extend((child, " "))
        return "".join(pieces)

    # The generated versions of these three are recursive; the brackets say everything about a tree.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.to_brackets() == other.to_brackets()

    def __hash__(self) -> int:
        return hash(self.to_brackets())

    def __repr__(self) -> str:
        return f"<Tree {self.to_brackets()}>"


def read_brackets(
    lines: Iterable[tuple[int, str]],
    *,
    path: str,
    standard: str = "ctb",
    dependencies: bool = True,
    rules: HeadRules | None = None,
) -> Iterator[Sentence]:
    """Yield the sentence of each tree: words, tags and, if `dependencies`, the heads that the rules find.

    `lines` are the numbered lines of the file `path`; the id is that of the `<S ID=…>` around the tree.
    """
    if dependencies and rules is None:
        rules = HeadRules.load()
    for sentence_id, tree in trees_with_ids(lines, path):
        leaves = list(tree.leaves())
        layer = Layer(
            words=tuple(leaf.word or "" for leaf in leaves),
            tags=tuple(leaf.label for leaf in leaves),
            heads=tuple(to_dependencies(tree, rules)) if dependencies and rules else None,
        )
        yield Sentence({standard: layer}, id=sentence_id)


def trees_with_ids(lines: Iterable[tuple[int, str]], path: str) -> Iterator[tuple[str, Tree]]:
    """Yield the sentence id and the stripped tree of each tree with words."""
    builder = _TreeBuilder(path)
    sentence_id = ""
    for number, line in _without_headers(lines, path):
        text = line.strip()
        if not builder.is_inside_tree and (TAG_LINE.fullmatch(text) or ELEMENT_LINE.fullmatch(text)):
            if found := SENTENCE_ID.match(text):
                sentence_id = found[1]
            elif SENTENCE_END.match(text):
                sentence_id = ""
            continue
        if TAG_LINE_IN_TREE.fullmatch(text):
            builder.fail_unclosed(f"before {text!r} on line {number}")
        for tree in builder.feed(number, line):
            yield sentence_id, tree
    if builder.is_inside_tree:
        builder.fail_unclosed("before the end of the file")


def _without_headers(lines: Iterable[tuple[int, str]], path: str) -> Iterator[tuple[int, str]]:
    """The lines outside `<HEADER>` … `</HEADER>`, whose text is not a tree."""
    start: int | None = None
    for number, line in lines:
        if start is not None:
            if HEADER_END.search(line):
                start = None
        elif HEADER_START.fullmatch(line.strip()):
            start = number
        else:
            yield number, line
    if start is not None:
        message = "this header is never closed"
        raise CorpusError(path, start, message, hint="add a line </HEADER>")


@dataclasses.dataclass(slots=True)
class _Bracket:
    """An open bracket, with its contents so far."""

    line: int
    label: str | None = None  # None: nothing read yet; empty: an outermost bracket without a label
    word: str | None = None
    children: list[Tree] = dataclasses.field(default_factory=list)
    had_traces: bool = False


class _TreeBuilder:
    """Turns tokens into trees, with an explicit stack of the open brackets."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.brackets: list[_Bracket] = []  # outermost first

    @property
    def is_inside_tree(self) -> bool:
        return bool(self.brackets)

    def feed(self, number: int, line: str) -> Iterator[Tree]:
        """The trees that end on this line."""
        for token in TOKEN.findall(line):
            if token == "(":
                self._open(number)
            elif token != ")":
                self._add_text(number, token)
            elif (tree := self._close(number)) is not None:
                if self.brackets:
                    self.brackets[-1].children.append(tree)
                else:
                    yield tree

    def fail_unclosed(self, where: str) -> NoReturn:
        count = len(self.brackets)
        missing = "one bracket is" if count == 1 else f"{count} brackets are"
        raise CorpusError(
            self.path,
            self.brackets[0].line,
            f"this tree is not closed {where}: {missing} still open",
            hint="count its brackets: a ')' may be missing; only an outermost '(' may lack a label",
        )

    def _open(self, number: int) -> None:
        if self.brackets:
            parent = self.brackets[-1]
            if parent.label is None:
                # Only an outermost bracket may lack a label, so this `( (` begins the next tree.
                if len(self.brackets) > 1:
                    self.brackets.pop()
                    self.fail_unclosed(f"before the next one on line {parent.line}")
                parent.label = ""
            elif parent.word is not None:
                self._fail_untagged(number, parent.word, parent.label)
        self.brackets.append(_Bracket(number))

    def _add_text(self, number: int, token: str) -> None:
        if not self.brackets:
            raise CorpusError(
                self.path,
                number,
                f"{token!r} is outside any tree",
                hint="trees are in brackets, as in (NP (NN 书)); SGML tags are on separate lines",
            )
        bracket = self.brackets[-1]
        if bracket.label is None:
            bracket.label = token
        elif bracket.children or bracket.had_traces:
            self._fail_untagged(number, token, bracket.label)
        elif bracket.word is None:
            bracket.word = token
        else:
            raise CorpusError(
                self.path,
                number,
                f"the tag {bracket.label!r} has two words, {bracket.word!r} and {token!r}",
                hint=f"give each word its own tag, as in ({bracket.label} {bracket.word}) (TAG {token})",
            )

    def _close(self, number: int) -> Tree | None:
        """The stripped tree of the innermost bracket; None if it had only traces."""
        if not self.brackets:
            hint = "remove it, or look for an extra ')' before it"
            raise CorpusError(self.path, number, "this ')' closes no bracket", hint=hint)
        bracket = self.brackets.pop()
        label, word, children = bracket.label, bracket.word, bracket.children
        if label is None:
            hint = "remove the empty brackets, or fill them as in (NP (NN 书))"
            raise CorpusError(
                self.path, bracket.line, "these brackets are empty: a tree was expected", hint=hint
            )
        if word is not None and label != TRACE:
            return Tree(label, word=word)
        if children:
            is_wrapper = not label and len(children) == 1
            return children[0] if is_wrapper else Tree(bare_label(label), tuple(children))
        if word is None and not bracket.had_traces:
            raise CorpusError(
                self.path,
                bracket.line,
                f"{label!r} is alone in its bracket: a word without a tag, or an empty constituent",
                hint=f"write a word with its tag, as in (TAG {label})",
            )
        if self.brackets:
            self.brackets[-1].had_traces = True
        return None

    def _fail_untagged(self, number: int, word: str, label: str) -> NoReturn:
        raise CorpusError(
            self.path,
            number,
            f"the word {word!r} has no tag: it is next to constituents of {label!r}",
            hint=f"write it with its tag, as in (TAG {word})",
        )
