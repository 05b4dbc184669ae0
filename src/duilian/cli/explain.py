"""`duilian explain`: what a tag means, with an example."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from duilian.standards import Explanation, explain
from duilian.standards.explanation import explained_standards, explanations

EXAMPLE = "Example:\n\n    duilian explain NN\n\n    duilian explain nsubj --standard ud"


def command(
    tags: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TAG]...", help="Tags, relations, labels such as B@NN; else all of a standard."
        ),
    ] = None,
    standard: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"Only in this one: {', '.join(explained_standards())}, or a .toml file."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Say what a tag means in each standard that has it: definition and example, Chinese and English.

    In the example the word in question stands in 【】, the head of a relation in 〔〕.
    """
    if not tags and standard is None:
        raise typer.BadParameter("give a tag, or a whole standard with --standard", param_hint="TAG")
    whole = explanations(standard) if standard is not None and not tags else ()
    found = [*whole, *(each for tag in tags or () for each in explain(tag, standard))]
    if as_json:
        for each in found:
            typer.echo(json.dumps(dataclasses.asdict(each) | {"words": each.words}, ensure_ascii=False))
        return
    console = Console(highlight=False, soft_wrap=True)
    for each, group in itertools.groupby(found, lambda each: dataclasses.replace(each, standard="")):
        for line in _lines(each, ", ".join(one.standard for one in group)):
            console.print(line)


def _lines(each: Explanation, standards: str) -> Iterator[Text]:
    yield Text.assemble((each.tag, "bold cyan"), "  ", (f"{standards} {each.kind}", "dim"))
    for text in (each.english, each.chinese):
        if text:
            yield Text(f"  {text}")
    example = Text(f"  {each.example}", style="green")
    yield Text.assemble(example, "  ", each.translation) if each.translation else example
