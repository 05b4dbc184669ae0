"""What a model may offer besides its role: one protocol for each offer.

Those who can do without an offer ask with `isinstance` whether a model makes it; nobody else knows its class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from duilian.corpus import Layer
from duilian.features import Dictionary
from duilian.features.dictionary import DictionaryMode
from duilian.features.reading import Reading


@runtime_checkable
class OffersTraining(Protocol):
    """An estimator, which can answer only when it is trained."""

    def is_trained(self) -> bool:
        """Whether there is a model."""


@runtime_checkable
class OffersLabeler(Protocol):
    """An estimator that answers through a labeler."""

    @property
    def labeler(self) -> Any:
        """The model that answers, in the role of a `Labeler`."""


@runtime_checkable
class OffersLayers(Protocol):
    """An estimator that answers with annotated sentences."""

    def predict_layers(self, X: Any, *, threads: int = 1) -> list[Layer]:  # noqa: N803
        """The analysis of each sentence."""


@runtime_checkable
class OffersPruning(Protocol):
    """A parser that can tell which heads it has pruned."""

    @property
    def predictor_(self) -> Any:
        """What prunes and searches."""


@runtime_checkable
class OffersParts(Protocol):
    """Several models in one file."""

    @property
    def parts(self) -> Mapping[str, Any]:
        """A tagger, and perhaps a parser and a segmenter, by name."""


@runtime_checkable
class OffersFastSegmenter(Protocol):
    """A model that can also answer without tags, faster."""

    @property
    def fast_segmenter(self) -> Any:
        """The model for that."""


@runtime_checkable
class OffersDictionary(Protocol):
    """A model that can be given more words."""

    def use_dictionary(self, words: Dictionary, mode: DictionaryMode = "extend") -> Self:
        """Take words besides those of its own dictionary, or instead."""


@runtime_checkable
class OffersModes(Protocol):
    """A model that answers in several modes."""

    @property
    def answer_modes(self) -> tuple[str, ...]:
        """The names of the modes."""

    def of(self, mode: Any) -> Any:
        """The model in one of them."""


@runtime_checkable
class OffersConversions(Protocol):
    """A model that converts annotation."""

    @property
    def conversions(self) -> tuple[tuple[str, str], ...]:
        """The conversions it can do, as pairs (from, to)."""


@runtime_checkable
class OffersMapping(OffersConversions, Protocol):
    """A model that has learned which tags of two standards correspond."""

    @property
    def standards(self) -> tuple[str, ...]:
        """The standards."""

    def learned_mapping(self, *args: Any, **kwargs: Any) -> Any:
        """Expected counts of pairs of tags on sentences."""


@runtime_checkable
class OffersPruningProbabilities(Protocol):
    """A model that prunes labels by their probability before it searches."""

    @property
    def pruning_kind(self) -> str:
        """With what it prunes: `online`, `offline` or `mixed`."""

    def pruning_probabilities(
        self, layers: Sequence[Layer], standard: str, *, threads: int = 1
    ) -> npt.NDArray[np.float64]:
        """[units, labels] the probabilities by which it chooses."""


@runtime_checkable
class OffersTemplates(Protocol):
    """A model whose templates may ask for columns of a corpus besides words."""

    @property
    def templates_(self) -> Any:
        """The templates, with the names of their `columns`."""


@runtime_checkable
class OffersSegments(Protocol):
    """A model whose answers may be boundaries of chunks, scored as segments."""

    @property
    def scores_segments(self) -> bool:
        """Whether they are."""


@runtime_checkable
class OffersConfidence(Protocol):
    """A labeler that gives confidence even if nobody asks for it, since it comes at no cost."""

    @property
    def is_always_sure(self) -> bool:
        """Whether it does."""


@runtime_checkable
class OffersReading(Protocol):
    """A labeler that tells how it reads text, and what it has learned of alphabetic words."""

    @property
    def reading(self) -> Reading:
        """Folding and dictionary."""


@runtime_checkable
class OffersWayOut(Protocol):
    """A model that knows what to use instead of it."""

    @property
    def way_out(self) -> str:
        """A hint, or nothing."""


def conversions_of(model: Any) -> tuple[tuple[str, str], ...]:
    """The conversions that a model can do, as pairs (from, to)."""
    return model.conversions if isinstance(model, OffersConversions) else ()
