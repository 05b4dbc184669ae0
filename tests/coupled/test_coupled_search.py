"""Pruning by context (section 3 of Li et al. 2016) and decoding, against listing."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest
from coupled_cases import (
    KEEP_ALL,
    Case,
    LayoutOptions,
    Pruning,
    Sets,
    Twin,
    choose,
    is_legal,
    lay_out,
    legal_paths,
    no_sets,
    random_case,
    random_weights,
    sets_of,
    side_probabilities,
    tag_sets,
)
from hypothesis import given
from hypothesis import strategies as st

from duilian import _native
from oracle import scorer

SHAPES = [(2, "free"), (2, "bound"), (2, "mixed"), (3, "free"), (3, "mixed")]
PRUNINGS = [Pruning(1, 1.0), Pruning(2, 1.0), Pruning(2, 0.8), Pruning(3, 0.98), Pruning(100, 0.5), KEEP_ALL]


def side_weights(layout: _native.CoupledLayout, weights: np.ndarray, side: int) -> np.ndarray:
    return np.array(weights[layout.side_at[side] :][: layout.side(side).weights])


def prune(
    case: Case, layout: _native.CoupledLayout, weights: np.ndarray, pruning: Pruning, threads: int = 1
) -> list[Sets]:
    first = np.array(case.first)
    return [
        sets_of(
            _native.tag_candidates(
                layout.side(side),
                side_weights(layout, weights, side),
                case.rows(),
                first,
                pruning.native,
                threads,
            )
        )
        for side in range(case.sides)
    ]


def tag(
    case: Case,
    layout: _native.CoupledLayout,
    weights: np.ndarray,
    pruning: Pruning,
    decoding: _native.Decoding,
    candidates: Sequence[Sets] = (),
    allowed: Sequence[Sets | None] = (),
    threads: int = 1,
    margin: float = np.inf,
) -> _native.CoupledAnswers:
    return _native.tag_coupled(
        layout,
        weights,
        case.rows(),
        np.array(case.first),
        [tag_sets(each) for each in candidates],
        [no_sets() if each is None else tag_sets(each) for each in allowed],
        pruning.native,
        decoding,
        margin,
        True,
        threads,
    )


def labels_of(answers: _native.CoupledAnswers, side: int, units: range) -> tuple[int, ...]:
    return tuple(answers.label(side)[units.start : units.stop].tolist())


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.integers(1, 9), st.floats(0.01, 1.0))
def test_the_naive_choice_is_what_the_paper_says(scores: list[float], most: int, mass: float) -> None:
    """The smallest k with p(1) + … + p(k) > λ, or r if that is smaller."""
    total = sum(scores)
    p = [each / total for each in scores] if total > 0 else [1 / len(scores)] * len(scores)
    kept = choose(p, Pruning(most, mass))
    enough = [k for k in range(1, len(p) + 1) if mass < 1.0 and sum(sorted(p)[::-1][:k]) > mass]
    assert len(kept) == min(most, len(p), *enough[:1])
    assert sum(p[label] for label in kept) == pytest.approx(sum(sorted(p)[::-1][: len(kept)]))


@pytest.mark.parametrize("pruning", PRUNINGS, ids=str)
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_candidates_are_those_of_the_naive_pruner(sides: int, rules: str, pruning: Pruning) -> None:
    for seed in range(4):
        case = random_case(seed, sides=sides, rules=rules)
        layout = lay_out(case)
        weights = random_weights(seed, layout.weights)
        twin = Twin.of(case, layout, weights)
        found = prune(case, layout, weights, pruning)
        assert found == prune(case, layout, weights, pruning, threads=3)
        for side, sentence in itertools.product(range(sides), range(case.sentences)):
            units = case.span(sentence)
            assert found[side][units.start : units.stop] == twin.candidates(side, sentence, pruning)


def test_ties_keep_the_lower_label() -> None:
    case = random_case(1)
    layout = lay_out(case)
    weights = np.zeros(layout.weights, np.float32)
    assert {tuple(each) for each in prune(case, layout, weights, Pruning(1, 0.9))[0]} == {(0,)}
    assert {tuple(each) for each in prune(case, layout, weights, Pruning(2, 0.99))[0]} == {(0, 1)}


@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_what_is_annotated_survives_any_pruning(sides: int, rules: str, partial: bool) -> None:
    """With one candidate per side, whatever the weights say: the loss is finite and not below 0."""
    for seed in range(8):
        case = random_case(seed, sides=sides, rules=rules, partial=partial)
        layout = lay_out(case)
        for scale in (1.0, 30.0):
            weights = random_weights(seed, layout.weights, scale)
            objective = _native.CoupledObjective(layout, case.data(), Pruning(1, 0.1).native, np.inf, True)
            losses = [objective.gradient(weights, 1.0, s)[0] for s in range(case.sentences)]
            assert np.isfinite(losses).all()
            assert min(losses) >= -1e-9
            twin = Twin.of(case, layout, weights)
            for sentence in range(case.sentences):
                example = twin.example(sentence, twin.training_candidates(sentence, Pruning(1, 0.1)))
                assert all(set(a) <= set(b) for a, b in zip(example.correct, example.possible, strict=True))


@pytest.mark.parametrize("pruning", [Pruning(1, 0.1), Pruning(2, 0.5), Pruning(3, 1.0)], ids=str)
@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_a_legal_path_is_always_left(pruning: Pruning, scale: float) -> None:
    for seed in range(25):
        case = random_case(seed, sides=2, rules="bound")
        layout = lay_out(case)
        for side, found in enumerate(
            prune(case, layout, random_weights(seed, layout.weights, scale), pruning)
        ):
            for sentence in range(case.sentences):
                units = case.span(sentence)
                paths = legal_paths(case.rules[side], found[units.start : units.stop])
                assert paths
                # and nothing is left that stands on none
                left = [sorted(set(labels)) for labels in zip(*paths, strict=True)]
                assert left == found[units.start : units.stop]


@pytest.mark.parametrize("partial", [False, True], ids=["full", "partial"])
@pytest.mark.parametrize("mapped", [False, True], ids=["complete", "mapped"])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_keeping_everything_is_the_unpruned_model(
    sides: int, rules: str, mapped: bool, partial: bool
) -> None:
    """r = all and λ = 1, online and with all labels as candidates found beforehand: the same numbers."""
    case = random_case(31, sides=sides, rules=rules, mapped=mapped, partial=partial)
    layout = lay_out(case)
    weights = random_weights(31, layout.weights)
    online = _native.CoupledObjective(
        layout, case.data(), Pruning(max(case.labels), 1.0).native, np.inf, True
    )
    wider = _native.CoupledObjective(layout, case.data(), KEEP_ALL.native, np.inf, True)
    offline = _native.CoupledObjective(
        layout, case.data(case.all_labels()), Pruning(1, 0.1).native, np.inf, True
    )
    twin = Twin.of(case, layout, weights)
    for sentence in range(case.sentences):
        units = len(case.span(sentence))
        every = [[list(range(labels))] * units for labels in case.labels]
        loss, gradient = online.gradient(weights, 1.0, sentence)
        assert loss == pytest.approx(
            -scorer.log_likelihood(twin.weights, twin.example(sentence, every)), abs=1e-9
        )
        for other in (wider, offline):
            other_loss, other_gradient = other.gradient(weights, 1.0, sentence)
            assert other_loss == pytest.approx(loss, abs=1e-9)
            np.testing.assert_allclose(other_gradient, gradient, atol=1e-9)
    for decoding in (_native.Decoding.marginals, _native.Decoding.path):
        a = tag(case, layout, weights, KEEP_ALL, decoding)
        b = tag(case, layout, weights, Pruning(1, 0.1), decoding, candidates=case.all_labels())
        for side in range(sides):
            assert a.label(side).tolist() == b.label(side).tolist()
            np.testing.assert_allclose(a.p(side), b.p(side), atol=1e-9)


def check_answers(
    case: Case,
    layout: _native.CoupledLayout,
    weights: np.ndarray,
    pruning: Pruning,
    allowed: Sequence[Sets | None] = (),
    margin: float = np.inf,
) -> None:
    """Both decodings of every sentence against the listing of what pruning leaves."""
    twin = Twin.of(case, layout, weights)
    by_path, by_marginals = (
        tag(case, layout, weights, pruning, decoding, allowed=allowed, margin=margin)
        for decoding in (_native.Decoding.path, _native.Decoding.marginals)
    )
    kept = [sets_of(by_marginals.candidates(side)) for side in range(case.sides)]
    for sentence in range(case.sentences):
        units = case.span(sentence)
        cut = slice(units.start, units.stop)
        given = [None if each is None else each[cut] for each in allowed or [None] * case.sides]
        left = [twin.candidates(side, sentence, pruning, given[side]) for side in range(case.sides)]
        assert [each[cut] for each in kept] == left
        prior = [twin.prior(side, sentence, given[side]) for side in range(case.sides)]
        found = twin.distribution(sentence, left, margin, prior)
        best = max(found, key=found.__getitem__)
        for side in range(case.sides):
            assert labels_of(by_path, side, units) == tuple(bundle[side] for bundle in best)
            p = side_probabilities(found, side, case.labels[side])
            paths = legal_paths(case.rules[side], left[side])
            likeliest = max(paths, key=lambda path: sum(row[k] for row, k in zip(p, path, strict=True)))
            chosen = labels_of(by_marginals, side, units)
            assert is_legal(case.rules[side], chosen)
            assert sum(row[k] for row, k in zip(p, chosen, strict=True)) == pytest.approx(
                sum(row[k] for row, k in zip(p, likeliest, strict=True)), abs=1e-6
            )
            for answers in (by_path, by_marginals):
                labels = labels_of(answers, side, units)
                sure = [row[k] for row, k in zip(p, labels, strict=True)]
                np.testing.assert_allclose(answers.p(side)[cut], sure, atol=1e-6)
            flat = [row[k] for row, labels in zip(p, left[side], strict=True) for k in labels]
            first = by_marginals.candidates(side).first
            part = by_marginals.candidate_p(side)[first[cut.start] : first[cut.stop]]
            np.testing.assert_allclose(part, flat, atol=1e-6)


@pytest.mark.parametrize("mapped", [False, True], ids=["complete", "mapped"])
@pytest.mark.parametrize("pruning", [KEEP_ALL, Pruning(2, 0.9)], ids=str)
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_decoding_matches_the_listing(sides: int, rules: str, pruning: Pruning, mapped: bool) -> None:
    for seed in range(2):
        case = random_case(seed, sides=sides, rules=rules, mapped=mapped)
        layout = lay_out(case, LayoutOptions(linked=4 if seed else 1000))
        check_answers(case, layout, random_weights(seed + 9, layout.weights), pruning)


@pytest.mark.parametrize("margin", [0.0, 1.0, 3.0, 1e9])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_hopeless_bundles_are_left_out(sides: int, rules: str, margin: float) -> None:
    for seed, pruning in enumerate([KEEP_ALL, Pruning(2, 0.95)]):
        case = random_case(seed + 60, sides=sides, rules=rules, mapped=seed == 1)
        layout = lay_out(case)
        check_answers(case, layout, random_weights(seed, layout.weights), pruning, margin=margin)


def test_a_wide_margin_leaves_nothing_out() -> None:
    case = random_case(5, sides=3)
    layout = lay_out(case)
    weights = random_weights(5, layout.weights)
    wanted = tag(case, layout, weights, KEEP_ALL, _native.Decoding.marginals)
    found = tag(case, layout, weights, KEEP_ALL, _native.Decoding.marginals, margin=1e9)
    for side in range(3):
        assert found.label(side).tolist() == wanted.label(side).tolist()
        np.testing.assert_allclose(found.candidate_p(side), wanted.candidate_p(side), atol=1e-6)


def given_labels(case: Case, seed: int) -> list[Sets | None]:
    """For one side: a legal path's labels, some widened to sets, some left open; nothing for the others."""
    rng = random.Random(seed)
    side = rng.randrange(case.sides)
    labels = case.labels[side]
    given: Sets = []
    for sentence in range(case.sentences):
        length = len(case.span(sentence))
        path = rng.choice(legal_paths(case.rules[side], [range(labels)] * length))
        given += [
            rng.choice([[], [label], [label], sorted({label, rng.randrange(labels)})]) for label in path
        ]
    allowed: list[Sets | None] = [None] * case.sides
    allowed[side] = given
    return allowed


