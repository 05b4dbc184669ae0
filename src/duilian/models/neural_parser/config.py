"""Settings of the neural parser."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from duilian.settings import Settings, setting
from duilian.text import Script


@dataclasses.dataclass(frozen=True, kw_only=True)
class NeuralParserConfig(Settings):
    """Kind `neural-parser`: trees of words, and tags to go with them."""

    kind: ClassVar[str] = "neural-parser"

    standard: str = setting("tags", "Name of the standard.")
    script: Script = setting("as-is", "`simplified`: features see traditional characters as simplified ones.")
    chooses_tags: bool = setting(True, "Choose tags, too, among those that a tagger finds likely.")
    tag_share: float = setting(
        0.6, "The parser's share in a decision on tags, with a tagger.", at_least=0, at_most=1
    )
    max_length: int = setting(200, "Parse longer sentences in parts (in words).", at_least=0, at_most=2000)
