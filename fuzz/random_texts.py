"""Random texts through every public way of the bundled analyser: nothing lost, nothing invented, one answer.

python fuzz/random_texts.py --runs 100000 --seed 1
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator

import pyarrow as pa

import duilian as dl
from duilian.document.text_lines import segmented_line
from duilian.scale.arrow_analyzer import ArrowAnalyzer

ALPHABETS = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经",
    "乒乓球拍卖完了北京大学生物理国务院新闻办公室。！？，、；：“”‘’（）《》…—",
    "abcXYZ iPhone U.S.A. http://a.b/c?d=e a@b.cn 3.14 100% 2026年11月18日 ￥5 Ａ１",
    "國務院臺灣電腦軟體龍龜鬱",
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2003\u2028\u2029\u202f\u205f\u3000"
    "\ufeff\u200b\u200c\u200d\u2060",
    "\0\x01\x07\x08\x1b\x7f\x80\x9f\xad\ufffd\ufffe\uffff\U0010ffff\U000e0001",
    "😀👍🏽👨‍👩‍👧‍👦🇨🇳é̂ö́ก็าकि한국어あいうアイウ𠀀𠮷㍿ﷺＡ",
)
BATCH = 100
WORDS = dl.Ask(tags=False, trees=False)
GAPS = frozenset(["Cc", "Cf", "Zl", "Zp", "Zs"])  # categories of characters that may stand between words


def random_text(rng: random.Random) -> str:
    """A text of any characters, mostly Chinese."""
    kind = rng.random()
    if kind < 0.1:  # any code point that text may have
        points = rng.choice((rng.randrange(0x3000), rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)))
        return "".join(chr(points + k) for k in range(rng.randrange(20)) if not 0xD800 <= points + k < 0xE000)
    weights = [rng.random() ** 3 for _ in ALPHABETS]
    length = rng.randrange(rng.choice((8, 20, 60)))  # much can be wrong with a short text, which costs little
    pieces = (rng.choice(rng.choices(ALPHABETS, weights)[0]) for _ in range(length))
    return "".join(pieces)


def answers(zh: dl.Analyzer, texts: list[str], turn: int) -> Iterator[tuple[str, str, list[list[str]]]]:
    """The words of some texts, by the name of each way and the standard of its answer.

    Three of four calls ask for no trees. What is costly is asked in one standard, which changes by turns.
    """
    docs = [zh(text, ask=dl.Ask(trees=k % 4 == 0)) for k, text in enumerate(texts)]
    piped = list(zh.pipe(texts))
    for standard in zh.standards:
        yield "call", standard, [list(doc.words(standard)) for doc in docs]
        yield "pipe", standard, [list(doc.words(standard)) for doc in piped]
        yield "segment", standard, list(zh.segment(texts, standard=standard))
    standard = zh.standards[turn % len(zh.standards)]
    sentences = [doc.to_sentences() for doc in docs]
    filled = zh.fill([each for some in sentences for each in some], standard)
    yield (
        "fill",
        standard,
        [[word for _ in some for word in next(filled).words(standard)] for some in sentences],
    )
    found = zh.columns(texts, ask=dl.Ask((standard,), trees=False))[standard]
    places = list(zip(found.table.start.tolist(), found.table.end.tolist(), strict=True))
    own = [places[begin:end] for begin, end in itertools.pairwise(found.first.tolist())]
    yield (
        "columns",
        standard,
        [[text[begin:end] for begin, end in each] for text, each in zip(texts, own, strict=True)],
    )
    best = [zh.nbest(text, 2, standard)[:1] for text in texts]
    yield "nbest", standard, [[word for doc in docs for word in doc.words(standard)] for docs in best]


def problems(
    zh: dl.Analyzer, texts: list[str], turn: int = 0, analyze: ArrowAnalyzer | None = None
) -> Iterator[tuple[str, str]]:
    """What is wrong with the answers, after the text."""
    first: dict[str, list[list[str]]] = {}
    for name, standard, found in answers(zh, texts, turn):
        wanted = first.setdefault(standard, found)
        for text, words, same in zip(texts, found, wanted, strict=True):
            if (problem := lost(text, words)) is not None:
                yield text, f"{name} {standard}: {problem}"
            elif words != same:
                yield text, f"{name} {standard}: {words} and not {same}"
    for text, words in zip(texts, zh.segment(texts, fast=True), strict=True):
        if (problem := lost(text, list(words))) is not None:
            yield text, f"fast: {problem}"
    docs = list(zh.pipe(texts, ask=dl.Ask(trees=False, confidence=turn % 2 == 0)))
    for text, doc in zip(texts, docs, strict=True):
        yield from ((text, problem) for problem in wrong_places(zh, text, doc))
        if doc.to_json_bytes() != json.dumps(doc.to_dict(), ensure_ascii=False).encode():
            yield text, "JSON is not that of the words"
    yield from wrong_lines(zh, texts, docs)
    if analyze is not None:
        yield from wrong_rows(analyze, texts, docs)


def wrong_lines(zh: dl.Analyzer, texts: list[str], docs: list[dl.Doc]) -> Iterator[tuple[str, str]]:
    """What is wrong in lines of words, as `duilian segment` writes them."""
    for standard in zh.standards:
        for text, doc, line in zip(texts, docs, zh.spaced(texts, standard), strict=True):
            if line != segmented_line(doc, standard):
                yield text, f"spaced {standard}: {line!r}"


def wrong_rows(analyze: ArrowAnalyzer, texts: list[str], docs: list[dl.Doc]) -> Iterator[tuple[str, str]]:
    """What is wrong in columns of Arrow."""
    for text, doc, row in zip(texts, docs, analyze.answers(pa.array(texts)).to_pylist(), strict=True):
        for standard in doc.standards:
            if [word["word"] for word in row[standard]] != doc.words(standard):
                yield text, f"Arrow {standard}: {row[standard]}"


def wrong_places(zh: dl.Analyzer, text: str, doc: dl.Doc) -> Iterator[str]:
    """Words, for readers and for search engines, that are not where they say."""
    places = set()
    for standard in zh.standards:
        for token in doc.tokens(standard):
            if any(map(str.isalnum, token.text)):  # marks are not searched for
                places.add((token.start, token.end))
            if text[token.start : token.end] != token.text:
                yield f"{standard}: {token!r} is not at its offset"
    found = zh.search_words(text, fold=False)
    for word in found:
        if text[word.start : word.end] != word.text:
            yield f"search: {word!r} is not at its offset"
    if left := places - {(word.start, word.end) for word in found}:
        yield f"search: no words at {sorted(left)}"


def lost(text: str, words: list[str]) -> str | None:
    """What is lost or invented: words stand in the text in order, with nothing but space between."""
    at = 0
    for word in words:
        start = text.find(word, at)
        if start < 0 or not word:
            return f"{word!r} is not in the text"
        if not is_space(text[at:start]):
            return f"{text[at:start]!r} is lost"
        at = start + len(word)
    return None if is_space(text[at:]) else f"{text[at:]!r} is lost"


def is_space(text: str) -> bool:
    """Whether there is nothing that could be part of a word."""
    return all(unicodedata.category(char) in GAPS for char in text)


def attack(
    zh: dl.Analyzer,
    runs: int,
    seed: int,
    found: Callable[[str, str], None],
    analyze: ArrowAnalyzer | None = None,
) -> None:
    """Try random texts, some at a time, and report what is wrong."""
    for begin in range(0, runs, BATCH):
        numbers = range(begin, min(begin + BATCH, runs))
        texts = [random_text(random.Random(f"{seed} {run}")) for run in numbers]
        for text, problem in problems(zh, texts, begin // BATCH, analyze):
            found(text, problem)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--model", help="An analyser or a tagger of characters; the bundled one if not given."
    )
    options = parser.parse_args()
    count, began = 0, time.monotonic()

    def found(text: str, problem: str) -> None:
        nonlocal count
        count += 1
        if count <= 50:
            print(f"{text!r}: {problem}")

    zh = dl.load(options.model or "bundled")
    analyze = ArrowAnalyzer(model=options.model, ask=WORDS)
    attack(zh, options.runs, options.seed, found, analyze)
    print(f"{options.runs:,} texts, {count} findings, {time.monotonic() - began:.0f} s")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
