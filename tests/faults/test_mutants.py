"""The maker of mutants makes mistakes, one at a time (fuzz/mutants.py)."""

from __future__ import annotations

import ast

from mutants import mutant, places

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
