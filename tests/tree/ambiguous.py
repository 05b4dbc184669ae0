"""Sentences in which the tag of a word depends on the tree, and the tree on the tag: of our own making.

研究, 工作 and the like are nouns or verbs; a clause needs one verb. With another verb beside it such a word
is a noun; without one, it is the verb.
"""

from __future__ import annotations

import random

from duilian.corpus import Layer

NOUNS = ("老师", "学生", "医生", "问题", "城市", "孩子", "朋友", "计划")
VERBS = ("喜欢", "开始", "看见", "停止")
BOTH = ("研究", "工作", "调查", "报告", "设计", "讨论")
ADVERBS = ("常常", "已经", "也")


def sentence(rng: random.Random) -> Layer:
    """他 [常常] 研究 问题 。 or 他 [常常] 喜欢 研究 。 or 他 的 研究 停止 了 。"""
    adverb = [(rng.choice(ADVERBS), "AD", "V", "advmod")] if rng.random() < 0.4 else []
    kind = rng.randrange(3)
    subject = (rng.choice(NOUNS), "NN", "V", "nsubj")
    if kind == 0:
        rows = [
            subject,
            *adverb,
            (rng.choice(BOTH), "VV", "ROOT", "root"),
            (rng.choice(NOUNS), "NN", "V", "obj"),
        ]
    elif kind == 1:
        rows = [
            subject,
            *adverb,
            (rng.choice(VERBS), "VV", "ROOT", "root"),
            (rng.choice(BOTH), "NN", "V", "obj"),
        ]
    else:
        owner = [(rng.choice(NOUNS), "NN", "N", "nmod"), ("的", "DEG", "O", "case")]
        noun = (rng.choice(BOTH), "NN", "V", "nsubj")
        rows = [*owner, noun, *adverb, (rng.choice(VERBS), "VV", "ROOT", "root"), ("了", "AS", "V", "aux")]
    rows.append(("。", "PU", "V", "punct"))
    verb = next(place for place, row in enumerate(rows, 1) if row[2] == "ROOT")
    head = {"ROOT": 0, "V": verb, "N": 3, "O": 1}
    words, tags, above, relations = zip(*rows, strict=True)
    return Layer(words, tags, tuple(head[name] for name in above), relations)


def treebank(count: int, seed: int) -> list[Layer]:
    """So many sentences, the same for the same seed."""
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(count)]
