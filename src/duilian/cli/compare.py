"""`duilian compare`: two or more systems on the same gold sentences."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.cells import cell_len
from rich.text import Text

from duilian.cli.detail_tables import percent, table
from duilian.cli.evaluate import is_model_name, refuse_models
from duilian.cli.options import Column, Columns, CorpusFormat, InputEncoding, Lenient, Threads
from duilian.cli.tables import show
from duilian.corpus import Corpus
from duilian.corpus.formats.lookup import FORMATS
from duilian.engine import Analyzer, compare, find_model
from duilian.engine.answers import AnnotatedFiles, FileReading, naming_lines
from duilian.engine.loading import load_parts
from duilian.engine.measuring import read_gold_files
from duilian.evaluation import Comparison
from duilian.evaluation.changes import ChangedSentence, PatternChange, Shown
from duilian.evaluation.comparison import METRICS, TRIALS, Contrast
from duilian.evaluation.same_text import same_sentences
from duilian.models import is_parser, load_parser, tagger_for
from duilian.result_tables import shown_p
from duilian.wording import counted

EXAMPLE = (
    "Example:\n\n    duilian compare gold.wordpos alone.model together.model\n\n"
    "    duilian compare gold.conllu ours=seed1.conllu,seed2.conllu theirs.conllu --json"
)
SEVERAL = ","  # between the runs of a system


def command(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Corpus file; - is standard input.")],
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="SYSTEM",
            help="Two or more models or answer files, optionally named: NAME=FILE. "
            "Separate several runs of one system (different seeds, for example) with commas.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; shares are percentages.")] = False,
    trials: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of random shuffles and of bootstrap samples.")
    ] = TRIALS,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Random seed.")] = 1,
    examples: Annotated[
        int, typer.Option(min=0, max=20, metavar="N", help="Number of patterns, words and sentences to show.")
    ] = 5,
    standard: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Layer of the files to compare; for models with several standards, the one to answer in.",
        ),
    ] = None,
    format: CorpusFormat = None,
    answer_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help=f"Format of answer files, if the guess is wrong: {', '.join(FORMATS)}."
        ),
    ] = None,
    encoding: InputEncoding = "utf-8",
    cut: Annotated[
        str, typer.Option(metavar="HOW", help="How to cut GOLD: line (keep lines) or sentence.")
    ] = "line",
    column: Column = None,
    columns: Columns = None,
    lenient: Lenient = False,
    threads: Threads = 1,
) -> None:
    """Compare systems with the first one: scores, differences, statistical significance, and what changed.

    p comes from stratified shuffling: the two systems' answers are swapped at random, sentence by sentence,
    and p is the share of trials with a difference at least as large. Intervals come from a paired bootstrap
    over sentences.
    """
    if len(systems) < 2:
        raise typer.BadParameter("name at least two systems", param_hint="SYSTEM")
    refuse_models([gold], "duilian compare GOLD SYSTEM SYSTEM …")
    reading = FileReading(
        standard=standard,
        format=format,
        encoding=encoding,
        cut=cut,
        column=column,
        names=None if columns is None else tuple(columns.split(",")),
        lenient=lenient,
    )
    paths = _named(systems)
    models = {path: _load(path) for runs in paths.values() for path in runs if is_model_name(path)}
    files = AnnotatedFiles([gold], reading)
    corpus = _gold(files, next(iter(models.values()), None))
    answers = _answers(paths, files, corpus, answer_format)
    found = compare(
        corpus,
        {name: [models.get(path, answers.get(path)) for path in runs] for name, runs in paths.items()},
        standard=standard,
        trials=trials,
        seed=seed,
        threads=threads,
    )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        show_comparison(found, examples)


def _named(systems: Sequence[str]) -> dict[str, list[str]]:
    """Map each system's name, as given or taken from its first file, to its files."""
    found: dict[str, list[str]] = {}
    for system in systems:
        name, sign, rest = system.partition("=")
        is_named = bool(sign and name) and not os.path.exists(system)
        listed = rest if is_named else system
        paths = [listed] if os.path.exists(listed) else listed.split(SEVERAL)
        name = name if is_named else Path(paths[0]).stem
        if name in found and not is_named:
            name = listed
        if name in found:
            raise typer.BadParameter(f"two systems have the name {name!r}", param_hint="SYSTEM")
        found[name] = paths
    return found


def _load(path: str) -> Any:
    chosen = find_model(path)
    if is_parser(chosen):
        return load_parser(chosen)
    parts = load_parts(chosen)
    return Analyzer(parts["tagger"], parts.get("parser"))


