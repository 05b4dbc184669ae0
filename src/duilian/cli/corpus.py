"""`duilian corpus`: count, reformat, split, sample, merge and mix corpora."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from duilian.cli.option_groups import CorpusReading, with_options_of_groups
from duilian.cli.options import Column, Columns, Output, warn, warn_of
from duilian.cli.outputs import keeping_inputs
from duilian.cli.progress import measured, watch
from duilian.cli.tables import show_statistics
from duilian.corpus import (
    FORMATS,
    Corpus,
    ReadReport,
    Sentence,
    read_sentences,
    statistics,
    write,
    write_parts,
)
from duilian.corpus.declared import ForeignTags
from duilian.corpus.english_dictionary import PACKAGE, EnglishDictionary
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.merging import MergeReport, merge, only_tags
from duilian.corpus.mixing import PARTS, PRESETS, Mixing, MixReport, mix
from duilian.corpus.mixing import preset as mixing_preset
from duilian.corpus.places import PlacedSentence, read_placed
from duilian.standards import Standard
from duilian.wording import counted

app = typer.Typer(
    help="Count, reformat, split, sample, merge and mix corpora.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

CorpusFile = Annotated[str, typer.Argument(metavar="FILE", help="A corpus file; - is standard input.")]
CorpusFiles = Annotated[
    list[str] | None, typer.Argument(metavar="FILE", help="Corpus files; - is standard input.")
]
StandardName = Annotated[str | None, typer.Option(metavar="NAME", help="Standard: pku, ctb, ud, ud1, …")]
Seed = Annotated[int, typer.Option(metavar="N", help="Random seed.")]


def _column_names(columns: str | None) -> list[str] | None:
    return None if columns is None else columns.split(",")


@app.command()
@with_options_of_groups
def stats(
    files: CorpusFiles = None,
    standard: StandardName = None,
    *,
    reading: CorpusReading,
    column: Column = None,
    columns: Columns = None,
    against: Annotated[
        str | None, typer.Option(metavar="OTHER", help="Also count words that do not occur in this corpus.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; shares are percentages.")] = False,
) -> None:
    """Count sentences, words, characters and tags, taking several files as one corpus.

    Example: duilian corpus stats dev.conllu --against train.conllu
    """
    if standard is not None and standard.endswith(".toml"):
        Standard.load(standard)  # now, rather than ignore a file that is missing or malformed
    paths = files or ["-"]
    inputs = measured(paths)

    def sentences(path: os.PathLike[str]) -> Iterator[Sentence]:
        yield from _read(path, standard, reading, column, _column_names(columns))

    everything = watch(itertools.chain.from_iterable(map(sentences, inputs)), files=inputs)
    known = None if against is None else sentences(Path(against))
    found = statistics(everything, standard=standard, known=known)
    if as_json:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False, indent=2))
    else:
        show_statistics(found, ", ".join(paths))
        if found.foreign_tags:
            tags = ", ".join(f"{tag} {count:,}" for tag, count in found.foreign_tags.items())
            typer.echo(f"\ntags that {standard!r} does not have: {tags}")


@app.command()
@keeping_inputs
@with_options_of_groups
def convert(
    file: CorpusFile = "-",
    output: Output = "-",
    to: Annotated[
        str | None, typer.Option(metavar="FORMAT", help=f"Output format: {', '.join(FORMATS)}.")
    ] = None,
    standard: StandardName = None,
    *,
    reading: CorpusReading,
    column: Column = None,
    columns: Columns = None,
) -> None:
    """Write a corpus in another format, chosen by --to or by the extension of the output file.

    Example: duilian corpus convert pku.txt --cut sentence --to conllu -o pku.conllu
    """
    inputs, names = measured([file]), _column_names(columns)
    sentences = _read(inputs[0], standard, reading, column, names)
    found = watch(sentences, files=inputs)
    write(found, output, format=to, standard=standard, column=column, names=names)


def _read(
    path: str | os.PathLike[str],
    standard: str | None,
    reading: CorpusReading,
    column: str | None = None,
    names: list[str] | None = None,
    report: ReadReport | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a file; at the end, report what was skipped."""
    report = ReadReport() if report is None else report
    how = vars(reading)
    yield from read_sentences(path, standard=standard, **how, column=column, names=names, report=report)
    warn_of(report)


