"""A tagger of characters and a parser for its words, in one model file (kind `analyzer`).

There may be a segmenter too: a small plain tagger that only cuts text, for those who want words alone, fast.
Each keeps its own config, header and arrays; the arrays stand in the file under the names `tagger.…`,
`parser.…` and `segmenter.…`. `Analyzer` loads such a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Self

from duilian.errors import ConfigError
from duilian.models.base.estimator import Arrays, State, Storable
from duilian.models.base.precision import Precision
from duilian.models.base.table_codec import below
from duilian.models.coupled.model import CoupledTagger
from duilian.models.crf.model import Tagger
from duilian.models.parser.model import Parser

COARSE_WINDOW = 5.0  # narrower than for a tagger on its own: much faster, with hardly a difference


class Suite(Storable):
    """A tagger, a parser for one of its standards, and perhaps a segmenter for one."""

    kind: ClassVar[str] = "analyzer"

    def __init__(
        self, tagger: Tagger | CoupledTagger, parser: Parser, segmenter: Tagger | None = None
    ) -> None:
        standards = tagger.standards if isinstance(tagger, CoupledTagger) else (tagger.standard,)
        if tagger.level != "char":
            raise ConfigError("the tagger must find the words itself", "train it with level = 'char'")
        if parser.standard not in standards:
            raise ConfigError(f"the parser's standard {parser.standard!r} is none of {', '.join(standards)}")
        if segmenter is not None and (segmenter.standard not in standards or segmenter.level != "char"):
            raise ConfigError(f"the segmenter must be for characters, and for one of {', '.join(standards)}")
        self.tagger = tagger
        self.parser = parser
        self.segmenter = segmenter

    @property
    def parts(self) -> dict[str, Tagger | CoupledTagger | Parser]:
        """What there is, by name."""
        found = {"tagger": self.tagger, "parser": self.parser, "segmenter": self.segmenter}
        return {name: part for name, part in found.items() if part is not None}

    def state(self, precision: Precision = "float32") -> State:
        """What a model file keeps of all parts."""
        header: dict[str, Any] = {"kind": self.kind}
        arrays: Arrays = {}
        for name, part in self.parts.items():
            header[name], parts = part.state(precision)
            arrays |= {f"{name}.{key}": array for key, array in parts.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """All parts again."""
        kind, own = header["tagger"]["kind"], below(arrays, "tagger.")
        if kind not in (Tagger.kind, CoupledTagger.kind) or header["parser"]["kind"] != Parser.kind:
            raise ConfigError("an analyser needs a tagger and a parser")
        with ThreadPoolExecutor(1) as beside:  # most of the work is native or numpy's
            parser = beside.submit(Parser.from_state, header["parser"], below(arrays, "parser."))
            tagger: Tagger | CoupledTagger
            if kind == Tagger.kind:
                tagger = Tagger.from_state(header["tagger"], own)
            else:
                tagger = CoupledTagger.from_state(header["tagger"], own, coarse_window=COARSE_WINDOW)
            segmenter = None
            if "segmenter" in header:
                segmenter = Tagger.from_state(header["segmenter"], below(arrays, "segmenter."))
            return cls(tagger, parser.result(), segmenter)

    def remember(self, notes: dict[str, Any]) -> None:
        """All come from the same place."""
        super().remember(notes)
        for part in self.parts.values():
            part.remember(notes)

    def is_trained(self) -> bool:
        """Whether all parts are."""
        return all(part.is_trained() for part in self.parts.values())
