"""One Hypothesis profile for all tests: the same cases every time, and no deadline on a busy machine; and two
small analysers.

`DUILIAN_EXPLORE=1 pytest` draws new cases instead, to look for failures nobody has seen yet.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from duilian import demo
from duilian.models import CoupledTagger, Tagger
from duilian.pipeline import Analyzer

explore = bool(os.environ.get("DUILIAN_EXPLORE"))
settings.register_profile("duilian", derandomize=not explore, database=None, deadline=None)
settings.load_profile("duilian")


@pytest.fixture(scope="session")
def coupled() -> Analyzer:
    """An analyser of both demonstration corpora."""
    corpora = [demo.load(standard, standard) for standard in demo.STANDARDS]
    quick = {"iterations": 2, "plain_iterations": 3, "joint_count": 1, "most": 4, "tagging_most": 4}
    tagger = CoupledTagger(demo.STANDARDS, level="char", **quick)
    return Analyzer(tagger.fit(corpora))


@pytest.fixture(scope="session")
def plain() -> Analyzer:
    """An analyser of one of them."""
    return Analyzer(Tagger("pku", level="char", iterations=3).fit(demo.load("pku", "pku")))


@pytest.fixture(params=["coupled", "plain"])
def analyzer(request: pytest.FixtureRequest) -> Analyzer:
    """Either of the two."""
    found: Analyzer = request.getfixturevalue(request.param)
    return found
