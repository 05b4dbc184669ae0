"""A tagger of characters and a parser for its words, in one model file (kind `analyzer`).

There may be a fast segmenter, too: a small plain tagger that only cuts text into words. Each part is a model
of any suitable kind with its own header and arrays; the names of the arrays in the file begin with `tagger.`,
`parser.` and `segmenter.`. `Analyzer` loads such a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Self

from duilian.errors import ConfigError
from duilian.features import Dictionary
from duilian.features.dictionary import DictionaryMode
from duilian.models.base.estimator import Arrays, State, Storable
from duilian.models.base.precision import Precision
from duilian.models.base.table_codec import below
from duilian.models.coupled.effort import Effort
from duilian.models.registry import KINDS, PARSERS, SUITE, estimator_of, standards_of
from duilian.models.roles import Ability

# Less than for a tagger on its own: much faster, with hardly any difference.
TUNED: Mapping[str, Mapping[str, Any]] = {"coupled": {"effort": Effort(5.0, 0.9, 2.5)}}
"""Settings by kind for taggers that are loaded as a part."""


class Suite(Storable):
    """A tagger, a parser for one of its standards and, optionally, a segmenter for one."""

    kind: ClassVar[str] = SUITE
    abilities: ClassVar[frozenset[Ability]] = frozenset(Ability)

    def __init__(self, tagger: Any, parser: Any, segmenter: Any = None) -> None:
        _check_kind("parser", parser.kind, is_parser=True)
        for name, part in (("tagger", tagger), ("segmenter", segmenter)):
            if part is not None:
                _check_kind(name, part.kind, is_parser=False)
        standards = standards_of(tagger)
        if tagger.level != "char":
            raise ConfigError("the tagger must find the words itself", "train it with level = 'char'")
        if parser.standard not in standards:
            names = ", ".join(standards)
            raise ConfigError(f"the parser's standard {parser.standard!r} is not one of {names}")
        if getattr(tagger, "segment_only", False) and Ability.TAGS not in parser.abilities:
            hint = "train the tagger with tags, or use a joint-parser"
            raise ConfigError(f"the tagger only segments text, but a {parser.kind} needs tags", hint)
        if segmenter is not None and (segmenter.standard not in standards or segmenter.level != "char"):
            raise ConfigError(
                f"the segmenter must be a character-level model for one of {', '.join(standards)}"
            )
        self.tagger = tagger
        self.parser = parser
        self.segmenter = segmenter

    @property
    def parts(self) -> dict[str, Any]:
        """The parts that exist, by name."""
        found = {"tagger": self.tagger, "parser": self.parser, "segmenter": self.segmenter}
        return {name: part for name, part in found.items() if part is not None}

    def state(self, precision: Precision = "float32") -> State:
        header: dict[str, Any] = {"kind": self.kind}
        arrays: Arrays = {}
        for name, part in self.parts.items():
            header[name], parts = part.state(precision)
            arrays |= {f"{name}.{key}": array for key, array in parts.items()}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        with ThreadPoolExecutor(1) as beside:  # most of the work is native or numpy's
            parser = beside.submit(_part, "parser", header, arrays)
            tagger = _part("tagger", header, arrays, TUNED)
            segmenter = _part("segmenter", header, arrays) if "segmenter" in header else None
            return cls(tagger, parser.result(), segmenter)

    def remember(self, notes: dict[str, Any]) -> None:
        """Keep the notes of the file, for all parts."""
        super().remember(notes)
        for part in self.parts.values():
            part.remember(notes)

    def fit_confidence(self, dev: Sequence[Any], threads: int) -> None:
        """Fit the confidence of the tagger to the search that it uses as a part; `dev` by standard."""
        settings = TUNED.get(self.tagger.kind)
        if settings is not None:
            tuned = type(self.tagger).from_state(*self.tagger.state(), **settings)
            self.tagger.use(tuned.fit_confidence(dev, threads=threads).model_)

    def use_dictionary(self, words: Dictionary, mode: DictionaryMode = "extend") -> Self:
        """Use more words, or others, in the tagger and in a segmenter with a dictionary."""
        self.tagger.use_dictionary(words, mode)
        if getattr(getattr(self.segmenter, "model_", None), "dictionary", None) is not None:
            self.segmenter.use_dictionary(words, mode)
        return self

    def is_trained(self) -> bool:
        """Whether all parts are trained."""
        return all(part.is_trained() for part in self.parts.values())


def _check_kind(name: str, kind: Any, *, is_parser: bool) -> None:
    if kind not in KINDS:
        raise ConfigError(f"the {name} is of kind {kind!r}, which this version of Duilian does not support")
    if kind == SUITE or (kind in PARSERS) != is_parser:
        raise ConfigError(f"the {name} cannot be a model of kind {kind!r}")


def _part(
    name: str, header: Mapping[str, Any], arrays: Arrays, tuned: Mapping[str, Mapping[str, Any]] = {}
) -> Any:
    """Restore one part, with the checks for a file of its own."""
    own = header[name]
    _check_kind(name, own["kind"], is_parser=name == "parser")
    if "parameters" in own:
        raise ConfigError(f"the {name} was written by an older version of Duilian")
    return estimator_of(own["kind"]).from_state(own, below(arrays, f"{name}."), **tuned.get(own["kind"], {}))
