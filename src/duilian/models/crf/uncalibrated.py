"""Taggers that learned by margins: all that a plain tagger answers, but for probabilities."""

from __future__ import annotations

from typing import Any, NoReturn

from duilian.errors import ConfigError
from duilian.lexicon import Lexicon
from duilian.models.crf.model import Sentences, Tagger


class UncalibratedTagger(Tagger):
    """A tagger whose scores are no probabilities."""

    def marginals(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        is_text: bool = False,
    ) -> NoReturn:
        """Not for this kind."""
        raise ConfigError(f"a model of kind {self.kind!r} has no probabilities", "use a model of kind crf")

    def k_best(
        self, sentence: Any, k: int, *, lexicon: Lexicon | None = None, is_text: bool = False
    ) -> NoReturn:
        """Not for this kind."""
        raise ConfigError(f"a model of kind {self.kind!r} has no n best", "use a model of kind crf")
