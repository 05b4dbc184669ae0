"""Analyses one after the other, in the forms that `duilian analyze` writes.

A form says what stands before the texts of an input, what is written for each text, and what at the end.
"""

from __future__ import annotations

import abc
import dataclasses
from typing import TYPE_CHECKING

from duilian.corpus import FORMATS, Sentence
from duilian.corpus.formats.registry import FormatOptions
from duilian.document import Doc
from duilian.views.exchange import brat, conllu_sentences, json_line, label_studio_task, span_line

if TYPE_CHECKING:
    from rich.console import Console


class Form(abc.ABC):
    """One form, for the words of one standard; `column` is that of its tags in CoNLL-U, if it has its own."""

    def __init__(self, standard: str, column: str | None = None) -> None:
        self.standard, self.column = standard, column

    def begin(self, name: str) -> str:
        """Before the texts of an input; a file has a name."""
        return ""

    @abc.abstractmethod
    def text(self, doc: Doc) -> str:
        """One text, which is a line of the input."""

    def end(self) -> str:
        """Behind the last text."""
        return ""


class Words(Form):
    """The words of a text in a line, with blanks between."""

    def text(self, doc: Doc) -> str:
        """A line."""
        return " ".join(doc.words(self.standard)) + "\n"


class Slash(Form):
    """The words and tags of a text in a line."""

    def text(self, doc: Doc) -> str:
        """A line."""
        lines = _written("slash", self.standard, conllu_sentences(doc, self.standard))
        return "  ".join(line.removesuffix("\n") for line in lines) + "\n"


class Json(Form):
    """JSON lines, with all standards of a text."""

    def text(self, doc: Doc) -> str:
        """A line."""
        return json_line(doc) + "\n"


class Spans(Form):
    """JSON lines for doccano."""

    def text(self, doc: Doc) -> str:
        """A line."""
        return span_line(doc, self.standard) + "\n"


class LabelStudio(Form):
    """A list of tasks in JSON: Label Studio wants one, lines are not enough for it."""

    def __init__(self, standard: str, column: str | None = None) -> None:
        super().__init__(standard, column)
        self._before = "[\n"

    def text(self, doc: Doc) -> str:
        """A task, unless there is nothing to annotate."""
        if not len(doc.layer(self.standard)):
            return ""
        before, self._before = self._before, ",\n"
        return before + label_studio_task(doc, self.standard)

    def end(self) -> str:
        """The end of the list, which may be empty."""
        return "[]\n" if self._before == "[\n" else "\n]\n"


class Brat(Form):
    """The lines of one `.ann` file: texts are parts of one document, places and numbers go on."""

    def __init__(self, standard: str, column: str | None = None) -> None:
        super().__init__(standard, column)
        self._first, self._offset = 1, 0

    def text(self, doc: Doc) -> str:
        """The words and relations of a text."""
        lines = brat(doc, self.standard, first=self._first, offset=self._offset)
        found = "".join(line + "\n" for line in lines)
        self._first += len(doc.layer(self.standard))
        self._offset += len(doc.text) + 1  # and the line break
        return found


class Conllu(Form):
    """CoNLL-U: a file is a document, a line a paragraph with its number; sentences are numbered through."""

    def __init__(self, standard: str, column: str | None = None) -> None:
        super().__init__(standard, column)
        self._before: tuple[str, ...] = ()
        self._lines = self._sentences = 0

    def begin(self, name: str) -> str:
        """Lines are counted anew."""
        self._lines = 0
        self._before = (f"# newdoc id = {' '.join(name.split())}",) if name else ()
        return ""

    def text(self, doc: Doc) -> str:
        """The sentences of a text."""
        self._lines += 1
        sentences = conllu_sentences(doc, self.standard, self.column, first=self._sentences + 1)
        if sentences and doc.given is None:
            before = (*self._before, f"# newpar id = {self._lines}")
            sentences[0] = dataclasses.replace(sentences[0], comments=(*before, *sentences[0].comments))
            self._before = ()
        self._sentences += len(sentences)
        return "".join(_written("conllu", self.standard, sentences))


class Pretty(Form):
    """Couplets and trees for a terminal, a blank line between texts."""

    def __init__(self, standard: str, console: Console) -> None:
        super().__init__(standard)
        self._console, self._before = console, ""

    def text(self, doc: Doc) -> str:
        """The sentences of a text."""
        from duilian.views.couplets import couplet  # rich is slow to import, and in a pipe not needed

        drawn = couplet(doc, self._console.width)
        if not drawn:
            return ""
        with self._console.capture() as shown:
            self._console.print(drawn, soft_wrap=True)
        before, self._before = self._before, "\n"
        return before + shown.get()


FORMS: dict[str, type[Form]] = {
    "conllu": Conllu,
    "json": Json,
    "slash": Slash,
    "spans": Spans,
    "label-studio": LabelStudio,
    "brat": Brat,
    "words": Words,
}
"""The forms that other programs read, by name."""


def _written(format: str, standard: str, sentences: list[Sentence]) -> list[str]:
    write = FORMATS[format].write
    assert write is not None
    return list(write(sentences, FormatOptions(standard=standard)))
