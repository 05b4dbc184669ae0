"""`word_TAG` lines, alone or between the SGML lines of a tagged Chinese Treebank file.

    <S ID=12>
    他_PN 来_VV 了_SP 。_PU
    </S>

The id of `<S ID=…>` is kept and written back; every other SGML line is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from sys import intern

from duilian.corpus.formats.inline import InlineTags, known_tags, tokens_of
from duilian.corpus.lines import Lines, Malformed, layer_to_write, unwritable
from duilian.corpus.sentence import Layer, Sentence
from duilian.corpus.tag_spelling import UNKNOWN, format_tags

_JOINED = InlineTags("_", "underscore")
_SENTENCE_START = re.compile(r"""\s*<S(?:\s+ID\s*=\s*(?:"([^"<>]*)"|([^\s"<>]+)))?\s*>""", re.IGNORECASE)
_SENTENCE_END = re.compile(r"</S>\s*\Z", re.IGNORECASE)
_ELEMENT = re.compile(r"\s*<(?:/?[A-Za-z][\w-]*(?:\s[^<>]*)?|[!?][^<>]*)>(?:[^<>]*</[A-Za-z][\w-]*>)?\s*")
_PLAIN_ID = re.compile(r"""[^\s"<>]+""")
_QUOTED_ID = re.compile(r"""[^"<>\0\r\n]+""")


def read_underscore(
    lines: Lines, *, path: str, standard: str, may_lack_tags: bool = False
) -> Iterator[Sentence]:
    """Read one sentence per line; blank lines and SGML lines are skipped."""
    id = ""
    for number, line in lines:
        this_id = id
        if "<" in line:
            line, this_id, id = _strip_elements(line, id)
        if not line or line.isspace():
            continue
        try:
            yield Sentence({standard: _parse_line(line, may_lack_tags)}, this_id)
        except Malformed as problem:
            raise problem.at(path, number) from None


def _strip_elements(line: str, id: str) -> tuple[str, str, str]:
    """A line without its SGML, the id of its sentence, and the id of the next line's."""
    start = _SENTENCE_START.match(line)
    if start:
        line, id = line[start.end() :], start[1] or start[2] or ""
    elif _ELEMENT.fullmatch(line) and not _SENTENCE_END.fullmatch(line.lstrip()):
        return "", id, id
    inside, ends = _SENTENCE_END.subn("", line)
    return inside, id, "" if ends else id


def _parse_line(line: str, may_lack_tags: bool) -> Layer:
    pairs = _JOINED.split_plain(line)
    if pairs is None:
        split = partial(_JOINED.split, may_lack_tag=may_lack_tags)
        pairs = [part for token in tokens_of(line) for part in split(token)]
    return Layer(tuple(map(intern, pairs[::2])), known_tags(pairs[1::2]))


def write_underscore(sentences: Iterable[Sentence], *, standard: str | None = None) -> Iterator[str]:
    """Write one line per sentence; a sentence with an id goes between `<S ID=…>` and `</S>`."""
    for sentence in sentences:
        layer = layer_to_write(sentence, standard)
        tags = format_tags(layer.tags, len(layer), UNKNOWN)
        _JOINED.check_all(layer.words, tags)
        line = " ".join([f"{word}_{tag}" for word, tag in zip(layer.words, tags, strict=True)])
        if "<" in line and _strip_elements(line, "")[0] != line:
            raise unwritable("line", line, "underscore")
        yield f"<S ID={_spell_id(sentence.id)}>\n{line}\n</S>\n" if sentence.id else line + "\n"


def _spell_id(id: str) -> str:
    if _PLAIN_ID.fullmatch(id):
        return id
    if _QUOTED_ID.fullmatch(id):
        return f'"{id}"'
    raise unwritable("id", id, "underscore")
