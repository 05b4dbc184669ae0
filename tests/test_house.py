"""The floor plan holds: data flows from left to right, and nobody uses private names of another room."""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

TOP = Path(__file__).parent.parent
SOURCE = TOP / "src" / "duilian"
FOUNDATION = (
    "errors",
    "arguments",
    "lazy",
    "wording",
    "settings",
    "atomic_files",
    "modelfile",
    "result_tables",
    "version",
)
NOT_ROOMS = ("__init__", "__main__", "_native")
PUBLIC = ("_asdict", "_exit", "_fields", "_make", "_replace")  # in spite of their names


def rooms_from_left_to_right() -> list[set[str]]:
    """The arrow diagram of docs/architecture.md; rooms in braces stand side by side."""
    text = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8")
    diagram = re.search(r"^```\n(text ▶.*?)```", text, re.MULTILINE | re.DOTALL)
    assert diagram is not None
    return [set(re.findall(r"\w+", step)) for step in diagram[1].split("▶")]


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@functools.cache
def modules() -> list[tuple[Path, ast.Module]]:
    paths = sorted(SOURCE.rglob("*.py"))
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module and name of every import from the package, also those for type checkers or by a string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "duilian":
            for alias in node.names:
                yield str(node.module), alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("duilian."):
                    yield alias.name, ""
        elif isinstance(node, ast.Constant) and re.match(r"duilian(\.\w+)+\.?$", str(node.value)):
            yield str(node.value).removesuffix("."), ""


def test_every_room_is_in_the_diagram() -> None:
    rooms = {room_of(path) for path, _ in modules()} - set(NOT_ROOMS) - set(FOUNDATION)
    assert set.union(*rooms_from_left_to_right()) == rooms


def test_a_room_imports_only_from_its_left() -> None:
    place = {room: k for k, step in enumerate(rooms_from_left_to_right()) for room in step}
    place |= dict.fromkeys(FOUNDATION, -1)
    wrong = []
    for path, tree in modules():
        own = room_of(path)
        for module, name in imports(tree):
            parts = module.split(".")
            other = parts[1] if len(parts) > 1 else name
            if own in NOT_ROOMS or other == own or other not in place:
                continue
            if place[other] >= place[own] and not (own in FOUNDATION and other in FOUNDATION):
                wrong.append(f"{path.relative_to(SOURCE)} imports {other}")
    assert wrong == ["document/doc.py imports views"]  # the one exception of docs/architecture.md


def test_nobody_imports_private_names() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}: {module}.{name}"
        for path, tree in modules()
        for module, name in imports(tree)
        if name != "_native" and (name.startswith("_") or "._" in module) and not name.startswith("__")
    ]
    assert wrong == []


def package_of(path: Path) -> str:
    """The package that private names belong to: a room, or a model's package."""
    parts = path.relative_to(SOURCE).parts
    return "/".join(parts[:2]) if parts[0] == "models" and len(parts) > 2 else room_of(path)


def test_nobody_uses_private_attributes_of_another_package() -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    uses: list[tuple[Path, int, str]] = []
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.startswith("_"):
                owners[node.name].add(package_of(path))
            elif isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr):
                is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                if is_own or isinstance(node.value, ast.Call):  # super()._x is inherited
                    owners[node.attr].add(package_of(path))
                else:
                    uses.append((path, node.lineno, node.attr))
    wrong = [
        f"{path.relative_to(SOURCE)}:{line} .{name}"
        for path, line, name in uses
        if package_of(path) not in owners[name] and name not in PUBLIC
    ]
    assert wrong == []


