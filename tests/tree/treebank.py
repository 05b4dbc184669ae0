"""Sentences of a toy grammar with their trees: small, of our own making, and learnable.

A clause is a verb with a subject before it, perhaps an adverb, and an object or an object clause after it; a
noun may have an adjective, or another noun with 的, before it. The clause ends with a full stop.
"""

from __future__ import annotations

import random

from duilian.corpus import Layer

NOUNS = ("老师", "学生", "城市", "河流", "书", "消息", "工程师", "孩子", "窗户", "故事")
VERBS = ("看见", "喜欢", "修理", "讲", "带来", "打开")
SAYING = ("说", "认为", "知道")
ADJECTIVES = ("新", "旧", "长", "安静", "有趣")
ADVERBS = ("常常", "已经", "慢慢", "也")

Row = tuple[str, str, int, str]
"""Word, tag, head from 0 (-1: the word above all of these), relation."""


def _shift(rows: list[Row], by: int, above: int, relation: str) -> list[Row]:
    return [
        (word, tag, above if head < 0 else head + by, relation if head < 0 else name)
        for word, tag, head, name in rows
    ]


def _noun(rng: random.Random, depth: int) -> list[Row]:
    before: list[Row] = []
    choice = rng.random()
    if choice < 0.35:
        before = [(rng.choice(ADJECTIVES), "JJ", -1, "amod")]
    elif choice < 0.6 and depth < 2:
        inner = _noun(rng, depth + 1)
        top = next(place for place, row in enumerate(inner) if row[2] < 0)
        before = [*inner, ("的", "DEG", top, "case")]
    at = len(before)
    return [
        *_shift(before, 0, at, "nmod" if before and before[-1][0] == "的" else "amod"),
        (rng.choice(NOUNS), "NN", -1, ""),
    ]


def _clause(rng: random.Random, depth: int) -> list[Row]:
    subject = _noun(rng, depth)
    adverb: list[Row] = [(rng.choice(ADVERBS), "AD", -1, "")] if rng.random() < 0.5 else []
    says = depth == 0 and rng.random() < 0.4
    at = len(subject) + len(adverb)
    below = _clause(rng, depth + 1) if says else _noun(rng, depth)
    return [
        *_shift(subject, 0, at, "nsubj"),
        *_shift(adverb, len(subject), at, "advmod"),
        (rng.choice(SAYING if says else VERBS), "VV", -1, ""),
        *_shift(below, at + 1, at, "ccomp" if says else "dobj"),
    ]


def sentence(rng: random.Random) -> Layer:
    rows = _clause(rng, 0)
    top = next(place for place, row in enumerate(rows) if row[2] < 0)
    rows.append(("。", "PU", top, "punct"))
    return Layer(
        tuple(row[0] for row in rows),
        tuple(row[1] for row in rows),
        tuple(row[2] + 1 for row in rows),
        tuple("root" if row[2] < 0 else row[3] for row in rows),
    )


def treebank(count: int, seed: int) -> list[Layer]:
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(count)]
