"""`duilian evaluate`: score a model, or a file of answers, on gold sentences."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from duilian.cli.detail_tables import show_details
from duilian.cli.options import ENCODINGS, Column, Columns, CorpusFormat, Lenient, Threads, warn
from duilian.cli.tables import show_evaluation
from duilian.cli.taggers import Mode, in_mode, say_standard
from duilian.corpus import Corpus, read, vocabulary
from duilian.corpus.formats.lookup import FORMATS
from duilian.engine import Analyzer, find_model
from duilian.engine.answers import AnnotatedFiles, FileReading, naming_lines
from duilian.engine.loading import load_parts
from duilian.engine.measuring import evaluate, read_gold, read_gold_files, unknown_tags
from duilian.engine.parsing import measure_parser
from duilian.errors import ConfigError
from duilian.evaluation import Evaluation
from duilian.modelfile import is_model
from duilian.models import (
    Parser,
    StandardTagger,
    is_parser,
    load,
    load_parser,
    standards_of,
    tagger_for,
)
from duilian.wording import counted

EXAMPLE = (
    "Example:\n\n    duilian evaluate zx.model zx/dev.wordpos --against zx/train.wordpos\n\n"
    "    duilian evaluate answers.conllu gold.conllu --details"
)
TAGS_NAMED = 5  # in a warning


def command(
    system: Annotated[
        str,
        typer.Argument(
            metavar="(MODEL | FILE)",
            help="A model from duilian train, bundled (the included one), or an answer file.",
        ),
    ],
    gold: Annotated[
        list[str],
        typer.Argument(metavar="GOLD", help="Corpus files, scored as one; - is standard input."),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON with all details; shares are percentages.")
    ] = False,
    details: Annotated[
        bool,
        typer.Option(
            "--details", help="Show scores by tag, sentence length and arc distance, and confusions."
        ),
    ] = False,
    standard: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Layer of the gold files, and standard for a model with several; may be repeated.",
        ),
    ] = None,
    format: CorpusFormat = None,
    answer_format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help=f"Format of FILE, if the guess is wrong: {', '.join(FORMATS)}."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Input encoding: {ENCODINGS}.")
    ] = None,
    cut: Annotated[
        str | None, typer.Option(metavar="HOW", help="line or sentence (default: as in training).")
    ] = None,
    column: Column = None,
    columns: Columns = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TRAIN",
            help="Training corpus, to score out-of-vocabulary words separately. A second corpus divides them "
            "into words that it contains and words unknown to both.",
        ),
    ] = None,
    mode: Mode = None,
    tagger: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="For a parser: tag with this model first (default: gold tags)."),
    ] = None,
    lenient: Lenient = False,
    threads: Threads = 1,
) -> None:
    """Score a model or an answer file against gold sentences, with every metric that applies.

    A word-level model tags the gold words. A character-level model gets raw text, as in duilian analyze; its
    trees are scored by the rules of CoNLL 2018. Two-chain models can also predict boundaries alone, or tags
    for given boundaries: see --mode. A parser gets gold words and tags. An answer file may be in any corpus
    format; it must contain the same text as GOLD, but may divide it into sentences differently.
    """
    if len(against or ()) > 2:
        raise typer.BadParameter("at most two corpora", param_hint="--against")
    refuse_models(gold, "duilian evaluate MODEL GOLD")
    reading = {
        "format": format,
        "encoding": encoding,
        "cut": cut,
        "column": column,
        "names": None if columns is None else columns.split(","),
        "lenient": lenient or None,
    }
    if not is_model_name(system):
        names: list[str | None] = [*standard] if standard else [None]
        found = [
            _evaluate_file(system, gold, answer_format, against or [], reading | {"standard": name})
            for name in names
        ]
        _show(found, as_json, details)
        return
    if answer_format is not None:
        raise typer.BadParameter("a model is not a file of answers", param_hint="--answer-format")
    path = find_model(system)
    if is_parser(path):
        measured = _evaluate_parser(load_parser(path), gold, tagger, against or [], threads, reading)
        _show([measured], as_json, details)
        return
    parts = load_parts(path)
    analyzer = Analyzer(in_mode(parts["tagger"], mode), parts.get("parser"))
    found = [
        _evaluate(analyzer, each, gold, against or [], threads, reading | {"standard": layer})
        for each, layer in _taggers(analyzer.model, standard or [])
    ]
    _show(found, as_json, details)


def is_model_name(name: str) -> bool:
    """Whether a system is a model; `find_model` refuses a name that is neither a file nor a model."""
    return not os.path.isfile(name) or is_model(name)


def refuse_models(gold: Sequence[str], order: str) -> None:
    """Refuse a model given in place of gold sentences, and show the order of the arguments."""
    for path in gold:
        if os.path.isfile(path) and os.path.getsize(path) and is_model(path):
            raise ConfigError(
                f"{path}: this is a model, not a corpus of gold sentences", f"the order is: {order}"
            )


def _show(found: list[Evaluation], as_json: bool, details: bool) -> None:
    if as_json:
        objects = [each.to_dict() for each in found]
        shown = objects[0] if len(objects) == 1 else objects
        typer.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    for each in found:
        show_evaluation(each)
        if details:
            show_details(each.details)


def _evaluate_file(
    path: str, gold: list[str], form: str | None, against: list[str], options: dict[str, Any]
) -> Evaluation:
    given = {name: value for name, value in options.items() if value is not None}
    reading = FileReading(**given | ({"names": tuple(given["names"])} if "names" in given else {}))
    files = AnnotatedFiles(gold, reading)
    answer = AnnotatedFiles([path], FileReading(**{**vars(reading), "format": form}))
    known = [vocabulary(reading.corpus([each])) for each in against]
    with naming_lines(answer, files):
        found = evaluate(answer.corpus(), files.corpus(), **_vocabularies(known))
    _warn_of_foreign_tags(path, found)
    return found


def _vocabularies(known: list[Any]) -> dict[str, Any]:
    return dict(zip(("vocabulary", "other_vocabulary"), known, strict=False))


def _warn_of_foreign_tags(path: str, found: Evaluation) -> None:
    foreign = found.details.unknown_tags
    if foreign:
        named = ", ".join(f"{tag} {count}" for tag, count in list(foreign.items())[:TAGS_NAMED])
        more = " …" if len(foreign) > TAGS_NAMED else ""
        number = counted(sum(foreign.values()), "word has a tag", "words have tags")
        warn(f"{path}: {number} that gold does not have ({named}{more})")


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
    against: list[str],
    threads: int,
    reading: dict[str, Any],
) -> Evaluation:
    corpus = read_gold_files(gold, tagger, **reading)
    known = _known_words(against, tagger, reading)
    found = evaluate(analyzer, corpus, standard=tagger.standard, threads=threads, **known)
    _warn_of_unknown_tags(tagger, corpus)
    return found


def _known_words(
    against: list[str], model: StandardTagger | Parser, reading: dict[str, Any]
) -> dict[str, Any]:
    """The vocabularies; the second corpus may be in another standard, and another format."""
    known = [
        vocabulary(read_gold(each, model, **reading)) if not k else vocabulary(read(each, check_tags=False))
        for k, each in enumerate(against)
    ]
    return _vocabularies(known)


def _evaluate_parser(
    parser: Parser,
    gold: list[str],
    tagger: str | None,
    against: list[str],
    threads: int,
    reading: dict[str, Any],
) -> Evaluation:
    chosen = None if tagger is None else tagger_for(load(find_model(tagger)))
    corpus, known = read_gold_files(gold, parser, **reading), _known_words(against, parser, reading)
    return measure_parser(parser, corpus, tagger=chosen, threads=threads, **known)


def _warn_of_unknown_tags(tagger: StandardTagger, corpus: Corpus) -> None:
    if tagger.encoding_.tags is None:
        return
    unknown = unknown_tags(tagger, [sentence[corpus.standard] for sentence in corpus])
    if unknown:
        names = ", ".join(unknown[:5]) + (" …" if len(unknown) > 5 else "")
        message = f"gold tags unknown to the model count as errors: {len(unknown)} ({names})"
        typer.echo(f"duilian: warning: {message}", err=True)
