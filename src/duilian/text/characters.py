"""What is text at all, and the types of its characters."""

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
    """The text itself, or a TextError that says where it is no text; with `errors="replace"` the text with
    U+FFFD for each of its lone surrogates.
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
            hint="errors='replace' puts U+FFFD there; or find out where the other half was lost",
        ) from None
    except AttributeError:
        hint = "decode it: data.decode()" if isinstance(text, bytes) else ""
        raise TextError(f"a text is a str, not {type(text).__name__}", hint) from None
    return text


def char_types(text: str) -> list[str]:
    """The type of every character: digit, letter, han, punct, space, emoji or other."""
    return _native.char_types(check_text(text))


@functools.lru_cache(maxsize=100_000)
def is_punctuation(word: str) -> bool:
    """Whether every character is punctuation (Unicode category P)."""
    return all(unicodedata.category(character)[0] == "P" for character in word)