def test_no_class_uses_or_overrides_private_names_of_a_base_in_another_package() -> None:
    """What a subclass elsewhere calls or replaces is no private matter: such names have no underscore."""
    places: dict[str, tuple[Path, ast.ClassDef]] = {}
    for path, tree in modules():
        places |= {node.name: (path, node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    wrong = [
        f"{path.relative_to(SOURCE)}: {name} and {base} both have {private}"
        for name, (path, node) in places.items()
        for base in bases_of(node, places)
        if package_of(places[base][0]) != package_of(path)
        for private in sorted(private_names(node) & private_names(places[base][1]))
    ]
    assert wrong == []


def bases_of(node: ast.ClassDef, known: Mapping[str, tuple[Path, ast.ClassDef]]) -> Iterator[str]:
    """All base classes of a class that the package has, the bases of bases included."""
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        if name in known:
            yield name
            yield from bases_of(known[name][1], known)


def private_names(node: ast.ClassDef) -> set[str]:
    """The private names that a class defines, sets or uses as its own."""
    own = {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute)
        if isinstance(each.value, ast.Call) or ast.unparse(each.value) in ("self", "cls")
    }
    own |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    return {name for name in own if re.match(r"_[a-z]", name)} - set(PUBLIC)


def test_one_name_for_one_thing() -> None:
    """No two classes of one name, and no two modules (those that every model's package has aside)."""
    shared = {"__init__", "config", "model", "packing", "training", "predictor", "labeler", "storage"}
    classes: dict[str, list[str]] = defaultdict(list)
    names: dict[str, list[str]] = defaultdict(list)
    for path, tree in modules():
        where = str(path.relative_to(SOURCE))
        is_model_part = path.stem in shared and (path.stem == "__init__" or "models" in path.parts)
        is_command = path.is_relative_to(SOURCE / "cli") or path.is_relative_to(SOURCE / "recipes" / "kinds")
        if not is_model_part and not is_command:
            names[path.stem].append(where)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(where)
    assert {name: places for name, places in names.items() if len(places) > 1} == {}
    assert {name: places for name, places in classes.items() if len(places) > 1} == {}


def test_no_constructor_has_more_than_eight_parameters() -> None:
    """Dataclasses aside: their fields are data."""
    long = []
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                count = len(node.args.args) + len(node.args.kwonlyargs) - 1
                if count > 8:
                    long.append(f"{path.relative_to(SOURCE)}:{node.lineno} has {count}")
    assert long == []


def test_nobody_asks_for_the_class_of_a_model() -> None:
    """Outside `models/`, roles and abilities tell what a model can do."""
    classes = {node.name for node in model_classes() if not is_protocol(node)}
    wrong = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path, tree in modules()
        if room_of(path) != "models"
        for node in ast.walk(tree)
        if classes & set(classes_asked_for(node))
    ]
    assert wrong == []


def test_nobody_looks_for_attributes_of_a_model() -> None:
    """Outside `models/`, protocols of `roles.py` and `offers.py` tell what a model can be asked for."""
    members = {name for node in model_classes() for name in members_of(node)}
    wrong = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.args[1].value}"
        for path, tree in modules()
        if room_of(path) != "models"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id in ("getattr", "hasattr", "setattr")
        if isinstance(node.args[1], ast.Constant) and node.args[1].value in members
    ]
    assert wrong == []


def model_classes() -> Iterator[ast.ClassDef]:
    for path, tree in modules():
        if room_of(path) == "models":
            yield from (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def is_protocol(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)


def members_of(node: ast.ClassDef) -> Iterator[str]:
    """The public names of a class that do not come from a base outside."""
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef):
            yield each.name
        elif isinstance(each, ast.AnnAssign | ast.Assign):
            targets = [each.target] if isinstance(each, ast.AnnAssign) else each.targets
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id
                elif isinstance(target, ast.Attribute):
                    yield target.attr


def classes_asked_for(node: ast.AST) -> Iterator[str]:
    """The names of classes in `isinstance`, `issubclass`, comparisons of types and `match`."""
    asked: list[ast.AST] = []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        asked = [node.args[1]] if node.func.id in ("isinstance", "issubclass") else []
    elif isinstance(node, ast.Compare) and any(map(is_type_of_something, ast.walk(node))):
        asked = [node.left, *node.comparators]
    elif isinstance(node, ast.MatchClass):
        asked = [node.cls]
    for each in (part for tree in asked for part in ast.walk(tree)):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def is_type_of_something(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__"
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
