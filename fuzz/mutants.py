"""Mutants of our own code: small mistakes that the tests should notice.

    python fuzz/mutants.py src/duilian/modelfile.py tests/modelfile --runs 200 --seed 1

Each mutant has one mistake: another comparison, operator, constant or condition, or a statement less. Mutants
that live are printed, to be looked at: some are equal to the original, the others show what no test asks.

Tests are collected once, by a process that then forks for every mutant: the child changes the code in memory
and runs the tests that call it, quick ones first, until one fails. The package must be installed as it is.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import dataclasses
import functools
import gc
import importlib
import json
import os
import random
import signal
import sys
import time
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

TIME_LIMIT = 30  # seconds of a mutant's processor: a loop may never end
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
    """The numbers of the nodes, as `ast.walk` counts them, that have a mistake.

    Not types, and not `strict=True` of a zip, which only says what is so.
    """
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "strict":
            skipped.add(id(node.value))
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


@dataclasses.dataclass(frozen=True)
class Target:
    """A module to make mistakes in."""

    path: Path
    module: types.ModuleType
    tree: ast.Module

    @classmethod
    def load(cls, path: Path) -> Target:
        """Import a module; its source must be that of the path."""
        module = importlib.import_module(module_name(path))
        source = path.read_text(encoding="utf-8")
        if Path(str(module.__file__)).read_text(encoding="utf-8") != source:
            sys.exit(f"{path}: another version is installed; install this one first")
        return cls(path, module, ast.parse(source))

    @property
    def file(self) -> str:
        """Where Python has it from."""
        return str(self.module.__file__)

    def change(self, tree: ast.Module) -> None:
        """Put the code of a mutant in the place of ours, wherever it is used."""
        code = compile(tree, self.file, "exec")
        if not self._change_functions(code):
            self._run_again(code)

    def _change_functions(self, code: types.CodeType) -> bool:
        """Give functions their new code; returns False if that is not all that has changed."""
        ours = compile(self.tree, self.file, "exec")
        changed = {name: new for name, new in _functions(code).items() if new != _functions(ours).get(name)}
        if _outside(code) != _outside(ours):
            return False
        for each in gc.get_objects():
            if isinstance(each, types.FunctionType) and each.__code__.co_filename == self.file:
                new = changed.get((each.__code__.co_qualname, each.__code__.co_firstlineno))
                if new is not None:
                    if new.co_freevars != each.__code__.co_freevars:
                        return False
                    each.__code__ = new
        return True

    def _run_again(self, code: types.CodeType) -> None:
        """Run the module again, and give what is new to everyone who has the old."""
        old = dict(vars(self.module))
        exec(code, vars(self.module))
        for module in list(sys.modules.values()):
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if not name.startswith("__") and name in old and value is old[name]:
                    setattr(module, name, vars(self.module)[name])


Name = tuple[str, int]  # of a function, and its first line


def _functions(code: types.CodeType) -> dict[Name, types.CodeType]:
    """The functions and methods of a module; what is inside of them belongs to them."""
    found = {}
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            if each.co_flags & 0x02:  # has variables of its own: a function, not the body of a class
                found[each.co_qualname, each.co_firstlineno] = each
            else:
                found.update(_functions(each))
    return found


def _outside(code: types.CodeType) -> list[Any]:
    """All but the functions: what the module itself and its classes do."""
    return [
        code.co_code,
        code.co_names,
        *(
            _outside(each)
            if isinstance(each, types.CodeType) and not each.co_flags & 0x02
            else None
            if isinstance(each, types.CodeType)
            else (type(each), each)
            for each in code.co_consts
        ),
    ]


class Tester:
    """Tests mutants in pytest's place, once the tests are collected."""

    def __init__(self, targets: list[Target], runs: int, seed: int) -> None:
        self.targets, self.runs, self.seed = targets, runs, seed
        self.tried, self.living = 0, 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """A failure is enough: Hypothesis need not look for the smallest one."""
        from hypothesis import Phase, settings

        settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try mutants instead of running the tests."""
        if session.testsfailed:
            sys.exit("the tests cannot be collected")
        tests = Tests.tried(session.items, {target.file for target in self.targets})
        every = [(target, number) for target in self.targets for number in places(target.tree)]
        chosen = random.Random(self.seed).sample(range(len(every)), min(self.runs, len(every)))
        print(f"\n{len(every)} mutants of {len(self.targets)} modules, {len(chosen)} tried", flush=True)
        for target, number in (every[k] for k in sorted(chosen)):
            tree, what = mutant(target.tree, number)
            self.tried += 1
            asked = tests.of(target.file, _line(target.tree, number))
            if lives(target, tree, (functools.partial(passes, item) for item in asked)):
                self.living += 1
                print(f"{target.path}:{what}", flush=True)
        return True


def _line(tree: ast.Module, number: int) -> int:
    return next(node.lineno for k, node in enumerate(ast.walk(tree)) if k == number)  # type: ignore[attr-defined]


@dataclasses.dataclass(frozen=True)
class Tests:
    """The collected tests, quick ones first, and what each calls: file, first and last line of functions."""

    items: list[pytest.Item]
    called: list[set[tuple[str, int, int]]]

    @classmethod
    def tried(cls, items: list[pytest.Item], files: set[str]) -> Tests:
        """Run all of them once, in a process of their own: what they cache must not be there later."""
        found = in_child(lambda: [_watched(item, files) for item in items])
        order = sorted(range(len(items)), key=lambda k: found[k][0])
        return cls([items[k] for k in order], [{(file, a, b) for file, a, b in found[k][1]} for k in order])

    def of(self, file: str, line: int) -> list[pytest.Item]:
        """The tests that call a function with this line; all, if the line is in none."""
        found = [
            item
            for item, called in zip(self.items, self.called, strict=True)
            if any(own == file and first <= line <= last for own, first, last in called)
        ]
        return found or self.items


def _watched(item: pytest.Item, files: set[str]) -> tuple[float, list[tuple[str, int, int]]]:
    """Run a test, which must pass: its seconds, and the functions in these files that it calls."""
    called: set[types.CodeType] = set()

    def watch(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename in files:
            called.add(frame.f_code)

    began = time.process_time()
    sys.setprofile(watch)
    try:
        if not passes(item):
            sys.exit(f"{item.nodeid} fails without any mutant")
    finally:
        sys.setprofile(None)
    lines = [(code, [line for *_, line in code.co_lines() if line is not None]) for code in called]
    return time.process_time() - began, [(code.co_filename, min(own), max(own)) for code, own in lines]


def passes(item: pytest.Item) -> bool:
    """Run a test with its fixtures."""
    reports = pytest_reports(item)
    return all(not report.failed for report in reports)


def pytest_reports(item: pytest.Item) -> list[pytest.TestReport]:
    """What pytest says of a test; fixtures of its module are torn down with it."""
    from _pytest.runner import runtestprotocol

    return runtestprotocol(item, log=False, nextitem=None)


def lives(target: Target, tree: ast.Module, tests: Iterable[Callable[[], bool]]) -> bool:
    """Whether all tests pass on a mutant."""

    def try_all() -> bool:
        signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)  # ends the process
        target.change(tree)
        return all(test() for test in tests)

    try:
        return bool(in_child(try_all))
    except EOFError:  # it ended in some other way
        return False


def in_child(work: Callable[[], Any]) -> Any:
    """What a piece of work gives in a process of its own, silently; EOFError if it gives nothing."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
            with os.fdopen(theirs, "w") as pipe:
                json.dump(work(), pipe)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    if not found:
        raise EOFError
    return json.loads(found)


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
    began = time.monotonic()
    tester = Tester([Target.load(path) for path in paths], options.runs, options.seed)
    plain = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:randomly"]
    pytest.main([*options.tests, "-k", options.select, *plain], plugins=[tester])
    print(f"{tester.tried} mutants, {tester.living} live, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
