"""Train one tagger on two corpora that disagree, and compare it with a tagger for each corpus alone.

    python examples/train_coupled.py                       # the corpora of the demo
    python examples/train_coupled.py ctb.txt pku.txt       # yours: a tenth of each is held out

The corpora may be in any format that `duilian.read` knows. The model is saved as both.model.
"""

from __future__ import annotations

import sys

import duilian as dl
from duilian import demo

STANDARDS = ("ctb", "pku")
TEXT = "李老师和孩子们走到了北京大学。"


def corpora(paths: list[str]) -> list[tuple[dl.Corpus, dl.Corpus]]:
    """Return for each standard what to learn from and what to test on."""
    if not paths:
        return [(demo.load(name, name), demo.load(f"both-{name}", name)) for name in STANDARDS]
    found = [
        dl.read(path, standard=name).split([9, 1], seed=1)
        for path, name in zip(paths, STANDARDS, strict=True)
    ]
    return [(train, test) for train, test in found]


def main(paths: list[str], iterations: int = 4) -> dl.CoupledTagger:
    train, test = zip(*corpora(paths), strict=True)
    both = dl.CoupledTagger(STANDARDS, level="char", mapping="tight")
    both.set_params(learning__iterations=iterations).fit(train)
    print("F1 of words with their tags, %")
    for standard, corpus, gold in zip(STANDARDS, train, test, strict=True):
        alone = dl.Tagger(standard, level="char").set_params(learning__iterations=iterations).fit(corpus)
        together = both.score(gold, standard=standard)
        print(f"{standard}: alone {100 * alone.score(gold):.1f}, together {100 * together:.1f}")
    doc = dl.Analyzer(both)(TEXT)
    for standard in STANDARDS:
        print(standard, " ".join(f"{token.text}/{token.tag}" for token in doc.tokens(standard)))
    return both


if __name__ == "__main__":
    main(sys.argv[1:]).save("both.model")
    print("saved: both.model")
