"""Accuracy of an analyser on raw text: words, tags and trees. How fast it is: speed.py.

python benchmarks/analyze.py --data DIR [--model FILE] [--part dev]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

import duilian
from duilian.corpus import Corpus, read
from duilian.engine import BUNDLED
from measure import facts


def accuracy(options: argparse.Namespace) -> Table:
    """Table of the accuracy of words, tags and trees from raw text on the part named by `--part`."""
    table = Table(title=f"Accuracy, {options.part}", caption=facts(), title_justify="left")
    for column in ("", "words F1", "words with tags F1", "UAS", "LAS (raw text, CoNLL 2018)"):
        table.add_column(column, justify="left" if not column else "right")
    zh = duilian.load(options.model)
    for standard, corpus in _corpora(options).items():
        found = duilian.evaluate(zh, corpus)
        assert found.word is not None
        assert found.word_tag is not None
        trees = found.raw_trees
        shown = ("", "") if trees is None else (f"{trees.uas.f1:.2f}", f"{trees.las.f1:.2f}")
        table.add_row(standard, f"{found.word.f1:.2f}", f"{found.word_tag.f1:.2f}", *shown)
    return table


def _corpora(options: argparse.Namespace) -> dict[str, Corpus]:
    # The half of GSDSimp's dev set that taught nothing (see universal.py); its test set is left alone.
    ud = read(options.data / "ud2" / "gsdsimp-judge.conllu", standard="ud", column="upos")
    pku = read(options.data / "pd" / f"{options.part}.txt", standard="pku", format="slash", cut="sentence")
    return {"pku": pku, "ud": ud}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=BUNDLED)
    parser.add_argument("--part", choices=["dev", "test"], default="dev", help="data set for accuracy")
    Console().print(accuracy(parser.parse_args()))


if __name__ == "__main__":
    main()
