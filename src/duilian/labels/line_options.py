"""Options for the native code that labels whole files line by line."""

from __future__ import annotations

from duilian import _native
from duilian.labels.encoding import Encoding


def line_options(encoding: Encoding, between: str, before_tag: str) -> _native.LineOptions:
    """Options for `tag_lines`; `between` separates words, `before_tag` a word from its tag."""
    is_word = encoding.level == "word"
    split = [("", label) if is_word else encoding.boundaries.split(label) for label in encoding.labels]
    names = ["" if tag is None else tag for _, tag in split]
    starts = [True] * len(names) if is_word else encoding.succession.start.tolist()
    joins = (encoding.join_letters, encoding.join_digits)
    return _native.LineOptions(is_word, joins, names, starts, between, before_tag)
