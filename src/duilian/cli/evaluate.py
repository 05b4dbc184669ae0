"""`duilian evaluate`: how well a model does on gold sentences."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from duilian.cli.corpus import Column, Columns, Format
from duilian.corpus import Corpus, vocabulary
from duilian.errors import ConfigError
from duilian.evaluation import Evaluation
from duilian.measuring import measure, read_gold, unknown_tags
from duilian.models import (
    CoupledTagger,
    Model,
    MultitaskTagger,
    Parser,
    StandardTagger,
    TwoChainTagger,
    is_parser,
    is_suite,
    load,
    load_parser,
    standards_of,
    tagger_for,
)
from duilian.models.two_chain import MODES
from duilian.parsing import measure_parser
from duilian.pipeline import Analyzer, with_trees
from duilian.pipeline import load as load_analyzer

Mode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="Of two chains: joint, segment (boundaries alone), tag (boundaries are given).",
    ),
]
EXAMPLE = "Example:\n\n    duilian evaluate zx.model zx/dev.wordpos --against zx/train.wordpos"


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model from duilian train.")],
    gold: Annotated[
        list[str],
        typer.Argument(metavar="GOLD", help="Corpus files; several count as one. - is standard input."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; shares are percentages.")] = False,
    standard: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="The layer of the gold files; of a coupled model the standard (again for another one).",
        ),
    ] = None,
    format: Format = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of the input: utf-8, gb18030, big5, utf-16.")
    ] = None,
    cut: Annotated[
        str | None, typer.Option(help="line or sentence; else as the training corpus was cut.")
    ] = None,
    column: Column = None,
    columns: Columns = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="TRAIN", help="A corpus whose words are known; tells how unknown words fare."),
    ] = None,
    mode: Mode = None,
    tagger: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="For a parser: tag with this model first, else on gold tags."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads to use.")] = 1,
) -> None:
    """Compare a model's answers with gold sentences: all metrics that the gold data allow.

    At word level the gold words are tagged; at character level they are joined, cut and tagged anew.
    Two chains can also be asked for boundaries alone, or for tags with the boundaries given: --mode.
    A parser gets the gold words with their tags; an analyser finds its trees in raw text, and they are
    scored by the rules of CoNLL 2018.
    """
    reading = {
        "format": format,
        "encoding": encoding,
        "cut": cut,
        "column": column,
        "names": None if columns is None else columns.split(","),
    }
    if is_parser(model):
        found = [_evaluate_parser(load_parser(model), gold, tagger, threads, reading)]
    else:
        analyzer = load_analyzer(model) if is_suite(model) else None
        tagger_of_text = load(model) if analyzer is None else analyzer.model
        found = [
            _evaluate(each, layer, gold, against, threads, reading, analyzer)
            for each, layer in _taggers(in_mode(tagger_of_text, mode), standard or [])
        ]
    if as_json:
        objects = [each.as_json() for each in found]
        shown = objects[0] if len(objects) == 1 else objects
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        for each in found:
            show_evaluation(each)


def in_mode(model: Model, mode: str | None) -> Model:
    """The model, used as asked: two chains have several uses."""
    if mode is None:
        return model
    if mode not in MODES:
        raise typer.BadParameter(f"{mode!r} is none of {', '.join(MODES)}", param_hint="--mode")
    if not isinstance(model, TwoChainTagger):
        raise ConfigError("only a model of kind two-chain has modes", "leave --mode out")
    return model.of(mode)


def _taggers(model: Model, named: list[str]) -> list[tuple[StandardTagger, str]]:
    """Who is evaluated, and on which layer of the gold sentences."""
    if isinstance(model, CoupledTagger | MultitaskTagger):
        if not named:
            say_first_standard(standards_of(model))
        return [(tagger_for(model, name), name) for name in named or model.standards[:1]]
    return [(model, name) for name in named or [model.standard]]


def say_first_standard(names: tuple[str, ...]) -> None:
    """Tell in which of its standards a coupled model answers when nobody has said."""
    said = f"answering in {names[0]!r}; the model also has {', '.join(names[1:])}: --standard"
    typer.echo(f"duilian: {said}", err=True)


def _evaluate(
    tagger: StandardTagger,
    layer: str,
    gold: list[str],
    against: str | None,
    threads: int,
    reading: dict[str, Any],
    analyzer: Analyzer | None = None,
) -> Evaluation:
    corpora = [read_gold(path, tagger, standard=layer, **reading) for path in gold]
    known = None if against is None else vocabulary(read_gold(against, tagger, standard=layer, **reading))
    corpus = Corpus(
        [sentence for part in corpora for sentence in part],
        standard=layer,
        source=", ".join(part.source for part in corpora),
    )
    found = measure(tagger, corpus, threads=threads, vocabulary=known)
    _warn_of_unknown_tags(tagger, corpus)
    if analyzer is not None:
        found = with_trees(found, analyzer, corpus, threads=threads)
    return found


def _evaluate_parser(
    parser: Parser, gold: list[str], tagger: str | None, threads: int, reading: dict[str, Any]
) -> Evaluation:
    corpora = [read_gold(path, parser, **reading) for path in gold]
    sentences = [sentence for part in corpora for sentence in part]
    source = ", ".join(part.source for part in corpora)
    corpus = Corpus(sentences, standard=parser.standard, source=source)
    chosen = None if tagger is None else tagger_for(load(tagger).set_params(threads=threads))
    return measure_parser(parser, corpus, tagger=chosen, threads=threads)


def show_evaluation(found: Evaluation) -> None:
    """Print the figures as a table."""
    table = Table(show_header=False, box=None)
    table.add_column(style="cyan")
    table.add_column(justify="right")
    for name, value in found.rows():
        table.add_row(name, value)
    Console().print(table)


def _warn_of_unknown_tags(tagger: StandardTagger, corpus: Corpus) -> None:
    if tagger.segment_only:
        return
    unknown = unknown_tags(tagger, [sentence[corpus.standard] for sentence in corpus])
    if unknown:
        names = ", ".join(unknown[:5]) + (" …" if len(unknown) > 5 else "")
        message = f"the model does not know {len(unknown)} of the gold tags ({names}): they count as errors"
        typer.echo(f"duilian: warning: {message}", err=True)


def check_level(tagger: StandardTagger, level: str, command: str, instead: str) -> None:
    """Refuse a model that cannot do what the command is for."""
    if tagger.level != level:
        wanted = {"word": "a word-level", "char": "a character-level"}[level]
        raise ConfigError(f"{command} needs {wanted} model", instead)
