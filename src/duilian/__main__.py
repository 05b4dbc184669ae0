"""The `duilian` program, also as `python -m duilian`: its command line in a process of its own."""

import gc
import os
import sys


def run() -> int:
    """Run this process's command line and return its exit status."""
    # NumPy would start a thread for each core, and we have no use for them: a tenth of the time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from duilian.cli import main

    status = main()
    if not status:  # an error keeps objects in its frames, which nanobind would report as leaked
        gc.freeze()  # otherwise Python would look for garbage before the process ends: another tenth
    return status


if __name__ == "__main__":
    sys.exit(run())
