"""How text becomes units, and units become features; most taggers share this."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duilian.corpus import Layer
from duilian.features import Templates
from duilian.labels.encoding import Encoding, Level
from duilian.models.base.dictionary_settings import DictionarySettings, Readings, T
from duilian.models.base.mixing_settings import MixingSettings
from duilian.settings import Settings, setting
from duilian.text import Folding, Script

DEFAULT_TEMPLATES = {"word": "pos-word", "char": "segpos-char"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Features(Settings):
    """How text becomes units, and units become features.

    >>> Features(templates="pos-word", script="simplified").min_count
    1
    """

    templates: str | None = setting(
        None, "Name of a preset, or path of a template file; none: the preset for the level."
    )
    min_count: int = setting(1, "Drop features that occur less often than this.", at_least=1)
    full_from: int = setting(
        2,
        "Features seen at least this often get a weight for every label; rarer ones only for the labels they "
        "were seen with.",
        at_least=1,
    )
    scheme: str = setting("BIES", "Boundary labels of characters.")
    join_letters: bool = setting(False, "Treat a run of letters as one unit.")
    join_digits: bool = setting(False, "Treat a run of digits as one unit.")
    script: Script = setting("as-is", "`simplified`: features see traditional characters as simplified ones.")
    dictionary: DictionarySettings = setting(
        DictionarySettings(), "Words known in addition to those of the corpus.", is_optional=True
    )
    mixing: MixingSettings = setting(MixingSettings(), "English words among Chinese ones.", is_optional=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mixing.is_on:  # an alphabetic word is one unit
            object.__setattr__(self, "join_letters", True)

    def check_level(self, level: Level) -> None:
        """Raise ConfigError for settings that need a model that finds words."""
        self.dictionary.check_level(level)
        self.mixing.check_level(level)

    def encoding(self, level: Level, tags: tuple[str, ...] | None) -> Encoding:
        """How annotation with these tags becomes labels."""
        return Encoding(level, tags, self.scheme, self.join_letters, self.join_digits)

    def folding(self) -> Folding:
        """How features see characters."""
        return Folding(script=self.script, letters="cased" if self.mixing.is_on else "as-is")

    def named(self, templates: Templates) -> Templates:
        """The same templates with only the name of their file: a model does not reveal where it was made."""
        return Templates(templates.text, name=Path(templates.name).name)

    def load_templates(self, default: str) -> Templates:
        """Load the templates, or the default preset; with a dictionary, also those that consult it."""
        return self.asking(Templates.load(self.templates or default))

    def asking(self, templates: T) -> T:
        """Templates that consult the dictionary, if there is one; mixed text brings its own."""
        return self.dictionary.added_to(templates, is_there=self.mixing.is_on)

    def readings(self, layers: Sequence[Layer], seed: int) -> Readings:
        """How training and other sentences are read."""
        further = self.mixing.words(self.folding(), layers)
        return self.dictionary.readings(self.folding(), layers, seed, further)

    def with_copies(self, layers: Sequence[Layer], standard: str, seed: int) -> list[Layer]:
        """Training sentences, then copies of some with English words, if there is mixed text."""
        return [*layers, *(copy.layer for copy in self.mixing.copies(layers, standard, seed))]

    def portable(self) -> dict[str, Any]:
        """Settings for the model file, with names of files instead of paths."""
        return {"dictionary": self.dictionary.named(), "mixing": self.mixing.named()}
