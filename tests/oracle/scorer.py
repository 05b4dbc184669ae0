"""The coupled score and its gradient, by definition (Li et al. 2017, Eq. 8-14).

A sequence of bundles fires, for every feature of every position, one joint weight (feature, bundle) and for
each side a separate weight (feature, tag of that side); the same for each of the T + 1 transitions from START
to STOP. The score is the dot product of weights and counts, for any number of sides; a weight that is not
stored is 0. Observation features end at the last unit: at STOP only the transition fires.

What a group of weights sees of a bundle is a *view*: all of it (joint), one side's tag (separate), or some
sides' tags, as in models of three sides whose joint weights tie pairs.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from oracle.chain import BruteForceChain, Bundle, log_sum_exp

START, STOP = "START", "STOP"

Label = int | Bundle | str
"""A tag (separate weights) or a bundle (joint weights), START or STOP."""

View = int | tuple[int, ...] | None
"""One side, several sides, or (None) all of them."""

Features = Sequence[Sequence[str]]
"""[T][features of t]; a feature listed twice counts twice."""

Columns = Sequence[Sequence[Bundle]]
"""[T][bundles of t]"""

IsLegal = Callable[[Sequence[Bundle]], bool]


class WeightName(NamedTuple):
    """Which number of the model: `kind` is "state" or "transition", `side` is None for joint weights."""

    kind: str
    side: View
    left: Label  # the feature, or the label before
    right: Label


Theta = dict[WeightName, float]
"""A number for each name; a name that is absent has 0."""


@dataclasses.dataclass(frozen=True)
class Weights:
    """One dictionary of state weights and one of transitions for each side, and for the bundles."""

    side_state: list[dict[tuple[str, int], float]]  # [side][feature, tag]
    side_transition: list[dict[tuple[int | str, int | str], float]]  # [side][tag or START, tag or STOP]
    joint_state: dict[tuple[str, Bundle], float]
    joint_transition: dict[tuple[Bundle | str, Bundle | str], float]

    @property
    def sides(self) -> int:
        return len(self.side_state)

    @property
    def views(self) -> list[View]:
        return [None, *range(self.sides)]

    @functools.cached_property
    def theta(self) -> Theta:
        """All stored weights as one vector θ; computed once, so do not change the tables afterwards."""
        named: Theta = {}
        for side in range(self.sides):
            named |= {WeightName("state", side, *key): w for key, w in self.side_state[side].items()}
            named |= {
                WeightName("transition", side, *key): w for key, w in self.side_transition[side].items()
            }
        named |= {WeightName("state", None, *key): w for key, w in self.joint_state.items()}
        named |= {WeightName("transition", None, *key): w for key, w in self.joint_transition.items()}
        return named


@dataclasses.dataclass(frozen=True)
class NamedWeights:
    """θ as it is, for models with other views than `Weights` has."""

    theta: Theta
    views: Sequence[View]


AnyWeights = Weights | NamedWeights


def is_anything(bundles: Sequence[Bundle]) -> bool:
    """The legality of a model without forbidden sequences."""
    return True


def counts(
    features: Features, bundles: Sequence[Bundle], views: Sequence[View]
) -> collections.Counter[WeightName]:
    """f(x, t): how often each weight fires."""
    fired: collections.Counter[WeightName] = collections.Counter()
    labels: list[Bundle | str] = [START, *bundles, STOP]
    for view in views:
        seen = [seen_by(view, label) for label in labels]
        for names, label in zip(features, seen[1:-1], strict=True):
            for feature in names:
                fired[WeightName("state", view, feature, label)] += 1
        for left, right in itertools.pairwise(seen):
            fired[WeightName("transition", view, left, right)] += 1
    return fired


def seen_by(view: View, label: Bundle | str) -> Label:
    """What a view sees of a bundle; START and STOP are the same in every view."""
    if view is None or isinstance(label, str):
        return label
    return label[view] if isinstance(view, int) else tuple(label[side] for side in view)


def score(weights: AnyWeights, features: Features, bundles: Sequence[Bundle]) -> float:
    """θ · f(x, t), Eq. 8."""
    return dot(weights.theta, counts(features, bundles, weights.views))


def dot(theta: Theta, fired: collections.Counter[WeightName]) -> float:
    return math.fsum(theta.get(name, 0.0) * count for name, count in fired.items())


@dataclasses.dataclass(frozen=True)
class Example:
    """A sentence to learn from: what is possible, and which part of that is correct."""

    features: Features
    possible: Columns
    correct: Columns
    is_legal: IsLegal = is_anything


def sequences(columns: Columns, is_legal: IsLegal) -> Iterator[tuple[Bundle, ...]]:
    """Every legal choice of one bundle a column."""
    return (bundles for bundles in itertools.product(*columns) if is_legal(bundles))


def log_partition(
    weights: AnyWeights, features: Features, columns: Columns, is_legal: IsLegal = is_anything
) -> float:
    """log Z over the columns; -inf when nothing is legal."""
    return log_sum_exp(score(weights, features, bundles) for bundles in sequences(columns, is_legal))


def log_likelihood(weights: AnyWeights, example: Example) -> float:
    """log Z(correct) - log Z(possible), Eq. 9; -inf when no correct sequence is legal."""
    possible = log_partition(weights, example.features, example.possible, example.is_legal)
    if possible == -math.inf:
        raise ValueError("no possible sequence is legal, so that the likelihood is undefined")
    return log_partition(weights, example.features, example.correct, example.is_legal) - possible


def expected_counts(
    weights: AnyWeights, features: Features, columns: Columns, is_legal: IsLegal = is_anything
) -> Theta:
    """E[f(x, t)] over the columns, Eq. 12: counts weighed by the probability of their sequence."""
    fired = [counts(features, bundles, weights.views) for bundles in sequences(columns, is_legal)]
    scores = [dot(weights.theta, each) for each in fired]
    log_z = log_sum_exp(scores)
    if log_z == -math.inf:
        raise ValueError("no sequence is legal, so that nothing can be expected")
    parts: dict[WeightName, list[float]] = collections.defaultdict(list)
    for each, total in zip(fired, scores, strict=True):
        for name, count in each.items():
            parts[name].append(math.exp(total - log_z) * count)
    return {name: math.fsum(part) for name, part in parts.items()}


def gradient(weights: AnyWeights, example: Example) -> Theta:
    """Eq. 14: expected counts under `correct` minus under `possible`.

    Over every weight that is stored or fires, also where the difference is 0.
    """
    correct = expected_counts(weights, example.features, example.correct, example.is_legal)
    possible = expected_counts(weights, example.features, example.possible, example.is_legal)
    names = weights.theta.keys() | correct.keys() | possible.keys()
    return {name: correct.get(name, 0.0) - possible.get(name, 0.0) for name in names}


def with_change(weights: Weights, name: WeightName, change: float) -> Weights:
    """A copy of the weights in which one is larger by `change`."""
    changed = Weights(
        copy.deepcopy(weights.side_state),
        copy.deepcopy(weights.side_transition),
        dict(weights.joint_state),
        dict(weights.joint_transition),
    )
    is_state = name.kind == "state"
    joint: Any = changed.joint_state if is_state else changed.joint_transition
    by_side: Any = changed.side_state if is_state else changed.side_transition
    table = joint if name.side is None else by_side[name.side]
    key = (name.left, name.right)
    table[key] = table.get(key, 0.0) + change
    return changed


def central_difference(weights: Weights, example: Example, name: WeightName, step: float = 1e-4) -> float:
    """The slope of the log likelihood along one weight, measured."""
    above = log_likelihood(with_change(weights, name, step), example)
    below = log_likelihood(with_change(weights, name, -step), example)
    return (above - below) / (2 * step)


def as_chain(weights: AnyWeights, features: Features, columns: Columns) -> BruteForceChain:
    """The same scores cut into states and transitions, for questions that `BruteForceChain` answers.

    For T > 0: an empty chain has no place for the weight of START to STOP.
    """
    theta = weights.theta

    def transition(left: Bundle | str, right: Bundle | str) -> float:
        names = [WeightName("transition", v, seen_by(v, left), seen_by(v, right)) for v in weights.views]
        return math.fsum(theta.get(name, 0.0) for name in names)

    def state(names: Sequence[str], bundle: Bundle) -> float:
        fired = [WeightName("state", v, name, seen_by(v, bundle)) for name in names for v in weights.views]
        return math.fsum(theta.get(name, 0.0) for name in fired)

    return BruteForceChain(
        [list(column) for column in columns],
        [
            [state(names, bundle) for bundle in column]
            for names, column in zip(features, columns, strict=True)
        ],
        transition,
        start=lambda bundle: transition(START, bundle),
        stop=lambda bundle: transition(bundle, STOP),
    )
