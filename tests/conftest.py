"""One Hypothesis profile for all tests: the same cases every time, and no deadline on a busy machine.

`DUILIAN_EXPLORE=1 pytest` draws new cases instead, to look for failures nobody has seen yet.
"""

from __future__ import annotations

import os

from hypothesis import settings

explore = bool(os.environ.get("DUILIAN_EXPLORE"))
settings.register_profile("duilian", derandomize=not explore, database=None, deadline=None)
settings.load_profile("duilian")
