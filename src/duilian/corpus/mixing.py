"""Chinese-English mixed text, made from a Chinese corpus (Zhao et al. 2012, Section 6.2).

A share of the words with certain parts of speech becomes English: each a word of its own (*respective*), or
all the same, `ENG` (*unified*), so that a tagger learns to tag them by their context. Annotated corpora of
this kind are rare; this makes any amount of such text.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Protocol

from duilian.corpus.english_dictionary import EnglishDictionary
from duilian.corpus.sentence import Layer, Sentence
from duilian.errors import ConfigError
from duilian.standards import is_pair, split_pair, universal_of

Replacement = Literal["unified", "respective"]

UNIFIED = "ENG"
PARTS = ("NN", "NR", "VV", "VA", "JJ")

_UNIVERSAL = {"NN": ("NOUN",), "NR": ("PROPN",), "VV": ("VERB",), "VA": ("ADJ",), "JJ": ("ADJ",)}

# The paper's five parts of speech in each standard; in other standards a tag is its own part of speech.
TAGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ctb": {part: (part,) for part in PARTS},
    "pku": {"NN": ("n",), "NR": ("nr", "ns", "nt", "nz"), "VV": ("v",), "VA": ("a",), "JJ": ("b",)},
    "gsd": {"NN": ("NN",), "NR": ("NNP",), "VV": ("VV",), "VA": ("JJ",), "JJ": ("JJ",)},
    **dict.fromkeys(("ud", "ud1"), _UNIVERSAL),
}
FOREIGN = {"ctb": "FW", "pku": "nx", "gsd": "FW", "ud": "X", "ud1": "X"}


class Translator(Protocol):
    """Gives the English words of mixed text."""

    def translate(self, word: str, part: str) -> str | None:
        """The English word for a Chinese one of this part of speech; None if there is none."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mixing:
    """Which words become English, how many of them, and how."""

    share: float
    parts: tuple[str, ...] = PARTS
    replacement: Replacement = "unified"

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ConfigError(f"share must be between 0 and 1, got {self.share!r}")
        if self.replacement not in ("unified", "respective"):
            raise ConfigError(f"replacement must be 'unified' or 'respective', got {self.replacement!r}")
        if not self.parts:
            raise ConfigError("there must be at least one part of speech to replace")


# The paper's datasets. D2 has half as many English words again as D1 in training; its test set is D1's.
PRESETS: Mapping[str, Mixing] = {
    "H1": Mixing(share=0.05, parts=("NN", "VV"), replacement="respective"),
    "H2": Mixing(share=0.05, parts=("NN", "VV")),
    "A": Mixing(share=0.10, parts=("NN", "VV")),
    "B": Mixing(share=0.10, parts=("NN", "VV", "VA")),
    "C": Mixing(share=0.10, parts=("NN", "VV", "VA", "NR")),
    "D1": Mixing(share=0.10, parts=("NN", "VV", "VA", "JJ")),
    "D2": Mixing(share=0.15, parts=("NN", "VV", "VA", "JJ")),
    "E": Mixing(share=0.10, parts=PARTS),
}


@dataclasses.dataclass
class MixReport:
    """Counts of what was replaced, filled in as sentences are mixed."""

    words: int = 0
    replaced: Counter[str] = dataclasses.field(default_factory=Counter)  # by tag
    retagged: int = 0


def preset(name: str) -> Mixing:
    """The settings for one of the paper's datasets."""
    if name not in PRESETS:
        raise ConfigError(f"there is no preset {name!r}", f"choose one of: {', '.join(PRESETS)}")
    return PRESETS[name]


def part_of_tags(standard: str, parts: Iterable[str]) -> dict[str, str]:
    """The part of speech of each tag for these parts; in an unknown standard, a tag is its own part."""
    table = TAGS.get(standard, {})
    return {tag: part for part in parts for tag in table.get(part, (part,))}


def mix(
    sentences: Iterable[Sentence],
    mixing: Mixing,
    *,
    standard: str,
    seed: int = 1,
    english: EnglishDictionary | None = None,
    keep_foreign: bool = False,
    report: MixReport | None = None,
) -> Iterator[Sentence]:
    """Replace a random share of the words with English; the same seed draws the same words.

    With a dictionary, only words in it are replaced, unified or not, so both kinds of replacement affect the
    same words. Words with the standard's tag for foreign words become nouns, because a tagger should learn
    real tags for them; `keep_foreign` leaves them unchanged.
    """
    if mixing.replacement == "respective" and english is None:
        raise ConfigError("respective replacement needs a dictionary", "give one with --english")
    mixer = _Mixer(mixing, standard, random.Random(seed), english, keep_foreign, report or MixReport())
    for sentence in sentences:
        yield dataclasses.replace(sentence, layers={standard: mixer.mixed(sentence[standard])}, comments=())


def mixed_layer(
    layer: Layer, mixing: Mixing, standard: str, rng: random.Random, english: Translator | None = None
) -> Layer:
    """Mix one sentence; words already tagged as foreign stay as they are."""
    return _Mixer(mixing, standard, rng, english, True, MixReport()).mixed(layer)


class _Mixer:
    def __init__(
        self,
        mixing: Mixing,
        standard: str,
        rng: random.Random,
        english: Translator | None,
        keep_foreign: bool,
        report: MixReport,
    ) -> None:
        self._mixing, self._rng, self._english, self._report = mixing, rng, english, report
        self._part = part_of_tags(standard, mixing.parts)
        self._part_of_specific = part_of_tags("gsd", mixing.parts)
        self._foreign = None if keep_foreign else FOREIGN.get(standard)
        self._noun = TAGS.get(standard, {}).get("NN", ("NN",))[0]

    def mixed(self, layer: Layer) -> Layer:
        if layer.tags is None:
            raise ConfigError("cannot mix a corpus without tags: they determine which words become English")
        words, tags, is_new = list(layer.words), list(layer.tags), [False] * len(layer)
        for k, (word, tag) in enumerate(zip(layer.words, layer.tags, strict=True)):
            self._report.words += 1
            if isinstance(tag, str) and universal_of(tag) == self._foreign:
                tags[k] = self._noun
                self._report.retagged += 1
            elif isinstance(tag, str) and (part := self._part_of(tag)) is not None:
                found = self._draw(word, part)
                if found is not None:
                    words[k], is_new[k] = found, True
                    self._report.replaced[tag] += 1
        return dataclasses.replace(
            layer, words=tuple(words), tags=tuple(tags), spaces=_spaces(layer, is_new), extra_rows=()
        )

    def _part_of(self, tag: str) -> str | None:
        """The part of speech of a tag; for a pair, that of its specific tag: measure words are no nouns."""
        return self._part_of_specific.get(split_pair(tag)[1] or "") if is_pair(tag) else self._part.get(tag)

    def _draw(self, word: str, part: str) -> str | None:
        """The English word that replaces this word, or None."""
        # Draw first, so that the dictionary does not affect which words are drawn.
        if self._rng.random() >= self._mixing.share or any(c.isascii() for c in word):
            return None
        found = UNIFIED if self._english is None else self._english.translate(word, part)
        return UNIFIED if found is not None and self._mixing.replacement == "unified" else found


def _spaces(layer: Layer, is_new: list[bool]) -> tuple[str, ...] | None:
    """The spaces after words, with a blank between adjacent English words."""
    if not any(a and b for a, b in itertools.pairwise(is_new)):
        return layer.spaces
    spaces = list(layer.spaces or ("",) * len(layer))
    for k, (a, b) in enumerate(itertools.pairwise(is_new)):
        if a and b:
            spaces[k] = spaces[k] or " "
    return tuple(spaces)
