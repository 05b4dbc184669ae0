"""Tables of weights in the order of a file find the same entries as before."""

from __future__ import annotations

import numpy as np
import pytest

from duilian.errors import ConfigError
from duilian.models.base.table_codec import LAST_ENTRY, NO_SLOT, decode_table, encode_table


def random_table(seed: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Slots in any order, and features of one to four entries."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, features)
    ends = np.cumsum(sizes)
    label = np.concatenate([np.sort(random.permutation(2**15)[:size]) for size in [*sizes, 0]])
    label = label.astype(np.uint16)
    label[ends - 1] |= LAST_ENTRY
    slot = np.full(features + features // 3 + 1, NO_SLOT)
    places = random.permutation(len(slot))[:features]
    slot[places] = (random.integers(0, 2**32, features).astype(np.uint64) << np.uint64(32)) | (
        ends - sizes
    ).astype(np.uint64)
    return slot, label


def entries(slot: np.ndarray, label: np.ndarray, weight: np.ndarray) -> list[object]:
    """What each slot leads to."""
    found: list[object] = []
    for each in slot.tolist():
        if each == int(NO_SLOT):
            found.append(None)
            continue
        at = each & 0xFFFFFFFF
        group = []
        while True:
            group.append((int(label[at]), float(weight[at])))
            if label[at] & LAST_ENTRY:
                break
            at += 1
        found.append((each >> 32, group))
    return found


@pytest.mark.parametrize("features", [0, 1, 7, 8, 40])
def test_a_packed_table_leads_to_the_same_entries(features: int) -> None:
    for seed in range(5):
        slot, label = random_table(seed, features)
        weight = np.arange(len(label), dtype=np.float32)
        packed = encode_table(slot, label)
        again = decode_table(packed.arrays)
        assert entries(*again, weight[packed.entries]) == entries(slot, label, weight)
        twice = encode_table(*again)
        assert np.array_equal(twice.entries, np.arange(len(label)))
        assert all(np.array_equal(twice.arrays[name], packed.arrays[name]) for name in packed.arrays)


def test_packing_is_smaller() -> None:
    slot, label = random_table(1, 1000)
    packed = encode_table(slot, label).arrays
    assert sum(array.nbytes for array in packed.values()) < 0.8 * (slot.nbytes + label.nbytes)


def former(slot: np.ndarray, label: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of a table as earlier versions stored them."""
    packed = encode_table(slot, label)
    kept = {name: packed.arrays[name] for name in ("check", "used", "slots")}
    return kept | {"label": label[packed.entries]}


@pytest.mark.parametrize("features", [0, 1, 40])
def test_tables_of_earlier_versions_are_read(features: int) -> None:
    slot, label = random_table(3, features)
    found, wanted = decode_table(former(slot, label)), decode_table(encode_table(slot, label).arrays)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_a_table_that_does_not_fit_together_is_refused() -> None:
    good = encode_table(*random_table(1, 9)).arrays
    for bad in (
        {"slots": good["slots"] + 8},
        {"slots": good["slots"] - 8},
        {"slots": np.array([-1])},
        {"check": good["check"][1:]},
        {"size": good["size"] + np.uint16(1)},
        {"size": good["size"] * np.uint16(0)},
        {"first": good["first"] | LAST_ENTRY},
        {"step": good["step"][1:]},
        {"used": good["used"] ^ np.uint8(1)},
        {"used": np.full_like(good["used"], 255)},
    ):
        with pytest.raises(ValueError, match="table"):
            decode_table(good | bad)


def test_a_former_table_that_does_not_fit_together_is_refused() -> None:
    good = former(*random_table(1, 9))
    for bad in (
        {"slots": good["slots"] + 8},
        {"slots": good["slots"] - 8},
        {"slots": np.array([-1])},
        {"check": good["check"][1:]},
        {"label": good["label"] | LAST_ENTRY},
        {"used": good["used"] ^ np.uint8(1)},
        {"used": np.full_like(good["used"], 255)},
    ):
        with pytest.raises(ConfigError, match="table"):
            decode_table(good | bad)
