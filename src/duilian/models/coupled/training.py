"""Training a coupled tagger: teachers first, if there are any, then the tagger itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duilian.corpus import Layer
from duilian.errors import ConfigError
from duilian.learning import Session
from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.coupled_run import CoupledRun, RunInput, TrainedCoupled
from duilian.models.coupled.dev_sets import DevLayers
from duilian.models.coupled.held_labels import HeldLabels
from duilian.models.coupled.sampling import SentenceWeights
from duilian.models.coupled.self_training import teach


class CoupledTrainer:
    """A training run; `cache` is a folder that stores the candidates of offline pruning."""

    def __init__(self, config: CoupledConfig, session: Session, cache: str | Path | None = None) -> None:
        self.config, self.session, self.cache = config, session, cache

    def run(
        self,
        corpora: Sequence[Sequence[Layer]],
        dev: Sequence[DevLayers | None] | None = None,
        weights: Sequence[SentenceWeights | None] | None = None,
    ) -> TrainedCoupled:
        """Learn from one corpus per standard; with dev sets, keep the weights that do best on each and on
        average. `weights` says how often each sentence is drawn, compared with others of its corpus.
        """
        self.check_counts(corpora, dev)
        if weights is not None and len(weights) != len(corpora):
            raise ConfigError(f"{len(weights)} lists of weights for {len(corpora)} standards")
        given = self._given(corpora, dev or [None] * len(corpora), weights or [None] * len(corpora))
        held = teach(self.config, self.session, given.corpora, lambda *teacher: self._run(given, *teacher))
        return self._run(given, self.config, self.session, held)

    def _given(
        self,
        corpora: Sequence[Sequence[Layer]],
        dev: Sequence[DevLayers | None],
        weights: Sequence[SentenceWeights | None],
    ) -> RunInput:
        """Add copies of sentences with English words, which are drawn as often as their originals."""
        mixing, seed = self.config.features.mixing, self.config.learning.seed
        copies = [mixing.copies(*side, seed) for side in zip(corpora, self.config.standards, strict=True)]
        full = [[*own, *(copy.layer for copy in new)] for own, new in zip(corpora, copies, strict=True)]
        drawn = [
            None if own is None else [*own, *(own[copy.origin] for copy in new)]
            for own, new in zip(weights, copies, strict=True)
        ]
        return RunInput(full, dev, drawn, corpora)

    def _run(
        self, given: RunInput, config: CoupledConfig, session: Session, held: HeldLabels | None
    ) -> TrainedCoupled:
        return CoupledRun(config, session, self.cache, given, held).trained()

    def check_counts(self, corpora: Sequence[object], dev: Sequence[object] | None) -> None:
        """Raise ConfigError unless there are two or more standards with one corpus and one dev set each."""
        names = self.config.standards
        if len(set(names)) < max(len(names), 2):
            raise ConfigError(f"standards must be at least two different names, got {', '.join(names)}")
        for what, given in (("corpora", corpora), ("dev sets", dev)):
            if given is not None and len(given) != len(names):
                raise ConfigError(f"{len(given)} {what} for {len(names)} standards")
