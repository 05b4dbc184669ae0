"""The file of golden hashes, and what differs from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duilian.engine import BUNDLED
from golden.forms import FORMS, small_answers
from golden.golden_models import array_hash, file_hash
from golden.lines import lines
from golden.place import BLOCK, Place

FILE = Path(__file__).with_name("hashes.json")
Hashes = dict[str, Any]


def read() -> Hashes:
    """What the answers were when they were frozen."""
    found: Hashes = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def write(hashes: Hashes) -> None:
    """Freeze answers anew; a form is a row, so that a difference of two versions says what has changed."""
    parts = []
    for part, content in hashes.items():
        rows = [f"    {_spelled(name)}: {_spelled(value)}" for name, value in content.items()]
        parts.append(f"  {_spelled(part)}: {{\n" + ",\n".join(rows) + "\n  }")
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def of_lines() -> dict[str, str]:
    """Of the lines themselves: if they differ, so does everything."""
    return {"all": hashlib.sha256("\n".join(lines()).encode()).hexdigest()}


def of_bundled() -> dict[str, str]:
    """Of the model that comes with the package."""
    return {"file": file_hash(BUNDLED), "arrays": array_hash(BUNDLED)}


def of_form(name: str, place: Place) -> list[str]:
    """Of the answer about each block, and of what stands behind the last."""
    return [_short(answer) for answer in FORMS[name].answers(place)]


def of_small(name: str, place: Place) -> dict[str, str]:
    """Of a small model's file, its weights, and its answers."""
    answers = small_answers(name, place)  # which trains it
    model = place.folder / f"{name}.model"
    return {"file": file_hash(model), "arrays": array_hash(model), "answers": _short(answers)}


def changed_blocks(old: Sequence[str], new: Sequence[str], blocks: int) -> list[int]:
    """The numbers, from 1, of the blocks that differ; what stands behind the last block has one, too.

    `new` may be about the first blocks only. 0: the answer falls into another number of parts.
    """
    is_part = len(old) > len(new) == blocks + 1
    known = [*old[:blocks], old[-1]] if is_part else old
    if len(known) != len(new):
        return [0]
    return [number for number, (a, b) in enumerate(zip(known, new, strict=True), start=1) if a != b]


def difference(part: str, name: str, old: Any, new: Any, blocks: int) -> str:
    """What has changed, in a sentence; nothing if nothing has."""
    if old is None:
        return f"{name}: has no hashes yet"
    if part == "models":
        return _difference_of_model(name, old, new)
    changed = changed_blocks(old, new, blocks)
    if not changed:
        return ""
    if changed == [0]:
        return f"{name}: the answer falls into {len(new)} parts, it was {len(old)}"
    first = changed[0]
    if len(new) == 1:
        where = "the answer"
    elif first == len(new):
        where = "what stands behind the last line"
    else:
        where = f"block {first} (lines {(first - 1) * BLOCK + 1} to {first * BLOCK})"
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"{name}: {where}{more} changed"


def _difference_of_model(name: str, old: dict[str, str], new: dict[str, str]) -> str:
    said = {
        "file": "the header of the file" if old["arrays"] == new["arrays"] else "the file",
        "arrays": "the weights",
        "answers": "the answers",
    }
    changed = [said[key] for key in said if old[key] != new[key]]
    return f"model {name}: {', '.join(changed)} changed" if changed else ""


def check_small(name: str, place: Place) -> str:
    """What has changed in a small model."""
    return difference("models", name, read()["models"].get(name), of_small(name, place), place.blocks)


def check_form(name: str, place: Place) -> str:
    """What has changed in the answers of a form."""
    blocks = min(FORMS[name].blocks, place.blocks)
    return difference("forms", name, read()["forms"].get(name), of_form(name, place), blocks)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _spelled(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
