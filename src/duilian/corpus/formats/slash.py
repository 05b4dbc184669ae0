"""`word/TAG` lines, as in the People's Daily corpus of Peking University.

    19980101-01-001-002/m  [中央/n  电台/n]nt  的{de5}/u  新/a  世纪/n  。/w

Kept: the paragraph id, bracketed names (as entities), readings in braces (as the column "pinyin").
Two escapes distinguish odd words from that syntax: a word that is longer than `[` and starts with it gets a
leading backslash, and a word that itself ends like a reading gets the empty reading `{}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from sys import intern

from duilian.corpus.formats.inline import InlineTags, known_tags, tokens_of
from duilian.corpus.lines import Lines, Malformed, layer_to_write, shown, unwritable
from duilian.corpus.sentence import NO_COLUMNS, Entity, Layer, Sentence
from duilian.corpus.tag_spelling import UNKNOWN, format_tags
from duilian.errors import ConfigError

_JOINED = InlineTags("/", "slash")
_PARAGRAPH_ID = re.compile(r"[0-9]{8}-[0-9]{2}-[0-9]{3}-[0-9]{3}(?:\.[0-9]+)?")
_MARKUP = re.compile(r"[\[\]{\\]")
_ESCAPED = re.compile(r"\\+\[")
_NEEDS_ESCAPE = re.compile(r"\\*\[")
_READING = re.compile(r"(.+)\{([^{}]*)\}", re.DOTALL)
# All that may have to be escaped or refused, in words or tags: brackets, blanks, what ids of paragraphs and
# unknown tags are written with, and a few more.
_PECULIAR = re.compile(r"[\0\s\[\]{}\\/?_-]")
_UNSAFE_READING = re.compile(r"[\0 \t\r\n{}]")


def read_slash(lines: Lines, *, path: str, standard: str, may_lack_tags: bool = False) -> Iterator[Sentence]:
    """Read one sentence per line; blank lines are skipped."""
    for number, line in lines:
        if not line or line.isspace():
            continue
        try:
            yield _parse_line(line, standard, may_lack_tags)
        except Malformed as problem:
            raise problem.at(path, number) from None


def _parse_line(line: str, standard: str, may_lack_tags: bool) -> Sentence:
    pairs = None if _MARKUP.search(line) else _JOINED.split_plain(line)
    if pairs is None:
        return _parse_markup(line, standard, may_lack_tags)
    id = ""
    if pairs[1] == "m" and _PARAGRAPH_ID.fullmatch(pairs[0]):
        id = pairs[0]
        del pairs[:2]
        _reject_lone_id(id, pairs)
    layer = Layer(tuple(map(intern, pairs[::2])), known_tags(pairs[1::2]))
    return Sentence({standard: layer}, id)


def _reject_lone_id(id: str, rest: list[str]) -> None:
    if not rest:
        raise Malformed(f"no word follows the paragraph id {id}")


class _BracketedNames:
    """Collects the bracketed names of one line, token by token."""

    def __init__(self) -> None:
        self.found: list[Entity] = []
        self.start: int | None = None

    def open(self, token: str, position: int) -> str:
        """Strip the bracket that opens a name before the token, if any."""
        while _opens_name(token):
            if self.start is not None:
                raise Malformed(
                    "a bracketed name inside another one", "a name starts at [ and ends at ]LABEL"
                )
            self.start, token = position, token[1:]
        return token

    def close(self, token: str, position: int) -> str:
        """Strip `]LABEL` (some releases have `]/LABEL`) after the token, if any."""
        word, _, tag = token.rpartition("/")
        if "]" in tag:
            token, _, label = token.rpartition("]")
        elif self.start is not None and word[-1:] == "]" and "/" in word:
            token, label = word[:-1], tag
        else:
            return token
        if self.start is None:
            raise Malformed(f"the bracket in {shown(tag)} closes nothing")
        if not label or "]" in token.rpartition("/")[2]:
            raise Malformed(f"the bracketed name that ends here has no valid label: {shown(tag)}")
        self.found.append(Entity(self.start, position + 1, intern(label)))
        self.start = None
        return token


def _opens_name(token: str) -> bool:
    return token[0] == "[" and len(token) > 1 and token.rpartition("/")[0] != "["


def _parse_markup(line: str, standard: str, may_lack_tags: bool) -> Sentence:
    tokens, id, names = tokens_of(line), "", _BracketedNames()
    if tokens[0].endswith("/m") and _PARAGRAPH_ID.fullmatch(tokens[0], 0, len(tokens[0]) - 2):
        id = tokens.pop(0)[:-2]
        _reject_lone_id(id, tokens)
    words, tags, readings = [], [], []
    for position, token in enumerate(tokens):
        token = names.close(names.open(token, position), position)
        word, tag = _JOINED.split(token, may_lack_tag=may_lack_tags)
        word, reading = _split_reading(word[1:] if _ESCAPED.match(word) else word)
        words.append(intern(word))
        tags.append(tag)
        readings.append(intern(reading))
    if names.start is not None:
        raise Malformed(f"the bracket before {shown(words[names.start])} is never closed")
    columns = {"pinyin": tuple(readings)} if any(readings) else NO_COLUMNS
    layer = Layer(tuple(words), known_tags(tags), columns=columns, entities=tuple(names.found))
    return Sentence({standard: layer}, id)


def _split_reading(word: str) -> tuple[str, str]:
    match = _READING.fullmatch(word) if word[-1] == "}" else None
    return (match[1], match[2]) if match else (word, "")


def write_slash(sentences: Iterable[Sentence], *, standard: str | None = None) -> Iterator[str]:
    """Write one line per sentence; an id is written only if it has the form of this corpus."""
    for sentence in sentences:
        layer = layer_to_write(sentence, standard)
        tokens = _tokens(layer)
        if _PARAGRAPH_ID.fullmatch(sentence.id):
            tokens.insert(0, f"{sentence.id}/m")
        elif tokens[0].endswith("/m") and _PARAGRAPH_ID.fullmatch(layer.words[0]):
            raise unwritable("first word", layer.words[0], "slash")
        yield "  ".join(tokens) + "\n"


def plain_line(words: Sequence[str], tags: Sequence[str]) -> str | None:
    """Return the line that `write_slash` makes of words and tags if nothing in them needs a closer look."""
    if "" in words or _PECULIAR.search("".join(words)):
        return None
    if any(not tag or _PECULIAR.search(tag) for tag in set(tags)):
        return None
    return "  ".join([f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)]) + "\n"


def _tokens(layer: Layer) -> list[str]:
    words = _spelled_words(layer)
    tags = format_tags(layer.tags, len(words), UNKNOWN)
    _JOINED.check_all(words, tags)
    for tag in set(tags):
        if "]" in tag:
            raise unwritable("tag", tag, "slash")
    tokens = [f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)]
    free_from = 0
    for entity in sorted(layer.entities, key=lambda entity: entity.start):
        _check_entity(entity, free_from, words)
        tokens[entity.start] = "[" + tokens[entity.start]
        tokens[entity.end - 1] += "]" + entity.label
        free_from = entity.end
    return tokens


def _spelled_words(layer: Layer) -> list[str]:
    readings = layer.columns.get("pinyin")
    if readings is None:
        together = "".join(layer.words)
        if "[" not in together and "{" not in together:  # nearly always
            return list(layer.words)
        readings = ("",) * len(layer)
    return [_spell(word, reading) for word, reading in zip(layer.words, readings, strict=True)]


def _spell(word: str, reading: str) -> str:
    if _UNSAFE_READING.search(reading):
        raise unwritable("reading", reading, "slash")
    if not word:
        return word
    spelled = f"{word}{{{reading}}}" if reading or _READING.fullmatch(word) else word
    return "\\" + spelled if spelled != "[" and _NEEDS_ESCAPE.match(spelled) else spelled


def _check_entity(entity: Entity, free_from: int, words: list[str]) -> None:
    if not free_from <= entity.start < entity.end <= len(words):
        raise ConfigError(f"{entity} overlaps another or is outside the sentence: slash cannot represent it")
    if not entity.label or re.search(r"[\0 \t\r\n\]/]", entity.label):
        raise unwritable("entity label", entity.label, "slash")
    for word in words[entity.start : entity.end]:
        if word[-1] == "]" and "/" in word:
            raise unwritable("word inside a name", word, "slash")
