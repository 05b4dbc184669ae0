"""Options that belong together: a command takes a group as one argument, and its user sees each option."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from duilian.cli.options import (
    CorpusFormat,
    Cut,
    DecodingErrors,
    DictionaryFile,
    DictionaryMode,
    EnglishTags,
    Explain,
    InputEncoding,
    Lenient,
    LexiconFile,
    LexiconMode,
)

if TYPE_CHECKING:
    from duilian.lexicon import Lexicon


@dataclasses.dataclass(frozen=True, kw_only=True)
class UserWords:
    """The user's words, and what to do with alphabetic ones."""

    lexicon: LexiconFile = None
    lexicon_mode: LexiconMode = "force"
    dictionary: DictionaryFile = None
    dictionary_mode: DictionaryMode = "extend"
    english: EnglishTags = None
    explain: Explain = False

    def read_lexicon(self, *, lenient: bool) -> Lexicon | None:
        """The lexicon, if one is given; `lenient` skips malformed lines and reports them."""
        if self.explain and self.lexicon is None:
            raise typer.BadParameter("there is nothing to explain without --lexicon", param_hint="--explain")
        if self.lexicon_mode not in ("force", "prefer"):
            message = f"{self.lexicon_mode!r} is neither 'force' nor 'prefer'"
            raise typer.BadParameter(message, param_hint="--lexicon-mode")
        if self.lexicon is None:
            return None
        from duilian.lexicon import Lexicon  # not needed to read corpora

        return Lexicon.read(self.lexicon, mode=self.lexicon_mode, lenient=lenient)  # type: ignore[arg-type]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TextReading:
    """How to read text."""

    encoding: InputEncoding = "utf-8"
    errors: DecodingErrors = "strict"
    lenient: Lenient = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class CorpusReading:
    """How to read a corpus."""

    format: CorpusFormat = None
    encoding: InputEncoding = "utf-8"
    lenient: Lenient = False
    cut: Cut = "line"


def with_options_of_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of its groups in place of the groups."""
    parameters = inspect.signature(command, eval_str=True).parameters
    types = {name: each.annotation for name, each in parameters.items()}
    groups: dict[str, Any] = {name: kind for name, kind in types.items() if dataclasses.is_dataclass(kind)}

    @functools.wraps(command)
    def run(**options: Any) -> None:
        for name, group in groups.items():
            options[name] = group(**{each.name: options.pop(each.name) for each in dataclasses.fields(group)})
        command(**options)

    shown = [each for one in parameters.values() for each in _options(one)]
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The parameter or, if it is a group, its fields; all of them are given by keyword."""
    if not dataclasses.is_dataclass(parameter.annotation):
        yield parameter.replace(kind=parameter.KEYWORD_ONLY)
        return
    types = get_type_hints(parameter.annotation, include_extras=True)
    for field in dataclasses.fields(parameter.annotation):
        kind, usual = parameter.KEYWORD_ONLY, field.default
        yield inspect.Parameter(field.name, kind, default=usual, annotation=types[field.name])
