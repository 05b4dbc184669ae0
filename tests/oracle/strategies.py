"""Small random chains, lattices and learning examples, few enough paths to list.

Each `random_...` function takes a `random.Random`, so that a seed repeats it; each `small_...` strategy is
the same function driven by hypothesis, so that a failure shrinks.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

from oracle.chain import FORBIDDEN, BruteForceChain, Bundle
from oracle.lattice import Lattice
from oracle.scorer import START, STOP, Example, Weights

Key = TypeVar("Key")

FEATURES = ("a", "b", "c")
WIDEST_COLUMN = {0: 0, 1: 8, 2: 8, 3: 6, 4: 5, 5: 4}  # by T: at most 1024 paths


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shape:
    """How large a random case may be, and how often a transition is forbidden."""

    longest: int = 5
    most_sides: int = 3
    most_tags: int = 4
    forbidden_share: float = 0.2
    keep_a_path: bool = True  # False: forbidding may leave no legal path

    def __post_init__(self) -> None:
        if not 1 <= self.longest <= max(WIDEST_COLUMN):
            raise ValueError(f"longest must be 1 to {max(WIDEST_COLUMN)}, got {self.longest!r}")


DEFAULT_SHAPE = Shape()


@dataclasses.dataclass(frozen=True)
class SmallChain:
    """A chain as plain tables; `oracle()` lists its paths."""

    tags_per_side: tuple[int, ...]
    columns: list[list[Bundle]]  # [T][states of t], sorted
    state_score: list[list[float]]  # [T][states of t]
    transition_score: dict[tuple[Bundle, Bundle], float]  # every pair that meets in neighbouring columns
    start_score: dict[Bundle, float]  # every bundle of the first column
    stop_score: dict[Bundle, float]  # every bundle of the last column

    def transition(self, previous: Bundle, bundle: Bundle) -> float:
        return self.transition_score[previous, bundle]

    def oracle(self) -> BruteForceChain:
        return BruteForceChain(
            self.columns,
            self.state_score,
            self.transition,
            self.start_score.__getitem__,
            self.stop_score.__getitem__,
        )


@dataclasses.dataclass(frozen=True)
class SmallProblem:
    """A learning example and weights to score it with."""

    tags_per_side: tuple[int, ...]
    example: Example
    weights: Weights


def random_tags_per_side(rng: random.Random, shape: Shape) -> tuple[int, ...]:
    return tuple(rng.randint(1, shape.most_tags) for _ in range(rng.randint(1, shape.most_sides)))


def all_bundles(tags_per_side: Sequence[int]) -> list[Bundle]:
    return list(itertools.product(*(range(tags) for tags in tags_per_side)))


def random_columns(rng: random.Random, tags_per_side: Sequence[int], length: int) -> list[list[Bundle]]:
    """For each position a sorted, non-empty subset of the bundles."""
    bundles = all_bundles(tags_per_side)
    widest = min(len(bundles), WIDEST_COLUMN[length])
    return [sorted(rng.sample(bundles, rng.randint(1, widest))) for _ in range(length)]


def random_scores(rng: random.Random) -> Callable[[], float]:
    """A source of scores of one kind: ordinary, whole numbers that tie, or huge."""
    kind = rng.choice(["ordinary", "ordinary", "ties", "huge"])
    if kind == "ties":
        return lambda: float(rng.randint(-1, 1))
    width = 1e4 if kind == "huge" else 3.0
    return lambda: rng.uniform(-width, width)


def random_chain(rng: random.Random, shape: Shape = DEFAULT_SHAPE) -> SmallChain:
    """A chain with arbitrary scores; forbidden starts, stops and transitions are -inf."""
    tags_per_side = random_tags_per_side(rng, shape)
    columns = random_columns(rng, tags_per_side, rng.randint(1, shape.longest))
    draw = random_scores(rng)
    kept = [rng.choice(column) for column in columns] if shape.keep_a_path else []
    kept_steps = set(itertools.pairwise(kept))

    def draw_unless(is_kept: bool) -> float:
        is_forbidden = rng.random() < shape.forbidden_share
        return FORBIDDEN if is_forbidden and not is_kept else draw()

    steps = sorted({step for pair in itertools.pairwise(columns) for step in itertools.product(*pair)})
    return SmallChain(
        tags_per_side,
        columns,
        [[draw() for _ in column] for column in columns],
        {(i, j): draw_unless((i, j) in kept_steps) for i, j in steps},
        {bundle: draw_unless(kept[:1] == [bundle]) for bundle in columns[0]},
        {bundle: draw_unless(kept[-1:] == [bundle]) for bundle in columns[-1]},
    )


def random_lattice(rng: random.Random, tags_per_side: Sequence[int], length: int) -> Lattice:
    """A lattice of non-empty columns."""
    return [set(column) for column in random_columns(rng, tags_per_side, length)]


def random_weights(rng: random.Random, features: Sequence[str], tags_per_side: Sequence[int]) -> Weights:
    """Weights for about two thirds of all names."""
    bundles = all_bundles(tags_per_side)
    return Weights(
        [random_table(rng, itertools.product(features, range(tags))) for tags in tags_per_side],
        [random_table(rng, all_steps(range(tags))) for tags in tags_per_side],
        random_table(rng, itertools.product(features, bundles)),
        random_table(rng, all_steps(bundles)),
    )


def random_table(rng: random.Random, keys: Iterable[Key]) -> dict[Key, float]:
    return {key: rng.uniform(-2.0, 2.0) for key in keys if rng.random() < 2 / 3}


def all_steps(labels: Sequence[Key]) -> Iterable[tuple[Key | str, Key | str]]:
    return itertools.product([START, *labels], [*labels, STOP])


def random_problem(rng: random.Random, shape: Shape = DEFAULT_SHAPE) -> SmallProblem:
    """An ambiguously labelled sentence: one side's gold tag is known at some positions, free at others."""
    tags_per_side = random_tags_per_side(rng, shape)
    possible = random_columns(rng, tags_per_side, rng.randint(1, shape.longest))
    features = [rng.sample(FEATURES, rng.randint(0, len(FEATURES))) for _ in possible]
    side = rng.randrange(len(tags_per_side))
    correct = [random_correct(rng, column, side) for column in possible]
    # Thousands of weights would be too many draws for hypothesis: it chooses a seed instead.
    weights = random_weights(random.Random(rng.randrange(2**32)), FEATURES, tags_per_side)
    return SmallProblem(tags_per_side, Example(features, possible, correct), weights)


def random_correct(rng: random.Random, column: list[Bundle], side: int) -> list[Bundle]:
    """The bundles of a column that agree with a gold tag, or all of them where there is none."""
    if rng.random() < 1 / 4:
        return column
    gold = rng.choice(column)[side]
    return [bundle for bundle in column if bundle[side] == gold]


def small_chains(shape: Shape = DEFAULT_SHAPE) -> st.SearchStrategy[SmallChain]:
    return st.randoms(use_true_random=False).map(lambda rng: random_chain(rng, shape))


def small_problems(shape: Shape = DEFAULT_SHAPE) -> st.SearchStrategy[SmallProblem]:
    return st.randoms(use_true_random=False).map(lambda rng: random_problem(rng, shape))


def small_lattices(tags_per_side: Sequence[int], length: int) -> st.SearchStrategy[Lattice]:
    """Lattices of one shape, empty columns included."""
    column = st.sets(st.sampled_from(all_bundles(tags_per_side)), max_size=WIDEST_COLUMN[length])
    return st.lists(column, min_size=length, max_size=length)
