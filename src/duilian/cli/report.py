"""`duilian report`: a page of HTML about models, training logs, evaluations, comparisons and studies."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from duilian.atomic_files import replacing
from duilian.cli.options import CorpusFormat, InputEncoding, Threads
from duilian.conversion import Converter
from duilian.corpus.places import PlacedSentence
from duilian.engine import Analyzer, evaluate, find_model
from duilian.engine.loading import BUNDLED_NAME, load_parts
from duilian.engine.measuring import read_gold_files
from duilian.errors import ConfigError
from duilian.learning.run_log import LOG_SUFFIX, read_log
from duilian.modelfile import is_model
from duilian.models import is_parser, load_parser, tagger_for
from duilian.models.offers import OffersMapping
from duilian.reports.calibration_bins import measure_reliability
from duilian.reports.html_page import Section, page
from duilian.reports.inspection import ModelCard, study
from duilian.reports.label_ranks import measure_label_ranks
from duilian.reports.sections import (
    card_sections,
    comparison_sections,
    curve_sections,
    evaluation_sections,
    mapping_section,
    study_sections,
)
from duilian.wording import counted

EXAMPLE = (
    "Example:\n\n    duilian report zx.model zx.model.log.jsonl --gold zx/dev.wordpos -o zx.html\n\n"
    "    duilian compare gold.txt a.txt b.txt --json > ab.json && duilian report ab.json -o ab.html"
)
MAX_BYTES = 200_000_000  # of a JSON file


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Models, training logs, and JSON from duilian evaluate, compare or experiment.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")],
    gold: Annotated[
        list[str] | None,
        typer.Option(metavar="GOLD", help="Evaluate models on this corpus; may be repeated."),
    ] = None,
    standard: Annotated[
        str | None, typer.Option(metavar="NAME", help="Standard to evaluate in (default: the model's first).")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    format: CorpusFormat = None,
    encoding: InputEncoding = "utf-8",
    threads: Threads = 1,
) -> None:
    """Write an HTML report on models, training runs, evaluations, comparisons or studies, as a single file.

    For a model, it shows the model card and the learning curve; with --gold also scores, confusions,
    calibration and, for a coupled model, the learned mapping and the probabilities from which it prunes.
    """
    reading = {"format": format, "encoding": encoding, "standard": standard}
    sections: list[Section] = []
    for name in inputs:
        if name == BUNDLED_NAME or (os.path.isfile(name) and is_model(name)):
            sections += _model_sections(name, gold or [], reading, threads)
        else:
            sections += _file_sections(name)
    shown = title or f"Report: {', '.join(Path(name).name for name in inputs)}"
    text = page(shown, "Made by duilian report.", sections)
    with replacing(output) as file:
        file.write(text.encode())
    typer.echo(f"{output}: {len(text.encode()):,} bytes, {counted(len(sections), 'section')}")


def _file_sections(name: str) -> list[Section]:
    if not os.path.exists(name):
        raise ConfigError(f"{name}: there is no such file")
    if name.endswith(LOG_SUFFIX):
        return list(curve_sections(read_log(name), f"Training, {Path(name).name}"))
    hint = "expected a model, a log (*.log.jsonl), or JSON from duilian evaluate, compare or experiment"
    if os.path.getsize(name) > MAX_BYTES:
        raise ConfigError(f"{name}: this file is larger than {MAX_BYTES:,} bytes", hint)
    try:
        found = json.loads(Path(name).read_text(encoding="utf-8"))
        several = found if isinstance(found, list) else [found]
        return [section for each in several for section in _json_sections(each)]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, StopIteration, RecursionError):
        raise ConfigError(f"{name}: a report cannot show this file", hint) from None


def _json_sections(found: Any) -> Iterator[Section]:
    if "contrasts" in found:
        return comparison_sections(found)
    if "tables" in found:
        return study_sections(found)
    found["standard"], found["tokens"]  # both are in every evaluation
    return evaluation_sections(found, str(found["standard"]))


def _model_sections(name: str, gold: list[str], reading: dict[str, Any], threads: int) -> Iterator[Section]:
    path = find_model(name)
    yield from card_sections(ModelCard.read(path))
    if not gold:
        return
    if is_parser(path):
        parser = load_parser(path)
        found = evaluate(parser, read_gold_files(gold, parser, **reading), threads=threads)
        yield from evaluation_sections(found.to_dict(), found.standard)
        return
    parts = load_parts(path)
    analyzer = Analyzer(parts["tagger"], parts.get("parser"))
    tagger = tagger_for(analyzer.model, reading["standard"])
    corpus = read_gold_files(gold, tagger, **reading)
    found = evaluate(analyzer, corpus, standard=tagger.standard, threads=threads)
    sure = measure_reliability(analyzer, corpus, tagger.standard, threads=threads)
    extra = {} if sure is None else {"calibration": sure.to_dict()}
    ranks = measure_label_ranks(analyzer.model, corpus, tagger.standard, threads=threads)
    extra |= {} if ranks is None else {"label_ranks": ranks.to_dict()}
    yield from evaluation_sections(found.to_dict() | extra, found.standard)
    if isinstance(analyzer.model, OffersMapping):
        target = next(each for each in analyzer.standards if each != tagger.standard)
        converter = Converter(analyzer.model, tagger.standard, target, unknown_tags=True, threads=threads)
        yield mapping_section(study(converter, (PlacedSentence(each) for each in corpus)).mapping)
