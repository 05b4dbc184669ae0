"""A hundred preferred words inside each other cost little more than ten: no work for each pair of them."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

import duilian as dl
from duilian.lexicon import Entry
from duilian.lexicon.constraints import largest_bonuses

spans = st.tuples(st.sampled_from([0.5, 1.0, 2.0, 3.0]), st.integers(0, 12), st.integers(1, 9)).map(
    lambda span: (span[0], span[1], span[1] + span[2])
)


@given(st.lists(spans, max_size=12))
def test_each_unit_has_its_largest_bonus_once(some: list[tuple[float, int, int]]) -> None:
    found = list(largest_bonuses(some))
    units = {unit for _, begin, end in some for unit in range(begin, end)}
    wanted = {unit: max(bonus for bonus, begin, end in some if begin <= unit < end) for unit in units}
    assert dict(found) == wanted
    assert len(found) == len(units)


def _seconds(nested: int) -> float:
    """The time of a text that is full of words inside each other, with tags and weights of their own."""
    tags = ("n", "v", "a", "m", "nr", "ns", "NN", "VV")
    own = [(tags[n % 8], tags[n * n % 7]) for n in range(nested + 1)]
    zh = dl.load(lexicon=dl.Lexicon([Entry("啊" * n, own[n], 1.0 + n % 5) for n in range(1, nested + 1)]))
    ask = dl.Ask(trees=False)
    times = []
    for size in (100, 1000, 1000, 1000):
        began = time.process_time()
        zh("啊" * size, ask=ask)
        times.append(time.process_time() - began)
    return min(times[1:])


def test_a_hundred_nested_words_cost_at_most_four_times_as_much_as_ten() -> None:
    few, many = _seconds(10), _seconds(100)
    assert many < 4 * few, (few, many)
