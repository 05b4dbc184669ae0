"""Fast segmentation by a plain tagger, on the native path for whole files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duilian.labels.line_options import line_options
from duilian.models import Tagger
from duilian.text import check_text

_BETWEEN, _BEFORE_TAG = "\x01", "\x02"  # control characters never occur in words


def segment_fast(tagger: Tagger, batch: Sequence[str], threads: int) -> Iterator[list[str]]:
    """Yield the words of each text; each of its lines is one sentence."""
    lines = [check_text(text).split("\n") for text in batch]
    text = "".join([line + "\n" for each in lines for line in each]).encode()
    options = line_options(tagger.encoding_, _BETWEEN, _BEFORE_TAG)
    answers = iter(tagger.predictor_.native.tag_lines(text, options, threads).decode().split("\n"))
    for each in lines:
        found = [next(answers) for _ in each]
        words = [word for line in found if line for word in line.split(_BETWEEN)]
        yield words if tagger.segment_only else [word.partition(_BEFORE_TAG)[0] for word in words]
