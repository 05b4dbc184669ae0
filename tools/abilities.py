"""Writes docs/models.md: what each kind of model can do, from the classes themselves.

    python tools/abilities.py > docs/models.md

A test compares the page with this output.
"""

from __future__ import annotations

import sys

from duilian.models.registry import KINDS, estimator_of
from duilian.models.roles import Ability

HEAD = """# What each kind of model can do

Made by `python tools/abilities.py` from the code. Every kind that finds words works with `dl.load`,
`duilian analyze`, `tag` and `segment`; what a kind cannot do is refused with a message that names the kind
and an alternative.
"""
COLUMNS = {
    Ability.WORDS: "words",
    Ability.TAGS: "tags",
    Ability.CONSTRAINTS: "lexicon, gap filling",
    Ability.MARGINALS: "probabilities",
    Ability.NBEST: "n best",
    Ability.TREES: "trees",
    Ability.CONVERSION: "conversion",
}
NOTES = """
- At word level, models take words separated by spaces and find only their tags. A model that only segments
  has no tags.
- `analyzer` puts a tagger of any kind that finds words, a parser of any kind, and perhaps a small
  segmenter into one file; it can do what its parts can.
- `multitask` with `expansion = "best"` has neither probabilities nor n-best lists.
- `guided` converts from the source's standard to its own, `coupled` between all of its standards.
- `two-chain` can tag given words, too (`--mode tag`), and cuts text fast by its chain of boundaries alone
  (`--fast`).
- A `joint-parser` chooses tags to go with the tree. In an analyser with a coupled tagger, it chooses among
  the tagger's tags, and the tags of the answer are always the parser's, with or without trees; with another
  tagger, they stay the tagger's.
- A `neural-parser` chooses tags, too, unless it was made to take the tagger's: among those of a coupled
  tagger, as a `joint-parser` does.
- The scores of `parser`'s n-best trees compare trees of one sentence; they are not probabilities.

A tagger of your own that implements `Labeler` ([`models/roles.py`](../src/duilian/models/roles.py)) works in
an analyser like ours: [`examples/foreign_tagger.py`](../examples/foreign_tagger.py). Other packages make
kinds of model files known by the entry-point group `duilian.models`: the name is the kind, the value
`module:Class`.
"""


def page() -> str:
    """The whole page."""
    head = f"| kind | {' | '.join(COLUMNS.values())} |"
    rows = [head, "| --- " * (len(COLUMNS) + 1) + "|", *map(row, KINDS)]
    return "\n".join([HEAD, *rows, NOTES])


def row(kind: str) -> str:
    """The abilities of a kind."""
    can = estimator_of(kind).abilities
    return f"| `{kind}` | {' | '.join('✓' if each in can else '' for each in COLUMNS)} |"


if __name__ == "__main__":
    sys.stdout.write(page())
