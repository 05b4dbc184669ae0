"""How text becomes units, and units become features: what most taggers share."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from duilian.features import Templates
from duilian.labels.encoding import Encoding, Level
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
    min_count: int = setting(1, "Leave out features seen less often than this.", at_least=1)
    full_from: int = setting(
        2,
        "Features seen at least this often get a weight for every label; rarer ones only for the labels they "
        "were seen with.",
        at_least=1,
    )
    scheme: str = setting("BIES", "Boundary letters of characters.")
    join_letters: bool = setting(False, "Treat a run of letters as one unit.")
    join_digits: bool = setting(False, "Treat a run of digits as one unit.")
    script: Script = setting("as-is", "`simplified`: features see traditional characters as simplified ones.")

    def encoding(self, level: Level, tags: tuple[str, ...] | None) -> Encoding:
        """How annotation with these tags becomes labels."""
        return Encoding(level, tags, self.scheme, self.join_letters, self.join_digits)

    def folding(self) -> Folding:
        """What features see of a character."""
        return Folding(script=self.script)

    def named(self, templates: Templates) -> Templates:
        """Templates under the name of their file alone: a model does not tell where it was made."""
        return Templates(templates.text, name=Path(templates.name).name)

    def load_templates(self, default: str) -> Templates:
        """The templates, or those of the default preset."""
        return Templates.load(self.templates or default)