@pytest.mark.parametrize("pruning", [KEEP_ALL, Pruning(1, 0.9), Pruning(2, 0.9)], ids=str)
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_given_labels_are_obeyed(sides: int, rules: str, pruning: Pruning) -> None:
    for seed in range(3):
        case = random_case(seed + 20, sides=sides, rules=rules, mapped=seed == 2)
        layout = lay_out(case)
        weights = random_weights(seed, layout.weights)
        allowed = given_labels(case, seed)
        check_answers(case, layout, weights, pruning, allowed)
        for decoding in (_native.Decoding.path, _native.Decoding.marginals):
            answers = tag(case, layout, weights, pruning, decoding, allowed=allowed)
            for side, labels in enumerate(allowed):
                for label, known in zip(
                    answers.label(side).tolist(), labels or [], strict=labels is not None
                ):
                    assert not known or label in known


@pytest.mark.parametrize("rules", ["free", "bound"])
def test_given_labels_are_obeyed_among_candidates_found_beforehand(rules: str) -> None:
    """Also where pruning had thrown a given label away."""
    for seed in range(6):
        case = random_case(seed + 40, rules=rules)
        layout = lay_out(case)
        weights = random_weights(seed, layout.weights)
        candidates = prune(case, layout, weights, Pruning(1, 1.0))
        given = [
            list(path)
            for s in range(case.sentences)
            for path in [legal_paths(case.rules[0], [range(case.labels[0])] * len(case.span(s)))[-1]]
        ]
        allowed: list[Sets | None] = [[[label] for path in given for label in path], None]
        answers = tag(case, layout, weights, KEEP_ALL, _native.Decoding.marginals, candidates, allowed)
        assert answers.label(0).tolist() == [label for path in given for label in path]
        np.testing.assert_allclose(answers.p(0), 1.0, atol=1e-6)


