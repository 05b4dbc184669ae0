"""A Hypothesis profile (the same cases every time, no deadline), small analysers and demo recipes.

`DUILIAN_EXPLORE=1 pytest` draws new cases instead, to look for unknown failures.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from demo_recipes import ONE_SIDE
from duilian import _native, demo
from duilian.engine import Analyzer
from duilian.learning import AdaGrad, Perceptron
from duilian.models import CoupledTagger, Parser, Tagger
from duilian.models.coupled.config import CoupledFeatures, CoupledPruning, Start
from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch
from duilian.recipes import Recipe

explore = bool(os.environ.get("DUILIAN_EXPLORE"))
settings.register_profile("duilian", derandomize=not explore, database=None, deadline=None)
settings.load_profile("duilian")
os.environ.pop("COLUMNS", None)  # as in a pipe, also where pytest-xdist has set it


@pytest.fixture(scope="session")
def coupled() -> Analyzer:
    """An analyser trained on both demo corpora."""
    corpora = [demo.load(standard, standard) for standard in demo.STANDARDS]
    tagger = CoupledTagger(
        demo.STANDARDS,
        level="char",
        features=CoupledFeatures(joint_count=1),
        pruning=CoupledPruning(max_candidates=4, max_candidates_tagging=4),
        start=Start(baseline_iterations=3),
    )
    return Analyzer(tagger.set_params(learning__iterations=2).fit(corpora))


@pytest.fixture(scope="session")
def plain() -> Analyzer:
    """An analyser trained on one demo corpus."""
    return Analyzer(Tagger("pku", level="char", learning=AdaGrad(iterations=3)).fit(demo.load("pku", "pku")))


@pytest.fixture(scope="session")
def parsed(plain: Analyzer) -> Analyzer:
    """The plain analyser with a parser that learned chains: every word depends on the previous one."""
    assert isinstance(plain.model, Tagger)
    layers = [sentence["pku"] for sentence in demo.load("pku", "pku")][:40]
    trees = [
        dataclasses.replace(
            layer, heads=tuple(range(len(layer))), relations=("root", *["next"] * (len(layer) - 1))
        )
        for layer in layers
    ]
    parser = Parser(
        "pku",
        order=1,
        trees=TreeSearch(bits=14, max_length=30),
        relations=RelationSearch(bits=12),
        pruning=ArcPruning(bits=10),
        learning=Perceptron(iterations=3),
    )
    return Analyzer(plain.model, parser.fit(trees))


@pytest.fixture(params=["coupled", "plain"])
def analyzer(request: pytest.FixtureRequest) -> Analyzer:
    """The coupled and the plain analyser in turn."""
    found: Analyzer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Recipe]:
    """Write a recipe and load it, with the demonstration corpora as data."""
    monkeypatch.delenv("DUILIAN_DATA", raising=False)
    corpora = Path(demo.__file__).parent

    def load(text: str = ONE_SIDE, *overrides: str, data: Path | None = corpora) -> Recipe:
        (tmp_path / "r.toml").write_text(text, encoding="utf-8")
        return Recipe.load(tmp_path / "r.toml", data, overrides)

    return load


def pytest_unconfigure() -> None:
    """Keep nanobind quiet about what caches and pytest hold until the process ends."""
    _native.keep_what_is_left()
