"""Errors that a user can fix, each one sentence and perhaps a hint.

Library code raises them; only `cli/` turns them into an exit status.
"""

from __future__ import annotations

from collections.abc import Iterable


class DuilianError(Exception):
    """An error that the user can fix.

    >>> print(DuilianError("no model 'x'", "did you mean 'y'?"))
    no model 'x'
      hint: did you mean 'y'?
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class ConfigError(DuilianError):
    """An invalid setting: a wrong value or an unknown name."""


class ArgumentError(ConfigError, TypeError, ValueError):
    """An argument of the wrong type, or a count below 1; the message begins with its name."""


class MissingFileError(ConfigError, FileNotFoundError):
    """A file that does not exist; the message starts with the path."""

    def __init__(self, path: str, hint: str = "") -> None:
        super().__init__(f"{path or repr(path)}: no such file or directory", hint)
        self.filename = path


class NotFittedError(ConfigError, AttributeError):
    """A call to a model that has not been trained; also an AttributeError, as scikit-learn expects."""


class CorpusError(DuilianError):
    """A corpus file that violates its format; the message starts with `path:line:`."""

    def __init__(self, path: str, line: int, message: str, hint: str = "") -> None:
        super().__init__(f"{path}:{line}: {message}", hint)
        self.path = path
        self.line = line


class UnknownFormatError(CorpusError):
    """A file whose format shows neither in its name nor in its content."""

    def __init__(self, path: str, line: int, hint: str) -> None:
        super().__init__(path, line, "cannot tell the format of this file", hint)


class AnnotationError(DuilianError):
    """Given annotation that cannot be completed; `sentence` and `word` are counted from 0."""

    def __init__(self, sentence: int, word: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.sentence = sentence
        self.word = word

    def __str__(self) -> str:
        return f"sentence {self.sentence + 1}, word {self.word + 1}: {super().__str__()}"


class TextError(DuilianError):
    """A string that is not valid text, such as one with lone surrogates."""


class TemplateError(DuilianError):
    """A feature template that does not parse; the message starts with `name:line:column:`."""


class StandardError(DuilianError):
    """An unknown standard, tag or mapping."""


class ModelFileError(DuilianError):
    """A file that is not a complete, valid model; the message starts with the path."""

    def __init__(self, path: str, message: str, hint: str = "") -> None:
        super().__init__(f"{path}: {message}", hint)
        self.path = path


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the hint for an unknown name: the most similar known one, or all of them.

    >>> did_you_mean("pkv", ["pku", "ud"]), did_you_mean("csv", ["svg", "json"])  # csv is no slip
    ("did you mean 'pku'?", 'choose one of: svg, json')
    """
    import difflib  # slow: only slips need it

    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    if len(name) < 4 and near and near[0][0] != name[0]:
        near = []
    return f"did you mean {near[0]!r}?" if near else f"choose one of: {', '.join(names)}"
