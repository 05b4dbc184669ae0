"""Checks that every analysis must pass."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from duilian.document import Doc
from duilian.text import units

NASTY = [
    "\u200b",
    "\ufeff",
    "e\u0301",
    "👩\u200d👩\u200d👧",
    "\x00",
    " ",
    "\n",
    "\u3000",
    "中",
    "国",
    "a",
    "。",
    "１",
    "\U00020000",
]


def covered(doc: Doc, standard: str) -> list[str]:
    """Return the text between tokens."""
    edges = [0, *itertools.chain(*((t.start, t.end) for t in doc.tokens(standard))), len(doc.text)]
    return [doc.text[edges[k] : edges[k + 1]] for k in range(0, len(edges), 2)]


def check(doc: Doc) -> None:
    visible = "".join(doc.text[a:b] for a, b in units(doc.text).tolist())
    for standard in doc.standards:
        tokens = doc.tokens(standard)
        assert all(doc.text[t.start : t.end] == t.text and t.text for t in tokens)
        assert all(a.end <= b.start for a, b in itertools.pairwise(tokens))
        assert not any(c in visible for gap in covered(doc, standard) for c in gap if not c.isspace())
        assert [t for part in doc.sentences(standard) for t in part] == tokens
        assert not any(c.isspace() for t in tokens for c in t.text)
    for a, b in itertools.permutations(doc.standards, 2):
        groups = doc.align(a, b)
        assert [k for group in groups for k in group.a] == list(range(len(doc.tokens(a))))
        assert [k for group in groups for k in group.b] == list(range(len(doc.tokens(b))))
        for group in groups:
            assert doc.layer(a).start[group.a[0]] == doc.layer(b).start[group.b[0]]
            assert doc.layer(a).end[group.a[-1]] == doc.layer(b).end[group.b[-1]]


def is_tree(heads: Sequence[int | None]) -> bool:
    """Check that there is one root, which all words depend on."""
    for start in range(1, len(heads) + 1):
        at, steps = start, 0
        while at:
            at, steps = heads[at - 1] or 0, steps + 1
            if steps > len(heads):
                return False
    return heads.count(0) == 1
