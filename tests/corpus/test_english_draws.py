"""English words drawn for mixed text: by part of speech, written as such words are, the same for a seed."""

from __future__ import annotations

import random
import re
from collections import Counter

from duilian.corpus import Layer
from duilian.corpus.english_draws import CASES, EnglishDraws, written
from duilian.corpus.mixing import Mixing, mixed_layer

LISTED = [
    ("check", 900, "env"),
    ("update", 400, "evn"),
    ("report", 800, "en"),
    ("nice", 500, "ea"),
    ("google", 300, "ep"),
    ("ibm", 100, "ep"),
    ("of", 9999, "eo"),
    ("苹果", 50, "n"),
]


def drawn(part: str, *, unknown: float = 0.0, seed: int = 1) -> list[str]:
    draws = EnglishDraws(LISTED, unknown=unknown, rng=random.Random(seed))
    return [word for _ in range(400) if (word := draws.translate("词语", part)) is not None]


def test_words_have_the_right_use() -> None:
    assert {word.lower() for word in drawn("VV")} == {"check", "update"}
    assert {word.lower() for word in drawn("VA")} == {"nice"}
    names = Counter(word.lower() for word in drawn("NR") if not word.isupper())
    assert {"google", "ibm", "report"} <= names.keys()  # some names are common nouns
    assert names.most_common(1)[0][0] == "google"
    assert "nice" not in names


def test_a_first_use_is_more_frequent_than_another() -> None:
    verbs = [word.lower() for word in drawn("VV")]
    assert verbs.count("update") > verbs.count("check") > 0


def test_some_words_are_unknown() -> None:
    known = {word for word, _, _ in LISTED}
    assert all(word.lower() not in known for word in drawn("VA", unknown=1.0))
    share = sum(word.lower() not in known for word in drawn("VA", unknown=0.25)) / len(drawn("VA"))
    assert 0.1 < share < 0.4


def test_some_nouns_have_a_hyphen() -> None:
    """Wi-Fi was a determiner, since no such word occurs in a newspaper of 1998."""
    nouns = [word for seed in range(9) for word in drawn("NN", seed=seed)]
    assert any(re.fullmatch("[A-Z][a-z]*-[A-Z][a-z]*", word) for word in nouns)
    assert 0.01 < sum("-" in word for word in nouns) / len(nouns) < 0.05
    assert not any("-" in word for part in ("NR", "VV", "VA", "JJ") for word in drawn(part))


def test_the_same_seed_draws_the_same() -> None:
    assert drawn("NN", unknown=0.3) == drawn("NN", unknown=0.3) != drawn("NN", unknown=0.3, seed=2)


def test_copulas_and_surnames_stay() -> None:
    draws = EnglishDraws(LISTED, unknown=0.0, rng=random.Random(1))
    assert all(draws.translate("是", "VV") is None for _ in range(50))
    assert all(draws.translate("王", "NR") is None for _ in range(50))


def test_ways_to_write_a_word() -> None:
    assert [written("youtube", case) for case in ("lower", "Title", "UPPER", "miXed")] == [
        "youtube",
        "Youtube",
        "YOUTUBE",
        "YouTube",
    ]
    assert written("ipad", "miXed") == "iPad"
    assert all(abs(sum(shares.values()) - 1) < 1e-9 for shares in CASES.values())


def test_words_in_letters_and_their_tags_stay() -> None:
    layer = Layer(("用", "Python", "检查", "报告"), ("v", "nx", "v", "n"))
    draws = EnglishDraws(LISTED, unknown=0.0, rng=random.Random(3))
    found = [
        mixed_layer(layer, Mixing(share=1.0, replacement="respective"), "pku", random.Random(k), draws)
        for k in range(20)
    ]
    assert all(each.tags == layer.tags and each.words[:2] == layer.words[:2] for each in found)
    assert any(each.words[2].lower() in ("check", "update") for each in found)
