"""Options that several commands share; what a command need not import to say what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from duilian.corpus import FORMATS

if TYPE_CHECKING:
    from duilian.lexicon import Lexicon

Format = Annotated[
    str | None, typer.Option(help=f"Format of the input, if the guess is wrong: {', '.join(FORMATS)}.")
]
Column = Annotated[str | None, typer.Option(help="Tag column of CoNLL files: upos or xpos.")]
Columns = Annotated[str | None, typer.Option(help="Names for the format columns: word,pos,chunk.")]
Encoding = Annotated[str, typer.Option(help="Encoding of the input: utf-8, gb18030, big5, utf-16.")]
Output = Annotated[str, typer.Option("--output", "-o", help="Where to write; - is standard output.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads to use.")]
LexiconFile = Annotated[
    str | None,
    typer.Option(
        "--lexicon", metavar="FILE", help="Your words, one a line: word, tag and weight between tabs."
    ),
]
LexiconMode = Annotated[
    str, typer.Option("--lexicon-mode", metavar="MODE", help="force: obeyed; prefer: a bonus in the score.")
]


def read_lexicon(path: str | None, mode: str) -> Lexicon | None:
    """The user's words, if there are any."""
    if mode not in ("force", "prefer"):
        raise typer.BadParameter(f"{mode!r} is neither force nor prefer", param_hint="--lexicon-mode")
    if path is None:
        return None
    from duilian.lexicon import Lexicon

    return Lexicon.read(path, mode=mode)  # type: ignore[arg-type]
