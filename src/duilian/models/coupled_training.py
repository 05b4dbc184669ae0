"""A training run of a coupled tagger, from layers to the best weights.

In this order: features of all sides, plain taggers over them, candidates for pruning, the layout of the joint
features, dev sets, and the iterations (Algorithm 1 of Li et al. 2017: so many sentences of each side per
iteration, an evaluation on each side's dev set after it).
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.evaluation import main_score
from duilian.features import Templates
from duilian.learning import AdaGrad, IterationReport, LearnConfig, Scores, Sgd, Trainer
from duilian.models.coupled_conversion import guide_labels
from duilian.models.coupled_labels import NO_SETS, decode_layers, gold_labels
from duilian.models.coupled_storage import AVERAGE
from duilian.models.coupling import Body, PlainSides, make_body, offline_candidates, side_mappings
from duilian.models.tagger import DEFAULT_TEMPLATES, Tagger
from duilian.standards import Mapping

if TYPE_CHECKING:
    from duilian.models.coupled import CoupledTagger

SEEN = {"word": 3, "char": 2}  # joint features exist for attributes seen so often
WARM = {"word": 0.0, "char": 0.3}  # of the sides that are not the source
JOINT_PRUNING = {"word": (8, 0.98), "char": (4, 0.9)}  # r and λ where joint features are laid out
TRAINING_MARGIN = 8.0
MOST_JOINT_LABELS = 24_000  # of all joint parts together: labels have 15 bits
LINKED = 1024  # bundles with transition weights


@dataclasses.dataclass(frozen=True)
class DevSet:
    """A side's dev sentences with their features."""

    layers: list[Layer]
    units: list[list[str]]
    rows: _native.FeatureRows
    first: npt.NDArray[np.int64]
    candidates: list[_native.TagSets]  # pruned beforehand, or none
    allowed: list[_native.TagSets]  # given labels of the guiding side, or none
    gold: npt.NDArray[np.int32]  # [units]; -1 where the gold label is none of the model's


