"""The coupled model's loss and gradient equal their definition (Eq. 8-14 of Li et al. 2017)."""

from __future__ import annotations

import collections
import itertools
import random

import numpy as np
import pytest
from coupled_cases import (
    KEEP_ALL,
    Case,
    LayoutOptions,
    Pruning,
    Twin,
    lay_out,
    places,
    random_case,
    random_sets,
    random_weights,
)

from duilian import _native
from oracle import scorer

CASES = [
    pytest.param(sides, rules, mapped, partial, id=f"{sides}-{rules}-{mapped}-{partial}")
    for sides, rules in [(2, "free"), (2, "bound"), (2, "mixed"), (3, "free"), (3, "mixed")]
    for mapped in (False, True)
    for partial in (False, True)
]
OPTIONS = [
    LayoutOptions(),
    LayoutOptions(linked=2, seen=2),
    LayoutOptions(full_from=10**6, bundles=3),
    LayoutOptions(is_joint=False),
]


def compare(
    case: Case,
    layout: _native.CoupledLayout,
    pruning: Pruning = KEEP_ALL,
    candidates: list[list[list[int]]] | None = None,
    learns_separate: bool = True,
    seed: int = 1,
) -> None:
    """Every sentence's loss and every weight's slope against the listing."""
    weights = random_weights(seed, layout.weights)
    data = case.data(candidates or [])
    objective = _native.CoupledObjective(layout, data, pruning.native, np.inf, learns_separate)
    twin, place = Twin.of(case, layout, weights), places(case, layout)
    for sentence in range(case.sentences):
        loss, gradient = objective.gradient(weights, 1.0, sentence)
        left = (
            twin.training_candidates(sentence, pruning)
            if candidates is None
            else twin.given_candidates(sentence, candidates)
        )
        example = twin.example(sentence, left)
        assert loss == pytest.approx(-scorer.log_likelihood(twin.weights, example), abs=1e-9)
        expected = scorer.gradient(twin.weights, example)
        wanted = np.zeros(layout.weights)
        for name, at in place.items():
            if learns_separate or not isinstance(name.side, int):
                wanted[at] = expected.get(name, 0.0)
        np.testing.assert_allclose(gradient, wanted, atol=1e-5)


@pytest.mark.parametrize(("sides", "rules", "mapped", "partial"), CASES)
def test_loss_and_gradient_match_the_definition(sides: int, rules: str, mapped: bool, partial: bool) -> None:
    for seed, options in enumerate(OPTIONS[: 4 if sides == 2 else 3]):
        case = random_case(seed, sides=sides, rules=rules, mapped=mapped, partial=partial)
        compare(case, lay_out(case, options), seed=seed)


@pytest.mark.parametrize("most", [1, 2])
def test_features_with_many_bundles_match_the_definition(most: int) -> None:
    """With this many joint weights, those of the few remaining candidates are looked up one by one."""
    for seed in range(3):
        case = random_case(seed, rules="many")
        layout = lay_out(case)
        assert np.diff(layout.joint_first).max() >= 100
        compare(case, layout, Pruning(most, 1.0), seed=seed)


@pytest.mark.parametrize("rules", ["free", "bound"])
def test_separate_weights_can_be_left_as_they_are(rules: str) -> None:
    case = random_case(3, rules=rules)
    compare(case, lay_out(case), learns_separate=False)


@pytest.mark.parametrize(("sides", "rules", "mapped", "partial"), CASES)
def test_pruned_losses_match_the_definition(sides: int, rules: str, mapped: bool, partial: bool) -> None:
    for seed, pruning in enumerate([Pruning(1, 1.0), Pruning(2, 1.0), Pruning(3, 0.7), Pruning(9, 0.4)]):
        case = random_case(seed + 50, sides=sides, rules=rules, mapped=mapped, partial=partial)
        compare(case, lay_out(case), pruning, seed=seed)


