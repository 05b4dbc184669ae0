"""Tables of rules for UD Chinese: features that follow from words and tags, universal tags from relations.

他们 as `PRON+PRP` has the features `Number=Plur|Person=3` (`ud.features.tsv`, without features that need more
than the word). 的 is `SCONJ` as `mark:rel`, but `PART` as `case` (`ud.relations.tsv`): a tagger does not see
the tree, so the tree decides if an analysis has one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from duilian.errors import StandardError
from duilian.standards.paired_tags import paired
from duilian.standards.standard import table_file

FEATURES, RELATIONS = "ud.features.tsv", "ud.relations.tsv"
OTHERS = "*"
NONE = "_"


@functools.lru_cache(maxsize=1 << 14)
def universal_features(word: str, universal: str, specific: str) -> str:
    """Return the features of a word with these tags as CoNLL-U writes them, `_` if it has none.

    >>> universal_features("他们", "PRON", "PRP"), universal_features("第三", "NUM", "CD")
    ('Number=Plur|Person=3', 'NumType=Ord')
    >>> universal_features("山", "NOUN", "NN")
    '_'
    """
    rules = _rules().get(paired(universal, specific), ())
    return next((features for pattern, features in rules if pattern.fullmatch(word)), NONE)


def universal_under(relation: str | None, universal: str, specific: str) -> str:
    """Return the universal tag that a relation requires, or the one given if it requires none.

    >>> universal_under("mark:rel", "PART", "DEC"), universal_under("nsubj", "NOUN", "NN")
    ('SCONJ', 'NOUN')
    """
    rules = _under_relations()
    if relation is None:
        return universal
    return rules.get((specific, relation)) or rules.get((specific, OTHERS), universal)


@functools.cache
def _rules() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    rules: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for pair, pattern, features in _rows(FEATURES):
        rules.setdefault(pair, []).append((re.compile(pattern), features))
    return rules


@functools.cache
def _under_relations() -> dict[tuple[str, str], str]:
    return {(specific, relation): universal for specific, relation, universal in _rows(RELATIONS)}


def _rows(name: str) -> Iterator[list[str]]:
    for number, line in enumerate(table_file(name).read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != 3:
            raise StandardError(f"{name}:{number}: expected 3 columns, found {len(cells)}")
        yield cells
