"""The model that comes with the package."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

import duilian
from analysed import check
from duilian.inspection import ModelCard
from duilian.pipeline import BUNDLED, Analyzer
from test_bad_input import random_string

RECIPE = Path(__file__).parent.parent / "recipes" / "bundled.toml"


@pytest.fixture(scope="module")
def zh() -> Analyzer:
    return duilian.load()


def test_it_is_small_and_says_where_it_comes_from() -> None:
    card = ModelCard.read(BUNDLED)
    assert card.bytes <= 16e6
    assert card.notes["recipe"] == RECIPE.read_text(encoding="utf-8")
    assert set(card.texts) >= {"title", "data", "licence", "limits"}


def test_what_learning_needs_is_not_loaded_to_analyse() -> None:
    """An answer is there half a second after the start, and these modules would take a fifth of that."""
    program = "import sys, duilian; duilian.load()('好。'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    names = set(loaded.stdout.split())
    assert {"duilian.models.coupled", "duilian.models.parser"} <= names
    heavy = ("duilian.learning.", "duilian.evaluation.", "duilian.recipes", "pydantic", "typer", "matplotlib")
    assert [name for name in sorted(names) if name.startswith(heavy) or name.endswith("_training")] == []


def test_it_reads_mixed_text(zh: Analyzer) -> None:
    text = "他把iPhone15借给了国务院新闻办公室，见https://duilian.cn/a?b=1，#好天气#3.5%😀 a.b@c.cn"
    doc = zh(text)
    for standard in ("gsd", "pku"):
        assert {"iPhone15", "https://duilian.cn/a?b=1", "#好天气#", "3.5%", "😀", "a.b@c.cn"} <= set(
            doc.words(standard)
        )
    pku = dict(zip(doc.words("pku"), doc.tags("pku"), strict=True))
    assert (pku["他"], pku["国务院"], pku["iPhone15"], pku["3.5%"]) == ("r", "nt", "nx", "m")
    assert doc.heads.count(0) == len(list(doc.sentences("gsd")))


def test_traditional_script_is_answered_in_its_own_characters(zh: Analyzer) -> None:
    traditional, simplified = zh("國務院新聞辦公室發表談話。"), zh("国务院新闻办公室发表谈话。")
    for standard in zh.standards:
        assert "".join(traditional.words(standard)) == traditional.text
        assert traditional.tags(standard) == simplified.tags(standard)
        assert [len(word) for word in traditional.words(standard)] == [
            len(word) for word in simplified.words(standard)
        ]


def test_random_strings_come_back_whole(zh: Analyzer) -> None:
    rng = random.Random(9)
    given = [random_string(rng) for _ in range(300)]
    for text, doc in zip(given, zh.pipe(given, threads=2), strict=True):
        assert doc.text == text
        check(doc)
