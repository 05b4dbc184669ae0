"""Merges lists of words for [dictionary] of a recipe: the first, and what the others add to it.

    python tools/merged_list.py LIST LIST … [--unless CORPUS …] > merged-words.txt

    python tools/merged_list.py DIR/lists/cedict-words.txt DIR/lists/jieba-dict.txt \\
        --unless DIR/pd/train.txt > DIR/lists/cedict-jieba-words.txt

A line is `word frequency tag`. A word of several lists keeps what the first of them says; frequencies of the
other lists are scaled by the median ratio over the words that they share with the first. Words of the other
lists that occur in CORPUS (`word/tag`) are left out: jieba's list was made from text that includes People's
Daily of 1998, so that a model would learn there to trust it more than it deserves elsewhere.

The licences of all lists hold for the result: name them in the recipe. CC-CEDICT is under CC BY-SA 4.0,
jieba's dictionary and THUOCL are under MIT.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from duilian.corpus import read
from duilian.features import Dictionary, ListedWord

RELIABLE = 20  # frequencies above this are compared


def ratio(first: Mapping[str, ListedWord], other: Iterable[ListedWord]) -> float:
    """How much larger the frequencies of the first list are; 1 if no frequent word is in both."""
    pairs = [(first[each.word].frequency, each.frequency) for each in other if each.word in first]
    found = [a / b for a, b in pairs if min(a, b) > RELIABLE]
    return statistics.median(found) if found else 1.0


def merged(lists: Iterable[Iterable[ListedWord]], unless: Container[str] = ()) -> list[ListedWord]:
    """The words of the first list, and those of the others that `unless` lacks."""
    first, *others = ([*each] for each in lists)
    found = {each.word: each for each in first}
    for words in others:
        scale = ratio({each.word: each for each in first}, words)
        for each in words:
            if each.word not in found and each.word not in unless:
                found[each.word] = each._replace(frequency=max(1, round(scale * each.frequency)))
    return sorted(found.values())


def main() -> None:
    """Write the list to standard output."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lists", nargs="+", type=Path, metavar="LIST")
    parser.add_argument("--unless", nargs="*", default=[], type=Path, metavar="CORPUS")
    options = parser.parse_args()
    seen = {
        word
        for path in options.unless
        for sentence in read(path, standard="pku", format="slash")
        for word in sentence["pku"].words
    }
    for each in merged(map(Dictionary.read, options.lists), seen):
        sys.stdout.write(f"{each.word} {each.frequency} {each.tag}".rstrip() + "\n")


if __name__ == "__main__":
    main()
