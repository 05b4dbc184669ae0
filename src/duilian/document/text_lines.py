"""A `Doc` as one line of words that preserves every character of the text.

White space separates words and stays in place. Invisible characters stay with the word before them or, after
white space, with the word that follows.
"""

from __future__ import annotations

import re

from duilian.corpus import Layer
from duilian.corpus.sentence import NO_COLUMNS
from duilian.corpus.tag_spelling import UNKNOWN_FIELD
from duilian.document import Doc

# A gap: what belongs to the word before, white space, what belongs to the word after.
_GAP = re.compile(r"(\S*)((?:\s(?:.*\s)?)?)(\S*)", re.DOTALL)
_LEAD = re.compile(r"((?:.*\s)?)(\S*)", re.DOTALL)


def line_layer(doc: Doc, standard: str) -> tuple[str, Layer]:
    """Return the white space before the first word, and all words with tags and the space after each."""
    table, words = doc.layer(standard), doc.words(standard)
    tags = None if table.tags is None else tuple(table.tags)
    columns = NO_COLUMNS
    if table.xpos is not None:
        columns = {"xpos": tuple(tag or UNKNOWN_FIELD for tag in table.xpos)}
    if sum(map(len, words)) == len(doc.text):
        return "", Layer(tuple(words), tags, columns=columns)
    if not words:
        return doc.text, Layer((), tags, columns=columns)
    ends, starts = table.end.tolist(), [*table.start.tolist()[1:], len(doc.text)]
    lead, before = _matched(_LEAD, doc.text[: int(table.start[0])])
    words[0] = before + words[0]
    spaces = []
    for k, (end, start) in enumerate(zip(ends, starts, strict=True)):
        tail, space, after = _matched(_GAP, doc.text[end:start])
        words[k] += tail
        if k + 1 < len(words):
            words[k + 1] = after + words[k + 1]
            after = ""
        spaces.append(space + after)
    return lead, Layer(tuple(words), tags, spaces=tuple(spaces), columns=columns)


def _matched(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    match = pattern.fullmatch(text)
    assert match is not None
    return match.groups()


def segmented_line(doc: Doc, standard: str) -> str:
    """Join words with two spaces; white space of the text stays, padded to two characters."""
    words = doc.words(standard)
    if sum(map(len, words)) == len(doc.text):  # nothing between words, which is nearly always true
        return "  ".join(words)
    lead, layer = line_layer(doc, standard)
    if layer.spaces is None:
        return lead + "  ".join(layer.words)
    inner = [word + space.ljust(2) for word, space in zip(layer.words[:-1], layer.spaces[:-1], strict=True)]
    return lead + "".join(inner) + layer.words[-1] + layer.spaces[-1]
