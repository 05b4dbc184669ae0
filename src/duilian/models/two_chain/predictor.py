"""Two chains compiled for answering, in three modes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError
from duilian.features import CliqueTemplates
from duilian.labels.encoding import Level
from duilian.labels.segments import ChunkSegments, Ints, WordSegments, letter_numbers
from duilian.lexicon import Lexicon
from duilian.models.base.sentences import Answer, Sentences, layer_of, layers_of
from duilian.models.two_chain.config import Mode
from duilian.models.two_chain.storage import TwoChainModel, TwoChainPacker

NO_LETTERS = np.zeros(0, np.int32)


@dataclasses.dataclass(frozen=True)
class TwoChainPredictor:
    """Answers of two chains in one mode, with the questions of a plain tagger."""

    standard: str
    level: Level
    packer: TwoChainPacker
    native: _native.TwoChainPredictor
    scale: float = 1.0
    mode: Mode = "joint"
    notes_: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, model: TwoChainModel) -> TwoChainPredictor:
        """A model, compiled."""
        packer, config = model.packer(), model.config
        native = _native.TwoChainPredictor(
            packer.shape, packer.templates.native, model.weights, packer.folding.native
        )
        return cls(config.standard, config.level, packer, native, model.scale)

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

    def predict_layers(
        self,
        X: Sentences,  # noqa: N803  (scikit-learn's name)
        *,
        lexicon: Lexicon | None = None,
        threads: int = 1,
    ) -> list[Layer]:
        """The analysis of each sentence; in mode `tag` the boundaries are those given."""
        _refuse(lexicon)
        layers, given = layers_of(X, self.standard), NO_LETTERS
        if self.mode == "tag":
            segmented = self.encoding_.segment(layers, is_given=True)
            units, given = segmented.units, letter_numbers(self.encoding_.scheme, segmented.sizes)
        else:
            units = self.packer.units(layers)
        packed = self.packer.pack(units, layers)
        letters, tags = self.label(packed, given, threads=threads)
        found = self.packer.decode(units, packed.first, letters, None if self.segment_only else tags)
        if self.mode == "tag":  # invisible characters stay in the words given
            return [dataclasses.replace(a, tags=b.tags) for a, b in zip(layers, found, strict=True)]
        return found

    def predict(self, X: Sentences, *, threads: int = 1) -> list[list[str]]:  # noqa: N803
        """Tags of each sentence's words; the words themselves if there are no tags."""
        return [
            [str(tag) for tag in layer.tags] if layer.tags is not None else list(layer.words)
            for layer in self.predict_layers(X, threads=threads)
        ]

    def score(self, X: Sentences, y: Iterable[Sequence[str]] | None = None) -> float:  # noqa: N803
        """F1 of words with their tags, or of chunks; from 0 to 1."""
        gold = layers_of(X, self.standard, y)
        return self.encoding_.score(gold, self.predict_layers(gold)) / 100.0

    def label_marginals(self, packed: _native.Sentences, *, threads: int = 1) -> npt.NDArray[np.float64]:
        """The probability of every label (`encoding_.labels`) at all units, [units, L]."""
        return self.encoding_.label_marginals(self.native.predict_marginals(packed, self.scale, threads))

    def marginals(
        self,
        X: Sentences,  # noqa: N803
        *,
        lexicon: Lexicon | None = None,
        threads: int = 1,
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence the probability of every label (`encoding_.labels`) at every unit, [T, L]."""
        _refuse(lexicon)
        if self.mode != "joint":
            raise ConfigError(f"there are no probabilities in mode {self.mode!r}", "use mode 'joint'")
        layers = layers_of(X, self.standard)
        packed = self.packer.pack(self.packer.units(layers), layers)
        return np.split(self.label_marginals(packed, threads=threads), packed.first[1:-1])

    def k_best(
        self, sentence: Layer | Sentence | Sequence[str], k: int, *, lexicon: Lexicon | None = None
    ) -> list[Answer]:
        """The k best analyses of a sentence, best first. In mode `segment` the chain of boundaries alone
        ranks them, and their probability is not a number.
        """
        _refuse(lexicon)
        if self.mode == "tag":
            raise ConfigError("there is no list of best analyses in mode 'tag'", "use mode 'joint'")
        layer = layer_of(sentence, self.standard)
        (units,), is_alone = self.packer.units([layer]), self.segment_only
        packed = self.packer.pack([units], [layer])
        log_z = np.nan if is_alone else self.native.log_partition(packed, 0, self.scale)
        return [
            Answer(
                self.encoding_.layer(units, letters.tolist(), None if is_alone else tags.tolist()),
                score,
                float(np.exp(self.scale * score - log_z)),
            )
            for score, letters, tags in self.native.k_best(packed, 0, k, is_alone)
        ]

    def segments_of(self, layer: Layer) -> Layer:
        """The segments of an annotated sentence as words, to score boundaries alone."""
        segmented = self.encoding_.segment([layer], is_given=True)
        units, ends = segmented.units[0], np.cumsum(segmented.sizes[0]).tolist()
        return Layer(tuple("".join(units[a:b]) for a, b in itertools.pairwise([0, *ends])))


def _refuse(lexicon: Lexicon | None) -> None:
    if lexicon is not None:
        raise ConfigError("two-chain models do not take a lexicon (--lexicon)", "use a model of kind crf")
