"""Gold and answer over the same characters, however each is cut into sentences.

White space does not count. The answer is cut where gold sentences end; if one of its words crosses such an
end, the two gold sentences are joined. A head in another sentence counts as missing: gold never has one.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
from collections.abc import Sequence

from duilian.corpus.sentence import Layer
from duilian.errors import ConfigError
from duilian.wording import counted

_SHOWN = 10  # characters of each side in an error


class TextDifferenceError(ConfigError):
    """Gold and answer differ from character `at` on, ignoring white space; `texts` shows both there."""

    def __init__(self, message: str, at: int, texts: tuple[str, str]) -> None:
        super().__init__(message, "both must be annotations of the same text")
        self.at = at
        self.texts = texts


def same_sentences(gold: Sequence[Layer], guess: Sequence[Layer]) -> tuple[list[Layer], list[Layer]]:
    """The words of both sides in the same sentences, without white space.

    >>> gold = [Layer(("天",)), Layer(("地",))]
    >>> same_sentences(gold, [Layer(("天", "地"))])[1] == gold
    True
    """
    left, (right,) = sentences_of_all(gold, [guess])
    return left, right


def sentences_of_all(
    gold: Sequence[Layer], answers: Sequence[Sequence[Layer]]
) -> tuple[list[Layer], list[list[Layer]]]:
    """Gold and several answers in the same sentences, without white space."""
    left, *rest = ([visible(layer) for layer in side] for side in (gold, *answers))
    if all(_is_cut_alike(left, right) for right in rest):
        return left, rest
    for right in rest:
        _check_text(left, right)
    edges = [_word_edges(side) for side in (left, *rest)]
    shared = set.intersection(*({edge for layer in side for edge in layer} for side in edges[1:]))
    cuts = [0, *(layer[-1] for layer in edges[0] if len(layer) > 1 and layer[-1] in shared)]
    cut = [_recut(side, bounds, cuts) for side, bounds in zip((left, *rest), edges, strict=True)]
    return cut[0], cut[1:]


def _is_cut_alike(gold: Sequence[Layer], guess: Sequence[Layer]) -> bool:
    return len(gold) == len(guess) and all(
        "".join(a.words) == "".join(b.words) for a, b in zip(gold, guess, strict=True)
    )


def visible(layer: Layer) -> Layer:
    """The same layer without white space in words, and without words of white space."""
    words = ["".join(word.split()) for word in layer.words]
    if all(map(str.__eq__, words, layer.words)):
        return layer
    kept = [k for k, word in enumerate(words) if word]
    return _part(dataclasses.replace(layer, words=tuple(words)), kept, 0)


def _word_edges(layers: Sequence[Layer]) -> list[list[int]]:
    """For each sentence the characters at which its words start and, last, its end."""
    found, at = [], 0
    for layer in layers:
        found.append(list(itertools.accumulate(map(len, layer.words), initial=at)))
        at = found[-1][-1]
    return found


def _recut(layers: Sequence[Layer], edges: Sequence[Sequence[int]], cuts: Sequence[int]) -> list[Layer]:
    """Sentences between these characters, none of which is within a word."""
    parts: list[list[Layer]] = [[] for _ in cuts[1:]]
    for layer, bounds in zip(layers, edges, strict=True):
        groups: dict[int, list[int]] = {}
        for word, start in enumerate(bounds[:-1]):
            groups.setdefault(bisect.bisect_right(cuts, start) - 1, []).append(word)
        for number, words in groups.items():
            parts[number].append(_part(layer, words, sum(map(len, parts[number]))))
    return [_joined(each) for each in parts]


def _part(layer: Layer, words: Sequence[int], shift: int) -> Layer:
    """Some words of a layer; their heads are counted from `shift` on."""
    place: dict[int | None, int] = {0: 0, **{word + 1: k + 1 + shift for k, word in enumerate(words)}}

    def chosen(column: Sequence[object] | None) -> tuple[object, ...] | None:
        return None if column is None else tuple(column[word] for word in words)

    heads = None if layer.heads is None else tuple(place.get(layer.heads[word]) for word in words)
    return Layer(
        tuple(layer.words[word] for word in words),
        chosen(layer.tags),  # type: ignore[arg-type]
        heads,
        chosen(layer.relations),  # type: ignore[arg-type]
    )


def _joined(parts: Sequence[Layer]) -> Layer:
    if len(parts) == 1:
        return parts[0]

    def column(name: str) -> tuple[object, ...] | None:
        columns = [getattr(part, name) for part in parts]
        if all(each is None for each in columns):
            return None
        filled = (
            (None,) * len(part) if each is None else each for part, each in zip(parts, columns, strict=True)
        )
        return tuple(itertools.chain.from_iterable(filled))

    words = tuple(itertools.chain.from_iterable(part.words for part in parts))
    return Layer(words, column("tags"), column("heads"), column("relations"))  # type: ignore[arg-type]


def _check_text(gold: Sequence[Layer], guess: Sequence[Layer]) -> None:
    """Refuse different texts, and say where the difference begins."""
    left, right = ("".join(word for layer in side for word in layer.words) for side in (gold, guess))
    if left == right:
        return
    pairs = zip(left, right, strict=False)
    at = next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(left), len(right)))
    texts = left[at : at + _SHOWN], right[at : at + _SHOWN]
    raise TextDifferenceError(_difference(gold, guess, at, texts), at, texts)


def _difference(gold: Sequence[Layer], guess: Sequence[Layer], at: int, texts: tuple[str, str]) -> str:
    if not all(texts):
        (short, side), long = (("gold", gold), "guess") if not texts[0] else (("guess", guess), "gold")
        return f"{counted(len(side), 'sentence')} of {short}, but more of {long}"
    ends = [bounds[-1] for bounds in _word_edges(gold)]
    sentence = bisect.bisect_right(ends, at)
    place = at - (ends[sentence - 1] if sentence else 0) + 1
    different = f"gold and guess have different text from character {place} on"
    return f"sentence {sentence + 1}: {different}: {texts[0]!r} and {texts[1]!r}"
