"""Batches: how many texts or sentences are taken at once."""

import random

from duilian.corpus.batches import batches, text_batches


def test_batches_have_about_their_size():
    assert list(batches(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(batches([3, 9, 1], 4, lambda each: each)) == [[3], [9], [1]], "a large item stands alone"


def test_texts_are_batched_like_other_items():
    draw = random.Random(3)
    for _ in range(300):
        texts = ["x" * draw.choice((0, 1, 2, 5, 30)) for _ in range(draw.randrange(12))]
        limit = draw.choice((1, 2, 7, 20, 100))
        wanted = list(batches(texts, limit, lambda text: len(text) + 1))
        assert list(text_batches(texts, limit)) == wanted
