"""Reviewed sentences put back into the corpus that they come from."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Iterator

from duilian.corpus.sentence import Layer, Sentence, Tag


@dataclasses.dataclass
class MergeReport:
    """What has become of a review."""

    sentences: int = 0  # of the corpus with a reviewed one
    tags: int = 0  # words that have another tag now
    words: int = 0  # words that are cut in another way now
    untagged: int = 0  # of these, words that the review has no tag for
    lost: list[str] = dataclasses.field(default_factory=list)  # reviewed texts that the corpus does not have


def merge(
    corpus: Iterable[Sentence], reviewed: Iterable[Sentence], standard: str, report: MergeReport | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a corpus with what a review says of them.

    Sentences are found by their characters, and the same text twice in order. The review's words hold, and
    its tags where it has a single one; other tags stay. A sentence whose words change loses its tree.
    """
    report = MergeReport() if report is None else report
    waiting: dict[str, deque[Layer]] = {}
    for sentence in reviewed:
        layer = sentence[standard]
        waiting.setdefault("".join(layer.words), deque()).append(layer)
    for sentence in corpus:
        layer = sentence[standard]
        found = waiting.get("".join(layer.words))
        if found:
            layer = _merged(layer, found.popleft(), report)
            report.sentences += 1
            sentence = dataclasses.replace(sentence, layers={**sentence.layers, standard: layer})
        yield sentence
    report.lost += [text for text, layers in waiting.items() for _ in layers]


def _merged(old: Layer, new: Layer, report: MergeReport) -> Layer:
    tags: tuple[Tag, ...] = new.tags or (None,) * len(new)
    if new.words == old.words:
        own = old.tags or (None,) * len(old)
        merged = tuple(a if isinstance(a, str) else b for a, b in zip(tags, own, strict=True))
        report.tags += sum(a != b for a, b in zip(merged, own, strict=True))
        return dataclasses.replace(old, tags=None if old.tags is None and new.tags is None else merged)
    bare = dataclasses.replace(old, spaces=None)
    known = dict(zip(bare.spans(), old.tags or (None,) * len(old), strict=True))
    places = Layer(new.words).spans()
    merged = tuple(
        tag if isinstance(tag, str) else known.get(place) for tag, place in zip(tags, places, strict=True)
    )
    report.words += sum(place not in known for place in places)
    report.untagged += sum(
        place not in known and tag is None for tag, place in zip(merged, places, strict=True)
    )
    report.tags += sum(
        place in known and known[place] != tag for tag, place in zip(merged, places, strict=True)
    )
    return Layer(new.words, None if old.tags is None and new.tags is None else merged)
