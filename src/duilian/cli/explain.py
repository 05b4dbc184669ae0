"""`duilian explain`: what a tag means, with an example."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from duilian.errors import StandardError
from duilian.standards import Explanation, explain
from duilian.standards.explanation import explained_standards, explanations

EXAMPLE = "Example:\n\n    duilian explain NN\n\n    duilian explain nsubj --standard ud"


def command(
    tags: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TAG]...", help="Tags, relations, or labels such as B@NN (default: all of the standard)."
        ),
    ] = None,
    standard: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"Only this standard: {', '.join(explained_standards())}, or a .toml file."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Define a tag in each standard that has it, with an example, in Chinese and English.

    The example marks the word in question with 【】 and the head of a relation with 〔〕.
    """
    if not tags and standard is None:
        raise typer.BadParameter("give a tag or --standard", param_hint="TAG")
    whole = explanations(standard) if standard is not None and not tags else ()
    found, unknown = list(whole), dict[str, StandardError]()
    for tag in tags or ():
        try:
            found += explain(tag, standard)
        except StandardError as error:
            unknown[tag] = error
    _show(found, as_json=as_json)
    if len(unknown) == 1:
        raise next(iter(unknown.values()))
    if unknown:
        hints = "; ".join(f"{tag}: {error.hint}" for tag, error in unknown.items())
        raise StandardError("; ".join(error.message for error in unknown.values()), hints)


def _show(found: Sequence[Explanation], *, as_json: bool) -> None:
    if as_json:
        for each in found:
            typer.echo(json.dumps(dataclasses.asdict(each) | {"words": each.words}, ensure_ascii=False))
        return
    console = Console(highlight=False, soft_wrap=True)
    for each, group in itertools.groupby(found, lambda each: dataclasses.replace(each, standard="")):
        for line in _explanation_lines(each, ", ".join(one.standard for one in group)):
            console.print(line)


def _explanation_lines(each: Explanation, standards: str) -> Iterator[Text]:
    yield Text.assemble((each.tag, "bold cyan"), "  ", (f"{standards} {each.kind}", "dim"))
    for text in (each.english, each.chinese):
        if text:
            yield Text(f"  {text}")
    example = Text(f"  {each.example}", style="green")
    yield Text.assemble(example, "  ", each.translation) if each.translation else example
