"""Print the ten longest functions in a folder: candidates for splitting."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

found = [
    (node.end_lineno - node.lineno + 1, f"{path}:{node.lineno} {node.name}")
    for path in Path(sys.argv[1]).rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
]
for lines, where in sorted(found, reverse=True)[:10]:
    print(f"{lines:4} {where}")
