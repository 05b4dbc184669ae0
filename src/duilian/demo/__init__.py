"""Two small corpora of our own, and a demonstration of what coupling gains on them.

A tagger is trained for each standard alone, then one for both together; the coupled one wins on words that
only the other corpus has. The tests and the tutorial train on these corpora too.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Callable

from duilian.corpus import Corpus, read
from duilian.learning import AdaGrad, IterationReport, Session
from duilian.models import CoupledTagger, Tagger
from duilian.models.coupled.config import CoupledFeatures, Start

STANDARDS = ("ctb", "pku")
ITERATIONS = 8
SENTENCE = ("我们", "明天", "去", "北京", "参观", "新", "的", "图书馆", "。")


def load(name: str, standard: str) -> Corpus:
    """Load a demonstration corpus: `ctb`, `ctb-dev`, `both-ctb`, or the same for pku.

    >>> len(load("ctb-dev", "ctb"))
    40
    """
    with importlib.resources.as_file(importlib.resources.files("duilian.demo") / f"{name}.txt") as path:
        return read(str(path), standard=standard)


@dataclasses.dataclass(frozen=True)
class DemoResult:
    """Accuracies on the dev sets, in percent, and the trained tagger."""

    alone: dict[str, float]
    coupled: dict[str, float]
    tagger: CoupledTagger


def run(
    on_iteration: Callable[[str, IterationReport], None] | None = None,
    threads: int = 1,
) -> DemoResult:
    """Train each side alone, then both together."""
    train = [load(standard, standard) for standard in STANDARDS]
    dev = [load(f"{standard}-dev", standard) for standard in STANDARDS]

    def session(name: str) -> Session:
        watch = (lambda report: on_iteration(name, report)) if on_iteration else None
        return Session(threads=threads, on_iteration=watch)

    alone = {}
    for standard, corpus, held_out in zip(STANDARDS, train, dev, strict=True):
        plain = Tagger(standard, learning=AdaGrad(iterations=ITERATIONS))
        plain.fit(corpus, dev=held_out, session=session(f"{standard} alone"))
        alone[standard] = 100.0 * plain.score(held_out)
    # With so little text, every joint feature helps, and neither side is the source.
    tagger = CoupledTagger(
        STANDARDS,
        mapping="tight",
        features=CoupledFeatures(joint_count=1),
        start=Start(shares=(0.3, 0.3)),
    ).set_params(learning__iterations=ITERATIONS)
    tagger.fit(train, dev=dev, session=session("coupled"))
    coupled = {
        standard: 100.0 * tagger.score(held_out, standard=standard)
        for standard, held_out in zip(STANDARDS, dev, strict=True)
    }
    return DemoResult(alone, coupled, tagger)
