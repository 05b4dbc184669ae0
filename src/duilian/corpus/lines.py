"""Numbered lines, and the errors that formats raise for them.

A reader takes any iterable of (line number, line without its end) and yields sentences. It raises an error at
the first malformed line or block *after* consuming all of it, so a lenient caller can call it again on the
same iterator and continue with the next one: readers need not know about leniency.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from duilian.corpus.sentence import Layer, Sentence
from duilian.errors import ArgumentError, ConfigError, CorpusError

Lines = Iterable[tuple[int, str]]
Block = list[tuple[int, str]]


class Malformed(Exception):  # noqa: N818 - reads better where it is raised
    """An error in a piece of text whose line number is not known yet."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def at(self, path: str, line: int) -> CorpusError:
        """The same error with its place in the file."""
        return CorpusError(path, line, str(self), self.hint)


def blocks(lines: Lines) -> Iterator[Block]:
    """The runs of lines between blank lines."""
    block: Block = []
    for number, line in lines:
        if line and not line.isspace():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def layer_to_write(sentence: Sentence, standard: str | None) -> Layer:
    """The layer of this standard, or the first one; it must have words."""
    name = standard if standard is not None else next(iter(sentence), None)
    if name is None or not sentence[name].words:
        raise ConfigError("a sentence without words cannot be written in this format", "use the format jsonl")
    return sentence[name]


def shown(value: object) -> str:
    """The value as messages show it, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:50] + "…" + text[-1]


def unwritable(what: str, value: str, form: str) -> ConfigError:
    """The error for a word or tag that could not be read back unchanged."""
    return ConfigError(
        f"the {what} {shown(value)} cannot be written in the format {form}", "use the format jsonl"
    )


def sentences_only(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The same sentences; anything else among them is an error."""
    for number, each in enumerate(sentences, start=1):
        if not isinstance(each, Sentence):
            hint = "read a corpus, or write Sentence({'ctb': Layer(words)})"
            raise ArgumentError(
                f"sentences must be a list of Sentence, got {shown(each)} at place {number}", hint
            )
        yield each
