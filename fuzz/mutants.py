"""Mutants of our own code: small mistakes that the tests should notice.

    python fuzz/mutants.py src/duilian/modelfile.py tests/modelfile --runs 200 --seed 1

Each mutant has one mistake: another comparison, operator, constant or condition, or a statement less. It is
tested in a process of its own, which stops at the first failure. Mutants that live are printed, to be looked
at: some are equal to the original, the others show what no test asks.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

TIME_LIMIT = 120  # seconds of a mutant's processor: a loop may never end
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.Pow: ast.Mult,
}  # fmt: skip


def mutate(node: ast.AST) -> str | None:
    """Make the mistake of a node; None if there is none to make."""
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in COMPARISONS:
            node.ops[0] = COMPARISONS[type(op)]()
        case ast.BinOp(op=op) if type(op) in OPERATORS and not _is_text(node):
            node.op = OPERATORS[type(op)]()
        case ast.BoolOp(op=ast.And()):
            node.op = ast.Or()
        case ast.BoolOp(op=ast.Or()):
            node.op = ast.And()
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() | float() as value):
            node.value = value + 1
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body
        case ast.If() | ast.While():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Return(value=ast.expr()):
            node.value = ast.Constant(None)
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.AugAssign():
            return "gone"
        case ast.Continue():
            return "gone"
        case _:
            return None
    return "another"


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(side, ast.JoinedStr) for side in (node.left, node.right))


def places(tree: ast.Module) -> list[int]:
    """The numbers of the nodes, as `ast.walk` counts them, that have a mistake; not types and docstrings."""
    skipped = set()
    for node in ast.walk(tree):
        for name in ("annotation", "returns", "decorator_list", "type_params"):
            parts = getattr(node, name, None) or []
            for part in parts if isinstance(parts, list) else [parts]:
                skipped.update(id(each) for each in ast.walk(part))
    return [
        number
        for number, node in enumerate(ast.walk(tree))
        if id(node) not in skipped and mutate(copy.deepcopy(node)) is not None
    ]


def mutant(tree: ast.Module, number: int) -> tuple[ast.Module, str]:
    """The module with one mistake, and what it is."""
    changed = copy.deepcopy(tree)
    node = list(ast.walk(changed))[number]
    before = ast.unparse(node).splitlines()[0]
    if mutate(node) == "gone":
        _replace(changed, node, ast.copy_location(ast.Pass(), node))
        after = "pass"
    else:
        after = ast.unparse(node).splitlines()[0]
    return ast.fix_missing_locations(changed), f"{node.lineno}: {before}  ->  {after}"  # type: ignore[attr-defined]


def _replace(tree: ast.Module, old: ast.AST, new: ast.stmt) -> None:
    for parent in ast.walk(tree):
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(each is old for each in value):
                value[:] = [new if each is old else each for each in value]


def module_name(path: Path) -> str:
    """As it is imported: `duilian.evaluation.score`."""
    parts = path.with_suffix("").parts
    return ".".join(parts[parts.index("duilian") :]).removesuffix(".__init__")


class Mutated:
    """Finds one module in its mutated form, and leaves all others to Python."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self._name, self._path, self._tree = name, path, tree

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        """The module in question, for `sys.meta_path`."""
        if name != self._name:
            return None
        places = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, self._path, loader=self, submodule_search_locations=places
        )

    def create_module(self, spec: object) -> None:
        """As usual."""

    def exec_module(self, module: object) -> None:
        """The mutant's code."""
        exec(compile(self._tree, str(self._path), "exec"), vars(module))


def lives(path: Path, tree: ast.Module, tests: Sequence[str]) -> bool:
    """Whether the tests pass on a mutant."""
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            signal.setitimer(signal.ITIMER_VIRTUAL, TIME_LIMIT)  # ends the process
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
            sys.meta_path.insert(0, Mutated(module_name(path), path, tree))  # type: ignore[arg-type]
            status = int(pytest_main([*tests, "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]))
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def pytest_main(arguments: list[str]) -> int:
    """Pytest, imported before processes fork; nothing of the package is."""
    return importlib.import_module("pytest").main(arguments)  # type: ignore[no-any-return]


def chosen(paths: list[Path], runs: int, seed: int) -> Iterator[tuple[Path, ast.Module, int]]:
    """Some places of all modules at random, in order."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    every = [(path, number) for path in paths for number in places(trees[path])]
    print(f"{len(every)} mutants of {len(paths)} modules, {min(runs, len(every))} tried", flush=True)
    for k in sorted(random.Random(seed).sample(range(len(every)), min(runs, len(every)))):
        path, number = every[k]
        yield path, trees[path], number


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("module", type=Path, help="A module, or a folder of them.")
    parser.add_argument("tests", nargs="+", help="The tests that should notice.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--select", metavar="EXPRESSION", default="", help="Only these tests: pytest's -k.")
    options = parser.parse_args()
    given: Path = options.module
    paths = sorted(given.glob("*.py")) if given.is_dir() else [given]
    parts = paths[0].resolve().parts
    sys.path.insert(0, str(Path(*parts[: parts.index("duilian")])))
    for name in ("pytest", "numpy"):
        importlib.import_module(name)
    tests = [*options.tests, "-k", options.select]
    began, tried, living = time.monotonic(), 0, 0
    if not lives(paths[0], ast.parse(paths[0].read_text(encoding="utf-8")), tests):
        sys.exit("the tests fail without any mutant")
    for path, tree, number in chosen(paths, options.runs, options.seed):
        changed, what = mutant(tree, number)
        tried += 1
        if lives(path, changed, tests):
            living += 1
            print(f"{path}:{what}", flush=True)
    print(f"{tried} mutants, {living} live, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
