"""A tagger of characters and a parser for its words, in one model file (kind `analyzer`).

Both keep their own parameters, header and arrays; the arrays stand in the file under the names `tagger.…` and
`parser.…`. What `Analyzer` loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from duilian.errors import ConfigError
from duilian.models.coupled import CoupledTagger
from duilian.models.kept_tables import Arrays, below
from duilian.models.parser import Parser
from duilian.models.precision import Precision
from duilian.models.stored import Stored
from duilian.models.tagger import Tagger


class Suite(Stored):
    """A tagger, and a parser for one of its standards."""

    kind: ClassVar[str] = "analyzer"

    def __init__(self, tagger: Tagger | CoupledTagger, parser: Parser) -> None:
        standards = tagger.standards if isinstance(tagger, CoupledTagger) else (tagger.standard,)
        if tagger.level != "char":
            raise ConfigError("the tagger must find the words itself", "train it with level = 'char'")
        if parser.standard not in standards:
            raise ConfigError(f"the parser's standard {parser.standard!r} is none of {', '.join(standards)}")
        self.tagger = tagger
        self.parser = parser

    def state(self, precision: Precision = "float32") -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps of both."""
        header: dict[str, Any] = {"kind": self.kind}
        arrays: Arrays = {}
        for name, part in (("tagger", self.tagger), ("parser", self.parser)):
            header[name], parts = part.state(precision)
            arrays |= {f"{name}.{key}": array for key, array in parts.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """Both again."""
        known = {each.kind: each for each in (Tagger, CoupledTagger)}
        if header["tagger"]["kind"] not in known or header["parser"]["kind"] != Parser.kind:
            raise ConfigError("there must be a tagger and a parser in an analyser")
        tagger = known[header["tagger"]["kind"]].from_state(header["tagger"], below(arrays, "tagger."))
        return cls(tagger, Parser.from_state(header["parser"], below(arrays, "parser.")))

    def remember(self, notes: dict[str, Any]) -> None:
        """Both come from the same place."""
        super().remember(notes)
        self.tagger.remember(notes)
        self.parser.remember(notes)

    def is_trained(self) -> bool:
        """Whether both are."""
        return self.tagger.is_trained() and self.parser.is_trained()
