"""`duilian inspect`: the contents of a model, and what a coupled one has learned about its standards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from duilian.cli.options import CorpusFormat, InputEncoding, Lenient, MappingName, Threads, warn_of
from duilian.cli.progress import watch
from duilian.cli.tables import show, visible
from duilian.conversion import Converter
from duilian.corpus import ReadReport
from duilian.engine import find_model
from duilian.engine.loading import BUNDLED_NAME
from duilian.errors import ConfigError
from duilian.models import load
from duilian.models.offers import OffersMapping
from duilian.reports.inspection import (
    HEADS,
    AmbiguousWord,
    LearnedMapping,
    ModelCard,
    guess_standard,
    study,
)
from duilian.wording import counted

EXAMPLE = (
    "Example:\n\n    duilian inspect both.model\n\n"
    "    duilian inspect both.model people.txt --from pku --to ctb --examples 5"
)

IN_TRAINING = "  dev, in training"  # before weights are rounded and small ones dropped
METRICS = {
    "word": "F1 of words",
    "word_tag": "F1 of words with tags",
    "uas": "raw-text UAS",
    "las": "LAS",
}
_TAGS_SHOWN = 60
_ARRAYS_SHOWN = 4


def command(
    model: Annotated[
        str, typer.Argument(metavar="[MODEL]", help="A model from duilian train.")
    ] = BUNDLED_NAME,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="An annotated corpus, to show the learned mapping on it."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="Standard of FILE (default: guessed from its tags)."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--to", metavar="NAME", help="The other standard (default: the model's next)."),
    ] = None,
    examples: Annotated[
        int, typer.Option(min=0, metavar="N", help="Show N words whose tag depends on context.")
    ] = 0,
    mapping: MappingName = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="IMAGE", help="Draw the mapping as a heat map (needs matplotlib).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; shares are percentages.")] = False,
    format: CorpusFormat = None,
    encoding: InputEncoding = "utf-8",
    lenient: Lenient = False,
    threads: Threads = 1,
) -> None:
    """Show the contents of a model: standards, tags, sizes, scores, recipe.

    Given a corpus and a coupled model, show instead how the tags of two standards correspond, as learned by
    the model: expected counts on that corpus, under the mapping that duilian convert would use.
    """
    needs_corpus = {"--from": source, "--to": target, "--mapping": mapping, "--plot": plot}
    _check_corpus_options(file, {**needs_corpus, "--examples": examples})
    if file is None:
        card = ModelCard.read(find_model(model))
        _print_json(card.as_json()) if as_json else _show_card(card)
        return
    tagger: Any = load(find_model(model))
    if not isinstance(tagger, OffersMapping):
        hint = "convert the corpus with duilian convert, and compare the tags"
        raise ConfigError(f"{model}: a model of kind {tagger.kind!r} learns no mapping", hint)
    if source is None and file == "-":
        raise typer.BadParameter("is required with standard input", param_hint="--from")
    source = source or guess_standard(tagger, file, format=format, encoding=encoding, lenient=lenient)
    target = target or next((b for a, b in tagger.conversions if a == source), tagger.standards[0])
    converter = Converter(tagger, source, target, mapping=mapping, unknown_tags=True, threads=threads)
    report = ReadReport() if lenient else None
    _, sentences = converter.open(file, format=format, encoding=encoding, report=report)
    found = study(converter, watch(sentences), examples=examples)
    if report is not None:
        warn_of(report)
    if plot is not None:
        from duilian.reports.plots import plot_mapping  # matplotlib is optional and slow to import

        plot_mapping(found.mapping, plot)
    if as_json:
        words = {"words": [each.as_json() for each in found.words]} if examples else {}
        _print_json(found.mapping.as_json() | words)
    else:
        show(_mapping_table(found.mapping), *map(_word_table, found.words))


def _check_corpus_options(file: str | None, options: dict[str, object]) -> None:
    for option, value in options.items():
        if file is None and value:
            raise typer.BadParameter("needs a corpus FILE", param_hint=option)


def _print_json(found: dict[str, Any]) -> None:
    typer.echo(json.dumps(found, ensure_ascii=False, indent=2))


def _show_card(card: ModelCard) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _card_rows(card):
        table.add_row(Text(visible(name)), Text(visible(value)))
    show(table)
    if card.mapping:
        show(_label_pair_table(card))
    if card.notes.get("recipe"):
        show(Text("\nrecipe", style="cyan"))
        typer.echo(visible(card.notes["recipe"].strip()))  # verbatim, so that it can be saved and used


def _card_rows(card: ModelCard) -> list[tuple[str, str]]:
    rows = [
        ("file", f"{card.file}, {card.bytes:,} bytes"),
        ("kind", f"{card.kind}, {card.level} level" if card.level else card.kind),
        ("templates", card.templates),
        ("dictionary", _format_dictionary(card.dictionary)),
        ("weights", f"{card.weights:,}"),
        ("guided by", ", ".join(card.guides)),
        ("parser", card.parser),
        ("  from", _format_origin(card.notes.get("parser", {}))),
        (IN_TRAINING, _format_score(card.notes.get("parser", {}).get("dev_score"), HEADS)),
    ]
    rows = [row for title, texts in card.texts.items() for row in _titled(title, texts)] + rows
    for standard, tags in card.standards.items():
        rows += [(standard, _format_tags(tags)), *_side_rows(card, standard)]
    score = card.notes.get("dev_score")
    if len(card.standards) > 1 and score is not None:
        rows.append(("average", f"{score:.2f}, over the standards' dev sets, in training"))
    rows.append(("iterations", str(card.notes.get("iterations", ""))))
    rows.append(("settings", _format_settings(card.settings)))
    rows.append(("overrides", ", ".join(card.notes.get("overrides", []))))
    rows.append(("arrays", _format_arrays(card.arrays)))
    return [(name, value) for name, value in rows if value]


def _label_pair_table(card: ModelCard) -> Table:
    """Show which labels of two standards share weights, and which have no partner."""
    first, second = card.standards
    pairs = sum(len(partners) for partners in card.mapping.values())
    table = Table(
        box=None,
        pad_edge=False,
        title=f"\n{counted(pairs, 'pair of labels', 'pairs of labels')}",
        title_justify="left",
    )
    table.add_column(Text(visible(first)), style="cyan", no_wrap=True)
    table.add_column(Text(visible(second)), overflow="fold")
    for label, partners in card.mapping.items():
        table.add_row(Text(visible(label)), Text(visible(" ".join(partners)) or "–"))
    return table


def _side_rows(card: ModelCard, standard: str) -> list[tuple[str, str]]:
    notes = card.side_notes(standard)
    corpora = notes.get("corpora", {})
    parts = [
        f"{name} {counted(part['sentences'], 'sentence')} ({part['fingerprint'][:12]})"
        for name, part in corpora.items()
    ]
    scores = [(f"  {part}", _format_scores(found)) for part, found in card.scores.get(standard, {}).items()]
    in_training = _format_score(notes.get("dev_score"), card.metric(standard))
    return [("  corpora", ", ".join(parts)), *scores, (IN_TRAINING, in_training)]


def _format_origin(notes: Mapping[str, Any]) -> str:
    """The file of a parser that was trained before the analyser."""
    return f"{notes['file']} ({notes.get('fingerprint', '')[:12]})" if "file" in notes else ""


def _format_score(score: float | None, metric: str) -> str:
    return "" if score is None else f"{score:.2f}, {metric}"


def _format_scores(found: Mapping[str, float]) -> str:
    return ", ".join(f"{METRICS[name]} {score:.2f}" for name, score in found.items() if name in METRICS)


def _titled(title: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(title if k == 0 else " ", text) for k, text in enumerate(texts)]


def _format_tags(tags: Sequence[str] | None) -> str:
    if tags is None:
        return "words only"
    shown = " ".join(tags[:_TAGS_SHOWN]) + (" …" if len(tags) > _TAGS_SHOWN else "")
    return f"{counted(len(tags), 'tag')}: {shown}"


def _format_arrays(arrays: Sequence[tuple[str, str, int]]) -> str:
    largest = sorted(arrays, key=lambda each: -each[2])[:_ARRAYS_SHOWN]
    shown = ", ".join(f"{name} ({dtype}) {size:,}" for name, dtype, size in largest)
    return f"{len(arrays)}; the largest, in bytes: {shown}"


def _format_dictionary(found: Mapping[str, Any]) -> str:
    if not found:
        return ""
    shown = [f"{found['name']} ({found['fingerprint']}), {counted(found['words'], 'word')}"]
    shown += [found["licence"]] if found["licence"] else []
    return ", ".join(shown) + (f"; learned with {found['replaces']}" if found["replaces"] else "")


def _format_settings(settings: Mapping[str, Any], prefix: str = "") -> str:
    found = []
    for name, value in settings.items():
        if isinstance(value, dict):
            found.append(_format_settings(value, f"{name}."))
        elif value is not None and name not in ("standard", "standards", "level", "templates"):
            found.append(f"{prefix}{name} {value}")
    return ", ".join(filter(None, found))


def _mapping_table(mapping: LearnedMapping) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(mapping.source, style="cyan", no_wrap=True)
    table.add_column("count", justify="right")
    table.add_column(f"{mapping.target}, % of the row (mapping: {mapping.mapping})", overflow="fold")
    for tag, total, shares in mapping.rows():
        shown = "  ".join(f"{name} {100.0 * share:.1f}" for name, share in shares)
        table.add_row(Text(tag), f"{total:,.0f}", Text(shown))
    return table


def _word_table(word: AmbiguousWord) -> Table:
    title = f"\n{word.word} {word.tag}"
    table = Table(box=None, pad_edge=False, show_header=False, title=title, title_justify="left")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for reading in word.readings:
        table.add_row(Text(reading.tag), f"{reading.count:,}", Text(reading.example))
    return table
