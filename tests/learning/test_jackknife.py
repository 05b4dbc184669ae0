"""Jack-knifing: every sentence is answered once, in order, by what learned from all others."""

from __future__ import annotations

import pytest

from duilian.errors import ConfigError
from duilian.learning import jackknifed


@pytest.mark.parametrize(("count", "folds"), [(2, 2), (7, 3), (10, 10), (11, 4)])
def test_each_is_held_out_once(count: int, folds: int) -> None:
    items = list(range(count))

    def answer(train: list[int], held_out: list[int]) -> list[int]:
        assert sorted(train + held_out) == items
        return held_out

    found = jackknifed(items, folds, answer)
    assert len(found) == folds
    assert [item for part in found for item in part] == items
    assert max(map(len, found)) - min(map(len, found)) <= 1


@pytest.mark.parametrize("folds", [0, 1, 4])
def test_impossible_folds(folds: int) -> None:
    with pytest.raises(ConfigError, match=f"cannot make {folds} folds of 3 sentences"):
        jackknifed([1, 2, 3], folds, lambda train, held_out: held_out)
