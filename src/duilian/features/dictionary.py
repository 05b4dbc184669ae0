"""A dictionary: words, with frequencies and tags, that a model knows in addition to its corpus.

Templates look up units in it (`lx[k]`, `jg[k]`; native/include/duilian/features/dictionary.hpp), and training
finds out how far to trust it. A model file contains its dictionary.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import os
import string
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus.lines import shown
from duilian.errors import ConfigError, CorpusError
from duilian.text import Folding, check_text
from duilian.wording import counted

MAX_WORDS = 4_000_000
MAX_LENGTH = 64  # characters of a word, see native/include/duilian/features/dictionary.hpp
MAX_FREQUENCY = 2**32 - 1
MAX_TAGS = 255
MANY_WORDS = 1_000_000  # from this number on, their cost is logged
ARRAYS = ("alphabet", "symbol", "flags", "frequency", "tag")

DictionaryMode = Literal["extend", "replace"]

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_log = logging.getLogger("duilian")


class ListedWord(NamedTuple):
    """A word of a dictionary; it counts as seen `frequency` times.

    >>> ListedWord("北京", 900, "ns").tag
    'ns'
    """

    word: str
    frequency: int = 1
    tag: str = ""


class Dictionary:
    """Words with frequencies and tags; `name` and `licence` say where they come from.

    >>> listed = [("北京", 900, "ns"), ("大学", 500, "n"), ("北京大学", 40, "nt")]
    >>> Dictionary(ListedWord(*each) for each in listed).codes("在北京大学")
    {'lx': ['000', '400', '042', '240', '004'], 'jg': ['O', 'Bns', 'Ens', 'Bn', 'En']}
    """

    def __init__(
        self,
        words: Iterable[ListedWord],
        *,
        name: str = "",
        licence: str = "",
        replaces: str = "",
    ) -> None:
        found = _unique(words)
        if len(found) > MAX_WORDS:
            raise ConfigError(f"a dictionary has at most {MAX_WORDS:,} words, got {len(found):,}")
        ordered = sorted(found.values())
        tags = sorted({each.tag for each in ordered})
        if len(tags) > MAX_TAGS:
            raise ConfigError(f"a dictionary has at most {MAX_TAGS} different tags, got {len(tags)}")
        number = {tag: k for k, tag in enumerate(tags)}
        try:
            self.native = _native.Dictionary.of_words(
                [each.word for each in ordered],
                np.array([each.frequency for each in ordered], np.uint32),
                np.array([number[each.tag] for each in ordered], np.uint8),
                tags,
            )
        except ValueError as error:  # a limit that only the core knows
            raise ConfigError(str(error)) from None
        self.name, self.licence, self.replaces = name, licence, replaces

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, name: str = "", licence: str = "") -> Dictionary:
        """Read a file with one word per line, optionally with frequency and tag, as in jieba's dictionaries.

        A word without a frequency counts once; of several lines for a word, the largest frequency counts.
        Blank lines and comments (a number sign and a space) are skipped.
        """
        from duilian.corpus.files import check_path, display_name  # slow: models have their dictionary

        check_path(path)
        began, shown_path = time.perf_counter(), display_name(path)
        lines, words = 0, dict[str, ListedWord]()
        for word in _words_of(path, shown_path):
            lines += 1
            if word.word not in words or word.frequency > words[word.word].frequency:
                words[word.word] = word
            if len(words) > MAX_WORDS:
                hint = "keep the most frequent ones"
                raise ConfigError(f"{shown_path}: a dictionary has at most {MAX_WORDS:,} words", hint)
        if not words:
            raise ConfigError(f"{shown_path}: contains no words", "a line is: word frequency tag")
        if lines > len(words):
            _log.warning(
                "%s: %s listed more than once; the largest frequency is used",
                shown_path,
                counted(lines - len(words), "word is", "words are"),
            )
        found = cls(words.values(), name=name or Path(shown_path).name, licence=licence)
        if len(words) >= MANY_WORDS:
            size, seconds = found.native.bytes / 2**20, time.perf_counter() - began
            _log.warning("%s: %d words take %.0f MB and %.0f s", shown_path, len(words), size, seconds)
        return found

    def __len__(self) -> int:
        return len(self.native)

    def __iter__(self) -> Iterator[ListedWord]:
        """The words, shorter ones first."""
        _, _, _, frequency, tag = self.native.arrays()
        names = self.native.tags
        tags = (names[k] for k in tag.tolist())
        return map(ListedWord, self.native.words(), frequency.tolist(), tags)

    def __repr__(self) -> str:
        return f"<Dictionary {self.name!r}: {counted(len(self), 'word')}>"

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags, in alphabetical order."""
        return tuple(self.native.tags)

    @functools.cached_property
    def fingerprint(self) -> str:
        """A hash of the words, frequencies and tags."""
        import hashlib  # slow: it loads OpenSSL

        digest = hashlib.blake2b(repr(self.tags).encode(), digest_size=8)
        for array in self.native.arrays():
            digest.update(array.tobytes())
        return digest.hexdigest()

    def codes(self, units: Iterable[str]) -> dict[str, list[str]]:
        """What the atoms `lx` and `jg` say about the units of a sentence."""
        lengths, path = self.native.codes([check_text(unit) for unit in units])
        return {"lx": lengths, "jg": path}

    def _made_of(self, words: Iterable[ListedWord]) -> Dictionary:
        return Dictionary(words, name=self.name, licence=self.licence, replaces=self.replaces)

    def folded(self, folding: Folding) -> Dictionary:
        """The words as a model sees them; words that look the same to it are merged.

        Letters stay as they are, even if features do not distinguish them; they become lower case if features
        see their case.
        """
        own = dataclasses.replace(folding, letters="as-is")
        given = list(self)
        text = own("\n".join(word.word for word in given))
        if folding.letters == "cased":
            text = text.translate(_LOWER)
        folded = text.split("\n") if given else []
        if folded == [word.word for word in given]:
            return self
        return self._made_of(word._replace(word=other) for word, other in zip(given, folded, strict=True))

    def changed(self, words: Dictionary, mode: DictionaryMode) -> Dictionary:
        """The dictionary of a model that has learned with this one and is now given another."""
        if mode not in get_args(DictionaryMode):
            raise ConfigError(f"the dictionary mode must be 'extend' or 'replace', got {mode!r}")
        unknown = [tag for tag in words.tags if tag and tag not in self.tags]
        if unknown:
            _log.warning(
                "%s: the model was not trained with the tags %s", words.name, ", ".join(unknown[:10])
            )
        return (self.extended(words) if mode == "extend" else words).in_place_of(self)

    def extended(self, further: Dictionary) -> Dictionary:
        """The words of both, each with the larger frequency."""
        return Dictionary(
            [*self, *further],
            name=" + ".join(filter(None, (self.name, further.name))),
            licence="; ".join(dict.fromkeys(filter(None, (self.licence, further.licence)))),
            replaces=self.replaces,
        )

    def in_place_of(self, former: Dictionary) -> Dictionary:
        """The same words for a model that has learned with the former ones."""
        found = Dictionary.__new__(Dictionary)
        vars(found).update(vars(self))
        origin = former.replaces or f"{former.name} ({former.fingerprint})"
        found.replaces = "" if origin == f"{self.name} ({self.fingerprint})" else origin
        return found

    def hiding(self, counts: Mapping[str, int], *, share: float, rare: int, seed: int) -> Dictionary:
        """The dictionary without a random share of the words that occur at most `rare` times in a corpus.

        If it had all words of the training corpus, a model would learn that there are no others.
        """
        chance = np.random.default_rng(seed).random(len(self))
        kept = [
            word
            for word, p in zip(self, chance.tolist(), strict=True)
            if p >= share or counts.get(word.word, 0) > rare
        ]
        return self._made_of(kept)

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What a model file stores: plain values and arrays."""
        header = {
            "name": self.name,
            "licence": self.licence,
            "replaces": self.replaces,
            "tags": list(self.tags),
        }
        return header, dict(zip(ARRAYS, self.native.arrays(), strict=True))

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Dictionary:
        """Restore a dictionary; the native core checks all of it."""
        found = cls.__new__(cls)
        alphabet, symbol, flags, frequency, tag = (arrays[name] for name in ARRAYS)
        found.native = _native.Dictionary(alphabet, symbol, flags, frequency, tag, list(header["tags"]))
        found.name, found.licence, found.replaces = (
            str(header[key]) for key in ("name", "licence", "replaces")
        )
        return found

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        return self.state()

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]) -> None:
        vars(self).update(vars(Dictionary.from_state(*state)))


def _unique(words: Iterable[ListedWord]) -> dict[str, ListedWord]:
    """One entry for each word: the most frequent, else the first."""
    found: dict[str, ListedWord] = {}
    for word in words:
        if isinstance(word, str):
            shown_word = words if isinstance(words, str) else word
            raise ConfigError(
                f"a dictionary takes a list of entries, not the string {shown(shown_word)}",
                f"write Dictionary([ListedWord({shown(shown_word)})])",
            )
        known = found.get(word.word)
        if known is None or word.frequency > known.frequency:
            found[word.word] = word
    return found


def _words_of(path: str | os.PathLike[str], shown_path: str) -> Iterator[ListedWord]:
    from duilian.corpus.files import read_lines

    for number, line in read_lines(path):
        if line.startswith("# ") or not line or line.isspace():
            continue
        try:
            yield parse_line(line)
        except ConfigError as error:
            raise CorpusError(shown_path, number, error.message, error.hint) from None


def parse_line(line: str) -> ListedWord:
    """Parse a line: word, frequency and tag, separated by white space; the last two are optional."""
    fields = line.split()
    if len(fields) > 3:
        hint = (
            "a line is: word frequency tag; text is always cut at spaces, so give each part a line of its own"
        )
        raise ConfigError(f"a word must not contain spaces, got {shown(' '.join(fields[:-2]))}", hint)
    word = _visible(fields[0])
    if not 0 < len(word) <= MAX_LENGTH:
        raise ConfigError(f"a word has 1 to {MAX_LENGTH} characters, got {shown(fields[0])}")
    return ListedWord(word, _frequency(fields[1]) if len(fields) > 1 else 1, *fields[2:])


def _frequency(field: str) -> int:
    is_number = field.isascii() and field.isdigit() and len(field) < 12
    if not is_number or not 1 <= int(field) <= MAX_FREQUENCY:
        hint = "a line is: word frequency tag"
        raise ConfigError(f"the frequency must be a whole number above 0, got {shown(field)}", hint)
    return int(field)


def _visible(word: str) -> str:
    """The word without invisible characters, which are in no unit."""
    if word.isalnum():  # as most words are; no letter is invisible
        return word
    return "".join(_native.split_words([check_text(word)], False, False)[0])
