"""Words and tags of everyday text: an analyser on the gold sentences of tests/data/everyday, beside jieba.

    python benchmarks/everyday.py [MODEL …] [--half dev] [--genres]
    python benchmarks/everyday.py [MODEL …] --weibo wtb/dev.conll

The bundled analyser unless a model is named; jieba too if it is installed. Everything starts from raw text.
F1 of words segmented as in PKU and as in UD (standards pku, gsd or ud; on Weibo also ctb), and of words with
tags (w+t). jieba segments in its own way, so its figures only show how far that is from either.

The Weibo treebank is segmented as in CTB, and its files lack the spaces of the text: words in Latin letters
or digits that stand side by side get one back, since nobody would write them as one.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import duilian
from duilian.corpus import Layer, read
from duilian.evaluation import word_score, word_tag_score

EVERYDAY = Path(__file__).parents[1] / "tests" / "data" / "everyday"
STANDARDS = ("pku", "gsd", "ud", "ctb")


@dataclasses.dataclass(frozen=True)
class Item:
    """A sentence: its genre, its text as written, and its words and tags by standard."""

    genre: str
    text: str
    layers: dict[str, Layer]


Answers = Callable[[Sequence[str], str], list[Layer]]
"""From texts and a standard to words, with tags or without."""


def everyday(half: str) -> list[Item]:
    """Return one half of the sentences. Only the CoNLL-U file has the spaces of the text."""
    pku = read(EVERYDAY / f"{half}.pku.txt", standard="pku")
    gsd = read(EVERYDAY / f"{half}.conllu", standard="gsd")
    ud = read(EVERYDAY / f"{half}.conllu", standard="ud", column="upos")
    return [
        Item(genre_of(b.comments), b.text, {"pku": a["pku"], "gsd": b["gsd"], "ud": c["ud"]})
        for a, b, c in zip(pku, gsd, ud, strict=True)
    ]


def weibo(path: Path) -> list[Item]:
    """Return the sentences of a file of the Weibo treebank, with their words in every standard."""
    items = []
    for sentence in read(path, standard="ctb", format="conllx", column="xpos"):
        words = sentence["ctb"].words
        text = "".join(b if k == 0 or not meets(words[k - 1], b) else f" {b}" for k, b in enumerate(words))
        items.append(Item("weibo", text, dict.fromkeys(STANDARDS, Layer(words))))
    return items


def meets(a: str, b: str) -> bool:
    """Whether a Latin letter or digit stands on both sides of the place between two words."""
    return all(each.isascii() and each.isalnum() for each in (a[-1], b[0]))


def genre_of(comments: Sequence[str]) -> str:
    """Return the genre in the comment `# genre = …`."""
    return next(line.split("=")[1].strip() for line in comments if line.startswith("# genre"))


def analyser(path: str | None) -> Answers:
    """Return the answers of a model; the bundled one if no path is given."""
    zh = duilian.load(path)

    def answer(texts: Sequence[str], standard: str) -> list[Layer]:
        if standard not in zh.standards:
            return []
        docs = [zh(text) for text in texts]
        return [Layer(tuple(doc.words(standard)), tuple(doc.tags(standard))) for doc in docs]

    return answer


def jieba() -> Answers | None:
    """Return the answers of jieba, which are the same in every standard; None if it is not installed."""
    try:
        import jieba as peer  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return None
    peer.setLogLevel(logging.WARNING)
    return lambda texts, _: [Layer(tuple(w for w in peer.lcut(text) if w.strip())) for text in texts]


def report(name: str, answer: Answers, items: Sequence[Item], *, by_genre: bool) -> None:
    """Print the scores of one system."""
    print(name)
    for standard in STANDARDS:
        is_gold = all(standard in item.layers for item in items)
        found = answer([item.text for item in items], standard) if is_gold else []
        if not found:
            continue
        rows = {"all": list(range(len(items)))}
        if by_genre:
            for number, item in enumerate(items):
                rows.setdefault(item.genre, []).append(number)
        for row, chosen in rows.items():
            gold = [items[number].layers[standard] for number in chosen]
            print(f"  {standard}  {row:10} {scores(gold, [found[number] for number in chosen])}")


def scores(gold: Sequence[Layer], guess: Sequence[Layer]) -> str:
    """Return both F1 in one line; words alone if there are no tags."""
    words, found = [layer.words for layer in gold], [layer.words for layer in guess]
    line = f"words {word_score(words, found).f1:6.2f}"
    if all(layer.tags for layer in (*gold, *guess)):
        tags, found_tags = [layer.tags or () for layer in gold], [layer.tags or () for layer in guess]
        line += f"  w+t {word_tag_score((words, tags), (found, found_tags)).f1:6.2f}"
    return line


def main() -> None:
    """Report on the bundled analyser or the models named on the command line, and on jieba."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--half", choices=["dev", "test"], default="dev")
    parser.add_argument("--weibo", type=Path, metavar="FILE", help="this file of the Weibo treebank instead")
    parser.add_argument("--genres", action="store_true", help="a line for each genre, too")
    options = parser.parse_args()
    items = everyday(options.half) if options.weibo is None else weibo(options.weibo)
    systems = {path or "bundled": analyser(path) for path in options.models or [None]}
    peer = jieba()
    if peer is not None:
        systems["jieba"] = peer
    for name, answer in systems.items():
        report(name, answer, items, by_genre=options.genres)


if __name__ == "__main__":
    main()
