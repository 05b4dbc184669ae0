"""Learning rules compared: CPU seconds until the dev score is within 0.05 of the overall best.

python benchmarks/optimisers.py --data DIR --train zx/train.wordpos --dev zx/dev.wordpos --standard ctb
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from duilian.corpus import Corpus, read
from duilian.learning import AdaGrad, ExponentiatedGradient, Learning, Session, Sgd
from duilian.models import Tagger
from measure import Row, show

WITHIN = 0.05
RULES: dict[str, Learning] = {
    "AdaGrad": AdaGrad(),
    "SGD with L2, batch 1": Sgd(l2=0.1, batch=1, iterations=20),
    "SGD with L2, batch 30 (Li et al. 2017)": Sgd(l2=0.1, batch=30, iterations=40),
    "exponentiated gradient (Li et al. 2014)": ExponentiatedGradient(l2=0.1, iterations=20),
}


def curve(learning: Learning, standard: str, train: Corpus, dev: Corpus) -> list[tuple[float, float]]:
    """Return CPU seconds and best dev score so far, after each iteration."""
    found: list[tuple[float, float]] = []
    start = time.process_time()

    def note(score: float | None) -> None:
        best = max([score or 0.0, *(known for _, known in found)])
        found.append((time.process_time() - start, best))

    session = Session(on_iteration=lambda report: note(report.score))
    Tagger(standard, learning=learning).fit(train, dev=dev, session=session)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--train", default="zx/train.wordpos")
    parser.add_argument("--dev", default="zx/dev.wordpos")
    parser.add_argument("--standard", default="ctb")
    parser.add_argument("--plot")
    options = parser.parse_args()
    train, dev = (
        read(str(options.data / name), standard=options.standard) for name in (options.train, options.dev)
    )
    curves = {name: curve(learning, options.standard, train, dev) for name, learning in RULES.items()}
    best = max(score for found in curves.values() for _, score in found)
    rows: list[Row] = []
    for name, found in curves.items():
        reached = [seconds for seconds, score in found if score >= best - WITHIN]
        remark = f"best {found[-1][1]:.2f} in {found[-1][0]:.1f} s"
        rows.append((name, reached[0] if reached else float("nan"), remark))
    show(f"CPU seconds to within {WITHIN} of {best:.2f}", "s", rows, options.plot)


if __name__ == "__main__":
    main()
