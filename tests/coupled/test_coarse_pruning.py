"""Coarse pruning: if nothing is pruned, the answers equal those of the exact search; constraints hold."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from coupled_cases import KEEP_ALL, Pruning, sets_of
from trained_cases import constraints, on_side, random_trained

from duilian import _native

SHAPES = [(2, "free"), (2, "mixed"), (3, "free")]
WIDE = Pruning(1000, 1.0, window=1000.0)
NARROW = Pruning(3, 0.99, window=1.0)
MARGINALS = _native.Decoding.marginals


@pytest.mark.parametrize("margin", [1e6, np.inf])
@pytest.mark.parametrize("pruned", [(), (0, 1), (1,)], ids=["online", "offline", "mixed"])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_with_nothing_pruned_it_is_exact(
    sides: int, rules: str, pruned: tuple[int, ...], margin: float
) -> None:
    """Equal except for rounding: a weight is a multiple of 1 / 256."""
    for seed in range(4):
        trained = random_trained(seed, sides, rules, pruned=pruned)
        exact = trained.predictor(KEEP_ALL, MARGINALS, margin=margin)
        rough = trained.predictor(WIDE, MARGINALS, margin=margin)
        for threads in (1, 2):
            wanted = exact.predict(trained.sentences, [], True, threads)
            found = rough.predict(trained.sentences, [], True, threads)
            for side in range(sides):
                listed = _by_label(wanted, side)
                assert listed.keys() >= _by_label(found, side).keys()
                for place, p in listed.items():
                    assert _by_label(found, side).get(place, 0.0) == pytest.approx(p, abs=0.02)


def _by_label(answers: _native.CoupledAnswers, side: int) -> dict[tuple[int, int], float]:
    p = iter(answers.candidate_p(side).tolist())
    sets = sets_of(answers.candidates(side))
    return {(unit, label): next(p) for unit, labels in enumerate(sets) for label in labels}


@pytest.mark.parametrize("pruned", [(), (1,)], ids=["online", "mixed"])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_fewer_candidates_are_left_and_answers_are_among_them(
    sides: int, rules: str, pruned: tuple[int, ...]
) -> None:
    fewer = 0
    for seed in range(6):
        trained = random_trained(seed, sides, rules, pruned=pruned)
        found = trained.predictor(NARROW, MARGINALS, margin=4.0).predict(trained.sentences, [], True, 1)
        for side in range(sides):
            sets = sets_of(found.candidates(side))
            assert all(
                label in labels for label, labels in zip(found.label(side).tolist(), sets, strict=True)
            )
            assert all(len(labels) <= NARROW.most + 1 for labels in sets)
            fewer += sum(len(left) < trained.case.labels[side] for left in sets)
    assert fewer > 20


@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_flags_of_labels_are_those_of_the_answers(sides: int, rules: str) -> None:
    """Stretches without a choice between flags are not searched, and labels may be others there."""
    others = 0
    for seed, pruned in itertools.product(range(4), [(), (0, 1), (1,)]):
        trained = random_trained(seed, sides, rules, pruned=pruned)
        for pruning, margin in ((WIDE, np.inf), (NARROW, 4.0), (Pruning(2, 0.8, window=1.0), 1.0)):
            predictor = trained.predictor(pruning, MARGINALS, margin=margin)
            wanted, _ = predictor.predict_constrained(trained.sentences, [], False, 1)
            for side, divisor in itertools.product(range(sides), (1, 2, 100)):
                flags = (np.arange(trained.case.labels[side]) % divisor == 0).astype(np.uint8)
                found, impossible = predictor.predict_flags(trained.sentences, [], side, flags, 1)
                assert impossible == 0
                assert flags[found].tolist() == flags[wanted.label(side)].tolist()
                others += int(np.count_nonzero(found != wanted.label(side)))
    assert others > 0


def test_weights_that_leave_no_room_are_tagged_exactly() -> None:
    """Where 16 bits are too few for sums, coarse scores are not used."""
    trained = random_trained(3)
    large = dataclasses.replace(trained, weights=np.float32(1e4) * trained.weights)
    wanted = large.predictor(WIDE, MARGINALS).predict(large.sentences, [], True, 1)
    exact = large.predictor(KEEP_ALL, MARGINALS).predict(large.sentences, [], True, 1)
    for side in range(2):
        assert wanted.label(side).tolist() == exact.label(side).tolist()
        assert wanted.candidate_p(side).tolist() == exact.candidate_p(side).tolist()


@pytest.mark.parametrize("pruned", [(), (0, 1), (1,)], ids=["online", "offline", "mixed"])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_given_labels_are_obeyed_and_bonuses_count(sides: int, rules: str, pruned: tuple[int, ...]) -> None:
    for seed in range(4):
        trained = random_trained(seed, sides, rules, pruned=pruned)
        side = seed % sides
        free = trained.predictor(KEEP_ALL, MARGINALS).predict(trained.sentences, [], False, 1)
        given = free.label(side).tolist()
        allowed = [[label] if unit % 3 else [] for unit, label in enumerate(given)]
        constrained = on_side(sides, side, constraints(allowed, {(0, 0): 2.0, (3, 1): -1.0}))
        rough, impossible = trained.predictor(WIDE, MARGINALS).predict_constrained(
            trained.sentences, constrained, True, 1
        )
        exact, _ = trained.predictor(KEEP_ALL, MARGINALS).predict_constrained(
            trained.sentences, constrained, True, 1
        )
        assert impossible == 0
        found = rough.label(side).tolist()
        assert [a for unit, a in enumerate(found) if unit % 3] == [
            b for unit, b in enumerate(given) if unit % 3
        ]
        for k in range(sides):
            for place, p in _by_label(exact, k).items():
                assert _by_label(rough, k).get(place, 0.0) == pytest.approx(p, abs=0.02)
