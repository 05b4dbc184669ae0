"""Active annotation: train, select the words that the model is least sure of, annotate them, train again.

    python examples/active_annotation.py

Gold plays the annotators: it tells the tags of the selected words, and all others stay open. The output shows
how accuracy grows with the number of annotated words, compared with annotating whole sentences.
"""

from __future__ import annotations

from collections.abc import Iterable

import duilian as dl
from duilian import demo
from duilian.annotation.selection import most_uncertain, select

STANDARD, START, SENTENCES, SHARE = "ctb", 40, 40, 0.3


def train(corpus: Iterable[dl.Sentence]) -> dl.Tagger:
    return dl.Tagger(STANDARD).set_params(learning__iterations=5).fit(list(corpus))


def annotated(asked: dl.Sentence, gold: dl.Sentence) -> dl.Sentence:
    """Return the sentence with the gold tags of the words that were asked for."""
    layer, right = asked[STANDARD], gold[STANDARD].tags or ()
    tags = tuple(None if tag is None else known for tag, known in zip(layer.tags or (), right, strict=True))
    return dl.Sentence({STANDARD: dl.Layer(layer.words, tags)})


def known(sentences: Iterable[dl.Sentence]) -> int:
    """Count the words that have a tag."""
    return sum(tag is not None for sentence in sentences for tag in sentence[STANDARD].tags or ())


def main(rounds: int = 4) -> list[tuple[int, float, float]]:
    """Print and return annotated words, accuracy with selection, accuracy with whole sentences."""
    gold, dev = demo.load(STANDARD, STANDARD), demo.load(f"{STANDARD}-dev", STANDARD)
    corpus, pool, curve = list(gold[:START]), {each.text: each for each in gold[START:]}, []
    for _ in range(rounds):
        tagger, whole = train(corpus), [*gold]
        while known(whole) > known(corpus):
            whole.pop()
        curve.append((known(corpus), 100 * tagger.score(dev), 100 * train(whole).score(dev)))
        print("{:5d} words annotated: {:.1f} % selected, {:.1f} % whole sentences".format(*curve[-1]))
        for found in most_uncertain(select(tagger, pool.values(), SHARE), SENTENCES):
            corpus.append(annotated(found.sentence, pool.pop(found.sentence.text)))
    return curve


if __name__ == "__main__":
    main()
