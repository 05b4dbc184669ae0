"""Jack-knifing: every sentence is answered once, in order, by a model trained on all others."""

from __future__ import annotations

import pytest

from duilian.errors import ConfigError
from duilian.learning import Session, jackknifed


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


def test_the_session_is_told_of_each_fold_but_the_last() -> None:
    told: list[str] = []
    jackknifed([1, 2, 3], 3, lambda train, held_out: held_out, Session(on_part=told.append), "tagging")
    assert told == ["tagging: 1 of 3 done, 0:00 left", "tagging: 2 of 3 done, 0:00 left"]


@pytest.mark.parametrize("folds", [0, 1, 4])
def test_impossible_folds(folds: int) -> None:
    with pytest.raises(ConfigError, match=f"cannot make {folds} folds of 3 sentences"):
        jackknifed([1, 2, 3], folds, lambda train, held_out: held_out)
