"""A dictionary in training: its file, and which of its words are hidden."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.features import Dictionary, Reading
from duilian.labels.encoding import Level
from duilian.models.base.table_codec import Arrays, below
from duilian.settings import Settings, setting
from duilian.text import Folding


class AsksDictionary(Protocol):
    """Templates that may consult a dictionary."""

    @property
    def needs_dictionary(self) -> bool:
        """Whether any of them consults a dictionary."""

    def with_dictionary(self) -> Self:
        """The templates with the preset that consults a dictionary."""


T = TypeVar("T", bound=AsksDictionary)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DictionarySettings(Settings):
    """Words that the model knows in addition to those of its corpus."""

    file: str | None = setting(
        None, "File with one word per line: `word [frequency [tag]]`; none: no dictionary."
    )
    hide: float = setting(
        0.0,
        "In training, hide this share of the listed words that are rare in the training corpus: the model "
        "learns to find words that are not listed.",
        at_least=0,
        at_most=1,
    )
    blind: float = setting(
        0.0,
        "In training, read this share of the sentences without the dictionary: the model learns what "
        "the characters alone tell.",
        at_least=0,
        at_most=1,
        is_optional=True,
    )
    rare: int = setting(2, "Words that occur at most this often in the training corpus are rare.", at_least=0)
    name: str | None = setting(None, "Name of the dictionary; none: the file name.")
    licence: str | None = setting(None, "Licence of the dictionary, kept with the model.")

    def check_level(self, level: Level) -> None:
        """Raise ConfigError if there is a dictionary, but the model does not look for words."""
        if self.file is not None and level == "word":
            raise ConfigError("a dictionary needs a model that finds words", "use level = 'char'")

    def load(self, folding: Folding) -> Dictionary | None:
        """Load the dictionary as a model sees it, if there is one."""
        if self.file is None:
            return None
        found = Dictionary.read(self.file, name=self.name or "", licence=self.licence or "")
        return found.folded(folding)

    def added_to(self, templates: T, *, is_there: bool = False) -> T:
        """Templates that consult the dictionary, if there is one: here, or elsewhere (`is_there`)."""
        if self.file is not None or is_there:
            return templates.with_dictionary()
        if templates.needs_dictionary:
            hint = "name it: [dictionary] file = '…'"
            raise ConfigError("the templates use lx or jg, which need a dictionary", hint)
        return templates

    def named(self) -> DictionarySettings:
        """The same with only the name of the file: a model does not reveal where it was made."""
        return self if self.file is None else dataclasses.replace(self, file=Path(self.file).name)

    def readings(
        self, folding: Folding, layers: Iterable[Layer], seed: int, further: Dictionary | None = None
    ) -> Readings:
        """How training and other sentences are read; the words of `further` are added."""
        dictionary = self.load(folding)
        if further is not None:
            dictionary = further if dictionary is None else dictionary.extended(further)
        full = Reading(folding, dictionary)
        if dictionary is None:
            return Readings(full, full)
        shown = self._shown(dictionary, folding, layers, seed)
        return Readings(Reading(folding, shown, self.blind), full)

    def _shown(
        self, dictionary: Dictionary, folding: Folding, layers: Iterable[Layer], seed: int
    ) -> Dictionary:
        """The dictionary without the words that are hidden in training."""
        if self.hide == 0:
            return dictionary
        fold = dataclasses.replace(folding, letters="as-is")
        counts = collections.Counter(word for layer in layers for word in layer.words)
        seen: collections.Counter[str] = collections.Counter()
        for word, count in counts.items():
            seen[fold(word)] += count
        return dictionary.hiding(seen, share=self.hide, rare=self.rare, seed=seed)


@dataclasses.dataclass(frozen=True)
class Readings:
    """How training sentences are read, with less of the dictionary, and all others."""

    training: Reading
    full: Reading


def keep_dictionary(dictionary: Dictionary | None) -> tuple[dict[str, Any], Arrays]:
    """The dictionary as part of the header and the arrays of a model file."""
    if dictionary is None:
        return {}, {}
    header, arrays = dictionary.state()
    return {"dictionary": header}, {f"dictionary.{name}": array for name, array in arrays.items()}


def dictionary_of(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Dictionary | None:
    """The dictionary of a model file, if it has one."""
    if "dictionary" not in header:
        return None
    return Dictionary.from_state(header["dictionary"], below(arrays, "dictionary."))


def check_dictionary(templates: AsksDictionary, dictionary: Dictionary | None) -> None:
    """Raise ConfigError if templates consult a dictionary and a model file has none."""
    if templates.needs_dictionary and dictionary is None:
        raise ConfigError("the templates use lx or jg, but the model has no dictionary")
