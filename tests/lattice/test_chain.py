"""Every question to a chain equals the answer by enumeration, for any number of sides."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.errors import ConfigError
from duilian.lattice import FORBIDDEN, Chain, Lattice, Path
from oracle.strategies import Shape, SmallChain, random_chain, small_chains

FREE = Shape(forbidden_share=0.0)
STRICT = Shape(forbidden_share=0.3)


def kept_states(small: SmallChain) -> list[list[int]]:
    """Illegal starts and stops are up to the lattice, which leaves those bundles out."""
    last = len(small.columns) - 1
    return [
        [
            k
            for k, bundle in enumerate(column)
            if (t > 0 or small.start_score[bundle] != FORBIDDEN)
            and (t < last or small.stop_score[bundle] != FORBIDDEN)
        ]
        for t, column in enumerate(small.columns)
    ]


def build(small: SmallChain) -> tuple[Chain, list[list[int]]]:
    """The fast chain of a small one, and which states of each column it kept."""
    kept, last = kept_states(small), len(small.columns) - 1
    columns = [[column[k] for k in keep] for column, keep in zip(small.columns, kept, strict=True)]
    scores = []
    for t, keep in enumerate(kept):
        for k in keep:
            bundle = small.columns[t][k]
            score = small.state_score[t][k]
            score += small.start_score[bundle] if t == 0 else 0.0
            scores.append(score + (small.stop_score[bundle] if t == last else 0.0))
    bundles = sorted({bundle for column in columns for bundle in column})
    joint = [[small.transition_score.get((a, b), 0.0) for b in bundles] for a in bundles]
    lattice = Lattice.from_columns(columns, len(small.tags_per_side))
    sides = [np.zeros((tags, tags)) for tags in small.tags_per_side]
    return Chain(lattice, scores, sides, bundles, joint), kept


def to_columns(chain: Chain, kept: list[list[int]], path: Path) -> tuple[int, ...]:
    """A path as the oracle writes it: indexes within the unreduced columns."""
    first = chain.lattice.first
    return tuple(kept[t][state - first[t]] for t, state in enumerate(path.states))


def spread(small: SmallChain, kept: list[list[int]], values: np.ndarray) -> list[list[float]]:
    """Values per kept state, with 0 for the states that were left out."""
    out, at = [[0.0] * len(column) for column in small.columns], 0
    for t, keep in enumerate(kept):
        for k in keep:
            out[t][k] = float(values[at])
            at += 1
    return out


@given(small_chains(STRICT))
def test_log_partition_matches_enumeration(small: SmallChain) -> None:
    chain, _ = build(small)
    assert chain.log_partition() == pytest.approx(small.oracle().log_partition(), rel=1e-12, abs=1e-9)


@given(small_chains(Shape(forbidden_share=0.6, keep_a_path=False)))
def test_no_legal_path_is_minus_infinity_or_an_error(small: SmallChain) -> None:
    expected = small.oracle().log_partition()
    if not all(kept_states(small)):
        assert expected == FORBIDDEN
        with pytest.raises(ValueError, match="has no state left"):
            build(small)
        return
    chain, _ = build(small)
    assert chain.log_partition() == pytest.approx(expected, rel=1e-12, abs=1e-9)
    if expected == FORBIDDEN:
        with pytest.raises(ValueError, match="no path"):
            chain.best_path()
        with pytest.raises(ValueError, match="no path"):
            chain.unit_marginals()
        assert chain.k_best(3) == []


@given(small_chains(STRICT))
def test_unit_marginals_match_enumeration(small: SmallChain) -> None:
    chain, kept = build(small)
    found = spread(small, kept, chain.unit_marginals())
    for mine, theirs in zip(found, small.oracle().unit_marginals(), strict=True):
        assert mine == pytest.approx(theirs, abs=1e-9)
        assert sum(mine) == pytest.approx(1.0)


@given(small_chains(STRICT))
def test_pair_marginals_match_enumeration(small: SmallChain) -> None:
    chain, kept = build(small)
    expected = small.oracle().pair_marginals()
    found = chain.pair_marginals()
    assert len(found) == len(small.columns) - 1
    for t, matrix in enumerate(found):
        wanted = np.array([[expected[t][i][j] for j in kept[t + 1]] for i in kept[t]])
        np.testing.assert_allclose(matrix, wanted, atol=1e-9)


@given(small_chains(STRICT))
def test_summed_pair_marginals_are_the_sum_over_positions(small: SmallChain) -> None:
    chain, _ = build(small)
    block_of, summed = chain.native.summed_pair_marginals()
    assert summed.sum() == pytest.approx(len(small.columns) - 1, abs=1e-9)
    assert len(block_of) == len(small.columns) - 1


@given(small_chains(STRICT))
def test_best_path_is_one_of_the_best(small: SmallChain) -> None:
    chain, kept = build(small)
    best, path = small.oracle().best(), chain.best_path()
    assert path.score == pytest.approx(best.score, rel=1e-12, abs=1e-9)
    assert to_columns(chain, kept, path) in best.ties
    assert chain.score(path.states) == pytest.approx(path.score, rel=1e-12, abs=1e-9)


@given(small_chains(STRICT), st.integers(1, 12))
def test_k_best_matches_enumeration(small: SmallChain, k: int) -> None:
    chain, kept = build(small)
    expected, found = small.oracle().k_best(k), chain.k_best(k)
    assert [path.score for path in found] == pytest.approx(
        [score for score, _ in expected], rel=1e-12, abs=1e-9
    )
    listed = [to_columns(chain, kept, path) for path in found]
    assert len(set(listed)) == len(listed)
    for path in found:
        assert chain.score(path.states) == pytest.approx(path.score, rel=1e-12, abs=1e-9)


@given(small_chains(STRICT))
def test_entropy_matches_enumeration(small: SmallChain) -> None:
    chain, _ = build(small)
    assert chain.entropy() == pytest.approx(small.oracle().entropy(), abs=1e-8)


@given(small_chains(FREE))
def test_laws(small: SmallChain) -> None:
    chain, _ = build(small)
    log_z, best = chain.log_partition(), chain.best_path()
    assert best.score <= log_z + 1e-9 * max(1.0, abs(log_z))
    assert chain.k_best(1)[0].score == pytest.approx(best.score)


@pytest.mark.parametrize("seed", range(200))
def test_one_to_three_sides_by_seed(seed: int) -> None:
    small = random_chain(
        random.Random(seed), Shape(most_sides=1 + seed % 3, forbidden_share=0.2 * (seed % 2))
    )
    chain, kept = build(small)
    oracle = small.oracle()
    assert chain.log_partition() == pytest.approx(oracle.log_partition(), rel=1e-12, abs=1e-9)
    for mine, theirs in zip(
        spread(small, kept, chain.unit_marginals()), oracle.unit_marginals(), strict=True
    ):
        assert mine == pytest.approx(theirs, abs=1e-9)


@given(small_chains(FREE), st.data())
def test_widening_never_lowers_and_restricting_is_exact(small: SmallChain, data: st.DataObject) -> None:
    chain, _ = build(small)
    lattice = chain.lattice
    side = data.draw(st.integers(0, lattice.sides - 1))
    allowed = [
        {data.draw(st.sampled_from(sorted({bundle[side] for bundle in column})))}
        for column in lattice.columns()
    ]
    inner = lattice.restrict(side, allowed)
    state = np.concatenate([np.array(s) for s in small.state_score])
    bundles = sorted({bundle for column in small.columns for bundle in column})
    joint = [[small.transition_score.get((a, b), 0.0) for b in bundles] for a in bundles]
    sides = [np.zeros((tags, tags)) for tags in small.tags_per_side]
    whole = Chain(lattice, state, sides, bundles, joint)
    part = Chain(inner, state[inner.locate(lattice)], sides, bundles, joint)
    assert part.log_partition() <= whole.log_partition() + 1e-9
    scores = [
        score
        for score, path in small.oracle().paths()
        if all(small.columns[t][k][side] in allowed[t] for t, k in enumerate(path))
    ]
    # The oracle's paths include start and stop scores, this chain does not.
    plain = SmallChain(
        small.tags_per_side,
        inner.columns(),
        [
            [small.state_score[t][small.columns[t].index(bundle)] for bundle in column]
            for t, column in enumerate(inner.columns())
        ],
        small.transition_score,
        dict.fromkeys(small.start_score, 0.0),
        dict.fromkeys(small.stop_score, 0.0),
    )
    assert part.log_partition() == pytest.approx(plain.oracle().log_partition(), rel=1e-12, abs=1e-9)
    assert len(scores) == math.prod(map(len, inner.columns()))


@pytest.mark.parametrize("sides", [2, 3])
def test_without_joint_scores_log_partition_is_the_sum_over_sides(sides: int) -> None:
    rng = np.random.default_rng(sides)
    tags, length = [3, 2, 4][:sides], 6
    transitions = [rng.normal(size=(n, n)) for n in tags]
    states = [rng.normal(size=(length, n)) for n in tags]
    bundled = Lattice.complete(length, tags)
    position = np.repeat(np.arange(length), np.diff(bundled.first))
    score = sum(states[k][position, bundled.tags[:, k]] for k in range(sides))
    plain = sum(
        Chain(Lattice.complete(length, [n]), states[k].ravel(), [transitions[k]]).log_partition()
        for k, n in enumerate(tags)
    )
    assert Chain(bundled, score, transitions).log_partition() == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_ten_thousand_units_stay_exact(scale: float) -> None:
    """Against the same recursion in Python floats in the log domain: no overflow, no lost digits."""
    rng = np.random.default_rng(7)
    length, tags = 10_000, 3
    state = rng.uniform(-scale, scale, size=(length, tags))
    between = rng.uniform(-scale, scale, size=(tags, tags))
    chain = Chain(Lattice.complete(length, [tags]), state.ravel(), [between])
    alpha, total = state[0], 0.0
    for t in range(1, length):
        terms = alpha[:, None] + between
        peak = terms.max(axis=0)
        alpha = state[t] + peak + np.log(np.exp(terms - peak).sum(axis=0))
        total += alpha.max()
        alpha = alpha - alpha.max()
    total += alpha.max() + math.log(np.exp(alpha - alpha.max()).sum())
    assert chain.log_partition() == pytest.approx(total, rel=1e-12)
    units = chain.unit_marginals().reshape(length, tags)
    np.testing.assert_allclose(units.sum(axis=1), 1.0, atol=1e-9)
    assert chain.best_path().score <= chain.log_partition() + 1e-6
    assert np.isfinite(chain.entropy())


def test_a_path_far_behind_is_not_lost() -> None:
    """Two separate lanes drift 1e5 apart; a constraint at the very end decides for the lower one."""
    length = 1000
    state = np.tile([100.0, 0.0], length)
    between = [[0.0, FORBIDDEN], [FORBIDDEN, 0.0]]
    lattice = Lattice.complete(length, [2]).restrict(0, [*([{0, 1}] * (length - 1)), {1}])
    state = state[lattice.locate(Lattice.complete(length, [2]))]
    chain = Chain(lattice, state, [between])
    assert chain.log_partition() == pytest.approx(0.0, abs=1e-6)
    assert chain.unit_marginals()[-3:] == pytest.approx([0.0, 1.0, 1.0])


def test_the_empty_sentence_has_one_path() -> None:
    chain = Chain(Lattice.complete(0, [3]), [], [np.zeros((3, 3))])
    assert chain.log_partition() == 0.0
    assert chain.entropy() == 0.0
    assert len(chain.best_path().states) == 0
    assert len(chain.k_best(5)) == 1


@pytest.mark.parametrize(
    ("state", "sides", "message"),
    [
        ([0.0], [np.zeros((2, 2))], "1 state scores for 4 states"),
        ([0.0, 0.0, 0.0, math.nan], [np.zeros((2, 2))], "not finite"),
        ([0.0, 0.0, 0.0, math.inf], [np.zeros((2, 2))], "not finite"),
        ([0.0] * 4, [np.full((2, 2), math.nan)], "NaN"),
    ],
)
def test_bad_scores_are_refused(state: list[float], sides: list[np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Chain(Lattice.complete(2, [2]), state, sides)


def test_bad_shapes_are_refused() -> None:
    lattice = Lattice.complete(2, [2])
    with pytest.raises(ConfigError, match="2 transition matrices for 1 sides"):
        Chain(lattice, [0.0] * 4, [np.zeros((2, 2))] * 2)
    with pytest.raises(ConfigError, match="tags up to 1"):
        Chain(lattice, [0.0] * 4, [np.zeros((1, 1))])
    with pytest.raises(ConfigError, match="joint matrix"):
        Chain(lattice, [0.0] * 4, [np.zeros((2, 2))], [(0,)], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="k must be"):
        Chain(lattice, [0.0] * 4, [np.zeros((2, 2))]).k_best(0)


@settings(max_examples=20)
@given(small_chains(FREE))
def test_a_path_outside_the_lattice_is_refused(small: SmallChain) -> None:
    chain, _ = build(small)
    with pytest.raises(ValueError, match="position"):
        chain.score([*range(len(small.columns) + 1)])
