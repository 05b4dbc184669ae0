"""UDPipe as a system of a study: trained on the same files, asked about the same words.

Tags are given to UDPipe as UPOS, which its parser reads. All settings are its defaults, apart from the
numbers of iterations: those of the recipe for the parser, twice as many for the tagger, which is their usual
ratio. The parser learns from the tags of the tagger, or, if there is none (udpipe-parser), from gold tags.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from duilian.corpus import Corpus, Layer
from duilian.errors import ConfigError

MODULE = "ufal.udpipe"
TAGGER = "use_lemma=0;provide_lemma=0;use_xpostag=0;use_feats=0;provide_feats=0"
PARSER = "transition_system=projective;transition_oracle=dynamic"


def is_installed() -> bool:
    """Whether UDPipe is there."""
    return importlib.util.find_spec("ufal") is not None and importlib.util.find_spec(MODULE) is not None


def train_udpipe(train: Corpus, dev: Corpus | None, iterations: int, *, has_tagger: bool) -> bytes:
    """A model of a tagger and a parser, or a parser; both keep the iteration that is best on the dev set."""
    native = importlib.import_module(MODULE)
    error = native.ProcessingError()
    made = native.Trainer.train(
        "morphodita_parsito",
        _all(native, train),
        _all(native, dev or ()),
        native.Trainer.NONE,
        f"iterations={2 * iterations};{TAGGER}" if has_tagger else native.Trainer.NONE,
        f"iterations={iterations};{PARSER}",
        error,
    )
    if error.occurred():
        raise ConfigError(f"UDPipe cannot be trained: {error.message}")
    return made if isinstance(made, bytes) else made.encode("latin-1", "surrogateescape")


class UDPipe:
    """A trained model, as a parser of words with tags."""

    kind = "udpipe"

    def __init__(self, path: Path) -> None:
        self._native = importlib.import_module(MODULE)
        self._model = self._native.Model.load(str(path))
        if self._model is None:
            raise ConfigError(f"{path}: UDPipe cannot read this model")

    @property
    def tagger(self) -> UDPipeTagger:
        """The tagger in the same model."""
        return UDPipeTagger(self._native, self._model)

    def predict_layers(self, layers: Sequence[Layer], *, threads: int = 1) -> list[Layer]:
        """The trees of words and their tags."""
        found = []
        for layer in layers:
            sentence, error = _sentence(self._native, layer), self._native.ProcessingError()
            self._model.parse(sentence, self._native.Model.DEFAULT, error)
            words = list(sentence.words)[1:]
            heads, relations = tuple(word.head for word in words), tuple(word.deprel for word in words)
            found.append(dataclasses.replace(layer, heads=heads, relations=relations))
        return found


@dataclasses.dataclass(frozen=True)
class UDPipeTagger:
    """The tagger of a model."""

    native: Any
    model: Any
    level = "word"

    def predict_layers(self, layers: Sequence[Layer], *, threads: int = 1) -> list[Layer]:
        """The tags of words."""
        found = []
        for layer in layers:
            sentence, error = _sentence(self.native, Layer(layer.words)), self.native.ProcessingError()
            self.model.tag(sentence, self.native.Model.DEFAULT, error)
            found.append(Layer(layer.words, tuple(word.upostag for word in list(sentence.words)[1:])))
        return found


def _all(native: Any, corpus: Iterable[Any]) -> Any:
    found = native.Sentences()
    for sentence in corpus:
        (layer,) = sentence.layers.values()
        found.append(_sentence(native, layer))
    return found


def _sentence(native: Any, layer: Layer) -> Any:
    """A sentence with what the layer has of tags and trees."""
    sentence = native.Sentence()
    for k, form in enumerate(layer.words):
        word = sentence.addWord(form)
        if layer.tags is not None:
            word.upostag = str(layer.tags[k] or "_")
        if layer.relations is not None:
            word.deprel = str(layer.relations[k] or "dep")
    for k, head in enumerate(layer.heads or (), 1):
        sentence.setHead(k, head or 0, sentence.words[k].deprel or "dep")
    return sentence
