"""Features of UD Chinese that follow from words and tags: 他们 as `PRON+PRP` is `Number=Plur|Person=3`.

The table `ud.features.tsv` has a line for each rule; those that need more than the word are left out.
"""

from __future__ import annotations

import functools
import re

from duilian.errors import StandardError
from duilian.standards.paired_tags import paired
from duilian.standards.standard import table_file

FILE = "ud.features.tsv"
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


@functools.cache
def _rules() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    rules: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for number, line in enumerate(table_file(FILE).read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != 3:
            raise StandardError(f"{FILE}:{number}: expected 3 columns, found {len(cells)}")
        pair, pattern, features = cells
        rules.setdefault(pair, []).append((re.compile(pattern), features))
    return rules
