"""An analyser of UD version 2 on raw text, by the rules of the CoNLL 2018 shared task.

    python benchmarks/universal.py [MODEL] --data DIR [--gold FILE …] [--english standard]
    python benchmarks/universal.py --data DIR --halves FOLDER

Uses the bundled analyser, as users load it, unless a model is named. We have no training set of GSDSimp, so
half of its dev set is for training (sentences 1, 3, 5 …) and the other half for evaluation (2, 4, 6 …);
`--halves` writes both. By default the evaluation half is scored, and PUD, whose scores are meaningful only
if it was not used for training. Each sentence is a separate text. The parser is also scored on gold words and
tags, without punctuation.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

import duilian
from duilian.corpus import Corpus, Layer, Sentence, read, write
from duilian.engine import Analyzer
from duilian.evaluation import RawTreeScore, raw_tree_score, tree_score
from duilian.models.roles import Ability
from duilian.standards import split_pair
from measure import facts

DEV, PUD = "ud2/gsdsimp-dev.conllu", "ud2/pud.conllu"
STANDARD, COLUMN = "ud", "upos+xpos"


def halves(corpus: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """Return the sentences for training and those for evaluation."""
    return list(corpus[0::2]), list(corpus[1::2])


def answers(zh: Analyzer, gold: Sequence[Layer], threads: int) -> list[Layer]:
    """Analyse the text of each sentence from scratch, and return CoNLL-U."""
    docs = zh.pipe((layer.text for layer in gold), threads=threads)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.conllu"
        path.write_text("".join(doc.to_conllu(STANDARD) for doc in docs), encoding="utf-8")
        return [sentence[STANDARD] for sentence in read(path, standard=STANDARD, check_tags=False)]


def with_xpos(layer: Layer) -> Layer:
    """Return a layer whose tags are the specific ones."""
    return dataclasses.replace(layer, tags=layer.columns.get("xpos"))


def raw_scores(gold: Sequence[Layer], found: Sequence[Layer]) -> list[str]:
    """Return F1 of words, universal tags, specific tags, heads, and heads with relations."""
    universal: RawTreeScore = raw_tree_score(gold, found)
    specific = raw_tree_score(list(map(with_xpos, gold)), list(map(with_xpos, found)))
    scores = (universal.words, universal.tags, specific.tags, universal.uas, universal.las)
    return [f"{each.f1:.2f}" for each in scores]


def gold_tags(layer: Layer, known: set[str]) -> tuple[str | None, ...]:
    """Return the specific tags of pairs, as far as a parser knows them."""
    tags = (split_pair(str(tag))[1] for tag in layer.tags or ())
    return tuple(tag if tag in known else None for tag in tags)


def gold_scores(zh: Analyzer, gold: Corpus) -> list[str]:
    """Return attachment of gold words and tags, without punctuation."""
    if zh.parser is None:
        return ["", ""]
    trees = duilian.evaluate(zh.parser, gold).trees
    if Ability.TAGS in zh.parser.abilities:  # it would find its own tags
        layers, known = [sentence[STANDARD] for sentence in gold], set(zh.parser.tags_)
        bare = [Layer(layer.words, gold_tags(layer, known)) for layer in layers]
        trees = tree_score(layers, zh.parser.predict_layers(bare, keep_heads=True))
    return ["", ""] if trees is None else [f"{trees.uas:.2f}", f"{trees.las or 0.0:.2f}"]


def row(zh: Analyzer, name: str, path: Path, threads: int) -> list[str]:
    """Return the scores of one file; for the dev set, of the evaluation half."""
    corpora = [read(path, standard=STANDARD, column=column, check_tags=False) for column in ("upos", COLUMN)]
    chosen = [halves(each)[1] if name == DEV else list(each) for each in corpora]
    layers = [sentence[STANDARD] for sentence in chosen[0]]
    pairs = Corpus(chosen[1], standard=STANDARD, source=str(path))
    shown = f"{name}, evaluation half" if name == DEV else name
    return [shown, *raw_scores(layers, answers(zh, layers, threads)), *gold_scores(zh, pairs)]


def write_halves(data: Path, folder: Path) -> None:
    """Write the training half and the evaluation half."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = halves(read(data / DEV, standard=STANDARD))
    for name, sentences in zip(("teach", "judge"), parts, strict=True):
        write(Corpus(sentences, standard=STANDARD), folder / f"gsdsimp-{name}.conllu")


def main() -> None:
    """Print the table, or write the halves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--gold", nargs="*", default=[DEV, PUD], help="files below the data folder")
    parser.add_argument("--halves", type=Path, help="write the two halves of the dev set to this folder")
    parser.add_argument(
        "--english", choices=("tags", "standard"), default="tags", help="tags of English words"
    )
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.halves:
        write_halves(options.data, options.halves)
        return
    zh = duilian.load(options.model, english=options.english)
    table = Table(title="Raw text, UD version 2", caption=facts(), title_justify="left")
    for column in ("", "words", "UPOS", "XPOS", "UAS", "LAS", "gold words, tags: UAS", "LAS"):
        table.add_column(column, justify="left" if not column else "right")
    for name in options.gold:
        table.add_row(*row(zh, name, options.data / name, options.threads))
    Console().print(table)


if __name__ == "__main__":
    main()
