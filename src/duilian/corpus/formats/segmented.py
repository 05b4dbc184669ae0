"""Words separated by spaces, as in the SIGHAN bakeoffs; ideographic spaces separate too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from sys import intern

from duilian.corpus.lines import Lines, layer_to_write, unwritable
from duilian.corpus.sentence import Layer, Sentence

_SPACES = re.compile("[ \t\u3000]+")
_UNSAFE = re.compile("[\0 \t\r\n\u3000]")


def read_segmented(
    lines: Lines, *, path: str, standard: str, may_lack_tags: bool = True
) -> Iterator[Sentence]:
    """Read one sentence per line; blank lines are skipped."""
    del path, may_lack_tags  # every line of text is well formed
    for _, line in lines:
        words = tuple([intern(word) for word in _SPACES.split(line) if word])
        if words:
            yield Sentence({standard: Layer(words)})


def write_segmented(sentences: Iterable[Sentence], *, standard: str | None = None) -> Iterator[str]:
    """Write one line per sentence, with two spaces between words as in the bakeoffs."""
    for sentence in sentences:
        words = layer_to_write(sentence, standard).words
        for word in words:
            if not word or _UNSAFE.search(word):
                raise unwritable("word", word, "segmented")
        yield "  ".join(words) + "\n"
