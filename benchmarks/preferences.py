"""The effect of a lexicon on the bundled model's words and tags, by preference weight.

    python benchmarks/preferences.py --data DIR

On the dev text of UD Chinese GSD, two lexicons without tags: the gold words in Chinese characters that the
model segments differently; and pairs of nouns, one per sentence, that gold and model both have as two words.
Reported are how many of these places get the word, how many other places get it wrongly, and the tags.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table

import measure
from duilian import Lexicon, load
from duilian.corpus import read_sentences
from duilian.document import Doc
from duilian.engine import Analyzer
from duilian.standards import tag_classes

WEIGHTS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, None)  # None: forced
COLUMNS = ("weight", "found, pku", "found, ud", "elsewhere", "gold tag", "nouns, pku", "nouns, ud")
Tags = dict[tuple[int, int], str]
Place = tuple[int, tuple[int, int]]


def is_chinese(word: str) -> bool:
    """Return whether a word has at least two characters, all Chinese."""
    return len(word) > 1 and all("\u4e00" <= each <= "\u9fff" for each in word)


def tags_of(docs: Iterable[Doc], standard: str) -> list[Tags]:
    """Return the tags of each text's words by span."""
    return [{(token.start, token.end): str(token.tag) for token in doc.tokens(standard)} for doc in docs]


def otherwise(texts: list[str], gold: list[Tags], plain: list[Tags]) -> list[Place]:
    """Return the gold words that the model segments differently."""
    pairs = enumerate(zip(gold, plain, strict=True))
    return [
        (k, span) for k, (a, b) in pairs for span in a if span not in b and is_chinese(texts[k][slice(*span)])
    ]


def noun_pairs(texts: list[str], gold: list[Tags], plain: list[Tags]) -> list[Place]:
    """Return one pair per text of adjacent nouns, in both gold and the model's answer."""
    nouns = tag_classes("ud")["noun"]
    found = [
        (k, (a[0], b[1]))
        for k, (tags, guess) in enumerate(zip(gold, plain, strict=True))
        for a, b in itertools.pairwise(tags)
        if a[1] == b[0] and {a, b} <= guess.keys()
        if tags[a] in nouns and tags[b] == "NOUN"
        if is_chinese(texts[k][slice(*a)]) and is_chinese(texts[k][slice(*b)])
    ]
    return list(dict(random.Random(1).sample(found, len(found))).items())


def rows(analyzer: Analyzer, texts: list[str], gold: list[Tags], places: list[Place]) -> Iterable[list[str]]:
    """Yield for each weight the places with the word, false ones, gold tags, and nouns."""
    words = sorted({texts[k][slice(*span)] for k, span in places})
    plain = tags_of(analyzer.pipe(texts), "ud")
    for weight in WEIGHTS:
        lexicon = Lexicon(words) if weight is None else Lexicon(words, mode="prefer", weight=weight)
        docs = list(analyzer.with_lexicon(lexicon).pipe(texts))
        found = {name: tags_of(docs, name) for name in analyzer.standards}
        has = {name: [each[k][span] for k, span in places if span in each[k]] for name, each in found.items()}
        wrong = sum(
            texts[k][slice(*span)] in words and span not in {*gold[k], *plain[k]} and (k, span) not in places
            for k, each in enumerate(found["ud"])
            for span in each
        )
        right = sum(found["ud"][k].get(span) == gold[k].get(span, "") for k, span in places)
        nouns = [sum(tag in tag_classes(name)["noun"] for tag in tags) for name, tags in has.items()]
        counts = [len(tags) for tags in has.values()]
        yield [f"{weight or 'force'}", *map(str, counts), str(wrong), str(right), *map(str, nouns)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    path = parser.parse_args().data / "ud2" / "gsdsimp-dev.conllu"
    layers = [each["ud"] for each in read_sentences(path, standard="ud", column="upos")]
    texts = [layer.text for layer in layers]
    gold: list[Tags] = [dict(zip(each.spans(), map(str, each.tags or ()), strict=True)) for each in layers]
    analyzer = Analyzer(load().model)
    plain = tags_of(analyzer.pipe(texts), "ud")
    for title, choose in (("gold words segmented differently", otherwise), ("pairs of nouns", noun_pairs)):
        places = choose(texts, gold, plain)
        table = Table(title=f"{len(places)} {title}", caption=measure.facts(), title_justify="left")
        for name in COLUMNS:
            table.add_column(name, justify="right")
        for row in rows(analyzer, texts, gold, places):
            table.add_row(*row)
        Console().print(table)


if __name__ == "__main__":
    main()