class CoupledTraining:
    """One run: what was made on the way, and `trainer` with the best weights."""

    def __init__(
        self,
        tagger: CoupledTagger,
        sides: Sequence[Sequence[Layer]],
        dev: Sequence[list[Layer] | None],
        given: Sequence[list[Layer] | None],
        say: Callable[[str], None],
    ) -> None:
        self.tagger = tagger
        say("features")
        self.body = self._body(sides)
        self.plain = self._plain(self.body, say)
        pruned = self._jackknifed(self.plain, say) if tagger.pruning == "offline" else []
        self.layout, self.data = self._lay_out(self.plain, pruned, say)
        self.dev_sets = [
            None if found is None else self._dev_set(found, side, known)
            for side, (found, known) in enumerate(zip(dev, given, strict=True))
        ]
        self.trainer = self._trainer()

    def _body(self, sides: Sequence[Sequence[Layer]]) -> Body:
        tagger = self.tagger
        return make_body(
            sides,
            tagger.encodings_,
            tagger.templates_,
            tagger.folding_,
            min_count=tagger.min_count,
            guide=None if tagger.guide is None else self._guide_columns(sides, tagger.guide),
            shared_templates=None
            if tagger.guide is None
            else Templates.load(DEFAULT_TEMPLATES[tagger.level]),
        )

    def _guide_columns(self, sides: Sequence[Sequence[Layer]], guide: str) -> list[list[str]]:
        """The guiding standard's labels of every sentence: annotated on its own side, guessed elsewhere."""
        tagger, own = self.tagger, self.tagger.side(guide)
        shared = ("level", "scheme", "join_letters", "join_digits", "script", "seed", "threads")
        parameters = {name: getattr(tagger, name) for name in shared}
        tagger.source_ = Tagger(guide, iterations=tagger.plain_iterations, **parameters).fit(sides[own])
        columns: list[list[str]] = []
        for side, layers in enumerate(sides):
            known = gold_labels(tagger.encodings_[side], layers) if side == own else None
            columns += guide_labels(tagger.encodings_[side], tagger.source_, layers, known)
        return columns

    def _plain_config(self) -> LearnConfig:
        tagger = self.tagger
        return LearnConfig(iterations=tagger.plain_iterations, seed=tagger.seed, threads=tagger.threads)

    def _plain(self, body: Body, say: Callable[[str], None]) -> PlainSides:
        tagger = self.tagger
        guide = None if tagger.guide is None else tagger.side(tagger.guide)
        guided = [side for side in range(len(tagger.standards)) if guide is not None and side != guide]
        plain = PlainSides(body, guided, tagger.full_from)
        say("plain taggers")
        plain.train(
            self._plain_config(), on_side=lambda side: say(f"plain tagger of {tagger.standards[side]}")
        )
        return plain

    def _jackknifed(self, plain: PlainSides, say: Callable[[str], None]) -> list[_native.TagSets]:
        """The sides' candidates on the training sentences, for pruning offline."""
        tagger = self.tagger
        say(f"jack-knifing in {tagger.folds} folds")
        settings = (
            tagger.most,
            tagger.mass,
            tagger.plain_iterations,
            tagger.seed,
            tagger.full_from,
            tagger.templates_.text,
        )
        return offline_candidates(
            plain,
            tagger.native_pruning(),
            tagger.folds,
            self._plain_config(),
            settings=repr(settings),
            cache=tagger.cache,
        )

    def _latent(self, plain: PlainSides) -> list[_native.TagSets]:
        """The labels of the other sides that joint features exist for: the plain taggers' candidates."""
        tagger = self.tagger
        most, mass = JOINT_PRUNING[tagger.level]
        everything = most >= tagger.most and mass >= tagger.mass
        pruning = tagger.native_pruning()
        if not everything and tagger.mass < 1:
            pruning = _native.Pruning(most, mass, 0.0, 0.0)
        return [plain.candidates(side, pruning, tagger.threads) for side in range(len(tagger.standards))]

    def _lay_out(
        self, plain: PlainSides, pruned: list[_native.TagSets], say: Callable[[str], None]
    ) -> tuple[_native.CoupledLayout, _native.CoupledData]:
        tagger = self.tagger
        say("joint features")
        body, sides = plain.body, len(tagger.standards)
        labels = [len(encoding.labels) for encoding in tagger.encodings_]
        rules = [encoding.succession.native() for encoding in tagger.encodings_]
        tagger.mappings_ = side_mappings(tagger.mapping, tagger.standards, plain, tagger.threads)
        mappings = [
            _native.SideMapping(each.side_a, each.side_b, each.allows.astype(np.uint8))
            for each in tagger.mappings_
        ]
        shape = _native.CoupledShape(labels, rules, mappings)
        parts = (
            []
            if tagger.features == "separate"
            else [list(p) for p in itertools.combinations(range(sides), 2)]
        )
        arguments = (body.first, body.side, body.label, body.sets)
        shared = _native.CoupledData(body.shared, *arguments, [])
        seen = tagger.joint_count or SEEN[tagger.level]
        most = MOST_JOINT_LABELS // max(len(parts), 1)
        latent = self._latent(plain)
        layout = _native.lay_out_coupled(shape, plain.layouts, shared, latent, parts, seen, LINKED, most)
        return layout, _native.CoupledData(body.rows, *arguments, pruned)

    def _trainer(self) -> Trainer:
        tagger = self.tagger
        layout, plain, body = self.layout, self.plain, self.body
        config = LearnConfig(
            algorithm=tagger.algorithm,
            rate=tagger.rate,
            l2=tagger.l2,
            batch=tagger.batch,
            iterations=tagger.iterations,
            patience=tagger.patience,
            average=tagger.average,
            seed=tagger.seed,
            threads=tagger.threads,
        )
        learns_separate = tagger.features != "joint"
        objective = _native.CoupledObjective(
            layout, self.data, tagger.native_pruning(), self._training_margin(), learns_separate
        )
        own = [body.sentences(side) for side in range(len(tagger.standards))]
        counts = self._sample_sizes([len(each) for each in own])
        start = np.zeros(layout.weights, np.float32)
        if tagger.start == "warm" and learns_separate:
            for side, share in enumerate(self._warm_shares([len(each) for each in own])):
                at = layout.side_at[side]
                start[at : at + len(plain.weights[side])] = np.float32(share) * plain.weights[side]
        rule = (
            Sgd(objective, len(body.side), config)
            if tagger.algorithm == "sgd"
            else AdaGrad(objective, config)
        )
        return Trainer(
            rule,
            layout.weights,
            len(body.side),
            config,
            sides=max(sum(each is not None for each in self.dev_sets), 1),
            draw=lambda rng: _draw(rng, own, counts),
            start=start,
            judge_start=tagger.keep == "all",
        )

    def _training_margin(self) -> float:
        """With three standards or more, hopeless bundles are left out in training too."""
        is_large = len(self.tagger.standards) > 2 and self.tagger.level == "word"
        return TRAINING_MARGIN if is_large and self.tagger.margin is not None else math.inf

    def _sample_sizes(self, sizes: Sequence[int]) -> list[int]:
        tagger = self.tagger
        chosen = tagger.samples or [None] * len(sizes)
        return [min(sizes) if wanted is None else wanted for wanted in chosen]

    def _warm_shares(self, sizes: Sequence[int]) -> Sequence[float]:
        tagger = self.tagger
        if tagger.warm is not None:
            return tagger.warm
        source = int(np.argmax(sizes))
        return [1.0 if side == source else WARM[tagger.level] for side in range(len(sizes))]

    def _pruned_sides(self) -> list[int]:
        """The sides whose plain taggers prune when tagging. In a mixed model one that began with all weights
        of its plain tagger prunes as well by itself, and no second copy of them is kept.
        """
        tagger, sides = self.tagger, range(len(self.tagger.standards))
        if tagger.pruning == "online":
            return []
        shares = self._warm_shares([len(self.body.sentences(side)) for side in sides])
        is_own = tagger.pruning == "mixed" and tagger.start == "warm" and tagger.features != "joint"
        return [side for side in sides if not (is_own and shares[side] == 1.0)]

    def pruner(self) -> list[npt.NDArray[np.float32]]:
        """For every side the plain tagger's weights, if they prune when tagging, else none."""
        chosen = self._pruned_sides()
        nothing = np.zeros(0, np.float32)
        return [weights if k in chosen else nothing for k, weights in enumerate(self.plain.weights)]

    def _dev_set(self, layers: list[Layer], side: int, given: list[Layer] | None) -> DevSet:
        tagger, encoding = self.tagger, self.tagger.encodings_[side]
        units = [encoding.split(layer.words)[0] for layer in layers]
        allowed, guide = [], None
        if given is not None and tagger.guide is not None:
            source = tagger.side(tagger.guide)
            labels = gold_labels(tagger.encodings_[source], given)
            allowed = tagger.conversion_limits(given, source, side)
            guide = guide_labels(tagger.encodings_[source], tagger.source_, given, labels)
        packed = tagger._pack(units, guide)
        index = _native.FeatureIndex(self.body.keys)
        rows = _native.extract_rows(tagger.templates_.native, packed, index, 1)
        candidates = []
        if tagger.pruning != "online":
            candidates = [
                self.plain.candidates(k, tagger.tagging_pruning(), tagger.threads, rows, packed.first)
                if k in self._pruned_sides()
                else NO_SETS
                for k in range(len(tagger.standards))
            ]
        return DevSet(layers, units, rows, packed.first, candidates, allowed, gold_labels(encoding, layers))

    def run(
        self,
        on_iteration: Callable[[IterationReport], None] | None,
        checkpoint: str | Path | None,
        resume: bool,
    ) -> None:
        """All iterations, from a checkpoint if there is one to resume from."""
        has_dev = any(each is not None for each in self.dev_sets)
        self.trainer.run_kept(
            self._evaluate if has_dev else None,
            self._fingerprint,
            on_iteration=on_iteration,
            checkpoint=checkpoint,
            resume=resume,
        )

    def _evaluate(self, weights: npt.NDArray[np.float32]) -> Scores:
        """Each side's score, and what pruning kept: candidates per unit, how often gold was among them."""
        tagger = self.tagger
        scores, details = [], {}
        for side, dev in enumerate(self.dev_sets):
            if dev is None:
                continue
            found = _native.tag_coupled(
                self.layout,
                weights,
                dev.rows,
                dev.first,
                dev.candidates,
                dev.allowed,
                tagger.tagging_pruning(),
                _native.Decoding[tagger.decoding],
                tagger._native_margin(),
                True,
                tagger.threads,
            )
            layers = decode_layers(tagger.encodings_[side], dev.units, found.label(side), dev.first)
            scores.append(main_score(dev.layers, layers, is_cut=tagger.level == "char"))
            name = tagger.standards[side]
            details[name] = scores[-1]
            details[f"{name} oracle"], details[f"{name} candidates"] = _kept(found.candidates(side), dev.gold)
        return Scores(tuple(scores), details)

    def best_names(self) -> list[str]:
        """What the trainer's bests are best for: a standard, or the average."""
        names = [
            name for name, dev in zip(self.tagger.standards, self.dev_sets, strict=True) if dev is not None
        ]
        return [*names, AVERAGE] if len(names) > 1 else [AVERAGE]

    def _fingerprint(self) -> str:
        tagger = self.tagger
        left_out = ("threads", "iterations", "cache")
        settings = [pair for pair in sorted(tagger.get_params().items()) if pair[0] not in left_out]
        if isinstance(tagger.mapping, Mapping):
            settings.append(("bundles", tagger.mapping.bundles()))  # which its repr does not show
        return hashlib.blake2b(f"{settings!r} {self.body.digest()}".encode(), digest_size=16).hexdigest()


def _draw(
    rng: np.random.Generator, own: Sequence[npt.NDArray[np.int64]], counts: Sequence[int]
) -> npt.NDArray[np.int64]:
    """So many sentences of every side, in random order; a side gives some twice only if it is smaller."""
    drawn = []
    for sentences, count in zip(own, counts, strict=True):
        rounds = -(-count // len(sentences))
        drawn.append(np.concatenate([rng.permutation(sentences) for _ in range(rounds)])[:count])
    return rng.permutation(np.concatenate(drawn)).astype(np.int64)


def _kept(candidates: _native.TagSets, gold: npt.NDArray[np.int32]) -> tuple[float, float]:
    """How often gold is among the candidates, in percent, and how many there are per unit."""
    sizes = np.diff(candidates.first)
    hits = (
        np.add.reduceat(np.append(candidates.tags == np.repeat(gold, sizes), False), candidates.first[:-1])
        if len(gold)
        else np.zeros(0)
    )
    return 100.0 * float(np.mean(hits > 0)) if len(gold) else 100.0, float(np.mean(sizes)) if len(
        gold
    ) else 0.0
