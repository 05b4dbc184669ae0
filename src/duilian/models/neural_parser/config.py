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
    hidden: int = setting(256, "Cells of an LSTM in one direction.", at_least=1, at_most=1024)
    layers: int = setting(2, "Bidirectional LSTMs on top of each other.", at_least=1, at_most=4)
    arc_size: int = setting(400, "Numbers for a word as a head or dependent.", at_least=1, at_most=1024)
    relation_size: int = setting(100, "The same for relations.", at_least=1, at_most=512)
    chooses_tags: bool = setting(True, "Choose tags, too, among those that a tagger finds likely.")
    tag_share: float = setting(
        0.6, "The parser's share in a decision on tags, with a tagger.", at_least=0, at_most=1
    )
    max_length: int = setting(200, "Parse longer sentences in parts (in words).", at_least=0, at_most=2000)
