"""The forms in which `duilian analyze` writes analyses, by name.

A form is a class: it says what to write before the texts of an input, for each text, and at the end. Other
packages add forms with `register_form`, or by the entry-point group `duilian.forms`.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from duilian.corpus import FORMATS
from duilian.corpus.formats.lookup import FormatOptions
from duilian.corpus.formats.slash import plain_line
from duilian.document import Doc
from duilian.document.doc import WORDS_OF_A_PIECE
from duilian.document.export import conllu_blocks
from duilian.errors import ConfigError, did_you_mean
from duilian.lazy import plugins
from duilian.views.exchange import brat, label_studio_task, span_line

if TYPE_CHECKING:
    from rich.console import Console

    from duilian.engine import Analyzer

ENTRY_POINTS = "duilian.forms"


class Form(abc.ABC):
    """A form for the words of one standard; `column` overrides the tag column of CoNLL-U."""

    name: ClassVar[str] = ""
    shows_tags: ClassVar[bool] = True  # what is not shown is not computed
    shows_trees: ClassVar[bool] = True
    shows_all: ClassVar[bool] = True  # all standards, not one

    def __init_subclass__(cls, name: str = "") -> None:
        super().__init_subclass__()
        cls.name = name or cls.name

    def __init__(self, standard: str, column: str | None = None) -> None:
        self.standard, self.column = standard, column

    def begin(self, name: str) -> str:
        """Return what to write before the texts of an input; `name` is that of a file, else empty."""
        return ""

    @abc.abstractmethod
    def text(self, doc: Doc) -> str:
        """Return what to write for one text, that is, one line of the input."""

    def parts(self, doc: Doc) -> Iterator[str]:
        """Yield what `text` returns; forms that can write a long text piece by piece yield parts."""
        yield self.text(doc)

    def end(self) -> str:
        """Return what to write after the last text."""
        return ""


FORMS: dict[str, type[Form]] = {}
"""All forms by name."""


def register_form(form: type[Form]) -> type[Form]:
    """Register a form by its name, as in `class MyForm(Form, name="mine")`."""
    if not form.name or form.name in FORMS:
        raise ConfigError(f"the form name {form.name!r} is empty or taken")
    FORMS[form.name] = form
    return form


def find_form(name: str) -> type[Form]:
    """Return the form of this name."""
    if name not in FORMS:
        for plugin in plugins(ENTRY_POINTS, abc.ABCMeta):
            if issubclass(plugin, Form) and plugin.name not in FORMS:
                register_form(plugin)
    if name not in FORMS:
        raise ConfigError(f"unknown form {name!r}", did_you_mean(name, FORMS))
    return FORMS[name]


class PrettyForm(Form, name="pretty"):
    """Couplets and trees for a terminal, with a blank line between texts."""

    def __init__(self, standard: str, column: str | None = None, console: Console | None = None) -> None:
        super().__init__(standard, column)
        self._console, self._separator = console, ""

    def text(self, doc: Doc) -> str:
        from rich.console import Console  # slow to import, and not needed in a pipe

        from duilian.views.couplets import couplet

        console = self._console or Console(color_system=None)
        drawn = couplet(doc, console.width)
        if not drawn:
            return ""
        with console.capture() as shown:
            console.print(drawn, soft_wrap=True)
        separator, self._separator = self._separator, "\n"
        return separator + shown.get()


class ConlluForm(Form, name="conllu"):
    """CoNLL-U: each file is a document, each line a numbered paragraph; sentences are numbered throughout."""

    shows_all = False

    def __init__(self, standard: str, column: str | None = None) -> None:
        super().__init__(standard, column)
        self._comments: tuple[str, ...] = ()
        self._lines = self._sentences = 0

    def begin(self, name: str) -> str:
        """Begin a document and count its lines from 1."""
        self._lines = 0
        self._comments = (f"# newdoc id = {' '.join(name.split())}",) if name else ()
        return ""

    def text(self, doc: Doc) -> str:
        return "".join(self.parts(doc))

    def parts(self, doc: Doc) -> Iterator[str]:
        """Yield one sentence at a time."""
        self._lines += 1
        comments = (*self._comments, f"# newpar id = {self._lines}") if doc.given is None else ()
        number = self._sentences + 1
        for block in conllu_blocks(doc, self.standard, self.column, first=number, paragraph=comments):
            self._comments = ()
            self._sentences += 1
            yield block


class JsonForm(Form, name="json"):
    """JSON lines with all standards of a text."""

    def text(self, doc: Doc) -> str:
        return doc.to_json() + "\n"


class SlashForm(Form, name="slash"):
    """The words and tags of a text on one line."""

    shows_trees = shows_all = False

    def text(self, doc: Doc) -> str:
        return "".join(self.parts(doc))

    def parts(self, doc: Doc) -> Iterator[str]:
        """Yield one sentence at a time."""
        table = doc.layer(self.standard)
        if doc.given is None and table.tags is not None and 0 < len(table) <= WORDS_OF_A_PIECE:
            line = plain_line(table.words(doc.text), table.tags.tolist())
            if line is not None:
                yield line
                return
        write, separator = FORMATS["slash"].write, ""
        assert write is not None
        for piece in doc.only(self.standard).pieces():
            for line in write(piece.to_sentences(), FormatOptions(standard=self.standard)):
                yield separator + line.removesuffix("\n")
                separator = "  "
        yield "\n"


class SpansForm(Form, name="spans"):
    """JSON lines for doccano."""

    shows_trees = shows_all = False

    def text(self, doc: Doc) -> str:
        return span_line(doc, self.standard) + "\n"


class LabelStudioForm(Form, name="label-studio"):
    """A JSON list of tasks: Label Studio does not accept JSON lines."""

    shows_all = False

    def __init__(self, standard: str, column: str | None = None) -> None:
        super().__init__(standard, column)
        self._separator = "[\n"

    def text(self, doc: Doc) -> str:
        """Write a task, unless there is nothing to annotate."""
        if not len(doc.layer(self.standard)):
            return ""
        separator, self._separator = self._separator, ",\n"
        return separator + label_studio_task(doc, self.standard)

    def end(self) -> str:
        """Close the list, which may be empty."""
        return "[]\n" if self._separator == "[\n" else "\n]\n"


class BratForm(Form, name="brat"):
    """The lines of one `.ann` file: the texts form one document, so offsets and numbers continue."""

    shows_all = False

    def __init__(self, standard: str, column: str | None = None) -> None:
        super().__init__(standard, column)
        self._first, self._offset = 1, 0

    def text(self, doc: Doc) -> str:
        lines = brat(doc, self.standard, first=self._first, offset=self._offset)
        found = "".join(line + "\n" for line in lines)
        self._first += len(doc.layer(self.standard))
        self._offset += len(doc.text) + 1  # and the line break
        return found


class WordsForm(Form, name="words"):
    """The words of a text on one line, separated by spaces."""

    shows_tags = shows_trees = shows_all = False

    def text(self, doc: Doc) -> str:
        return " ".join(doc.words(self.standard)) + "\n"


class SvgForm(Form, name="svg"):
    """One picture of all texts, drawn at the end."""

    def __init__(self, standard: str, column: str | None = None) -> None:
        super().__init__(standard, column)
        self._docs: list[Doc] = []

    def text(self, doc: Doc) -> str:
        self._docs.append(doc)
        return ""

    def end(self) -> str:
        """Return the whole picture."""
        from duilian.views.pictures import picture  # needs rich, which is slow to import

        return picture(self._docs)


def form_standard(analyzer: Analyzer, form: str) -> str:
    """Return the default standard of a form: in CoNLL-U the one that has trees, else the first."""
    parser = analyzer.parser if form == ConlluForm.name else None
    return analyzer.standards[0] if parser is None else parser.standard


for _each in (
    PrettyForm,
    ConlluForm,
    JsonForm,
    SlashForm,
    SpansForm,
    LabelStudioForm,
    BratForm,
    WordsForm,
    SvgForm,
):
    register_form(_each)
