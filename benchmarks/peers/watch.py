"""CPU and wall seconds of the parts of a job, and the peak memory of the process."""

from __future__ import annotations

import contextlib
import resource
import time
from collections import defaultdict
from collections.abc import Iterator


class Watch:
    """Adds up the seconds of each named part; CPU seconds are those of all threads."""

    def __init__(self) -> None:
        self.cpu: defaultdict[str, float] = defaultdict(float)
        self.wall: defaultdict[str, float] = defaultdict(float)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time inside the block for this part."""
        cpu, wall = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            self.cpu[name] += time.process_time() - cpu
            self.wall[name] += time.perf_counter() - wall

    def as_json(self) -> dict[str, object]:
        """Return the seconds of each part and the peak memory in MB."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"cpu": dict(self.cpu), "wall": dict(self.wall), "peak_mb": peak}