def test_answers_are_the_same_for_any_number_of_threads() -> None:
    case = random_case(3, sides=3, rules="mixed")
    layout = lay_out(case)
    weights = random_weights(3, layout.weights)
    alone = tag(case, layout, weights, Pruning(2, 0.9), _native.Decoding.marginals)
    together = tag(case, layout, weights, Pruning(2, 0.9), _native.Decoding.marginals, threads=3)
    for side in range(3):
        assert alone.label(side).tolist() == together.label(side).tolist()
        assert alone.p(side).tobytes() == together.p(side).tobytes()
        assert sets_of(alone.candidates(side)) == sets_of(together.candidates(side))
        assert alone.candidate_p(side).tobytes() == together.candidate_p(side).tobytes()


def test_sentences_without_units_are_passed_by() -> None:
    case = random_case(3)
    layout = lay_out(case)
    weights = random_weights(3, layout.weights)
    with_gaps = Case(case.rules, [], case.features, [0, *case.first, case.first[-1]], case.side, case.known)
    wanted = tag(case, layout, weights, KEEP_ALL, _native.Decoding.marginals)
    found = tag(with_gaps, layout, weights, KEEP_ALL, _native.Decoding.marginals)
    assert found.label(1).tolist() == wanted.label(1).tolist()
    assert sets_of(found.candidates(1)) == sets_of(wanted.candidates(1))


