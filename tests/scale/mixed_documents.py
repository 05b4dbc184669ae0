"""Documents of every sort, always the same, and one hash of all answers."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from duilian import Analyzer, Ask

ASK = Ask(standards=("pku",), trees=False)
PIECES = (
    "我们去北京。", "他把iPhone15借给了老师！", "国务院新闻办公室", "今天天气很好，", "\n", "  ", "3.5%",
    "😀👨‍👩‍👧", "𠀀𠮷",
    "http://example.com/a?b=1", "“你好”", 'a"b\\c', "臺灣", "e\u0301", "\u200b", "。", "是不是",
)  # fmt: skip


def documents(count: int, seed: int = 0) -> list[str | None]:
    """Short texts, empty ones and nulls, and a few long ones."""
    draw = random.Random(seed)
    found: list[str | None] = []
    for number in range(count):
        pieces = draw.choices(PIECES, k=draw.randint(0, 12))
        found.append(None if number % 97 == 5 else "".join(pieces) * (60 if number % 501 == 7 else 1))
    return found


def answer_of(zh: Analyzer, text: str | None) -> dict[str, Any]:
    """What the Python API says, in the form of a row."""
    if text is None:
        return {"pku": None, "error": "the text is null"}
    words = [
        {"start": each.start, "end": each.end, "word": each.text, "tag": each.tag}
        for each in zh(text, ask=ASK)
    ]
    return {"pku": words, "error": None}


def sorted_hash(rows: Iterable[Mapping[str, Any]]) -> str:
    """A hash of answers in any order."""
    plain = ({"pku": row["pku"], "error": row["error"], "id": row["id"]} for row in rows)
    lines = sorted(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in plain)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def api_hash(zh: Analyzer, texts: list[str | None]) -> str:
    """The hash of what the Python API says."""
    return sorted_hash({"id": k, **answer_of(zh, text)} for k, text in enumerate(texts))