def _gold(files: AnnotatedFiles, model: Any) -> Corpus:
    """Gold sentences, read as a model's training corpus was if there is a model."""
    if model is None:
        return files.corpus()
    reading = {name: value for name, value in vars(files.reading).items() if value and value != "line"}
    own = tagger_for(model.model, files.reading.standard) if isinstance(model, Analyzer) else model
    return read_gold_files(files.paths, own, **reading)


def _answers(
    paths: Mapping[str, list[str]], gold: AnnotatedFiles, corpus: Corpus, form: str | None
) -> dict[str, Corpus]:
    """Read the files of answers, and check that they have gold's text."""
    reading = FileReading(**{**vars(gold.reading), "format": form})
    found = {}
    for path in (path for runs in paths.values() for path in runs if not is_model_name(path)):
        files = AnnotatedFiles([path], reading)
        found[path] = files.corpus()
        with naming_lines(files, gold):
            same_sentences(
                *([sentence[each.standard] for sentence in each] for each in (corpus, found[path]))
            )
    return found


def show_comparison(found: Comparison, examples: int) -> None:
    """Print scores and differences, then the changes."""
    title = (
        f"{counted(found.sentences, 'sentence')}, {counted(found.tokens, 'word')}, {found.trials:,} shuffles"
    )
    show(Text(title), _score_table(found))
    for contrast in found.contrasts:
        show(*_changes(contrast, examples, is_one_of_several=len(found.contrasts) > 1))


def _score_table(found: Comparison) -> Any:
    spread = any(system.runs > 1 for system in found.systems)
    titles = ("metric", "system", "score", *(("spread", "runs") if spread else ()), "difference", "95 %", "p")
    rows = []
    for metric in found.systems[0].scores:
        for number, system in enumerate(found.systems):
            row = [METRICS[metric] if number == 0 else "", system.name, percent(system.mean(metric))]
            row += [percent(system.spread(metric)), str(system.runs)] if spread else []
            if number:
                contrast = found.contrasts[number - 1]
                (each,) = (each for each in contrast.differences if each.metric == metric)
                row += [f"{each.difference:+.2f}", f"{each.low:+.2f} … {each.high:+.2f}", shown_p(each.p)]
            rows.append(row + [""] * (len(titles) - len(row)))
    return table(titles, rows, numbers=range(2, len(titles)))


def _changes(contrast: Contrast, examples: int, *, is_one_of_several: bool) -> Iterator[Any]:
    """The changes; with several contrasts, under a heading, unless there is nothing to show."""
    found = list(_change_parts(contrast, examples))
    if found and is_one_of_several:
        yield Text(f"\n{contrast.first} versus {contrast.other}", style="bold")
    yield from found


def _change_parts(contrast: Contrast, examples: int) -> Iterator[Any]:
    first, other = contrast.first, contrast.other
    if contrast.tokens is not None:
        counts = f"{first} {contrast.tokens.only_a:,}, {other} {contrast.tokens.only_b:,}"
        yield Text(f"\nwords that only one gets right: {counts}; McNemar's p {shown_p(contrast.tokens.p)}")
    titles = ("gold", "answer", first, other, "change")
    for patterns in (contrast.tags, contrast.relations):
        if patterns and examples:
            yield table(titles, map(_pattern_row, patterns[:examples]), numbers=(2, 3, 4))
    if contrast.words and examples:
        rows = (
            (each.word, f"{each.count:,}", number(each.first), number(each.other), each.example)
            for each in contrast.words[:examples]
        )
        yield table(("word", "count", f"right in {first}", other, "for example"), rows, numbers=(1, 2, 3))
    for sentence in contrast.sentences[:examples]:
        yield _sentence(sentence, first, other)


def _pattern_row(each: PatternChange) -> tuple[str, ...]:
    change = each.other - each.first
    return (
        each.gold,
        each.guess,
        number(each.first),
        number(each.other),
        f"{'+' * (change > 0)}{number(change)}",
    )


def number(value: float) -> str:
    """A count; for several runs, the mean with one decimal."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _sentence(found: ChangedSentence, first: str, other: str) -> Text:
    rows = (("gold", found.gold), (first, found.first), (other, found.other))
    width = max(cell_len(name) for name, _ in rows) + 2
    shown = Text(f"\nsentence {found.number}: {number(found.gained)} gained, {number(found.lost)} lost")
    for name, words in rows:
        shown.append(f"\n{name}{' ' * (width - cell_len(name))}", style="cyan").append(_words(words))
    return shown


def _words(words: Shown) -> str:
    return " ".join(f"{word}/{tag}" if tag else word for word, tag in words)
