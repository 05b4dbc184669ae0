"""What a dictionary says of the units of a sentence, by trying every word at every place.

Lengths are in units. A word must begin and end with a unit. Costs are whole numbers, as in the native core,
so that ties are the same; of paths with the same cost, the one whose first word is longer wins, from there on
likewise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

Words = Mapping[str, tuple[int, str]]  # frequency and tag by word
Segment = tuple[int, int]

COST_OF_NAT = 1024
LONGEST = 5


def segments(words: Words, units: Sequence[str]) -> list[Segment]:
    """All places where the units are a word: [begin, end)."""
    places = itertools.combinations(range(len(units) + 1), 2)
    return [(a, b) for a, b in places if "".join(units[a:b]) in words]


def length_codes(words: Words, units: Sequence[str]) -> list[str]:
    """The column lx."""
    found = [(a, b) for a, b in segments(words, units) if b - a > 1]

    def longest(lengths: list[int]) -> str:
        return str(min(max(lengths, default=0), LONGEST))

    return [
        longest([b - a for a, b in found if a == t])
        + longest([b - a for a, b in found if a < t < b - 1])
        + longest([b - a for a, b in found if b == t + 1])
        for t in range(len(units))
    ]


def path_codes(words: Words, units: Sequence[str]) -> list[str]:
    """The column jg: all ways to cut the sentence into words and single units, the cheapest one."""
    total = sum(frequency for frequency, _ in words.values())

    def cost(a: int, b: int) -> int:
        frequency = words.get("".join(units[a:b]), (1, ""))[0]
        return min(round(COST_OF_NAT * (math.log(total) - math.log(frequency))), 65535) if words else 0

    known = set(segments(words, units))
    paths = [
        cut for cut in all_cuts(len(units)) if all(each in known or each[1] - each[0] == 1 for each in cut)
    ]
    best = min(paths, key=lambda cut: (sum(cost(*each) for each in cut), [a - b for a, b in cut]))
    return [code for each in best for code in segment_codes(words, units, each)]


def all_cuts(length: int) -> list[list[Segment]]:
    """Every way to cut a sentence."""
    inner = range(1, length)
    edges = [[0, *chosen, length] for size in range(length) for chosen in itertools.combinations(inner, size)]
    return [list(itertools.pairwise(each)) for each in edges] if length else [[]]


def segment_codes(words: Words, units: Sequence[str], segment: Segment) -> list[str]:
    """The letters and the tag of a word's units."""
    a, b = segment
    entry = words.get("".join(units[a:b]))
    if entry is None:
        return ["O"]
    letters = ["S"] if b - a == 1 else ["B", *["I"] * (b - a - 2), "E"]
    return [letter + entry[1] for letter in letters]
