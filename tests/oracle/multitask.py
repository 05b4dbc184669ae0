"""The score of the loose mapping, by definition (Qiu et al. 2013, Eq. 6, 7 and 15).

Weights of a side are a dictionary from (feature, label) and (label, label) to numbers; START and STOP are
labels of their own, and map to themselves.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

START, STOP = -1, -2
Weights = Mapping[tuple[object, int], float]
Phi = Mapping[int, Sequence[int]]
Fired = defaultdict[tuple[str, object, int], float]
"""How often each weight fires: ("own" or "other", feature or label before, label)."""


def chosen_all(phi: Phi) -> Callable[[int, int], Sequence[int]]:
    """Every mapped label counts at every unit."""
    return lambda t, label: (label,) if label in (START, STOP) else phi[label]


def chosen_best(
    phi: Phi,
    other: Weights,
    features: Sequence[Sequence[str]],
    path: Sequence[int],
    other_allows: Callable[[int, int], bool],
) -> Callable[[int, int], Sequence[int]]:
    """Of all ways to choose a partner for every label of a path, the one that scores best."""
    ways = itertools.product(*([(z,) for z in phi[label]] or [()] for label in path))

    def chooser(way: Sequence[Sequence[int]]) -> Callable[[int, int], Sequence[int]]:
        return lambda t, label: (label,) if label in (START, STOP) else way[t]

    return max(
        map(chooser, ways),
        key=lambda chosen: score(fired(features, path, chosen, other_allows), {}, other),
    )


def mean_share(phi: Phi) -> Callable[[int], float]:
    """Every partner of a label counts as much as one of them all."""
    return lambda label: 1.0 if label in (START, STOP) or not phi[label] else 1.0 / len(phi[label])


def fired(
    features: Sequence[Sequence[str]],
    path: Sequence[int],
    chosen: Callable[[int, int], Sequence[int]],
    other_allows: Callable[[int, int], bool],
    share: Callable[[int], float] = lambda label: 1.0,
) -> Fired:
    """What a path fires on its own side, and on the other through the mapping."""
    found: Fired = defaultdict(float)
    for t, label in enumerate(path):
        for feature in features[t]:
            found["own", feature, label] += 1
            for z in chosen(t, label):
                found["other", feature, z] += share(label)
    labels = [START, *path, STOP]
    for k, (before, after) in enumerate(itertools.pairwise(labels)):
        found["own", before, after] += 1
        for left, right in itertools.product(chosen(k - 1, before), chosen(k, after)):
            if other_allows(left, right):
                found["other", left, right] += share(before) * share(after)
    return found


def score(found: Fired, own: Weights, other: Weights) -> float:
    """The weights times how often they fire."""
    tables = {"own": own, "other": other}
    return sum(count * tables[side].get((left, right), 0.0) for (side, left, right), count in found.items())
