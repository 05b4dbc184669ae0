"""Random texts through every public way of the bundled analyser: nothing lost, nothing invented, one answer.

python fuzz/random_texts.py --runs 100000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator

import duilian as dl

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
GAPS = frozenset(["Cc", "Cf", "Zl", "Zp", "Zs"])  # categories of characters that may stand between words


def random_text(rng: random.Random) -> str:
    """A text of any characters, mostly Chinese."""
    kind = rng.random()
    if kind < 0.1:  # any code point that text may have
        points = rng.choice((rng.randrange(0x3000), rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)))
        return "".join(chr(points + k) for k in range(rng.randrange(20)) if not 0xD800 <= points + k < 0xE000)
    weights = [rng.random() ** 3 for _ in ALPHABETS]
    pieces = (rng.choice(rng.choices(ALPHABETS, weights)[0]) for _ in range(rng.randrange(60)))
    return "".join(pieces)


def ways(zh: dl.Analyzer, text: str) -> Iterator[tuple[str, str, list[str]]]:
    """The words of a text, by the name of each way and the standard of its answer."""
    doc = zh(text)
    for standard in zh.standards:
        yield "call", standard, list(doc.words(standard))
    sentences = list(doc.to_sentences())
    (piped,) = zh.pipe([text])
    for standard in zh.standards:
        yield "pipe", standard, list(piped.words(standard))
        yield "segment", standard, list(next(iter(zh.segment([text], standard=standard))))
        filled = zh.fill(sentences, standard)
        yield "fill", standard, [word for each in filled for word in each.words(standard)]
        yield (
            "nbest",
            standard,
            [word for best in zh.nbest(text, 2, standard)[:1] for word in best.words(standard)],
        )


def problems(zh: dl.Analyzer, text: str) -> Iterator[str]:
    """What is wrong with the answers."""
    answers: dict[str, list[str]] = {}
    for name, standard, words in ways(zh, text):
        if (problem := lost(text, words)) is not None:
            yield f"{name} {standard}: {problem}"
        elif answers.setdefault(standard, words) != words:
            yield f"{name} {standard}: {words} and not {answers[standard]}"
    fast = list(next(iter(zh.segment([text], fast=True))))
    if (problem := lost(text, fast)) is not None:
        yield f"fast: {problem}"
    doc = zh(text)
    for standard in zh.standards:
        for token in doc.tokens(standard):
            if text[token.start : token.end] != token.text:
                yield f"{standard}: {token!r} is not at its offset"


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


def attack(zh: dl.Analyzer, runs: int, seed: int, found: Callable[[str, str], None]) -> None:
    """Try random texts, and report what is wrong."""
    for run in range(runs):
        text = random_text(random.Random(f"{seed} {run}"))
        for problem in problems(zh, text):
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

    attack(dl.load(options.model or "bundled"), options.runs, options.seed, found)
    print(f"{options.runs:,} texts, {count} findings, {time.monotonic() - began:.0f} s")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