def _read_all(file: str, standard: str | None, reading: CorpusReading) -> Corpus:
    report, inputs = ReadReport(), measured([file])
    sentences = _read(inputs[0], standard, reading, report=report)
    read = tuple(watch(sentences, files=inputs))
    return Corpus(read, standard=standard or next(iter(read[0])), source=file, format=report.format)


def _parse_shares(text: str) -> list[float]:
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"expected numbers such as 8,1,1, found {text!r}") from None


@app.command()
@with_options_of_groups
def split(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Output folder.")],
    file: CorpusFile = "-",
    shares: Annotated[str, typer.Option(metavar="SHARES", help="Proportions of the parts.")] = "8,1,1",
    seed: Seed = 1,
    standard: StandardName = None,
    *,
    reading: CorpusReading,
) -> None:
    """Split a corpus at random into train, dev and test, or any number of parts.

    Example: duilian corpus split all.conllu --shares 8,1,1 --seed 1 -o parts
    """
    proportions = _parse_shares(shares)
    corpus = _read_all(file, standard, reading)
    parts = corpus.split(proportions, seed)
    for part, path in zip(parts, write_parts(parts, output, like=file, format=corpus.format), strict=True):
        typer.echo(f"{path}: {counted(len(part), 'sentence')}")


@app.command()
@keeping_inputs
@with_options_of_groups
def sample(
    count: Annotated[int, typer.Option("--count", "-n", min=0, metavar="N", help="Number of sentences.")],
    file: CorpusFile = "-",
    seed: Seed = 1,
    output: Output = "-",
    standard: StandardName = None,
    *,
    reading: CorpusReading,
) -> None:
    """Draw random sentences without replacement, in corpus order.

    Example: duilian corpus sample all.conllu -n 1000 --seed 1 -o small.conllu
    """
    corpus = _read_all(file, standard, reading)
    write(corpus.sample(count, seed), output, format=corpus.format, standard=standard)


@app.command(name="merge")
@keeping_inputs
@with_options_of_groups
def merge_command(
    file: CorpusFile,
    reviewed: Annotated[
        str, typer.Argument(metavar="REVIEWED", help="The reviewed sentences, in any format.")
    ],
    standard: Annotated[str, typer.Option(metavar="NAME", help="Standard of the review: pku, ctb, ud, …")],
    output: Output = "-",
    *,
    reading: CorpusReading,
) -> None:
    """Put reviewed sentences back into their corpus; sentences are matched by their characters.

    Words, tags and heads of the review replace those of the corpus; what it leaves open stays unchanged.

    Example: duilian corpus merge converted.txt checked.txt --standard ctb -o final.txt
    """
    corpus = _read_all(file, standard, reading)
    review = _read_review(reviewed, standard, reading)
    report, sentences = MergeReport(), (each.sentence for each in review)
    written = None if corpus.format == "jsonl" else standard  # jsonl has all layers, also the others
    write(merge(corpus, sentences, standard, report), output, format=corpus.format, standard=written)
    _report_merging(report, reviewed, [f"{each.path}:{each.line_of(0)}" for each in review])


def _read_review(path: str, standard: str, reading: CorpusReading) -> list[PlacedSentence]:
    """The sentences of a review with their lines; warns of tags that the standard does not have."""
    (source,), report = measured([path]), ReadReport()
    options = FormatOptions(standard=standard)
    skipping = report if reading.lenient else None
    found = read_placed(source, options, encoding=reading.encoding, report=skipping)[1]
    review = list(watch(found, files=[source]))
    report.foreign_tags = ForeignTags(standard)
    for each in review:
        report.foreign_tags.add(
            only_tags(each.sentence[standard]),
            lambda word, each=each: f"{each.path}:{each.line_of(word)}",  # type: ignore[misc]
        )
    warn_of(report)
    return review


