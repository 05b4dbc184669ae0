"""Slow, plain twins of the metrics: sets of spans, and one token at a time."""

from __future__ import annotations

import itertools


def spans(words):
    ends = list(itertools.accumulate(map(len, words)))
    return list(zip([0, *ends[:-1]], ends, strict=True)) if ends else []


def word_counts(gold, guess):
    left, right = set(spans(gold)), set(spans(guess))
    return [len(left), len(right), len(left & right)]


def word_tag_counts(gold, gold_tags, guess, guess_tags):
    left = dict(zip(spans(gold), gold_tags, strict=True))
    right = dict(zip(spans(guess), guess_tags, strict=True))
    silent = {span for span, tag in left.items() if tag is None}
    correct = 0
    for span, tag in left.items():
        if span in right and span not in silent:
            allowed = tag if isinstance(tag, frozenset) else {tag}
            correct += right[span] in allowed
    return [len(left) - len(silent), len(right.keys() - silent), correct]


def starts_chunk(before, now):
    """conlleval's table for B, I, O and E, with S as a chunk of one token; labels are (letter, type)."""
    if now[0] == "O":
        return False
    if now[0] in "BS" or before[1] != now[1]:
        return True
    return before[0] in "OES"


def ends_chunk(before, now):
    if before[0] == "O":
        return False
    if before[0] in "ES" or before[1] != now[1]:
        return True
    return now[0] in "BSO"


def parted(label):
    if label == "O":
        return "O", ""
    return label[0].replace("M", "I"), label[2:]


def chunk_counts(gold, guess):
    """One pass over the tokens of a sentence, as conlleval does it: {type: [gold, guess, correct]}."""
    counts = {}
    before, is_same_so_far = (("O", ""), ("O", "")), False
    for now in [*zip(map(parted, gold), map(parted, guess), strict=True), (("O", ""), ("O", ""))]:
        ends = [ends_chunk(before[side], now[side]) for side in (0, 1)]
        starts = [starts_chunk(before[side], now[side]) for side in (0, 1)]
        if is_same_so_far and all(ends):
            counts[before[0][1]][2] += 1
            is_same_so_far = False
        elif any(ends) or now[0][1] != now[1][1]:
            is_same_so_far = False
        if all(starts) and now[0][1] == now[1][1]:
            is_same_so_far = True
        for side in (0, 1):
            if starts[side]:
                counts.setdefault(now[side][1], [0, 0, 0])[side] += 1
        before = now
    return counts


def metric_value(rows, metric):
    gold, guess, correct = (sum(column) for column in zip(*rows, strict=True))
    whole = {"accuracy": gold, "recall": gold, "precision": guess, "f1": (gold + guess) / 2}[metric]
    return 100 * correct / whole if whole else 0.0


def exact_p_value(a, b, metric):
    """The share of all 2^n swaps that give a difference as large as the observed one."""
    observed = abs(metric_value(a, metric) - metric_value(b, metric))
    extreme = 0
    for swaps in itertools.product([False, True], repeat=len(a)):
        left = [y if swap else x for x, y, swap in zip(a, b, swaps, strict=True)]
        right = [x if swap else y for x, y, swap in zip(a, b, swaps, strict=True)]
        extreme += abs(metric_value(left, metric) - metric_value(right, metric)) >= observed - 1e-9
    return extreme / 2 ** len(a)
