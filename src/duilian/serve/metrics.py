"""Counters of a service in the text format of Prometheus."""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Iterator

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """Counts answered requests by path and status, and their times; unknown paths are not named."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets = [0] * (len(BOUNDS) + 1)
        self._seconds = 0.0
        self.characters = 0

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests[path, status] += 1
        self._buckets[bisect.bisect_left(BOUNDS, seconds)] += 1
        self._seconds += seconds

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """All counters, and gauges given as help text and value; a name in `_total` is a counter, too."""
        return "\n".join([*self._lines(gauges), ""])

    def _lines(self, gauges: dict[str, tuple[str, float]]) -> Iterator[str]:
        yield "# HELP duilian_requests_total Requests answered, by path and HTTP status."
        yield "# TYPE duilian_requests_total counter"
        for (path, status), number in sorted(self._requests.items()):
            yield f'duilian_requests_total{{path="{path}",status="{status}"}} {number}'
        yield "# HELP duilian_request_seconds Time from the first byte of a request to its answer."
        yield "# TYPE duilian_request_seconds histogram"
        for bound, number in zip((*BOUNDS, "+Inf"), itertools.accumulate(self._buckets), strict=True):
            yield f'duilian_request_seconds_bucket{{le="{bound}"}} {number}'
        yield f"duilian_request_seconds_sum {self._seconds:.6f}"
        yield f"duilian_request_seconds_count {sum(self._buckets)}"
        yield "# HELP duilian_characters_total Characters of text that were accepted."
        yield "# TYPE duilian_characters_total counter"
        yield f"duilian_characters_total {self.characters}"
        for name, (meaning, value) in gauges.items():
            yield f"# HELP duilian_{name} {meaning}"
            yield f"# TYPE duilian_{name} {'counter' if name.endswith('_total') else 'gauge'}"
            yield f"duilian_{name} {value:g}"
