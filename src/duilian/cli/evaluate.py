"""`duilian evaluate`: score a model on gold sentences."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from duilian.cli.options import ENCODINGS, Column, Columns, CorpusFormat, Lenient, Threads
from duilian.cli.tables import show_evaluation
from duilian.cli.taggers import Mode, ModelPath, in_mode, say_standard
from duilian.corpus import Corpus, vocabulary
from duilian.engine import Analyzer, find_model
from duilian.engine.loading import load_parts
from duilian.engine.measuring import evaluate, read_gold, read_gold_files, unknown_tags
from duilian.engine.parsing import measure_parser
from duilian.evaluation import Evaluation
from duilian.models import (
    Parser,
    StandardTagger,
    is_parser,
    load,
    load_parser,
    standards_of,
    tagger_for,
)

EXAMPLE = "Example:\n\n    duilian evaluate zx.model zx/dev.wordpos --against zx/train.wordpos"


def command(
    model: ModelPath,
    gold: Annotated[
        list[str],
        typer.Argument(metavar="GOLD", help="Corpus files, scored as one; - is standard input."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; shares are percentages.")] = False,
    standard: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Layer of the gold files, and standard of a coupled model; may be repeated.",
        ),
    ] = None,
    format: CorpusFormat = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Input encoding: {ENCODINGS}.")
    ] = None,
    cut: Annotated[
        str | None, typer.Option(metavar="HOW", help="line or sentence (default: as in training).")
    ] = None,
    column: Column = None,
    columns: Columns = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="TRAIN", help="Training corpus; adds scores of the words that it lacks."),
    ] = None,
    mode: Mode = None,
    tagger: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="For a parser: tag with this model first (default: gold tags)."),
    ] = None,
    lenient: Lenient = False,
    threads: Threads = 1,
) -> None:
    """Score a model on gold sentences with every metric that the gold data allow.

    A word-level model tags the gold words; a character-level model segments and tags the raw text.
    Two-chain models can also predict boundaries alone, or tags for given boundaries: see --mode. A parser
    gets gold words and tags; an analyser parses raw text, scored by the rules of CoNLL 2018.
    """
    reading = {
        "format": format,
        "encoding": encoding,
        "cut": cut,
        "column": column,
        "names": None if columns is None else columns.split(","),
        "lenient": lenient or None,
    }
    path = find_model(model)
    if is_parser(path):
        _show([_evaluate_parser(load_parser(path), gold, tagger, threads, reading)], as_json)
        return
    parts = load_parts(path)
    analyzer = Analyzer(in_mode(parts["tagger"], mode), parts.get("parser"))
    found = [
        _evaluate(analyzer, each, gold, against, threads, reading | {"standard": layer})
        for each, layer in _taggers(analyzer.model, standard or [])
    ]
    _show(found, as_json)


def _show(found: list[Evaluation], as_json: bool) -> None:
    if as_json:
        objects = [each.as_json() for each in found]
        shown = objects[0] if len(objects) == 1 else objects
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        for each in found:
            show_evaluation(each)


def _taggers(model: Any, named: list[str]) -> list[tuple[StandardTagger, str]]:
    """Pair each tagger to evaluate with its layer of the gold sentences."""
    names = standards_of(model)
    if len(names) > 1 and not named:
        say_standard(names[0], names)
    if len(names) > 1:
        found = [tagger_for(model, name) for name in named or names[:1]]
        return [(each, each.standard) for each in found]
    return [(tagger_for(model), name) for name in named or [model.standard]]


def _evaluate(
    analyzer: Analyzer,
    tagger: StandardTagger,
    gold: list[str],
    against: str | None,
    threads: int,
    reading: dict[str, Any],
) -> Evaluation:
    corpus = read_gold_files(gold, tagger, **reading)
    known = None if against is None else vocabulary(read_gold(against, tagger, **reading))
    found = evaluate(analyzer, corpus, standard=tagger.standard, vocabulary=known, threads=threads)
    _warn_of_unknown_tags(tagger, corpus)
    return found


def _evaluate_parser(
    parser: Parser, gold: list[str], tagger: str | None, threads: int, reading: dict[str, Any]
) -> Evaluation:
    chosen = None if tagger is None else tagger_for(load(find_model(tagger)))
    return measure_parser(parser, read_gold_files(gold, parser, **reading), tagger=chosen, threads=threads)


def _warn_of_unknown_tags(tagger: StandardTagger, corpus: Corpus) -> None:
    if tagger.encoding_.tags is None:
        return
    unknown = unknown_tags(tagger, [sentence[corpus.standard] for sentence in corpus])
    if unknown:
        names = ", ".join(unknown[:5]) + (" …" if len(unknown) > 5 else "")
        message = f"gold tags unknown to the model count as errors: {len(unknown)} ({names})"
        typer.echo(f"duilian: warning: {message}", err=True)
