"""Two chains compiled for answering, in three modes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.labels.segments import Ints, letter_numbers
from duilian.models.base.sentences import Answer
from duilian.models.two_chain.config import Mode
from duilian.models.two_chain.storage import TwoChainModel

NO_LETTERS = np.zeros(0, np.int32)


class TwoChainPredictor:
    """Answers of two chains: `joint` finds boundaries and tags, `segment` the boundaries by their own chain,
    `tag` the tags of segments whose boundaries are given.
    """

    def __init__(self, model: TwoChainModel) -> None:
        self.level, self.packer = model.config.level, model.packer()
        self.encoding, self.templates = self.packer.encoding, self.packer.templates
        self.native = _native.TwoChainPredictor(
            self.packer.shape, self.templates.native, model.weights, self.packer.folding.native
        )

    def label(
        self, packed: _native.Sentences, mode: Mode, given: Ints = NO_LETTERS, *, threads: int = 1
    ) -> tuple[Ints, Ints]:
        """Letters and tags of all units, by number; `given` are the letters for mode `tag`."""
        return self.native.predict(packed, _native.TwoChainMode[mode], given, threads)

    def predict_layers(self, layers: Sequence[Layer], mode: Mode, *, threads: int = 1) -> list[Layer]:
        """The analysis of each sentence; in mode `tag` the boundaries are those given."""
        given = NO_LETTERS
        if mode == "tag":
            segmented = self.encoding.segment(layers, is_given=True)
            units, given = segmented.units, letter_numbers(self.encoding.scheme, segmented.sizes)
        else:
            units = self.packer.units(layers)
        packed = self.packer.pack(units, layers)
        letters, tags = self.label(packed, mode, given, threads=threads)
        found = self.packer.decode(units, packed.first, letters, None if mode == "segment" else tags)
        if mode == "tag":  # invisible characters stay in the words given
            return [dataclasses.replace(a, tags=b.tags) for a, b in zip(layers, found, strict=True)]
        return found

    def marginals(
        self, layers: Sequence[Layer], mode: Mode, *, threads: int = 1
    ) -> list[npt.NDArray[np.float64]]:
        """For each sentence the probability of every label at every unit, [T, L]; mode `joint` only."""
        if mode != "joint":
            raise ConfigError(f"there are no probabilities in mode {mode!r}", "use mode 'joint'")
        packed = self.packer.pack(self.packer.units(layers), layers)
        found = self.encoding.label_marginals(self.native.predict_marginals(packed, threads))
        return np.split(found, packed.first[1:-1])

    def k_best(self, layer: Layer, k: int, mode: Mode) -> list[Answer]:
        """The k best analyses of a sentence, best first. In mode `segment` the chain of boundaries alone
        ranks them, and their probability is not a number.
        """
        if mode == "tag":
            raise ConfigError("there is no list of best analyses in mode 'tag'", "use mode 'joint'")
        (units,) = self.packer.units([layer])
        packed, is_alone = self.packer.pack([units], [layer]), mode == "segment"
        found = self.native.k_best(packed, 0, k, is_alone)
        log_z = np.nan if is_alone else self.native.log_partition(packed, 0)
        return [
            Answer(
                self.encoding.layer(units, letters.tolist(), None if is_alone else tags.tolist()),
                score,
                float(np.exp(score - log_z)),
            )
            for score, letters, tags in found
        ]

    def segments_of(self, layer: Layer) -> Layer:
        """The segments of an annotated sentence as words, to score boundaries alone."""
        segmented = self.encoding.segment([layer], is_given=True)
        units, ends = segmented.units[0], np.cumsum(segmented.sizes[0]).tolist()
        return Layer(tuple("".join(units[a:b]) for a, b in itertools.pairwise([0, *ends])))