@pytest.mark.parametrize(("sides", "rules", "mapped", "partial"), CASES)
def test_losses_with_candidates_found_beforehand(sides: int, rules: str, mapped: bool, partial: bool) -> None:
    case = random_case(70, sides=sides, rules=rules, mapped=mapped, partial=partial)
    layout = lay_out(case)
    weights = random_weights(5, layout.weights)
    candidates = [
        _native.tag_candidates(
            layout.side(side),
            np.array(weights[layout.side_at[side] :][: layout.side(side).weights]),
            case.rows(),
            np.array(case.first),
            _native.Pruning(2, 1.0, 0.0, 0.0),
            1,
        )
        for side in range(sides)
    ]
    found = [
        [each.tags[a:b].tolist() for a, b in itertools.pairwise(each.first.tolist())] for each in candidates
    ]
    compare(case, layout, candidates=found, seed=6)


@pytest.mark.parametrize(("sides", "rules", "mapped", "partial"), CASES)
def test_labels_held_on_other_sides_match_the_definition(
    sides: int, rules: str, mapped: bool, partial: bool
) -> None:
    for seed, pruning in enumerate([KEEP_ALL, Pruning(1, 1.0), Pruning(2, 0.7)]):
        case = random_case(seed + 90, sides=sides, rules=rules, mapped=mapped, partial=partial, held=True)
        layout = lay_out(case)
        compare(case, layout, pruning, seed=seed)
        candidates = [[[k % count for k in (0, 1)][:count] for _ in case.features] for count in case.labels]
        if all(rule.allows.all() for rule in case.rules):
            compare(case, layout, candidates=candidates, seed=seed)


@pytest.mark.parametrize("sides", [2, 3])
def test_the_gradient_matches_central_differences(sides: int) -> None:
    """With strengths too, which the listing does not know."""
    case = random_case(9, sides=sides, rules="mixed", mapped=True)
    layout = lay_out(case, LayoutOptions(linked=3))
    count = sum(map(len, case.features))
    data = case.data(strength=np.random.default_rng(2).uniform(-1, 2, count).astype(np.float32))
    objective = _native.CoupledObjective(layout, data, KEEP_ALL.native, np.inf, True)
    original = random_weights(4, layout.weights)
    for sentence in range(0, case.sentences, 2):
        _, gradient = objective.gradient(original, 1.0, sentence)
        for at in places(case, layout).values():
            slopes = []
            for step in (2.0**-8, -(2.0**-8)):
                weights = original.copy()
                weights[at] += np.float32(step)
                slopes.append((objective.gradient(weights, 1.0, sentence)[0], float(weights[at])))
            (up, high), (down, low) = slopes
            # The likelihood rises along the gradient that is given.
            assert -(up - down) / (high - low) == pytest.approx(gradient[at], abs=2e-4)


@pytest.mark.parametrize("rules", ["free", "bound"])
def test_scaled_weights_are_the_weights_times_the_scale(rules: str) -> None:
    case = random_case(11, rules=rules)
    layout = lay_out(case)
    weights = random_weights(1, layout.weights)
    objective = _native.CoupledObjective(layout, case.data(), Pruning(2, 0.9).native, np.inf, True)
    for sentence in range(case.sentences):
        loss, gradient = objective.gradient(weights, 0.25, sentence)
        wanted_loss, wanted = objective.gradient(np.float32(0.25) * weights, 1.0, sentence)
        assert loss == pytest.approx(wanted_loss, abs=1e-6)
        np.testing.assert_allclose(gradient, wanted, atol=1e-6)


@pytest.mark.parametrize("sides", [2, 3])
@pytest.mark.parametrize("partial", [False, True])
def test_a_margin_in_training(sides: int, partial: bool) -> None:
    """A wide gap changes nothing; the narrowest one keeps the annotation, and leaves fewer choices."""
    case = random_case(13, sides=sides, rules="free", partial=partial)
    layout = lay_out(case)
    weights = random_weights(1, layout.weights)
    exact, wide, narrow = (
        _native.CoupledObjective(layout, case.data(), KEEP_ALL.native, margin, True)
        for margin in (np.inf, 1e9, 0.0)
    )
    left_out = 0
    for sentence in range(case.sentences):
        loss, gradient = exact.gradient(weights, 1.0, sentence)
        same_loss, same = wide.gradient(weights, 1.0, sentence)
        assert same_loss == pytest.approx(loss, abs=1e-9)
        np.testing.assert_allclose(same, gradient, atol=1e-9)
        narrow_loss, direction = narrow.gradient(weights, 1.0, sentence)
        assert np.isfinite(narrow_loss)
        assert narrow_loss > -1e-9
        left_out += int(np.count_nonzero(direction) < np.count_nonzero(gradient))
    assert left_out > 0
    with pytest.raises(ValueError, match="bundle gap in training"):
        _native.CoupledObjective(layout, case.data(), KEEP_ALL.native, -1.0, True)


