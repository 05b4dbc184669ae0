"""The compiled coupled tagger answers as the weights it was made from; hostile arrays are refused."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from coupled_cases import (
    Pruning,
    Twin,
    no_sets,
    random_weights,
    sets_of,
    tag_sets,
)
from trained_cases import ALL, FOLDING, TEMPLATES, Trained, random_trained

from duilian import _native
from duilian.features import pack

SHAPES = [(2, "free"), (2, "mixed"), (3, "free")]


@pytest.mark.parametrize("decoding", ["marginals", "path"])
@pytest.mark.parametrize("pruning", [Pruning(100, 1.0), Pruning(2, 0.9)], ids=str)
@pytest.mark.parametrize("pruned", [(), (0, 1), (1,)], ids=["online", "offline", "mixed"])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_it_answers_as_the_weights_in_training(
    sides: int, rules: str, pruned: tuple[int, ...], pruning: Pruning, decoding: str
) -> None:
    for seed in range(6):
        trained = random_trained(seed, sides, rules, pruned=pruned)
        how = _native.Decoding[decoding]
        wanted = trained.tagged(pruning, how)
        for threads in (1, 2):
            found = trained.predictor(pruning, how).predict(trained.sentences, [], True, threads)
            for side in range(sides):
                assert found.label(side).tolist() == wanted.label(side).tolist()
                assert sets_of(found.candidates(side)) == sets_of(wanted.candidates(side))
                np.testing.assert_allclose(found.p(side), wanted.p(side), atol=1e-5)
                np.testing.assert_allclose(found.candidate_p(side), wanted.candidate_p(side), atol=1e-5)


@pytest.mark.parametrize("pruned", [(), (0, 1), (1,)], ids=["online", "offline", "mixed"])
def test_probabilities_of_one_side_are_those_that_prune(pruned: tuple[int, ...]) -> None:
    """With r candidates and free rules, each unit keeps the r most probable labels of a side."""
    how = _native.Decoding.marginals
    for seed in range(6):
        trained = random_trained(seed, 2, "free", pruned=pruned)
        for side in range(2):
            p = np.asarray(
                trained.predictor(Pruning(2, 1.0), how).side_probabilities(trained.sentences, side, 1)
            )
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-9)
            kept = trained.predictor(Pruning(2, 1.0), how).predict(trained.sentences, [], True, 1)
            wanted = [sorted(np.argsort(-row, kind="stable")[:2].tolist()) for row in p]
            assert [list(each) for each in sets_of(kept.candidates(side))] == wanted
    with pytest.raises(ValueError, match="there is no side 2"):
        trained.predictor(Pruning(2, 1.0), how).side_probabilities(trained.sentences, 2, 1)


@pytest.mark.parametrize("margin", [0.0, 2.0])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_hopeless_bundles_are_left_out_alike(sides: int, rules: str, margin: float) -> None:
    for seed in range(4):
        trained = random_trained(seed, sides, rules)
        pruning, how = Pruning(3, 0.95), _native.Decoding.marginals
        wanted = trained.tagged(pruning, how, margin=margin)
        found = trained.predictor(pruning, how, margin=margin).predict(trained.sentences, [], True, 1)
        for side in range(sides):
            assert found.label(side).tolist() == wanted.label(side).tolist()
            np.testing.assert_allclose(found.candidate_p(side), wanted.candidate_p(side), atol=1e-5)


@pytest.mark.parametrize("pruned", [(), (0, 1), (1,)], ids=["online", "offline", "mixed"])
def test_features_with_many_bundles_answer_as_in_training(pruned: tuple[int, ...]) -> None:
    """With this many joint weights, they are stored and looked up differently; the arrays stay the same."""
    for seed in range(3):
        trained = random_trained(seed, rules="many", pruned=pruned)
        assert np.diff(trained.layout.joint_first).max() >= 100
        for pruning in (Pruning(1, 0.9), Pruning(3, 0.9)):
            wanted = trained.tagged(pruning, _native.Decoding.marginals)
            predictor = trained.predictor(pruning, _native.Decoding.marginals)
            found = predictor.predict(trained.sentences, [], True, 1)
            for side in range(2):
                assert found.label(side).tolist() == wanted.label(side).tolist()
                np.testing.assert_allclose(found.candidate_p(side), wanted.candidate_p(side), atol=1e-5)
            before, after = trained.compiled(), predictor.weights
            assert before.label.tobytes() == after.label.tobytes()
            assert before.weight.tobytes() == after.weight.tobytes()


@pytest.mark.parametrize("pruned", [(), (0, 1), (1,)], ids=["online", "offline", "mixed"])
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_given_labels_are_obeyed(sides: int, rules: str, pruned: tuple[int, ...]) -> None:
    for seed in range(4):
        trained = random_trained(seed, sides, rules, pruned=pruned)
        case = trained.case
        side = seed % sides
        wanted = _native.tag_units(  # any legal labels
            trained.layout.side(side),
            random_weights(seed, trained.layout.side(side).weights),
            trained.rows,
            trained.first,
            1,
        ).tolist()
        allowed = [no_sets()] * sides
        allowed[side] = tag_sets([[label] if unit % 3 else [] for unit, label in enumerate(wanted)])
        for decoding in (_native.Decoding.marginals, _native.Decoding.path):
            predictor = trained.predictor(Pruning(1, 0.9), decoding)
            found = predictor.predict(trained.sentences, allowed, False, 1).label(side).tolist()
            assert [a for k, a in enumerate(found) if k % 3] == [b for k, b in enumerate(wanted) if k % 3]
        assert len(case.features) == len(wanted)


@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_pair_counts_are_sums_of_listed_marginals(sides: int, rules: str) -> None:
    pruning = Pruning(2, 0.9)
    for seed in range(3):
        trained = random_trained(seed, sides, rules)
        twin = Twin.of(trained.case, trained.layout, trained.weights)
        predictor = trained.predictor(pruning, _native.Decoding.marginals)
        for a, b in itertools.permutations(range(sides), 2):
            expected = np.zeros((trained.case.labels[a], trained.case.labels[b]))
            for sentence in range(trained.case.sentences):
                left = [twin.candidates(k, sentence, pruning) for k in range(sides)]
                for path, p in twin.distribution(sentence, left).items():
                    for bundle in path:
                        expected[bundle[a], bundle[b]] += p
            for threads in (1, 3):
                found = predictor.count_pairs(trained.sentences, [], a, b, threads)
                np.testing.assert_allclose(found, expected, atol=1e-5)
        with pytest.raises((ValueError, IndexError)):
            predictor.count_pairs(trained.sentences, [], 0, sides, 1)


def test_small_weights_can_be_dropped() -> None:
    """As if they were 0; transitions stay."""
    trained = random_trained(5)
    layout, small = trained.layout, np.abs(trained.weights) < 0.7
    for side in range(2):
        at = layout.side_at[side]
        small[at : at + layout.side(side).transitions] = False
    small[layout.joint_transition_at[0] : layout.joint_state_at] = False
    dropped = dataclasses.replace(trained, weights=np.where(small, np.float32(0), trained.weights))
    pruning = Pruning(3, 0.9)
    found = trained.predictor(pruning, _native.Decoding.marginals, 0.7).predict(
        trained.sentences, [], False, 1
    )
    wanted = dropped.tagged(pruning, _native.Decoding.marginals)
    for side in range(2):
        assert found.label(side).tolist() == wanted.label(side).tolist()
        np.testing.assert_allclose(found.p(side), wanted.p(side), atol=1e-5)
    assert len(trained.compiled(0.7).weight) < len(trained.compiled().weight)
    assert len(trained.compiled(1e9).weight) == 0


def test_no_sentences_and_empty_sentences() -> None:
    trained = random_trained(5)
    predictor = trained.predictor(Pruning(3, 0.9), _native.Decoding.marginals)
    for sentences in ([], [[]], [[], []]):
        found = predictor.predict(pack(sentences, FOLDING), [], True, 2)
        for side in range(2):
            assert found.label(side).size == found.p(side).size == found.candidate_p(side).size == 0
            assert sets_of(found.candidates(side)) == []
        assert not predictor.count_pairs(pack(sentences, FOLDING), [], 0, 1, 1).any()
    found = predictor.predict(pack([[], ["天"], []], FOLDING), [], True, 1)
    assert found.label(0).size == len(sets_of(found.candidates(0))) == 1


def test_words_never_seen_are_tagged_by_transitions_alone() -> None:
    trained = random_trained(5)
    predictor = trained.predictor(Pruning(3, 0.9), _native.Decoding.marginals)
    found = predictor.predict(pack([["never"], ["seen"]], FOLDING), [], False, 1)
    assert found.label(0)[0] == found.label(0)[1]
    assert found.p(0)[0] == pytest.approx(found.p(0)[1])


@dataclasses.dataclass
class Arrays:
    """What a model file has."""

    slot: np.ndarray
    label: np.ndarray
    weight: np.ndarray
    transition: np.ndarray
    pruned_sides: list[int]


@pytest.fixture
def trained() -> Trained:
    return random_trained(5)


def arrays_of(trained: Trained) -> Arrays:
    made = trained.compiled()
    return Arrays(made.slot, made.label, made.weight, made.transition, made.pruned_sides)


LAST = 0x8000
HOSTILE: dict[str, Any] = {
    "labels out of range": lambda a: {"label": (a.label & LAST) | 0x7FFF},
    "labels without an end": lambda a: {"label": a.label & 0x7FFF},
    "fewer labels than weights": lambda a: {"label": a.label[:-1]},
    "more labels than weights": lambda a: {"weight": a.weight[:-1]},
    "no slots": lambda a: {"slot": a.slot[:0]},
    "no free slot": lambda a: {"slot": np.zeros_like(a.slot)},
    "slots that lead outside": lambda a: {"slot": np.where(a.slot == a.slot.max(), a.slot, 2**40 - 1)},
    "weights that are not numbers": lambda a: {"weight": np.full_like(a.weight, np.nan)},
    "infinite weights": lambda a: {"weight": np.full_like(a.weight, np.inf)},
    "too few transitions": lambda a: {"transition": a.transition[:-1]},
    "too many transitions": lambda a: {"transition": np.append(a.transition, np.float32(0))},
    "no transitions": lambda a: {"transition": a.transition[:0]},
    "transitions that are not numbers": lambda a: {"transition": np.full_like(a.transition, np.nan)},
    "a pruner that is not there": lambda a: {"pruned_sides": [0]},
    "a pruner of no side": lambda a: {"pruned_sides": [-1]},
    "a pruner of a side too many": lambda a: {"pruned_sides": [2]},
    "pruners in the wrong order": lambda a: {"pruned_sides": [1, 0]},
    # A joint label before a side's label would be taken for one before the first.
    "labels in the wrong order": lambda a: {
        "label": np.array([*[a.label.max() & 0x7FFF] * (len(a.label) - 1), LAST], np.uint16)
    },
}


@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_hostile_arrays_are_refused(trained: Trained, what: str) -> None:
    arrays = arrays_of(trained)
    hostile = dataclasses.replace(arrays, **HOSTILE[what](arrays))
    compiled = _native.CoupledWeights(
        np.ascontiguousarray(hostile.slot),
        np.ascontiguousarray(hostile.label),
        np.ascontiguousarray(hostile.weight),
        np.ascontiguousarray(hostile.transition),
        hostile.pruned_sides,
    )
    with pytest.raises(ValueError, match=r"^[a-z]"):
        _native.CoupledPredictor(
            trained.layout.shape,
            compiled,
            TEMPLATES.native,
            FOLDING.native,
            Pruning(2, 0.9).native,
            _native.Decoding.path,
            np.inf,
        )


def test_several_sets_of_weights_share_one_table(trained: Trained) -> None:
    """A state weight is kept in all sets if it is large enough in one."""
    sets = [trained.weights, random_weights(9, trained.layout.weights), np.zeros_like(trained.weights)]
    least = 0.5
    together = _native.compile_coupled(trained.layout, sets, trained.pruner, trained.keys, least, ALL)
    alone = [
        _native.compile_coupled(trained.layout, [each], trained.pruner, trained.keys, least, ALL)[0]
        for each in sets
    ]
    assert len(together) == 3
    for found, weights in zip(together, alone, strict=True):
        assert np.array_equal(found.slot, together[0].slot)
        assert np.array_equal(found.label, together[0].label)
        assert np.array_equal(found.transition, weights.transition)
    values = np.stack([found.weight for found in together])
    assert (np.abs(values) >= least).any(axis=0).all()
    for found, weights in zip(values, alone, strict=True):
        large = found[np.abs(found) >= least]
        assert np.array_equal(large, weights.weight)  # in the same order


def test_features_that_a_text_lacks_may_be_left_out() -> None:
    """Answers, and so coarse scores, are those of the whole model."""
    for seed in range(8):
        trained = random_trained(seed, 2, "free", pruned=(0,) if seed % 2 else ())
        trained.weights *= 5
        some = pack(trained.words[:1], FOLDING)
        rows = _native.extract_rows(TEMPLATES.native, some, _native.FeatureIndex(trained.keys), 1).rows
        is_wanted = np.zeros(len(trained.keys), np.uint8)
        is_wanted[rows] = 1
        weights = [trained.weights], trained.pruner, trained.keys, 0.0
        small, whole = (_native.compile_coupled(trained.layout, *weights, x)[0] for x in (is_wanted, ALL))
        assert len(small.weight) < len(whole.weight)
        answers = []
        for compiled in (small, whole):
            for window in (0.0, 4.0):
                pruning = _native.Pruning(3, 0.9, 0.01, window)
                shape, path = trained.layout.shape, _native.Decoding.marginals
                predictor = _native.CoupledPredictor(
                    shape, compiled, TEMPLATES.native, FOLDING.native, pruning, path, np.inf
                )
                found = predictor.predict(some, [], True, 1)
                answers.append([(found.label(k).tolist(), found.p(k).tolist()) for k in range(2)])
        assert answers[:2] == answers[2:]


def test_arrays_of_another_model_are_refused(trained: Trained) -> None:
    layout, weights, keys = trained.layout, trained.weights, trained.keys
    plain = [random_weights(1, layout.side(k).weights) for k in range(2)]
    for bad in (
        ([weights[:-1].copy()], [], keys),
        ([weights, weights[:-1].copy()], [], keys),
        ([weights], [], keys[:-1].copy()),
        ([weights], plain[:1], keys),
        ([weights], [plain[0][:-1].copy(), plain[1]], keys),
    ):
        with pytest.raises(ValueError, match="do not match"):
            _native.compile_coupled(layout, *bad, 0.0, ALL)


def test_given_labels_that_do_not_fit_are_refused(trained: Trained) -> None:
    predictor = trained.predictor(Pruning(2, 0.9), _native.Decoding.path)
    units = trained.sentences.units
    for bad in (
        [no_sets()],
        [no_sets()] * 3,
        [tag_sets([[0]] * (units - 1)), no_sets()],
        [no_sets(), tag_sets([[9]] * units)],
    ):
        with pytest.raises(ValueError, match=r"constraints|allowed"):
            predictor.predict(trained.sentences, bad, False, 1)
        with pytest.raises(ValueError, match=r"constraints|allowed"):
            predictor.count_pairs(trained.sentences, bad, 0, 1, 1)
    with pytest.raises(ValueError, match="threads"):
        predictor.predict(trained.sentences, [], False, 0)
