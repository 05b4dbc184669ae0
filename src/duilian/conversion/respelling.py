"""A guess put back into the characters of the text that it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duilian import text as texts
from duilian.corpus import Layer
from duilian.labels.encoding import word_ends

# A gap: what belongs to the word before, white space, what belongs to the word after.
_GAP = re.compile(r"(\S*)((?:\s(?:.*\s)?)?)(\S*)", re.DOTALL)
_LEAD = re.compile(r"((?:.*\s)?)(\S*)", re.DOTALL)


def join_layers(parts: Sequence[Layer]) -> Layer:
    """Concatenate the words and tags of several layers."""
    words = tuple([word for part in parts for word in part.words])
    if any(part.tags is None for part in parts):
        return Layer(words)
    return Layer(words, tuple([tag for part in parts for tag in part.tags or ()]))


def restore(line: str, units: texts.Spans, guess: Layer) -> tuple[str, Layer, list[int]]:
    """Express the guess in the characters of the line.

    Return the leading white space, the layer with tags and spaces, and the number of units before the end of
    each word. A word that contains white space becomes two.
    """
    ends = word_ends(guess.words, units[:, 1] - units[:, 0])
    gaps = texts.gaps(line, units)
    if not any(gaps):
        return "", guess, ends
    match = _LEAD.fullmatch(gaps[0])
    assert match is not None
    lead, word = match.groups()
    words, spaces, owners, cuts = [], [], [], []
    owner = 0  # the word of the guess that the next unit belongs to
    for count, (piece, gap) in enumerate(zip(texts.cut(line, units), gaps[1:], strict=True), start=1):
        match = _GAP.fullmatch(gap)
        assert match is not None
        before, space, after = match.groups()
        word += piece + before
        is_end = count == ends[owner]
        if is_end or space:
            words.append(word)
            spaces.append(space)
            owners.append(owner)
            cuts.append(count)
            word = after
        owner += is_end
    spaces[-1] += word  # invisible characters after the last white space
    tags = None if guess.tags is None else tuple([guess.tags[k] for k in owners])
    return lead, Layer(tuple(words), tags, spaces=tuple(spaces)), cuts
