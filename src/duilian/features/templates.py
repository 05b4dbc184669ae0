"""Templates from a preset or a file, and sentences packed for them. The native core compiles templates.

docs/templates.md describes the language; the presets are text files in `presets/`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from duilian import _native
from duilian.arguments import checked
from duilian.errors import ConfigError, TemplateError
from duilian.features.reading import Reading
from duilian.text import Folding, check_text

PRESETS = Path(__file__).with_name("presets")
ASKING = PRESETS / "dictionary"  # templates that consult a dictionary, added for models that have one


def presets() -> list[str]:
    """The names of the built-in templates.

    >>> "pos-word" in presets()
    True
    """
    return sorted(
        entry.name.removesuffix(".txt") for entry in PRESETS.iterdir() if entry.name.endswith(".txt")
    )


def read_templates(path: Path) -> str:
    """Read a template file."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TemplateError(f"{path}: byte {error.start} is not UTF-8") from None


class Templates:
    """A compiled set of feature templates.

    >>> list(Templates("w[0] w[1]").describe(["国务院", "新闻"])[0])
    ['w[0] w[1]=国务院 新闻']
    """

    @checked
    def __init__(self, text: str, *, name: str = "templates") -> None:
        self.text = text
        self.name = name
        try:
            self.native = _native.parse_templates(check_text(text))
        except ValueError as error:
            raise TemplateError(f"{name}:{error}") from None

    @classmethod
    def load(cls, name: str | Path) -> Templates:
        """Load a preset by name, or a file."""
        preset = PRESETS / f"{name}.txt"
        if isinstance(name, str) and preset.is_file():
            return cls(preset.read_text(encoding="utf-8"), name=name)
        if not Path(name).is_file():
            raise ConfigError(
                f"unknown templates {str(name)!r}",
                hint=f"give a file, or one of: {', '.join(presets())}",
            )
        return cls(read_templates(Path(name)), name=str(name))

    def __getstate__(self) -> dict[str, str]:
        """Return the text, which other processes compile again."""
        return {"text": self.text, "name": self.name}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self.native)

    def __iter__(self) -> Iterable[str]:
        return iter(self.native.texts)

    @property
    def columns(self) -> list[str]:
        """The columns that templates refer to with `@name[k]`."""
        return self.native.columns

    def check_columns(self, known: Collection[str]) -> None:
        """Raise ConfigError if a template refers to a column that is not among these."""
        for name in self.columns:
            if name not in known:
                raise ConfigError(f"the templates use the column {name!r}, which the model does not have")

    @property
    def needs_dictionary(self) -> bool:
        """Whether any of them consults a dictionary, with `lx[k]` or `jg[k]`."""
        return self.native.needs_dictionary

    def with_dictionary(self) -> Templates:
        """The templates with the preset that consults a dictionary, unless they consult one already."""
        if self.needs_dictionary:
            return self
        text = (ASKING / "units.txt").read_text(encoding="utf-8")
        return Templates(f"{self.text.rstrip()}\n{text}", name=self.name)

    @property
    def has_transitions(self) -> bool:
        """Whether the tag bigram `t[-1]` is among them."""
        return self.native.has_transitions

    def describe(
        self,
        units: Sequence[str],
        columns: Mapping[str, Sequence[str]] | None = None,
        folding: Folding | Reading | None = None,
    ) -> list[list[str]]:
        """All features of each unit, in readable form: `w[0] c[1,0]=国务院 新`."""
        packed = pack([units], folding or Folding(width=False), [columns or {}])
        return _native.describe_features(self.native, packed, 0)


def pack(
    sentences: Iterable[Sequence[str]],
    reading: Reading | Folding,
    columns: Iterable[Mapping[str, Sequence[str]]] | None = None,
) -> _native.Sentences:
    """Pack sentences for the native core; all must have the same columns."""
    native = Reading.of(reading).native
    if columns is None:
        packed = _native.Sentences(native, [])
        for units in sentences:
            _add(packed, units, [])
        return packed
    names: list[str] | None = None
    packed = _native.Sentences(native, [])
    for units, values in zip(sentences, columns, strict=True):
        if names is None:
            names = sorted(values)
            packed = _native.Sentences(native, names)
        if sorted(values) != names:
            raise ConfigError(f"one sentence has the columns {sorted(values)}, another {names}")
        _add(packed, units, [values[name] for name in names])
    return packed


def _add(packed: _native.Sentences, units: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
    given = [list(units), *map(list, columns)]
    try:
        packed.add(given[0], given[1:])
    except TypeError:  # the native core rejects lone surrogates: say where they are
        for values in given:
            check_text("".join(values))
        raise
