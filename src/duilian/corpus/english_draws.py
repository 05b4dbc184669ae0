"""English words for mixed text, drawn at random by part of speech.

With `letters = "cased"`, a tagger knows alphabetic words only by their case and by their uses in a word list,
so any listed word with the right use will do. It is written as such words usually are. Some words are not
in the list, so that the tagger also learns to rely on context.
"""

from __future__ import annotations

import itertools
import math
import random
import string
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

Case = Literal["lower", "Title", "UPPER", "miXed", "letter"]

# How English words in Chinese text are written, by part of speech.
CASES: Mapping[str, Mapping[Case, float]] = {
    "NN": {"lower": 0.78, "UPPER": 0.165, "Title": 0.02, "miXed": 0.015, "letter": 0.02},
    "NR": {"Title": 0.62, "miXed": 0.2, "UPPER": 0.13, "lower": 0.05},
    "VV": {"lower": 0.92, "Title": 0.04, "UPPER": 0.04},
    "VA": {"lower": 0.92, "Title": 0.03, "UPPER": 0.05},
    "JJ": {"lower": 0.9, "Title": 0.05, "UPPER": 0.05},
}
# The use of a listed word that makes it this part of speech.
USES = {"NN": "n", "NR": "p", "VV": "v", "VA": "a", "JJ": "a"}
# The weight of a word if the use is not its first one, relative to 1: "book" is also a verb.
OTHER_USE = {"NN": 0.2, "NR": 0.2, "VV": 0.6, "VA": 0.2, "JJ": 0.2}
# The share of drawn words to keep: newspapers have more nouns and fewer adjectives than mixed text.
KEPT = {"NN": 0.45, "NR": 0.8, "VV": 1.0, "VA": 1.0, "JJ": 1.0}
LONG_ONLY = {"VV", "NR"}  # verbs and names of one character are copulas, auxiliaries, surnames
COMMON_NAME = 0.25  # the share of names that are common nouns: Apple, Windows
UNKNOWN_NAME = 0.2  # the share of other names to treat as not listed: new names keep appearing
ACRONYM = 4  # letters, at most
UNKNOWN_ACRONYM = 0.5
HYPHENATED = 0.03  # the share of nouns of two parts: Wi-Fi, e-mail


class WordPool(NamedTuple):
    """Words with cumulated weights."""

    words: list[str]
    weights: list[float]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> WordPool:
        return cls(list(weights), list(itertools.accumulate(weights.values())))


class EnglishDraws:
    """Takes the place of a translation dictionary: any English word with the same part of speech will do.

    `words` come from a list: word, frequency, and a tag that is `e` followed by its uses (`env`).
    """

    def __init__(self, words: Iterable[tuple[str, int, str]], *, unknown: float, rng: random.Random) -> None:
        listed = [each for each in words if each[0].isascii() and each[0].isalpha() and each[2][:1] == "e"]
        self._known = frozenset(word for word, _, _ in listed)
        self._pools = {part: _pool(listed, part) for part in USES}
        short = {w: math.sqrt(f) for w, f, tag in listed if 1 < len(w) <= ACRONYM and tag.startswith("ep")}
        self._acronyms = WordPool.of(short)
        self._unknown, self._rng = unknown, rng

    def translate(self, word: str, part: str) -> str | None:
        """An English word in place of a Chinese one; None if the word should stay."""
        if part not in CASES or (part in LONG_ONLY and len(word) < 2) or self._rng.random() >= KEPT[part]:
            return None
        case = self._rng.choices(list(CASES[part]), list(CASES[part].values()))[0]
        if case == "letter":
            return self._rng.choice(string.ascii_letters)
        if case == "UPPER" and part in ("NN", "NR"):
            return self._acronym()
        if part == "NN" and self._rng.random() < HYPHENATED:
            return "-".join(written(self._invented(self._rng.randint(1, 5)), case) for _ in range(2))
        return written(self._word(part), case)

    def _word(self, part: str) -> str:
        if part == "NR" and self._rng.random() < COMMON_NAME:
            part = "NN"
        elif part == "NR" and self._rng.random() < UNKNOWN_NAME:
            return self._invented(self._rng.randint(3, 9))
        pool = self._pools[part]
        if not pool.words or self._rng.random() < self._unknown:
            return self._invented(self._rng.randint(3, 9))
        return self._rng.choices(pool.words, cum_weights=pool.weights)[0]

    def _acronym(self) -> str:
        if not self._acronyms.words or self._rng.random() < UNKNOWN_ACRONYM:
            return self._invented(self._rng.randint(2, ACRONYM)).upper()
        return self._rng.choices(self._acronyms.words, cum_weights=self._acronyms.weights)[0].upper()

    def _invented(self, length: int) -> str:
        """Letters that do not form a listed word."""
        for _ in range(100):
            found = "".join(self._rng.choices(string.ascii_lowercase, k=length))
            if found not in self._known:
                break
        return found


def _pool(listed: Iterable[tuple[str, int, str]], part: str) -> WordPool:
    weights, use = {}, USES[part]
    for word, frequency, tag in listed:
        if len(word) > 1 and use in tag[1:]:
            weights[word] = math.sqrt(frequency) * (1.0 if tag[1] == use else OTHER_USE[part])
    return WordPool.of(weights)


def written(word: str, case: Case) -> str:
    """Rewrite a lower-case word in this case: iPhone, YouTube."""
    if case == "Title":
        return word.capitalize()
    if case == "UPPER":
        return word.upper()
    if case == "miXed":
        at = 1 if len(word) < 5 else len(word) // 2
        return word[:at].capitalize() + word[at:].capitalize() if at > 1 else word[0] + word[1:].capitalize()
    return word
