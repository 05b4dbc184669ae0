"""How much a coupled tagger prunes when tagging."""

from __future__ import annotations

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Effort:
    """How little a mixed model prunes when tagging: smaller numbers are faster, the default is safe.

    `coarse_window` is that of coarse pruning (chain/coarse.hpp), 0 prunes exactly. The others limit the λ and
    the bundle gap of the settings. The baseline taggers of a mixed model rank gold high, so λ may be low.
    """

    coarse_window: float = 7.0
    candidate_mass: float = 0.97
    bundle_gap: float = math.inf


USUAL = Effort()