def test_no_sentences_have_no_answers() -> None:
    case = random_case(3)
    layout = lay_out(case)
    empty = Case(case.rules, [], [], [0], [], [])
    found = tag(empty, layout, random_weights(1, layout.weights), KEEP_ALL, _native.Decoding.path)
    for side in range(2):
        assert found.label(side).size == found.p(side).size == found.candidate_p(side).size == 0
        assert sets_of(found.candidates(side)) == []


def test_labels_that_do_not_fit_are_refused() -> None:
    case = random_case(3)
    layout = lay_out(case)
    weights, units = random_weights(1, layout.weights), len(case.features)
    decoding = _native.Decoding.path
    with pytest.raises(ValueError, match="weights do not match"):
        tag(case, layout, weights[:-1].copy(), KEEP_ALL, decoding)
    for bad in ([[[0]] * units], [[[0]] * units, [[7]] * units], [[[0]] * units, [[0]]]):
        with pytest.raises(ValueError, match="label sets"):
            tag(case, layout, weights, KEEP_ALL, decoding, candidates=bad)
        with pytest.raises(ValueError, match="label sets"):
            tag(case, layout, weights, KEEP_ALL, decoding, allowed=bad)
    with pytest.raises(ValueError, match="threads"):
        tag(case, layout, weights, KEEP_ALL, decoding, threads=0)
    for margin in (-1.0, np.nan):
        with pytest.raises(ValueError, match="bundle gap must be"):
            tag(case, layout, weights, KEEP_ALL, decoding, margin=margin)
