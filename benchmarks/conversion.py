"""Conversion from the PKU to the CTB standard on the doubly annotated newspaper sentences of tests/data/news.

python benchmarks/conversion.py zx-pos.model zx-pd.model zx-pd-convert.model
python benchmarks/conversion.py --first 100 zx-pd.model    # the figures of benchmarks/README.md

Any tagger in the CTB standard tags the sentences without given tags; a coupled tagger of both standards also
converts the PKU tags under each mapping. At word level on the sentences that both guidelines segment alike,
at character level on all. F1 of words and of words with tags.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duilian.corpus import Layer, read
from duilian.evaluation import word_score, word_tag_score
from duilian.models import CoupledTagger, load, tagger_for

NEWS = Path(__file__).parents[1] / "tests" / "data" / "news"
SOURCE, TARGET = "pku", "ctb"
MAPPINGS = ("complete", "relaxed", "tight", "strict")


def news(standard: str) -> list[Layer]:
    """Return the sentences in one standard."""
    return [sentence[standard] for sentence in read(NEWS / f"{standard}.txt", standard=standard)]


def report(model: Any, name: str, first: int | None) -> None:
    """Print the rows of one model, on all sentences or the first of them."""
    tagger = tagger_for(model, TARGET)
    pairs = list(zip(news(SOURCE), news(TARGET), strict=True))[:first]
    if tagger.level == "word":
        pairs = [(a, b) for a, b in pairs if a.words == b.words]
    given, gold = [a for a, _ in pairs], [b for _, b in pairs]
    print(f"{name}: {tagger.level} level, {len(pairs)} sentences, {sum(map(len, gold))} words")
    show("tagged, nothing given", gold, tagger.predict_layers(given))
    if not isinstance(model, CoupledTagger) or SOURCE not in model.standards:
        return
    for mapping in MAPPINGS:
        found = model.convert(given, SOURCE, TARGET, mapping=mapping)
        show(f"converted, {mapping}", gold, found)


def show(name: str, gold: Sequence[Layer], guess: Sequence[Layer]) -> None:
    words, tags = [layer.words for layer in gold], [layer.tags or () for layer in gold]
    found, found_tags = [layer.words for layer in guess], [layer.tags or () for layer in guess]
    cut = word_score(words, found).f1
    both = word_tag_score((words, tags), (found, found_tags)).f1
    print(f"  {name:24} words {cut:6.2f}  words with tags {both:6.2f}")


def main() -> None:
    """Report on the models named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument(
        "--first", type=int, metavar="N", help="only the first N sentences (default: all 300)"
    )
    arguments = parser.parse_args()
    for path in arguments.models:
        report(load(path), path, arguments.first)


if __name__ == "__main__":
    main()
