"""A run of training of two chains: sentences with what is known of them, features, dev set, iterations."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError
from duilian.evaluation import are_chunk_labels
from duilian.labels.segments import OUTSIDE, Ints, Segmented, letter_numbers
from duilian.learning import IterationReport, LearnConfig, PassiveAggressive, Trainer

if TYPE_CHECKING:
    from duilian.models.two_chain.model import TwoChainTagger


class TwoChainTraining:
    """What a tagger learns from: `annotated` sentences with tags, `segmented` ones for boundaries only."""

    def __init__(
        self, tagger: TwoChainTagger, annotated: Sequence[Layer], segmented: Sequence[Layer]
    ) -> None:
        self.tagger = tagger
        self._check()
        layers = [layer for layer in annotated if self._says_something(layer)]
        further = [layer for layer in segmented if self._says_something(layer)]
        if not layers:
            raise ConfigError("there is no annotated sentence to learn from")
        tagger.prepare(_kinds(layers, tagger.level, tagger.standard))
        encoding = tagger.encoding_
        found, boundaries = encoding.segment(layers, is_given=False), encoding.segment(further, is_given=True)
        everything = Segmented(
            found.units + boundaries.units, found.sizes + boundaries.sizes, found.tags + boundaries.tags
        )
        packed = tagger.pack(everything.units, [*layers, *further])
        shape, patterns = tagger.shape_, tagger.templates_.native
        self.keys, self._places, rows = _native.index_two_chain(shape, patterns, packed, tagger.min_count)
        self._data = self._native(everything, packed, rows)
        self.layout = _native.lay_out_two_chain(shape, self._data, self._places, tagger.full_from)
        self._sentences = len(everything.units)

    def _check(self) -> None:
        tagger = self.tagger
        if tagger.level not in ("word", "char"):
            raise ConfigError(f"level must be 'word' or 'char', got {tagger.level!r}")
        for name in ("min_count", "full_from"):
            if getattr(tagger, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(tagger, name)!r}")
        if tagger.cost not in ("once", "label"):
            raise ConfigError(f"cost must be 'once' or 'label', got {tagger.cost!r}")
        unknown = [mode for mode in tagger.modes if mode not in ("joint", "segment", "tag")]
        if unknown or not tagger.modes:
            named = unknown[0] if unknown else "none"
            raise ConfigError(f"modes must be some of joint, segment and tag, got {named!r}")

    def _says_something(self, layer: Layer) -> bool:
        """Words are boundaries of characters; but chunks stand in labels only."""
        return self.tagger.level == "char" or any(tag is not None for tag in layer.tags or ())

    def _native(
        self, segmented: Segmented, packed: _native.Sentences, rows: _native.FeatureRows
    ) -> _native.TwoChainData:
        sizes = np.array([size for row in segmented.sizes for size in row], np.int64)
        tags = np.array([tag for row in segmented.tags for tag in row], np.int32)
        letters = letter_numbers(self.tagger.scheme, segmented.sizes)
        by_unit: Ints = np.repeat(tags, sizes)
        return _native.TwoChainData(self.tagger.shape_, rows, packed.first, letters, by_unit)

    def _config(self) -> LearnConfig:
        tagger = self.tagger
        return LearnConfig(
            algorithm="pa",
            rate=tagger.rate,
            sample=tagger.sample,
            iterations=tagger.iterations,
            patience=tagger.patience,
            average=tagger.average,
            seed=tagger.seed,
            threads=tagger.threads,
        )

    def run(
        self,
        dev: Sequence[Layer] | None,
        on_iteration: Callable[[IterationReport], None] | None,
        checkpoint: str | Path | None,
        *,
        resume: bool,
    ) -> Trainer:
        """Trains, and saves a checkpoint after each iteration if asked."""
        tagger, config = self.tagger, self._config()
        modes = [_native.TwoChainMode[mode] for mode in tagger.modes]
        structure = _native.TwoChainStructure(self.layout, self._data, modes, 1.0, tagger.cost == "label")
        # The rule itself gives the mean of all rounds: that of iterations would tell nothing more.
        rule, passes = PassiveAggressive(structure, config), dataclasses.replace(config, average=False)
        trainer = Trainer(rule, self.layout.weights, self._sentences, passes)
        trainer.run_kept(
            None if dev is None else self._evaluator(dev),
            self._fingerprint,
            on_iteration=on_iteration,
            checkpoint=checkpoint,
            resume=resume,
        )
        return trainer

    def _fingerprint(self) -> str:
        left_out = ("threads", "iterations", "mode")
        settings = [pair for pair in sorted(self.tagger.get_params().items()) if pair[0] not in left_out]
        digest = hashlib.blake2b(repr(settings).encode(), digest_size=16)
        for part in (self.keys, self.layout.first, self.layout.slot):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

    def _evaluator(self, dev: Sequence[Layer]) -> Callable[[npt.NDArray[np.float32]], float]:
        """The main score on a dev set, in the first mode that is learned; its features are taken once."""
        tagger = self.tagger
        gold = [layer for layer in dev if self._says_something(layer)]
        if not gold:
            raise ConfigError("there is no sentence to evaluate on")
        segmented = tagger.encoding_.segment(gold, is_given=True)
        packed = tagger.pack(segmented.units, gold)
        index = _native.FeatureIndex(self.keys)
        rows = _native.find_two_chain(tagger.shape_, tagger.templates_.native, packed, index)
        data = self._native(segmented, packed, rows)
        mode = tagger.modes[0]

        def evaluate(weights: npt.NDArray[np.float32]) -> float:
            letters, tags = _native.label_two_chain(
                self.layout, weights, data, _native.TwoChainMode[mode], tagger.threads
            )
            at, s, t = packed.first.tolist(), letters.tolist(), tags.tolist()
            guess = [
                tagger.encoding_.layer(
                    units, s[at[k] : at[k + 1]], None if mode == "segment" else t[at[k] : at[k + 1]]
                )
                for k, units in enumerate(segmented.units)
            ]
            return tagger.encoding_.score(gold, guess)

        return evaluate


def _kinds(layers: Sequence[Layer], level: str, standard: str) -> list[str]:
    """The tags of words, or the types of chunks and O."""
    if level == "char":
        seen = {tag for layer in layers for tag in layer.tags or () if isinstance(tag, str)}
    else:
        typed = [layer.tags for layer in layers if layer.tags and are_chunk_labels(layer.tags)]
        names = {
            tag.partition("-")[2] or tag.partition("@")[2]
            for tags in typed
            for tag in tags
            if isinstance(tag, str)
        }
        seen = (names - {""}) | {OUTSIDE} if names - {""} else set()
    if not seen:
        raise StandardError(f"the corpus has no tags in {standard!r} to learn from")
    return sorted(seen)
