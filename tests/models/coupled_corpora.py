"""Small corpora for coupled taggers, and what such taggers may be like."""

from __future__ import annotations

from typing import Any

from duilian import demo
from duilian.corpus import Layer
from duilian.models import CoupledTagger

CTB, PKU = demo.STANDARDS
QUICK: dict[str, Any] = {
    "learning__iterations": 2,
    "start__baseline_iterations": 2,
    "features__joint_count": 1,
}


def layers(name: str, standard: str) -> list[Layer]:
    return [sentence[standard] for sentence in demo.load(name, standard)]


TRAIN = [layers(standard, standard) for standard in demo.STANDARDS]
FEW = [side[:60] for side in TRAIN]
DEV = [layers(f"{standard}-dev", standard) for standard in demo.STANDARDS]
SOME_DEV = [side[:20] for side in DEV]  # a model of characters that has hardly learned is slow
TINY = ([each[:30] for each in FEW], [each[:10] for each in DEV])


def side(*sentences: str) -> list[Layer]:
    """Sentences written as `word/TAG word/TAG`; `word/` has no tag, `word/A|B` one of two."""
    made = []
    for sentence in sentences:
        pairs = [token.split("/") for token in sentence.split()]
        tags = tuple(frozenset(tag.split("|")) if "|" in tag else tag or None for _, tag in pairs)
        made.append(Layer(tuple(word for word, _ in pairs), tags))
    return made


SMALL = [
    side("他/P 走/V", "他/P 看/V 书/N", "书/N 走/V", "她/P 看/V 他/P"),
    side("他/r 走/v", "书/n 看/v 他/r", "人/n 走/v", "他/r 看/v 人/n"),
]


def quick(standards: tuple[str, ...] = demo.STANDARDS, **settings: Any) -> CoupledTagger:
    """A tagger that learns in a moment; settings inside groups are `group__name`."""
    return CoupledTagger(standards).set_params(**QUICK | settings)


def small(**settings: Any) -> CoupledTagger:
    return quick(("a", "b"), **settings)


VARIANTS: dict[str, dict[str, Any]] = {
    "word": {"mapping": "tight"},
    "char": {"level": "char"},
    "offline": {"pruning__kind": "offline", "pruning__folds": 2},
    "mixed": {"pruning__kind": "mixed", "level": "char"},
    "guide": {"features__guide": PKU},
    "separate": {"features__parts": "separate"},
}
