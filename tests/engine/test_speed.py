"""A guard against code that has become much slower: CPU time against fixed work on the same machine.

The limits are 1.5 times what was measured when they were set, so noise passes and a lost fast path does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import duilian
from duilian.models.roles import Ask

CALL = "我们明天一起去北京参观国家博物馆吧好不好"  # 20 characters
TEXTS = [CALL, "据报道，日本普通家庭室内空气中的致癌物质浓度相当于室外的数倍。", "他喜欢看书。"] * 40
WORDS_AND_TAGS = Ask(trees=False)
PIPE, CALLS = 3.6, 2.2  # measured in November 2026 with a model of two standards and a dictionary
ROUNDS, ATTEMPTS = 7, 5
MOST = 1.5


def fixed_work() -> int:
    """What a round is compared with: as much interpreted arithmetic on any version of ours."""
    return sum(k * k % 7 for k in range(40_000))


def rounds(*works: Callable[[], object]) -> list[float]:
    """The least CPU time of each; they take turns."""
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for k, work in enumerate(works):
            start = time.process_time()
            work()
            best[k] = min(best[k], time.process_time() - start)
    return best


def test_speed_has_not_fallen() -> None:
    zh = duilian.load()
    works = (
        lambda: list(zh.pipe(TEXTS, ask=WORDS_AND_TAGS)),
        lambda: [zh(CALL, ask=WORDS_AND_TAGS) for _ in range(20)],
        fixed_work,
    )
    for _ in range(ATTEMPTS):  # others may use the machine; what is slow stays slow
        many, calls, unit = rounds(*works)
        if many / unit < MOST * PIPE and calls / unit < MOST * CALLS:
            return
    raise AssertionError(f"of the fixed work, pipe takes {many / unit:.1f} and calls {calls / unit:.1f}")
