"""The maker of mutants makes mistakes, one at a time (fuzz/mutants.py)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from duilian.evaluation import attachment, score
from mutants import Target, in_child, lives, mutant, places

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

SOURCE = '''
def clip(x: int, least: int = 3) -> int:
    """Not below."""
    if x < least and not x:
        raise ValueError(f"{x}" + "!")
    x += 1
    return x - 1 if True else least
'''


def test_each_mutant_has_one_mistake() -> None:
    tree = ast.parse(SOURCE)
    said = [mutant(tree, number)[1].partition(": ")[2] for number in places(tree)]
    assert sorted(said) == sorted(
        [
            "if x < least and (not x):  ->  if not (x < least and (not x)):",
            "x < least and (not x)  ->  x < least or not x",
            "x < least  ->  x <= least",
            "raise ValueError(f'{x}' + '!')  ->  pass",
            "x += 1  ->  pass",
            "1  ->  2",
            "1  ->  2",
            "3  ->  4",
            "return x - 1 if True else least  ->  return None",
            "x - 1 if True else least  ->  least if True else x - 1",
            "True  ->  False",
            "x - 1  ->  x + 1",
        ]
    )


def test_a_mutant_is_a_module_that_differs() -> None:
    tree = ast.parse(SOURCE)
    texts = {ast.unparse(mutant(tree, number)[0]) for number in places(tree)}
    assert len(texts) == len(places(tree))
    assert ast.unparse(tree) not in texts
    for text in texts:
        compile(text, "mutant", "exec")


def test_a_mutant_takes_effect_wherever_its_code_is_used() -> None:
    target = Target.load(Path(str(score.__file__)))
    found = {}
    for number in places(target.tree):
        tree, what = mutant(target.tree, number)

        def answers(tree: ast.Module = tree) -> list[float]:
            made = score.Score(4, 5, 2)  # before the change, as a test might have it in a table
            target.change(tree)
            return [made.f1, attachment.GOLD]

        found.setdefault(what.partition(": ")[2], in_child(answers))
    wanted = [pytest.approx(400 / 9), 0]
    assert found["2 * self.correct  ->  2 // self.correct"] == [pytest.approx(100 / 9), 0]
    assert found["0  ->  1"] == [wanted[0], 1]
    assert list(found.values()).count(wanted) > len(found) / 2


def test_a_mutant_lives_if_no_test_fails() -> None:
    target = Target.load(Path(str(score.__file__)))
    made = score.Score(4, 5, 2)
    tests = [lambda: made.recall == 50.0, lambda: made.precision == 40.0]
    assert lives(target, target.tree, tests)
    dead = [lives(target, mutant(target.tree, number)[0], tests) for number in places(target.tree)].count(
        False
    )
    assert 1 < dead < len(places(target.tree)) / 2
