"""Sentences in the forms that estimators accept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from duilian.corpus import Layer, Sentence
from duilian.corpus.lines import shown
from duilian.errors import ConfigError, StandardError, TextError
from duilian.standards import is_pair, with_parts
from duilian.wording import counted

Sentences = Iterable[Layer] | Iterable[Sentence] | Iterable[Sequence[str]]


def layer_of(sentence: Layer | Sentence | Sequence[str], standard: str, number: int = 0) -> Layer:
    """The layer of a sentence, which may be a layer, a sentence with one in `standard`, or words.

    `number` is that of the sentence in messages, counted from 0.
    """
    if isinstance(sentence, Layer | Sentence):
        layer = sentence if isinstance(sentence, Layer) else sentence[standard]
    elif isinstance(sentence, str):
        raise TextError(
            f"a sentence is a list of words, not the string {sentence[:20]!r}",
            "put sentences into a list, and the words of each into a list: [['我们', '去']]",
        )
    elif not isinstance(sentence, Iterable):
        raise TextError(f"sentence {number + 1} must be a list of words, got {shown(sentence)}")
    else:
        layer = Layer(tuple(sentence))
        for word in layer.words:
            if not isinstance(word, str):
                raise TextError(f"sentence {number + 1}: a word must be a string, got {shown(word)}")
    if "" in layer.words and len(layer) > 1:  # on its own, it is an empty text
        raise TextError(f"sentence {number + 1}: word {layer.words.index('') + 1} is empty")
    return layer


def layers_of(
    sentences: Sentences, standard: str, tags: Iterable[Sequence[str]] | None = None
) -> list[Layer]:
    """The layers of sentences in any of the accepted forms, or of words with tags."""
    if isinstance(sentences, str):
        hint = "read a file with duilian.read(path, standard=…), or give a list of lists of words"
        raise TextError("expected a list of sentences, got one string", hint)
    if isinstance(sentences, Layer | Sentence):
        raise TextError("expected a list of sentences, got one sentence", "put it into a list")
    given: Iterable[Layer | Sentence | Sequence[str]] = sentences
    layers = [layer_of(each, standard, number) for number, each in enumerate(given)]
    return layers if tags is None else _with_tags(layers, list(tags))


def _with_tags(layers: Sequence[Layer], tags: Sequence[Sequence[str]]) -> list[Layer]:
    if len(layers) != len(tags):
        raise TextError(f"there are {len(layers)} sentences, but tags for {len(tags)}")
    for number, (layer, each) in enumerate(zip(layers, tags, strict=True), start=1):
        if len(layer) != len(each):
            raise TextError(
                f"sentence {number} has {counted(len(layer), 'word')}, but {counted(len(each), 'tag')}"
            )
    return [Layer(layer.words, tuple(each)) for layer, each in zip(layers, tags, strict=True)]


def check_corpora(corpora: object) -> None:
    """Raise ConfigError for one corpus where a list of corpora is expected."""
    from duilian.corpus import Corpus  # only for training

    if isinstance(corpora, Corpus):
        hint = "give a list of corpora, one per standard, in the order of the standards"
        raise ConfigError("expected a list of corpora, got one corpus", hint)


def tags_of(layers: Sequence[Layer], standard: str) -> tuple[str, ...]:
    """All tags of annotated sentences, in alphabetical order; part of a pair stands for the pairs."""
    known = {tag for layer in layers for tag in layer.tags or () if tag is not None}
    seen = {name for tag in known for name in ((tag,) if isinstance(tag, str) else tag)}
    if not seen:
        raise StandardError(f"the corpus has no tags in {standard!r} to learn from")
    whole = {name for name in seen if is_pair(name)}
    return tuple(sorted(whole | seen.difference(with_parts(whole))))
