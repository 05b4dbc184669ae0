"""What models of several standards have in common."""

from __future__ import annotations

import abc
from collections.abc import Sequence

from duilian.arguments import checked
from duilian.corpus import Layer
from duilian.models.base.sentences import Sentences
from duilian.models.base.standard_tagger import StandardTagger


class SeveralStandards(abc.ABC):
    """Answers in one of its standards, the first if none is named."""

    standards: Sequence[str]

    @abc.abstractmethod
    def of(self, standard: str) -> StandardTagger:
        """The model as a tagger for one standard."""

    @checked
    def predict_layers(
        self,
        X: Sentences,  # noqa: N803
        standard: str | None = None,
        *,
        threads: int = 1,
    ) -> list[Layer]:
        """The analysis of each sentence in one standard."""
        return self.of(standard or self.standards[0]).predict_layers(X, threads=threads)

    @checked
    def predict(
        self,
        X: Sentences,  # noqa: N803
        standard: str | None = None,
        *,
        threads: int = 1,
    ) -> list[list[str]]:
        """The tags of the words of each sentence in one standard."""
        return self.of(standard or self.standards[0]).predict(X, threads=threads)
