"""Templates for two-chain models: each line says which cliques a template scores, as in `s t st: w[0]`.

`s` is the boundary letter of a unit, `t` its tag, `st` both; `ss` and `tt` are the previous letter or tag and
this one. Templates that differ only by a shift (`w[-1]`, `w[0]`, `w[1]`) become one *pattern*, `w[0]`, which
is looked up once per unit and scores several *places*: cliques at this unit and at its neighbours.
"""

from __future__ import annotations

import dataclasses
import re
from functools import cached_property
from pathlib import Path

from duilian import _native
from duilian.errors import ConfigError, TemplateError
from duilian.features.templates import ASKING, PRESETS, Templates, read_templates

TWO_CHAIN_PRESETS = PRESETS / "two_chain"
CLIQUES = {
    "s": _native.Clique.letter,
    "ss": _native.Clique.letters,
    "t": _native.Clique.tag,
    "st": _native.Clique.letter_tag,
    "tt": _native.Clique.tags,
}
_ORDER = list(CLIQUES)  # letters first, as the native core requires
_OFFSETS = re.compile(r"(?P<head>same\[|[@\w]+\[)(?P<offset>[+-]?\d+)(?P<other>(?<=\d),[+-]?\d+)?")

CliquePlace = tuple[str, int]
"""A clique, and the offset from it to the first unit that the template reads."""


@dataclasses.dataclass
class CliqueTemplates:
    """Templates with the cliques they score, as text and as patterns."""

    text: str
    name: str = "templates"

    @classmethod
    def load(cls, name: str | Path) -> CliqueTemplates:
        """Load a two-chain preset by name, or a file."""
        preset = TWO_CHAIN_PRESETS / f"{name}.txt"
        if isinstance(name, str) and preset.is_file():
            return cls(preset.read_text(encoding="utf-8"), name)
        if not Path(name).is_file():
            known = sorted(entry.name.removesuffix(".txt") for entry in TWO_CHAIN_PRESETS.iterdir())
            raise ConfigError(
                f"unknown two-chain templates {str(name)!r}",
                hint=f"give a file, or one of: {', '.join(known)}",
            )
        return cls(read_templates(Path(name)), str(name))

    @cached_property
    def lines(self) -> list[tuple[tuple[str, ...], str]]:
        """The cliques that each template scores, and the template."""
        found = []
        for number, line in enumerate(self.text.splitlines(), 1):
            content = line.partition("#")[0].strip()
            if not content:
                continue
            about, colon, template = content.partition(":")
            cliques = tuple(about.split())
            unknown = [name for name in cliques if name not in CLIQUES]
            if not colon or not cliques or unknown:
                wrong = f"unknown {unknown[0]!r}" if colon and unknown else "expected 's t: w[0]'"
                raise TemplateError(
                    f"{self.name}:{number}:1: {wrong}; a template can score {', '.join(CLIQUES)}"
                )
            self._check_template(template, number, len(line) - len(line.partition(":")[2]))
            found.append((cliques, " ".join(template.split())))
        if not found:
            raise TemplateError(f"{self.name}:1:1: there are no templates")
        return found

    def _check_template(self, template: str, number: int, column: int) -> None:
        try:
            if template.strip() == "t[-1]":
                raise ValueError(f"1:{1 + template.index('t')}: two-chain templates have no t[-1]: write tt")
            _native.parse_templates(template)
        except ValueError as error:
            _, place, message = str(error).split(":", 2)
            raise TemplateError(f"{self.name}:{number}:{column + int(place)}:{message}") from None

    @cached_property
    def uses(self) -> dict[str, set[CliquePlace]]:
        """The places that each pattern scores."""
        found: dict[str, set[CliquePlace]] = {}
        for cliques, template in self.lines:
            pattern, shift = _unshifted(template)
            for clique in cliques:
                places = found.setdefault(pattern, set())
                if (clique, shift) in places:
                    raise TemplateError(f"{self.name}: '{clique}: {template}' appears twice")
                places.add((clique, shift))
        return found

    @cached_property
    def places(self) -> list[CliquePlace]:
        """All places, letters first."""
        every = {place for places in self.uses.values() for place in places}
        return sorted(every, key=lambda place: (_ORDER.index(place[0]), place[1]))

    @cached_property
    def patterns(self) -> Templates:
        """The patterns as templates."""
        return Templates("\n".join(self.uses), name=self.name)

    @property
    def needs_dictionary(self) -> bool:
        """Whether any of them consults a dictionary, with `lx[k]` or `jg[k]`."""
        return self.patterns.needs_dictionary

    def with_dictionary(self) -> CliqueTemplates:
        """The templates with the preset that consults a dictionary, unless they consult one already."""
        if self.needs_dictionary:
            return self
        further = (ASKING / "two-chain.txt").read_text(encoding="utf-8")
        return CliqueTemplates(f"{self.text.rstrip()}\n{further}", self.name)

    @property
    def columns(self) -> list[str]:
        """The columns that templates refer to with `@name[k]`."""
        return self.patterns.columns

    @cached_property
    def native(self) -> _native.TwoChainPatterns:
        """The patterns for the native core."""
        number = {place: k for k, place in enumerate(self.places)}
        sets = [sum(1 << number[place] for place in self.uses[text]) for text in self.patterns.native.texts]
        return _native.TwoChainPatterns(self.patterns.native, sets)

    def native_places(self) -> list[tuple[_native.Clique, int]]:
        """The places, for the shape of a native model."""
        return [(CLIQUES[clique], offset) for clique, offset in self.places]


def _unshifted(template: str) -> tuple[str, int]:
    """Shift a template so that the first unit it reads is this one; return it and the shift."""
    offsets = [
        int(number)
        for match in _OFFSETS.finditer(template)
        for number in (match["offset"], match["other"] if match["head"] == "same[" else None)
        if number is not None
        for number in (number.lstrip(","),)
    ]
    shift = min(offsets, default=0)

    def move(match: re.Match[str]) -> str:
        other = match["other"] or ""
        if match["head"] == "same[" and other:
            other = f",{int(other[1:]) - shift}"
        return f"{match['head']}{int(match['offset']) - shift}{other}"

    return _OFFSETS.sub(move, template), shift
