"""Makes a list of English words for [mixing] of a recipe: how they are used, and how often.

    pip install wordfreq textblob lemminflect
    python tools/english_list.py > english-words.txt

A line is `word frequency tag`. Words are the most frequent ones of `wordfreq`, in lower case, with
frequencies per 100 million words. The tag is e followed by the uses of a word, the usual one first: n noun,
v verb, a adjective, d adverb, p name, o anything else (`check` is env). The usual use is that of `textblob`,
whose lexicon is Brill's, the others are those of `lemminflect`. The list is under CC BY-SA 4.0, as is
wordfreq; the other two are under the MIT licence.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import importlib.resources
import sys
from collections.abc import Iterable, Iterator, Mapping

WORDS = 20_000
PER_WORD = 1e8
PENN = {"NNP": "p", "NN": "n", "VB": "v", "JJ": "a", "RB": "d"}  # by the beginning of the tag
LEMMAS = {"propn": "p", "noun": "n", "verb": "v", "adj": "a", "adv": "d", "aux": "o"}
HEAD = """# English words with frequencies of wordfreq and uses of textblob and lemminflect.
# Made by tools/english_list.py. Licence: CC BY-SA 4.0 (wordfreq), MIT (textblob, lemminflect).
"""


def usual_uses(lines: Iterable[str]) -> dict[str, str]:
    """The usual use of each word, by its spelling, from Brill's lexicon."""
    pairs = (line.split() for line in lines if not line.startswith(";;;"))
    return {
        pair[0]: next((use for start, use in PENN.items() if pair[1].startswith(start)), "o")
        for pair in pairs
        if len(pair) == 2
    }


def possible_uses(lines: Iterable[str]) -> dict[str, str]:
    """All uses of each word, from lines `word,use,lemma`."""
    found: dict[str, set[str]] = {}
    for line in lines:
        word, use, _ = line.split(",", 2)
        found.setdefault(word, set()).add(LEMMAS.get(use, "o"))
    return {word: "".join(sorted(uses, key="nvadpo".index)) for word, uses in found.items()}


def tag_of(word: str, usual: Mapping[str, str], possible: Mapping[str, str]) -> str:
    """The tag of a word in lower case; empty if nothing is known about it."""
    spellings = (word, word.capitalize(), word.upper())
    first = next((usual[each] for each in spellings if each in usual), "")
    others = "".join(use for use in possible.get(word, "") if use in "nva" and use != first)
    return f"e{first}{others}" if first or others else ""


def lines(
    frequency: Mapping[str, float], usual: Mapping[str, str], possible: Mapping[str, str], count: int
) -> Iterator[str]:
    """The lines of the list, by word."""
    words = [word for word in frequency if word.isascii() and word.isalpha() and len(word) > 1]
    words.sort(key=lambda word: (-frequency[word], word))
    for word in sorted(words[:count]):
        if tag := tag_of(word, usual, possible):
            yield f"{word} {max(1, round(PER_WORD * frequency[word]))} {tag}\n"


def main() -> None:
    """Write the list to standard output."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=WORDS, help=f"how many words to look at ({WORDS})")
    options = parser.parse_args()
    frequency = importlib.import_module("wordfreq").get_frequency_dict("en")
    lexicon = importlib.resources.files("textblob") / "en" / "en-lexicon.txt"
    lemmas = importlib.resources.files("lemminflect") / "resources" / "lemma_lu.csv.gz"
    usual = usual_uses(lexicon.read_text(encoding="utf-8").splitlines())
    possible = possible_uses(gzip.decompress(lemmas.read_bytes()).decode().splitlines())
    sys.stdout.write(HEAD)
    sys.stdout.writelines(lines(frequency, usual, possible, options.words))


if __name__ == "__main__":
    main()
