"""Checks of the declared standard of a corpus: unknown tags, and a name that looks like a typing error.

Users may name standards of their own; only the tags of built-in ones and of `.toml` files are known. So a
suspicious name or tag causes a warning, never an error.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections import Counter
from collections.abc import Callable

from duilian.corpus.sentence import Layer, Tag
from duilian.standards import Standard, standard_names, universal_of
from duilian.wording import counted


class ForeignTags:
    """The tags of a corpus that its standard does not have, their counts, and the first word with one."""

    def __init__(self, standard: str) -> None:
        self.standard = standard
        self.counts: Counter[str] = Counter()
        self.first = ""  # as in `corpus.txt:12: 来_VV1`

    def add(self, layer: Layer, place: Callable[[int], str] = str) -> None:
        """Count the foreign tags of a layer; `place` says where a word is."""
        known, tags = known_tags(self.standard), layer.tags or ()
        if known is None or known.issuperset(tags):
            return
        for word, tag in enumerate(tags):
            names = (tag,) if isinstance(tag, str) else sorted(tag or ())
            foreign = [name for name in names if universal_of(name) not in known]
            self.counts.update(foreign)
            if foreign and not self.first:
                self.first = f"{place(word)}: {layer.words[word]}_{foreign[0]}"

    @property
    def is_known(self) -> bool:
        """Whether the tags of the standard are known."""
        return known_tags(self.standard) is not None

    @property
    def warnings(self) -> list[str]:
        """What the user should know, one line each."""
        slip = likely_slip(self.standard)
        return [slip] * bool(slip) + [str(self)] * bool(self.counts)

    def __str__(self) -> str:
        tags = ", ".join(f"{tag} {count}" for tag, count in self.counts.most_common(5))
        more = ", …" if len(self.counts) > 5 else ""
        total = self.counts.total()
        words = counted(total, "word has a tag", "words have tags")
        return f"{self.first}: {words} that {self.standard!r} does not have ({tags}{more})"


@functools.cache
def known_tags(standard: str) -> frozenset[Tag] | None:
    """The tags of a built-in standard or of a `.toml` file, and None, for a word without a tag.

    None for any other standard.
    """
    is_file = standard.endswith(".toml") and os.path.isfile(standard)
    found = Standard.load(standard) if is_file or standard in standard_names() else None
    return None if found is None or found.tags is None else frozenset((*found.tags, None))


def likely_slip(standard: str) -> str:
    """A warning if the name of a standard is one typing error away from a built-in one; else empty.

    `ctb5` and the like are names, not slips.
    """
    name, known = standard.lower(), standard_names()
    if standard in known or standard.rstrip("0123456789") in known:
        return ""
    near = next((each for each in known if _is_one_slip(name, each)), None)
    return f"the standard {standard!r} is not built in; did you mean {near!r}?" if near else ""


def _is_one_slip(name: str, known: str) -> bool:
    """Whether one letter is missing, added or wrong, or two have changed places."""
    if len(known) < 3 and len(name) < 3:  # too short to judge
        return name == known
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(name, known, strict=False))
    first = len(list(same))  # letter that differs
    a, b = name[first:], known[first:]
    return a[1:] in (b, b[1:]) or a == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])
