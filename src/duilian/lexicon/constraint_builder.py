"""Constraints on the labels of sentences, from the user's lexicon and from the text itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian import text as texts
from duilian.corpus import Layer
from duilian.labels.encoding import Encoding
from duilian.lexicon.constraints import ConstrainedWord
from duilian.lexicon.lexicon import Lexicon

NO_CONSTRAINTS = _native.Constraints(
    _native.TagSets(np.array([0], np.int32), np.array([], np.int32)),
    np.array([], np.int64),
    np.array([], np.int32),
    np.array([], np.float32),
)


def constraints_for(
    encoding: Encoding,
    lexicon: Lexicon | None,
    units: Sequence[Sequence[str]],
    layers: Sequence[Layer],
    *,
    standard: str,
    is_text: bool = False,
) -> _native.Constraints:
    """The constraints that a lexicon puts on the labels of these sentences. If they are text (each the only
    word of its layer), white space ends words too, and spans that stay whole are not cut unless the lexicon
    has a word there.
    """
    is_word = encoding.level == "word"
    is_text = is_text and not is_word
    if lexicon is None and not is_text:
        return NO_CONSTRAINTS
    gaps = [
        [] if is_word else encoding.gaps(layer.words, each) for layer, each in zip(layers, units, strict=True)
    ]
    words = Lexicon() if lexicon is None else lexicon
    constrained = words.constraints(encoding, standard, units, gaps, cut_at_gaps=is_text).native()
    if not is_text:
        return constrained
    matches = [[]] * len(units) if lexicon is None else lexicon.matched(units, gaps)
    known = [_unit_facts(layer.text, encoding, own) for layer, own in zip(layers, matches, strict=True)]
    return constrained.restricted(np.concatenate([np.zeros(0, np.uint8), *known]), encoding.barred_by())


def _unit_facts(text: str, encoding: Encoding, words: Sequence[ConstrainedWord]) -> npt.NDArray[np.uint8]:
    joins = encoding.join_letters, encoding.join_digits
    found = texts.split([text], joins, texts.WHOLE_KINDS, is_one_sentence=True)
    for part in found.wholes:
        if any(word.start < part.end and part.start < word.end for word in words):
            found.known[part.start : part.end + 1] = 0
    return found.known
