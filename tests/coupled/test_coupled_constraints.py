"""Constraints on one standard of a coupled tagger, and the list of its best analyses, by listing."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import numpy as np
import pytest
from coupled_cases import KEEP_ALL, Pruning, Sets, Twin, legal_paths, side_probabilities
from trained_cases import FOLDING, Bonus, Trained, constraints, on_side, random_trained

from duilian import _native
from duilian.features import pack
from oracle.scorer import WeightName

SHAPES = [(2, "free"), (2, "mixed"), (3, "free")]


def constrained_twin(trained: Trained, side: int, bonus: Bonus) -> Twin:
    """The twin with a feature of its own for every bonus."""
    twin = Twin.of(trained.case, trained.layout, trained.weights)
    add_bonuses(twin, side, bonus)
    return twin


def add_bonuses(twin: Twin, side: int, bonus: Bonus) -> None:
    """A feature of its own for every bonus."""
    for (unit, label), score in bonus.items():
        name = 1000 + unit
        if name not in twin.case.features[unit]:
            twin.case.features[unit].append(name)
        twin.theta[WeightName("state", side, str(name), label)] = score


def random_constraints(trained: Trained, side: int, seed: int) -> tuple[Sets, Bonus]:
    """Labels of legal paths at some units, bonuses at others."""
    rng, case = random.Random(seed), trained.case
    labels = case.labels[side]
    allowed: Sets = []
    bonus: Bonus = {}
    for sentence in range(case.sentences):
        units = case.span(sentence)
        path = rng.choice(legal_paths(case.rules[side], [range(labels)] * len(units)))
        for unit, label in zip(units, path, strict=True):
            allowed.append([label] if rng.random() < 0.3 else [])
            if rng.random() < 0.3:
                bonus[unit, rng.randrange(labels)] = rng.uniform(-2.0, 3.0)
    return allowed, bonus


@pytest.mark.parametrize("pruning", [KEEP_ALL, Pruning(2, 0.9)], ids=str)
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_constraints_change_one_side_s_scores(sides: int, rules: str, pruning: Pruning) -> None:
    for seed in range(4):
        trained = random_trained(seed, sides, rules)
        side = seed % sides
        allowed, bonus = random_constraints(trained, side, seed)
        predictor = trained.predictor(pruning, _native.Decoding.marginals)
        found, impossible = predictor.predict_constrained(
            trained.sentences, on_side(sides, side, constraints(allowed, bonus)), True, 1 + seed % 2
        )
        assert impossible == 0
        twin = constrained_twin(trained, side, bonus)
        for sentence in range(trained.case.sentences):
            units = trained.case.span(sentence)
            given = [allowed[units.start : units.stop] if k == side else None for k in range(sides)]
            left = [twin.candidates(k, sentence, pruning, given[k]) for k in range(sides)]
            distribution = twin.distribution(sentence, left)
            for k in range(sides):
                p = side_probabilities(distribution, k, trained.case.labels[k])
                flat = [row[label] for row, labels in zip(p, left[k], strict=True) for label in labels]
                first = found.candidates(k).first
                part = found.candidate_p(k)[first[units.start] : first[units.stop]]
                np.testing.assert_allclose(part, flat, atol=1e-5)


@pytest.mark.parametrize("pruning", [KEEP_ALL, Pruning(2, 0.9)], ids=str)
def test_constraints_of_several_sides_hold_together(pruning: Pruning) -> None:
    for seed in range(4):
        trained = random_trained(seed, 3, "free")
        several = [random_constraints(trained, side, 10 * seed + side) for side in range(3)]
        predictor = trained.predictor(pruning, _native.Decoding.marginals)
        found, impossible = predictor.predict_constrained(
            trained.sentences, [constraints(*each) for each in several], True, 2
        )
        assert impossible == 0
        twin = Twin.of(trained.case, trained.layout, trained.weights)
        for side, (_, bonus) in enumerate(several):
            add_bonuses(twin, side, bonus)
        for sentence in range(trained.case.sentences):
            units = trained.case.span(sentence)
            left = [
                twin.candidates(k, sentence, pruning, allowed[units.start : units.stop])
                for k, (allowed, _) in enumerate(several)
            ]
            distribution = twin.distribution(sentence, left)
            for k in range(3):
                p = side_probabilities(distribution, k, trained.case.labels[k])
                flat = [row[label] for row, labels in zip(p, left[k], strict=True) for label in labels]
                first = found.candidates(k).first
                part = found.candidate_p(k)[first[units.start] : first[units.stop]]
                np.testing.assert_allclose(part, flat, atol=1e-5)


def test_constraints_that_cannot_be_are_dropped_for_their_sentence() -> None:
    trained = random_trained(2, rules="mixed")
    case = trained.case
    side = next(k for k, rules in enumerate(case.rules) if not rules.allows.all())
    predictor = trained.predictor(Pruning(3, 0.95), _native.Decoding.marginals)
    plain = predictor.predict(trained.sentences, [], False, 1)
    long = next(s for s in range(case.sentences) if len(case.span(s)) > 1)
    a, b = np.argwhere(~case.rules[side].allows)[0].tolist()
    allowed: Sets = [[] for _ in case.features]
    allowed[case.first[long]], allowed[case.first[long] + 1] = [a], [b]
    found, impossible = predictor.predict_constrained(
        trained.sentences, on_side(2, side, constraints(allowed, {})), False, 2
    )
    assert impossible == 1
    assert found.label(side).tolist() == plain.label(side).tolist()


def one_sentence(trained: Trained, sentence: int) -> _native.Sentences:
    words = trained.words[sentence]
    return pack([words], FOLDING)


@pytest.mark.parametrize("pruning", [KEEP_ALL, Pruning(2, 0.9)], ids=str)
@pytest.mark.parametrize(("sides", "rules"), SHAPES)
def test_the_best_analyses_are_those_of_the_listing(sides: int, rules: str, pruning: Pruning) -> None:
    for seed in range(4):
        trained = random_trained(seed, sides, rules)
        twin = Twin.of(trained.case, trained.layout, trained.weights)
        predictor = trained.predictor(pruning, _native.Decoding.marginals)
        for sentence, side in itertools.product(range(trained.case.sentences), range(sides)):
            left = [twin.candidates(k, sentence, pruning) for k in range(sides)]
            best: dict[tuple[int, ...], float] = defaultdict(float)  # of one path of bundles
            total: dict[tuple[int, ...], float] = defaultdict(float)  # of all
            for path, p in twin.distribution(sentence, left).items():
                labels = tuple(bundle[side] for bundle in path)
                best[labels] = max(best[labels], p)
                total[labels] += p
            for k in (1, 3, 10_000):
                log_z, found = predictor.k_best(one_sentence(trained, sentence), side, [], k)
                sequences = [tuple(labels.tolist()) for _, labels in found]
                assert len(set(sequences)) == len(sequences) == min(k, len(best))
                worst = min(best[labels] for labels in sequences)
                assert all(p <= worst * (1 + 1e-5) for labels, p in best.items() if labels not in sequences)
                p = [float(np.exp(score - log_z)) for score, _ in found]
                np.testing.assert_allclose(p, [total[labels] for labels in sequences], atol=1e-5)
                assert all(a >= b for a, b in itertools.pairwise(p))


def test_the_best_analyses_obey_constraints() -> None:
    trained = random_trained(3, rules="mixed")
    predictor = trained.predictor(KEEP_ALL, _native.Decoding.marginals)
    sentence = next(s for s in range(trained.case.sentences) if len(trained.words[s]) > 1)
    text = one_sentence(trained, sentence)
    first = {tuple(labels.tolist()) for _, labels in predictor.k_best(text, 0, [], 1000)[1]}
    label = sorted(first)[0][0]
    allowed = [[label], *([[]] * (text.units - 1))]
    _, found = predictor.k_best(text, 0, on_side(2, 0, constraints(allowed, {})), 1000)
    assert {tuple(labels.tolist()) for _, labels in found} == {each for each in first if each[0] == label}


def test_constraints_and_sentences_that_do_not_fit_are_refused() -> None:
    trained = random_trained(5)
    predictor = trained.predictor(Pruning(2, 0.9), _native.Decoding.marginals)
    units = trained.sentences.units
    for bad in [
        constraints([[0]] * (units - 1), {}),
        constraints([[99]] * units, {}),
        constraints([], {(units, 0): 1.0}),
        constraints([], {(0, 99): 1.0}),
        constraints([], {(0, 0): np.nan}),
    ]:
        for side in range(2):
            with pytest.raises(ValueError, match=r"match|range"):
                predictor.predict_constrained(trained.sentences, on_side(2, side, bad), False, 1)
    with pytest.raises(ValueError, match="different number of sides"):
        predictor.predict_constrained(trained.sentences, [constraints([], {})], False, 1)
    with pytest.raises(ValueError, match="there is no side 2"):
        predictor.k_best(one_sentence(trained, 0), 2, [], 1)
    for sentences in ([], [[]], [["天"], ["地"]]):
        with pytest.raises(ValueError, match="one sentence"):
            predictor.k_best(pack(sentences, FOLDING), 0, [], 1)
