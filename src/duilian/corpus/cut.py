"""Cutting paragraphs into sentences, between words: after 。！？ and any closing marks that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from duilian.corpus.sentence import Entity, Layer, Sentence

_END_MARKS = frozenset("。！？")
_CLOSING_MARKS = frozenset("”’」』）】》〉］｝〕〗")
_ALL_MARKS = _END_MARKS | _CLOSING_MARKS


def cut_sentences(sentences: Iterable[Sentence], standard: str) -> Iterator[Sentence]:
    """Cut lines into sentences. The sentences of a line with an id get the ids id.1, id.2, …"""
    for sentence in sentences:
        layer = sentence[standard]
        ends = _ends(layer)
        if len(ends) == 1:
            yield sentence
            continue
        start = 0
        for place, end in enumerate(ends, start=1):
            id = f"{sentence.id}.{place}" if sentence.id else ""
            yield Sentence({standard: _piece(layer, start, end)}, id)
            start = end


def _ends(layer: Layer) -> list[int]:
    """The end of each sentence; the last one is the end of the line."""
    words = layer.words
    ends: list[int] = []
    for place, word in enumerate(words):
        if word[-1] in _ALL_MARKS and not _END_MARKS.isdisjoint(word) and _ALL_MARKS.issuperset(word):
            end = place + 1
            while end < len(words) and _ALL_MARKS.issuperset(words[end]):
                end += 1
            if not ends or end > ends[-1]:
                ends.append(end)
    # A bracketed name is never cut, even if it contains a mark.
    ends = [end for end in ends if not any(name.start < end < name.end for name in layer.entities)]
    return ends if ends and ends[-1] == len(words) else [*ends, len(words)]


def _piece(layer: Layer, start: int, end: int) -> Layer:
    names = [name for name in layer.entities if start <= name.start < end]
    return Layer(
        layer.words[start:end],
        None if layer.tags is None else layer.tags[start:end],
        columns={name: values[start:end] for name, values in layer.columns.items()},
        entities=tuple([Entity(name.start - start, name.end - start, name.label) for name in names]),
    )