@pytest.mark.parametrize("scale", [100.0, 3000.0])
def test_wide_scores_stay_right(scale: float) -> None:
    for rules in ("free", "bound"):
        case = random_case(13, rules=rules)
        layout = lay_out(case)
        weights = random_weights(2, layout.weights, scale)
        objective = _native.CoupledObjective(layout, case.data(), KEEP_ALL.native, np.inf, True)
        twin = Twin.of(case, layout, weights)
        for sentence in range(case.sentences):
            example = twin.example(sentence, twin.training_candidates(sentence, KEEP_ALL))
            loss, gradient = objective.gradient(weights, 1.0, sentence)
            assert loss == pytest.approx(-scorer.log_likelihood(twin.weights, example), rel=1e-9, abs=1e-6)
            assert np.isfinite(gradient).all()


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("rules", ["free", "bound"])
def test_passes_are_the_same_for_any_number_of_threads(rules: str, batch: int) -> None:
    case = random_case(17, sides=3 if rules == "free" else 2, rules=rules)
    layout = lay_out(case)
    data = case.data()
    objective = _native.CoupledObjective(layout, data, Pruning(2, 0.95).native, np.inf, True)
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(case.sentences), 5))
    results = []
    for threads in (1, 2, 3):
        ada, squares, sgd = (np.zeros(layout.weights, np.float32) for _ in range(3))
        state = _native.SgdState(0, 1.0)
        losses = [
            (objective.adagrad_pass(ada, squares, 0.2, order, batch, threads),
             objective.sgd_pass(sgd, state, 0.01, 500.0, order, batch, threads))
            for _ in range(3)
        ]  # fmt: skip
        results.append((losses, ada.tobytes(), squares.tobytes(), sgd.tobytes(), state.scale))
    assert results[0] == results[1] == results[2]
    assert results[0][0][-1] < results[0][0][0]  # and the losses fall


def test_a_sentence_without_units_costs_nothing() -> None:
    case = random_case(1)
    case.first.insert(2, case.first[2])
    case.side.insert(2, 1)
    layout = lay_out(case)
    objective = _native.CoupledObjective(layout, case.data(), KEEP_ALL.native, np.inf, True)
    loss, gradient = objective.gradient(random_weights(1, layout.weights), 1.0, 2)
    assert loss == 0.0
    assert not gradient.any()


def known_bundles(
    case: Case, latent: list[list[list[int]]], sides: list[int]
) -> list[tuple[int, tuple[int, ...]]]:
    """Unit and bundle wherever the annotation of a side and candidates of the others meet."""
    met = []
    for unit in range(len(case.features)):
        own = case.side_of_unit(unit)
        sets = [
            case.known[unit] if side == own and case.known[unit] else latent[side][unit] for side in sides
        ]
        met += [(unit, bundle) for bundle in itertools.product(*sets)]
    return met


