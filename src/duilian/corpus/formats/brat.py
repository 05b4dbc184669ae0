"""brat's `.ann` files, each beside the `.txt` file that it annotates: words are T lines, arcs are R lines.

brat allows only ASCII letters, digits, - and _ in names, so tags such as `.` are renamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from duilian.corpus.declared import known_tags
from duilian.corpus.files import read_text
from duilian.corpus.formats.spans import AnnotatedText, Arc, Span
from duilian.corpus.lines import Lines, Malformed, shown
from duilian.corpus.sentence import Sentence
from duilian.corpus.trees import TreeCheck
from duilian.errors import CorpusError

NAMES = {
    ",": "COMMA",
    ".": "PERIOD",
    "...": "ELLIPSIS",
    ":": "COLON",
    "/": "SLASH",
    "(": "OPEN",
    ")": "CLOSE",
    '"': "QUOTE",
    "``": "OPEN-QUOTE",
    "''": "CLOSE-QUOTE",
}
EXTENSION = ".ann"
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_WORD = re.compile(r"(T\d+)\t(\S+) (\d+) (\d+)\t(.*)")
_ARC = re.compile(r"R\d+\t(\S+) Arg1:(T\d+) Arg2:(T\d+)\s*")
_OTHERS = "*EAM#N"  # equivalences, events, attributes, notes, normalisations


def brat_name(label: str) -> str:
    """A tag or relation as brat's configuration allows it: `.` is PERIOD, `case:suff` is case-suff."""
    return NAMES.get(label) or _NOT_A_NAME.sub("-", label)


def read_brat(lines: Lines, *, path: str, standard: str, trees: TreeCheck = "any") -> Iterator[Sentence]:
    """Read the sentences of a document; the text is in the `.txt` file of the same name."""
    tags = {brat_name(tag): tag for tag in known_tags(standard) or () if isinstance(tag, str)}
    spans: dict[str, Span] = {}
    arcs: list[Arc] = []
    text, number = _text(path), 1
    for number, line in lines:
        try:
            _add(line, text, tags, spans, arcs)
        except Malformed as problem:
            raise problem.at(path, number) from None
    if not spans:
        return
    try:
        yield from list(AnnotatedText(text, spans, arcs).sentences(standard, trees))
    except Malformed as problem:
        raise problem.at(path, number) from None


def _text(path: str) -> str:
    if not path.endswith(EXTENSION):
        raise CorpusError(
            path, 1, "brat's annotation needs its text", "name a .ann file beside its .txt file"
        )
    return read_text(Path(path).with_suffix(".txt"))


def _add(line: str, text: str, tags: dict[str, str], spans: dict[str, Span], arcs: list[Arc]) -> None:
    if word := _WORD.fullmatch(line):
        name, label, start, end, form = word.groups()
        if text[int(start) : int(end)] != form:
            raise Malformed(f"{name} is {shown(form)}, but the text has {shown(text[int(start) : int(end)])}")
        spans[name] = Span(int(start), int(end), frozenset([tags.get(label, label)]))
    elif arc := _ARC.fullmatch(line):
        # The relations that we know have a colon where brat has a hyphen.
        arcs.append(Arc(arc[2], arc[3], arc[1].replace("-", ":", 1)))
    elif line and not line.isspace() and line[0] not in _OTHERS:
        hint = "a word is one stretch of characters" if line[0] == "T" and ";" in line else ""
        raise Malformed(f"expected a T or R line of brat, found {shown(line)}", hint)
