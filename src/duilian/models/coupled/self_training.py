"""Self-training: a teacher finds labels for the latent sides of a coupled tagger.

In the largest corpus, the tags of the other standards are latent. If a small corpus lacks a word, training
may fit its latent tags to anything. A teacher, which is a coupled tagger with the given tags as features
(`guide`), first converts the large corpus. Labels that it is sure of become annotation, all others stay open.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from duilian.corpus import Layer
from duilian.errors import DuilianError
from duilian.labels.units import units_of_layers
from duilian.learning import Session, fingerprint
from duilian.models.coupled.config import CoupledConfig, SelfTraining
from duilian.models.coupled.held_labels import HeldLabels
from duilian.models.coupled.predictor import CoupledConversion, CoupledPredictor
from duilian.models.coupled.sides import Labels
from duilian.models.roles import Ask

if TYPE_CHECKING:
    from duilian.models.coupled.coupled_run import TrainedCoupled

Corpora = Sequence[Sequence[Layer]]
BATCH = 2000  # sentences to convert at once
Train = Callable[[CoupledConfig, Session, HeldLabels | None], "TrainedCoupled"]


def teach(config: CoupledConfig, session: Session, corpora: Corpora, train: Train) -> HeldLabels | None:
    """Find labels for the latent sides, with one teacher per round; None if there are no rounds."""
    rounds = config.start.self_training.rounds
    if rounds == 0:
        return None
    source = int(np.argmax([len(layers) for layers in corpora]))
    mark, kept = fingerprint(config, [_digest(corpora)]), session.part("held")
    held: HeldLabels | None = None
    if kept is not None and session.resume and kept.exists():
        held = HeldLabels.load(kept, mark)
    while held is None or held.round < rounds:
        number = 1 if held is None else held.round + 1
        session.stage(f"teacher {number} of {rounds}")
        state = session.part("teacher")
        trained = train(_teacher(config, source), dataclasses.replace(session, checkpoint=state), held)
        session.stage(f"conversion by teacher {number}")
        held = _converted(config, trained, corpora, source, session, number)
        if state is not None and kept is not None:
            state.unlink(missing_ok=True)  # before labels are saved: the next teacher must not resume from it
            held.save(kept, mark)
    return held


def _teacher(config: CoupledConfig, source: int) -> CoupledConfig:
    """The teacher's settings: those of the run, with the source's tags as features."""
    return config.updated(
        {
            "features": {"guide": config.standards[source], "templates": None},
            "learning": {"iterations": config.start.self_training.iterations, "keep": "average"},
            "start": {"self_training": {"rounds": 0}},
        }
    )


def _converted(
    config: CoupledConfig,
    trained: TrainedCoupled,
    corpora: Corpora,
    source: int,
    session: Session,
    number: int,
) -> HeldLabels:
    """The source's sentences in the other standards, where the teacher is sure."""
    settings = config.start.self_training
    predictor = CoupledPredictor(trained.model(0.0))
    found: dict[int, Labels] = {}
    for side, target in enumerate(config.standards):
        if side != source:
            plan = CoupledConversion(predictor, config.standards[source], target, settings.mapping)
            known = _known_words(corpora[side], settings.known_from)
            parts = [_sure(plan, batch, settings, known, session) for batch in _batches(corpora[source])]
            found[side] = np.concatenate(parts)
    held = HeldLabels(number, source, len(config.standards), found)
    for side, share in held.shares().items():
        session.stage(f"{100 * share:.1f} % of the {config.standards[side]} labels are sure")
    if not any(held.shares().values()):
        raise DuilianError(
            f"self-training has nothing to learn from: no label reaches confidence {settings.confidence}",
            hint="lower [self_training] confidence, or set rounds = 0",
        )
    return held


def _batches(layers: Sequence[Layer]) -> Iterator[Sequence[Layer]]:
    for start in range(0, len(layers), BATCH):
        yield layers[start : start + BATCH]


def _sure(
    plan: CoupledConversion,
    layers: Sequence[Layer],
    settings: SelfTraining,
    known: set[str],
    session: Session,
) -> Labels:
    """The labels that the teacher is sure of; -1 for others, and for the units of known words."""
    units = units_of_layers(layers, plan.encodings[0])
    answer = plan.label(units, Ask(), session.threads)
    is_kept = np.asarray(answer.p) >= settings.confidence
    if known:
        counts = [count for layer in layers for count in plan.encodings[0].split(layer.words)[1]]
        is_kept &= ~np.repeat([word in known for layer in layers for word in layer.words], counts)
    return np.where(is_kept, answer.label, -1).astype(np.int32)


def _known_words(layers: Sequence[Layer], known_from: int | None) -> set[str]:
    if known_from is None:
        return set()
    counts = Counter(word for layer in layers for word in layer.words)
    return {word for word, count in counts.items() if count >= known_from}


def _digest(corpora: Corpora) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for layers in corpora:
        digest.update(b"corpus")
        for layer in layers:
            digest.update(repr((layer.words, _plain(layer))).encode())
    return digest.hexdigest()


def _plain(layer: Layer) -> list[object]:
    """Tags in a fixed order, which a set does not have."""
    return [sorted(tag) if isinstance(tag, frozenset) else tag for tag in layer.tags or ()]
