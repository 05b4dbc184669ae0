"""What `word/TAG` and `word_TAG` share: lines of words, each joined to its tag by a separator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from sys import intern

from duilian.corpus.lines import Malformed, shown, unwritable
from duilian.corpus.sentence import Tag
from duilian.corpus.tag_spelling import UNKNOWN, UNKNOWN_FIELD, parse_tag

_SPACES = re.compile(r"[ \t]+")
_PROBABILITY = re.compile(r":[01]\.[0-9]+$")
_UNSAFE = re.compile(r"[\0 \t\r\n]")


class InlineTags:
    """Words joined to tags by a sign, such as `/`: the last in a token separates, or is the tag: `他//`.

    A tag may be followed by its probability, as in `他/r:0.9731`.
    """

    def __init__(self, sign: str, form: str) -> None:
        self.sign = sign
        self.form = form
        # Possessive, so a line that does not match costs no more than one that does.
        side = rf"[^\s{re.escape(sign)}]++"
        self._plain = re.compile(rf" *+(?:{side}{re.escape(sign)}{side} *+)++")

    def split_plain(self, line: str) -> list[str] | None:
        """[word, tag, word, tag, …] if every token has exactly one sign; if None, use `split`.

        This path is fast: all its loops run inside Python's string methods.
        """
        if self._plain.fullmatch(line) is None:
            return None
        return line.replace(self.sign, " ").split()

    def split(self, token: str, *, may_lack_tag: bool = False) -> tuple[str, str]:
        """The word and the tag, both as text, of one token."""
        word, sign, tag = token.rpartition(self.sign)
        if not sign:
            if may_lack_tag:
                return token, UNKNOWN
            hint = f"write word{self.sign}? if its tag is unknown"
            raise Malformed(f"the word {shown(token)} has no tag", hint)
        if word[-1:] == self.sign and (not tag or _PROBABILITY.fullmatch(tag)):
            word, tag = word[:-1], self.sign + tag
        if not word or not tag:
            raise Malformed(f"{shown(token)} has an empty {'tag' if word else 'word'}")
        return word, tag

    def check_all(self, words: Sequence[str], tags: Sequence[str]) -> None:
        """Reject what `split` could not read back."""
        known = set(tags)  # few
        is_safe = "" not in words and not _UNSAFE.search("".join(words))
        if not is_safe or "" in known or self.sign in "".join(known) or _UNSAFE.search("".join(known)):
            for word, tag in zip(words, tags, strict=True):
                self.check(word, tag)

    def check(self, word: str, tag: str) -> None:
        """Reject a word or tag that `split` could not read back."""
        if not word or _UNSAFE.search(word):
            raise unwritable("word", word, self.form)
        is_split = self.sign in tag and _PROBABILITY.sub("", tag) != self.sign
        if not tag or is_split or _UNSAFE.search(tag):
            raise unwritable("tag", tag, self.form)


def tokens_of(line: str) -> list[str]:
    """Split a line at spaces and tabs; other white space belongs to words."""
    return [token for token in _SPACES.split(line) if token]


def known_tags(texts: list[str]) -> tuple[Tag, ...] | None:
    """Parse the tags of a line; None if all are unknown. Both `_` and `?` mean unknown."""
    names = set(texts)
    if names.isdisjoint((UNKNOWN, UNKNOWN_FIELD)) and not any(text[0] == "{" for text in names):
        return tuple(map(intern, texts))
    tags = tuple([None if text == UNKNOWN_FIELD else parse_tag(text, UNKNOWN) for text in texts])
    return None if all(tag is None for tag in tags) else tags