@pytest.mark.parametrize("sides", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_joint_weights_exist_where_features_and_bundles_meet(seed: int, sides: int) -> None:
    case = random_case(seed, sides=sides, partial=seed % 2 == 1)
    rng = random.Random(seed)
    latent = [random_sets(rng, labels, len(case.features)) for labels in case.labels]
    options = LayoutOptions(seen=1 + seed % 3, linked=rng.randint(0, 4), bundles=rng.choice([3, 1000]))
    layout = lay_out(case, options, latent)
    often = collections.Counter(row for unit in case.features for row in unit)
    expected = set()
    for part, pair in enumerate(case.pairs()):
        met = known_bundles(case, latent, pair)
        counts = collections.Counter(bundle for _, bundle in met)
        found = [tuple(bundle) for bundle in layout.shape.part_bundles(part).tolist()]
        # The most frequent first; among equals the one that was met first.
        assert found == [bundle for bundle, _ in counts.most_common()][: options.bundles]
        assert layout.shape.part_linked(part) == min(options.linked, len(found))
        expected |= {
            scorer.WeightName("state", tuple(pair), str(row), bundle)
            for unit, bundle in met
            for row in case.features[unit]
            if often[row] >= options.seen and bundle in found
        }
    place = places(case, layout)
    assert {n for n in place if n.kind == "state" and isinstance(n.side, tuple)} == expected
    # Each weight has one place, and there are no others but the unused meetings of start and stop.
    assert len(set(place.values())) == len(place) == layout.weights - sides - len(case.pairs())


def test_data_that_do_not_fit_are_refused() -> None:
    case = random_case(1)
    rows, first = case.rows(), np.array(case.first)
    side, (label, sets) = np.array(case.side, np.int32), case.annotation()
    everything = [_native.TagSets(np.arange(len(label) + 1, dtype=np.int32), np.zeros(len(label), np.int32))]

    def refused(
        *changed: object, candidates: list[object] | None = None, held: list[object] | None = None
    ) -> None:
        layout = lay_out(case)
        data = _native.CoupledData(*changed, candidates or [], held or [])
        with pytest.raises(ValueError, match=r"^[a-z]"):
            _native.CoupledObjective(layout, data, KEEP_ALL.native, np.inf, True)

    refused(rows, first, side[:-1], label, sets)
    refused(rows, first, np.full_like(side, 2), label, sets)
    refused(rows, first, np.full_like(side, -1), label, sets)
    refused(rows, first, side, np.full_like(label, 9), sets)
    refused(rows, first, side, label[:-1], sets)
    refused(rows, first[:-1], side[:-1], label, sets)
    refused(rows, first, side, label, _native.TagSets(np.array([0, 1], np.int32), np.array([0], np.int32)))
    refused(rows, first, side, label, sets, candidates=everything)
    wide = _native.TagSets(np.arange(len(label) + 1, dtype=np.int32), np.full(len(label), 7, np.int32))
    refused(rows, first, side, label, sets, candidates=[*everything, wide])
    short = _native.TagSets(np.array([0, 1], np.int32), np.array([0], np.int32))
    refused(rows, first, side, label, sets, candidates=[*everything, short])
    for wrong in ([short, short], [wide, wide], everything):
        refused(rows, first, side, label, sets, held=wrong)
    objective = _native.CoupledObjective(lay_out(case), case.data(), KEEP_ALL.native, np.inf, True)
    with pytest.raises(ValueError, match="weights do not match"):
        objective.gradient(np.zeros(3, np.float32), 1.0, 0)


def test_models_that_do_not_fit_are_refused() -> None:
    case = random_case(1, sides=2)
    labels, rules = case.labels, [each.native() for each in case.rules]
    for bad in ([0, 2], [-1, 2], [2]):
        with pytest.raises(ValueError, match=r"^[a-z0-9]"):
            _native.CoupledShape(bad, rules, [])
    for a, b, shape in [(0, 0, (2, 2)), (1, 0, (2, 2)), (0, 2, (2, 2)), (-1, 1, (2, 2)), (0, 1, (9, 9))]:
        mapping = _native.SideMapping(a, b, np.ones(shape, np.uint8))
        with pytest.raises(ValueError, match="mapping does not match"):
            _native.CoupledShape(labels, rules, [mapping])
    for sides, bundles in [
        ([0], [0]),
        ([0, 2], [0, 0]),
        ([0, 1], [0]),
        ([0, 1], [0, 9]),
        ([0, 1], [0, 0] * 2),
    ]:
        with pytest.raises(ValueError, match=r"bundle|side"):
            case.shape().add_part(sides, np.array(bundles, np.int32), 1)
    for most, mass in [(0, 1.0), (-1, 1.0), (1, 0.0), (1, -1.0), (1, float("nan"))]:
        with pytest.raises(ValueError, match="max_candidates must be at least 1"):
            _native.Pruning(most, mass, 0.0, 0.0)
    layouts, data = case.plain_layouts(1), case.data()
    latent = [_native.TagSets(np.zeros(2, np.int32), np.zeros(0, np.int32))] * 2
    with pytest.raises(ValueError, match="do not match the units"):
        _native.lay_out_coupled(case.shape(), layouts, data, latent, [[0, 1]], 1, 9, 9)
    with pytest.raises(ValueError, match="do not match the sides"):
        _native.lay_out_coupled(case.shape(), layouts[:1], data, [], [], 1, 9, 9)
