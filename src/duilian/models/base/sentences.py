"""Sentences in the forms that estimators accept."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from duilian.corpus import Layer, Sentence
from duilian.errors import StandardError, TextError

Sentences = Iterable[Layer] | Iterable[Sentence] | Iterable[Sequence[str]]


@dataclasses.dataclass(frozen=True)
class Answer:
    """One analysis of a sentence with its score and its probability."""

    layer: Layer
    score: float
    probability: float


def layer_of(sentence: Layer | Sentence | Sequence[str], standard: str) -> Layer:
    """A layer, a sentence that has one in `standard`, or words, as a layer."""
    if isinstance(sentence, Layer):
        return sentence
    if isinstance(sentence, str):
        raise TextError(
            f"a sentence is a list of words, not the string {sentence[:20]!r}",
            "put sentences into a list, and the words of each into a list: [['我们', '去']]",
        )
    return sentence[standard] if isinstance(sentence, Sentence) else Layer(tuple(sentence))


def layers_of(
    sentences: Sentences, standard: str, tags: Iterable[Sequence[str]] | None = None
) -> list[Layer]:
    """Sentences in any of the accepted forms, or words and their tags, as layers."""
    if isinstance(sentences, str):
        hint = "read a file with duilian.read(path, standard=…), or give a list of lists of words"
        raise TextError("expected a list of sentences, got one string", hint)
    if tags is not None:
        return [Layer(tuple(words), tuple(each)) for words, each in zip(sentences, tags, strict=True)]  # type: ignore[arg-type]
    return [layer_of(each, standard) for each in sentences]


def tags_of(layers: Sequence[Layer], standard: str) -> tuple[str, ...]:
    """All tags of annotated sentences, in alphabetical order."""
    known = {tag for layer in layers for tag in layer.tags or () if tag is not None}
    seen = {name for tag in known for name in ((tag,) if isinstance(tag, str) else tag)}
    if not seen:
        raise StandardError(f"the corpus has no tags in {standard!r} to learn from")
    return tuple(sorted(seen))
