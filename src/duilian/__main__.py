"""The `duilian` program, also as `python -m duilian`: its command line in a process of its own."""

import gc
import os
import sys


def run() -> int:
    """Run this process's command line and return its exit status."""
    # NumPy would start a thread for each core, and we have no use for them: a tenth of the time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from duilian import _native
    from duilian.cli import main

    status = main()
    gc.freeze()  # otherwise Python would look for garbage before the process ends: another tenth
    _native.keep_what_is_left()  # nanobind would report it as leaked
    return status


if __name__ == "__main__":
    sys.exit(run())
