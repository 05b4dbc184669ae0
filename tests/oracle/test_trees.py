"""The tree oracle against counts that are known and cases worked out on paper."""

from __future__ import annotations

import math

import pytest

from oracle.trees import (
    Analysis,
    BruteForceTrees,
    Heads,
    Part,
    is_projective,
    is_tree,
    joint_parts,
    parts,
    projective_trees,
)

LOG2, LOG3 = math.log(2), math.log(3)

# 他 把 书 还 了: 还 is the root, with 他, 把 and 了 below it, and 书 below 把.
SENTENCE: Heads = (4, 4, 2, 0, 4)


def shown(found: list[Part]) -> set[tuple[object, ...]]:
    return {(part.kind, *part.words) for part in found}


@pytest.mark.parametrize("length", range(1, 6))
def test_there_are_as_many_trees_as_there_must_be(length: int) -> None:
    """C(3n, n) / (2n + 1) below a root on the left; C(3n - 2, n - 1) / n if it has one child only."""
    assert len(projective_trees(length)) == math.comb(3 * length, length) // (2 * length + 1)
    single = math.comb(3 * length - 2, length - 1) // length
    assert len(projective_trees(length, single_root=True)) == single


def test_two_words_by_hand() -> None:
    assert projective_trees(2) == ((0, 0), (0, 1), (2, 0))
    assert projective_trees(2, single_root=True) == ((0, 1), (2, 0))


def test_what_is_a_tree_and_what_is_projective() -> None:
    assert is_tree(SENTENCE)
    assert is_projective(SENTENCE)
    assert not is_tree((2, 1, 0))
    assert not is_tree((1,))
    # 2 hangs on 4 across the arc from 3 to 1, and 3 is the root: the arc 4 → 2 covers 3, which is above it.
    crossing = (3, 4, 0, 3)
    assert is_tree(crossing)
    assert not is_projective(crossing)
    # An arc below the root covers the root: the arcs 0 → 2 and 3 → 1 cross.
    assert not is_projective((3, 0, 2))


def test_parts_of_order_1() -> None:
    assert shown(parts(SENTENCE, 1)) == {
        ("arc", 4, 1),
        ("arc", 4, 2),
        ("arc", 2, 3),
        ("arc", 0, 4),
        ("arc", 4, 5),
    }


def test_parts_of_order_2() -> None:
    added = shown(parts(SENTENCE, 2)) - shown(parts(SENTENCE, 1))
    assert added == {
        ("sibling", 0, None, 4),
        ("sibling", 0, 4, None),
        ("sibling", 4, None, 2),
        ("sibling", 4, 2, 1),
        ("sibling", 4, 1, None),
        ("sibling", 4, None, 5),
        ("sibling", 4, 5, None),
        ("sibling", 2, None, 3),
        ("sibling", 2, 3, None),
        ("grandparent", -1, 0, 4),
        ("grandparent", 0, 4, 1),
        ("grandparent", 0, 4, 2),
        ("grandparent", 0, 4, 5),
        ("grandparent", 4, 2, 3),
    }


def test_parts_of_order_3() -> None:
    added = shown(parts(SENTENCE, 3)) - shown(parts(SENTENCE, 2))
    assert added == {
        ("grandsibling", -1, 0, None, 4),
        ("grandsibling", -1, 0, 4, None),
        ("grandsibling", 0, 4, None, 2),
        ("grandsibling", 0, 4, 2, 1),
        ("grandsibling", 0, 4, 1, None),
        ("grandsibling", 0, 4, None, 5),
        ("grandsibling", 0, 4, 5, None),
        ("grandsibling", 4, 2, None, 3),
        ("grandsibling", 4, 2, 3, None),
    }


@pytest.mark.parametrize("order", [1, 2, 3])
def test_no_part_is_listed_twice(order: int) -> None:
    for heads in projective_trees(4):
        found = parts(heads, order)
        assert len(found) == len(set(found))


def test_joint_parts_carry_the_tags_of_their_words() -> None:
    found = joint_parts((2, 0), (7, 8), 3)
    assert set(found) == {
        Part("tag", (1,), (7,)),
        Part("tag", (2,), (8,)),
        Part("tag-pair", (0, 1), (-1, 7)),
        Part("tag-pair", (1, 2), (7, 8)),
        Part("arc", (2, 1), (8, 7)),
        Part("arc", (0, 2), (-1, 8)),
        Part("sibling", (0, None, 2), (-1, None, 8)),
        Part("sibling", (0, 2, None), (-1, 8, None)),
        Part("sibling", (2, None, 1), (8, None, 7)),
        Part("sibling", (2, 1, None), (8, 7, None)),
        Part("grandparent", (-1, 0, 2), (-1, -1, 8)),
        Part("grandparent", (0, 2, 1), (-1, 8, 7)),
        Part("grandsibling", (-1, 0, None, 2), (-1, -1, None, 8)),
        Part("grandsibling", (-1, 0, 2, None), (-1, -1, 8, None)),
        Part("grandsibling", (0, 2, None, 1), (-1, 8, None, 7)),
        Part("grandsibling", (0, 2, 1, None), (-1, 8, 7, None)),
    }


def two_words(part: Part) -> float:
    """Weights exp(score): the arc 0 → 1 counts 2 and 2 → 1 counts 3, so (0, 0) 2, (0, 1) 2, (2, 0) 3."""
    weights: dict[tuple[int | None, ...], float] = {(0, 1): LOG2, (2, 1): LOG3}
    return weights.get(part.words, 0.0)


def test_best_k_best_sum_and_marginals() -> None:
    trees = BruteForceTrees(2, 1, two_words)
    assert trees.best() == [Analysis(LOG3, (2, 0))]
    assert [each.heads for each in trees.k_best(2)] == [(2, 0), (0, 0)]
    assert trees.log_partition() == pytest.approx(math.log(7))
    marginals = trees.arc_marginals()
    assert marginals[0] == pytest.approx([0, 4 / 7, 5 / 7])
    assert marginals[1] == pytest.approx([0, 0, 2 / 7])
    assert marginals[2] == pytest.approx([0, 3 / 7, 0])


def test_ties_are_all_best() -> None:
    assert len(BruteForceTrees(3, 2, lambda part: 0.0).best()) == 12


def test_a_single_root_given_heads_and_allowed_arcs() -> None:
    assert [each.heads for each in BruteForceTrees(2, 1, two_words, single_root=True).k_best(9)] == [
        (2, 0),
        (0, 1),
    ]
    assert BruteForceTrees(2, 1, two_words, given=[0, None]).trees() == [(0, 0), (0, 1)]
    assert BruteForceTrees(2, 1, two_words, arcs={(0, 1), (2, 1), (0, 2)}).trees() == [(0, 0), (2, 0)]
    assert BruteForceTrees(2, 1, two_words, given=[2, 1]).best() == []


def test_a_joint_search_weighs_tags_against_arcs() -> None:
    """Word 2 is 5 or 6; the tag 6 costs 1, but gives 3 to an arc from it."""

    def score(part: Part) -> float:
        if part.kind == "tag":
            return -1.0 if part.tags == (6,) else 0.0
        return 3.0 if part.kind == "arc" and part.tags[0] == 6 else 0.0

    trees = BruteForceTrees(2, 1, score, candidates=[[5], [5, 6]])
    assert trees.best() == [Analysis(2.0, (2, 0), (5, 6))]
    assert len(trees.analyses) == 6
