"""Valid text, and the types of its characters."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Literal

from duilian import _native
from duilian.errors import ConfigError, TextError

Errors = Literal["strict", "replace"]
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_text(text: str, errors: Errors = "strict") -> str:
    """Return the text if it is valid, else raise a TextError that names the place; with `errors="replace"`,
    return it with U+FFFD for each lone surrogate.
    """
    if errors not in ("strict", "replace"):
        raise ConfigError(f"errors must be 'strict' or 'replace', got {errors!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        if errors == "replace":
            return _SURROGATE.sub("\ufffd", text)
        raise TextError(
            f"the character at offset {error.start} of the text is a lone surrogate ({text[error.start]!r})",
            hint="use errors='replace' to put U+FFFD there, or find out where the other half was lost",
        ) from None
    except AttributeError:
        hint = "decode it: data.decode()" if isinstance(text, bytes) else ""
        raise TextError(f"a text must be a str, not {type(text).__name__}", hint) from None
    return text


def char_types(text: str) -> list[str]:
    """The type of every character: digit, letter, han, punct, space, emoji or other."""
    return _native.char_types(check_text(text))


@functools.lru_cache(maxsize=100_000)
def is_punctuation(word: str) -> bool:
    """Whether every character is punctuation (Unicode category P)."""
    return all(unicodedata.category(character)[0] == "P" for character in word)
