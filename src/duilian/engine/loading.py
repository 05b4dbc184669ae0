"""Analysers from model files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duilian.arguments import checked
from duilian.engine.analyzer import Analyzer
from duilian.errors import ConfigError, ModelFileError
from duilian.features import Dictionary
from duilian.features.dictionary import DictionaryMode
from duilian.lexicon import Lexicon
from duilian.lexicon.letter_words import English
from duilian.modelfile import read_model
from duilian.models.offers import OffersDictionary, OffersFastSegmenter, OffersLabeler, OffersParts
from duilian.models.registry import restored

BUNDLED = Path(__file__).parents[1] / "bundled" / "zh.model"
"""The model that comes with the package, trained from `recipes/bundled.toml`."""

BUNDLED_NAME = "bundled"
"""What stands for it where a model is named; a file of that name is `./bundled`."""


def find_model(path: str | Path | None) -> Path:
    """Check that a model file exists and return its path; the default is `bundled`, the bundled model."""
    is_bundled = path in (None, "", BUNDLED_NAME)
    chosen = BUNDLED if is_bundled else Path(str(path))
    if chosen.exists():
        return chosen
    if is_bundled:
        hint = "give a model of your own, or train the bundled one: duilian train recipes/bundled.toml"
        raise ConfigError("this installation of Duilian does not include the model", hint)
    hint = f"give a model from `duilian train`, or `{BUNDLED_NAME}`"
    raise ConfigError(f"{path}: there is no such file", hint)


@checked
def load(
    path: str | Path | None = None,
    *,
    lexicon: Lexicon | None = None,
    dictionary: Dictionary | str | Path | None = None,
    dictionary_mode: DictionaryMode = "extend",
    english: English | None = None,
) -> Analyzer:
    """Load the analyser in a model file of any kind; the default is the bundled one.

    `lexicon` holds your own words, which count as you say. `dictionary`, or a file of one, has words that the
    model should know besides those of its own dictionary, or instead (`dictionary_mode="replace"`); it
    decides itself where they are words. `english="standard"` tags alphabetic words as the standard prescribes
    (FW, nx), where a model has learned real tags for them.

    >>> zh = load()
    >>> zh("我们去北京").tags("pku")
    ['r', 'v', 'ns']
    """
    parts = load_parts(path, dictionary, dictionary_mode)
    return Analyzer(
        parts["tagger"],
        parts.get("parser"),
        segmenter=parts.get("segmenter"),
        lexicon=lexicon,
        english=english,
    )


def load_parts(
    path: str | Path | None = None,
    dictionary: Dictionary | str | Path | None = None,
    dictionary_mode: DictionaryMode = "extend",
) -> dict[str, Any]:
    """Load what an analyser is made of: a tagger and perhaps a parser and a fast segmenter, by name."""
    chosen = find_model(path)
    model = restored(chosen, *read_model(chosen))
    if dictionary is not None:
        _give_dictionary(model, dictionary, dictionary_mode)
    parts: dict[str, Any] = dict(model.parts) if isinstance(model, OffersParts) else {"tagger": model}
    if not isinstance(parts["tagger"], OffersLabeler):
        hint = "use duilian parse, or put it into a model of kind analyzer"
        raise ModelFileError(str(chosen), f"a model of kind {model.kind!r} cannot find words", hint)
    if "segmenter" not in parts and isinstance(parts["tagger"], OffersFastSegmenter):
        parts["segmenter"] = parts["tagger"].fast_segmenter
    return parts


def _give_dictionary(model: Any, dictionary: Dictionary | str | Path, mode: DictionaryMode) -> None:
    if not isinstance(model, OffersDictionary):
        raise ConfigError(f"a model of kind {model.kind!r} has no dictionary", "use a lexicon instead")
    words = dictionary if isinstance(dictionary, Dictionary) else Dictionary.read(dictionary)
    model.use_dictionary(words, mode)
