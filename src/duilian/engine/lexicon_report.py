"""Which lexicon words took effect in an analysis, read off the analysis itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from duilian.document import Doc, WordTable
from duilian.lexicon import Finding
from duilian.standards import paired, with_parts


def lexicon_report(
    findings: Sequence[Finding], doc: Doc, tags: Mapping[str, Collection[str] | None]
) -> list[Finding]:
    """Add to each finding what the analysis has in its place; `tags` are the known tags of each standard."""
    return [_with_effect(found, doc, tags) for found in findings]


def _with_effect(found: Finding, doc: Doc, tags: Mapping[str, Collection[str] | None]) -> Finding:
    kept, lost = [], []
    for name in doc.standards:
        layer = doc.layer(name)
        known = with_parts(tags[name] or ())
        wanted = [] if layer.tags is None else [tag for tag in found.tags if tag in known]
        words = _overlapping(layer, found.start, found.end)
        span = (layer.start[words.start], layer.end[words.stop - 1]) if len(words) == 1 else None
        if span == (found.start, found.end) and (not wanted or _has_one(layer, words.start, wanted)):
            kept.append(name)
        else:
            lost.append(f"{name} has {_format_words(doc.text, layer, words)}")
    why_not = ""
    if lost:
        why_not = f"{found.why_not}: {'; '.join(lost)}" if found.why_not else "; ".join(lost)
    return found._replace(why_not=why_not, standards=tuple(kept))


def _has_one(layer: WordTable, word: int, tags: Collection[str]) -> bool:
    """Whether a word has one of these tags, alone or as a part of a pair."""
    assert layer.tags is not None
    specific = None if layer.xpos is None else layer.xpos[word]
    names = {layer.tags[word], specific, paired(layer.tags[word], specific or "")}
    return not names.isdisjoint(tags)


def _overlapping(layer: WordTable, start: int, end: int) -> range:
    """Return the words that overlap the characters from `start` to `end`."""
    return range(
        int(np.searchsorted(layer.end, start, "right")), int(np.searchsorted(layer.start, end, "left"))
    )


def _format_words(text: str, layer: WordTable, words: range) -> str:
    spelled = [text[layer.start[k] : layer.end[k]] for k in words]
    if layer.tags is None:
        return " ".join(spelled)
    return " ".join(f"{word}/{layer.tags[k]}" for word, k in zip(spelled, words, strict=True))
