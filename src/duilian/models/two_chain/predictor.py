"""Two chains compiled for answering, in three modes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.features import CliqueTemplates
from duilian.labels.encoding import Level
from duilian.labels.segments import ChunkSegments, Ints, WordSegments
from duilian.models.base.estimator import State
from duilian.models.base.sentences import Sentences
from duilian.models.base.standard_tagger import StandardTagger
from duilian.models.two_chain.config import Mode
from duilian.models.two_chain.storage import TwoChainModel, TwoChainPacker

if TYPE_CHECKING:
    from duilian.models.two_chain.labeler import TwoChainLabeler

NO_LETTERS = np.zeros(0, np.int32)


@dataclasses.dataclass(frozen=True)
class TwoChainPredictor(StandardTagger):
    """Answers of two chains in one mode."""

    standard: str
    level: Level
    packer: TwoChainPacker
    native: _native.TwoChainPredictor
    model: TwoChainModel = dataclasses.field(compare=False, repr=False)
    mode: Mode = "joint"
    notes_: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the model as its file stores it, the mode and the notes, for other processes."""
        return _restored, (self.model.state(), self.mode, dict(self.notes_))

    @classmethod
    def of(cls, model: TwoChainModel) -> TwoChainPredictor:
        """Compile a model."""
        packer, config = model.packer(), model.config
        native = _native.TwoChainPredictor(
            packer.shape, packer.templates.native, model.weights, packer.reading.native
        )
        return cls(config.standard, config.level, packer, native, model)

    @property
    def labeler(self) -> TwoChainLabeler:
        """The predictor in the role of a labeler."""
        from duilian.models.two_chain.labeler import TwoChainLabeler  # which needs this module

        return TwoChainLabeler(self)

    @property
    def scores_segments(self) -> bool:  # type: ignore[override]
        """Whether answers are boundaries of chunks."""
        return self.segment_only and self.level == "word"

    @property
    def segment_only(self) -> bool:
        """Whether answers have no tags."""
        return self.mode == "segment"

    @property
    def encoding_(self) -> WordSegments | ChunkSegments:
        """How annotation becomes segments and labels."""
        return self.packer.encoding

    @property
    def templates_(self) -> CliqueTemplates:
        """The feature templates."""
        return self.packer.templates

    def label(
        self, packed: _native.Sentences, given: Ints = NO_LETTERS, *, threads: int = 1
    ) -> tuple[Ints, Ints]:
        """Letters and tags of all units, by number; `given` are the letters for mode `tag`."""
        return self.native.predict(packed, _native.TwoChainMode[self.mode], given, threads)

    def score(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> float:  # noqa: N803
        """F1 of words with their tags, or of chunks; from 0 to 1."""
        gold = self.layers(X, y)
        return self.encoding_.score(gold, self.predict_layers(gold)) / 100.0

    def label_marginals(self, packed: _native.Sentences, *, threads: int = 1) -> npt.NDArray[np.float64]:
        """[units, L] the probability of each label (`encoding_.labels`) at each unit."""
        return self.encoding_.label_marginals(
            self.native.predict_marginals(packed, self.model.scale, threads)
        )

    def segments_of(self, layer: Layer) -> Layer:
        segmented = self.encoding_.segment([layer], is_given=True)
        units, ends = segmented.units[0], np.cumsum(segmented.sizes[0]).tolist()
        return Layer(tuple("".join(units[a:b]) for a, b in itertools.pairwise([0, *ends])))


def _restored(state: State, mode: Mode, notes: dict[str, Any]) -> TwoChainPredictor:
    found = TwoChainPredictor.of(TwoChainModel.from_state(*state))
    return dataclasses.replace(found, mode=mode, notes_=notes)
