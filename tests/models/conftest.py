"""Coupled taggers and parsers that several files ask, trained once."""

from __future__ import annotations

import pytest

from duilian import demo
from duilian.models import CoupledTagger, Parser
from models import small_parsers
from models.coupled_corpora import DEV, FEW, TRAIN, VARIANTS, quick


@pytest.fixture(scope="session")
def result() -> demo.DemoResult:
    return demo.run()


@pytest.fixture(scope="session")
def words(result: demo.DemoResult) -> CoupledTagger:
    return result.tagger


@pytest.fixture(scope="session")
def characters() -> CoupledTagger:
    return quick(level="char").fit([side[:120] for side in TRAIN])


@pytest.fixture(scope="session")
def taggers() -> dict[str, CoupledTagger]:
    return {name: quick(**kind).fit(FEW, dev=DEV) for name, kind in VARIANTS.items()}


@pytest.fixture(scope="session")
def parsers() -> dict[int, Parser]:
    return {
        order: Parser("ctb", order=order, **small_parsers.SMALL).fit(
            small_parsers.TRAIN, dev=small_parsers.DEV
        )
        for order in (1, 2, 3)
    }