def _report_merging(report: MergeReport, reviewed: str, places: Sequence[str]) -> None:
    heads = f"{counted(report.heads, 'head')}, " if report.heads else ""
    changed = f"{heads}{counted(report.tags, 'tag')} and {counted(report.words, 'word')} changed"
    print(f"duilian: {counted(report.sentences, 'reviewed sentence')}, {changed}", file=sys.stderr)
    if report.undecided:
        what = counted(len(report.undecided), "sentence still has", "sentences still have")
        first = places[report.undecided[0]]
        print(f"duilian: {what} undecided words in braces; first: {first}", file=sys.stderr)
    if report.doubtful:
        what = counted(len(report.doubtful), "tag is", "tags are")
        hint = "write one tag, or several in braces to leave it open"
        warn(f"{reviewed}: {what} not valid and left out; first: {report.doubtful[0]}; {hint}")
    if report.untagged:
        what = counted(report.untagged, "new word has", "new words have")
        warn(f"{what} no tag; first: {places[report.first_untagged]}")
    if report.headless:
        what = counted(report.headless, "word has", "words have")
        warn(f"{what} no head now, because a word was cut differently; `duilian parse --keep` finds heads")
    if report.lost:
        what = counted(len(report.lost), "sentence is", "sentences are")
        warn(f"{reviewed}: {what} not in the corpus; first: {report.lost[0]!r}")


def _mixing(name: str | None, share: float | None, tags: str | None, replacement: str | None) -> Mixing:
    """Apply the options to the preset; without a preset, the share is required."""
    if name is None and share is None:
        raise typer.BadParameter("one of them is required", param_hint="--share or --preset")
    base = Mixing(share=share or 0.0) if name is None else mixing_preset(name)
    given: dict[str, Any] = {
        "share": share,
        "parts": None if tags is None else tuple(tags.split(",")),
        "replacement": replacement,
    }
    return dataclasses.replace(base, **{key: value for key, value in given.items() if value is not None})


@app.command(name="mix")
@keeping_inputs
@with_options_of_groups
def mix_command(
    file: CorpusFile = "-",
    output: Output = "-",
    preset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"Data set of Zhao et al. (2012): {', '.join(PRESETS)}."),
    ] = None,
    share: Annotated[
        float | None, typer.Option(metavar="X", help="Share of words to replace, such as 0.1.")
    ] = None,
    tags: Annotated[
        str | None,
        typer.Option(
            metavar="TAGS", help=f"Tags of the words to replace: {','.join(PARTS)}, or the corpus's own."
        ),
    ] = None,
    replacement: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="unified: replace with ENG; respective: replace with a translation."
        ),
    ] = None,
    english: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=f"Dictionary: a file in CC-CEDICT format, or {PACKAGE} for that Python package.",
        ),
    ] = None,
    keep_foreign: Annotated[
        bool, typer.Option("--keep-foreign", help="Do not retag foreign words as nouns.")
    ] = False,
    seed: Seed = 1,
    standard: StandardName = None,
    *,
    reading: CorpusReading,
) -> None:
    """Make mixed Chinese-English text by replacing a share of the words; tags are kept.

    Example: duilian corpus mix pku.txt --standard pku --preset E --seed 1 -o mixed.txt
    """
    mixing = _mixing(preset, share, tags, replacement)
    words = None if english is None else EnglishDictionary.read(english)
    corpus = _read_all(file, standard, reading)
    report = MixReport()
    mixed = mix(
        watch(corpus, total=len(corpus)),
        mixing,
        standard=corpus.standard,
        seed=seed,
        english=words,
        keep_foreign=keep_foreign,
        report=report,
    )
    write(mixed, output, format=corpus.format, standard=standard)
    _report_mixing(report)


def _report_mixing(report: MixReport) -> None:
    by_tag = ", ".join(f"{tag} {count}" for tag, count in report.replaced.most_common())
    total = report.replaced.total()
    print(f"duilian: {total} of {report.words} words are now English ({by_tag or 'none'})", file=sys.stderr)
    if report.retagged:
        words = counted(report.retagged, "foreign word became a noun", "foreign words became nouns")
        print(f"duilian: {words}", file=sys.stderr)
