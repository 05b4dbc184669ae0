"""Baseline taggers: a plain tagger for each side of a coupled one, over the features of all sides.

They are cheap, because features are extracted only once, and have three uses: a warm start for the source
side, the bundles that a unit may have (joint features exist only for these), and offline pruning.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.errors import ConfigError
from duilian.labels.encoding import Encoding
from duilian.lattice import SideMapping
from duilian.learning import AdaGrad, IterationReport, Session, Trainer
from duilian.learning.jobs import has_workers, run_jobs
from duilian.learning.weight_store import AllWeights, small_pages
from duilian.modelfile import read_model, write_model
from duilian.models.coupled.label_pairs import MAPPINGS, label_tags, on_labels, table_mapping
from duilian.models.coupled.sides import Sides
from duilian.models.coupled.training_data import Ids, TrainingData, chain_sets
from duilian.standards import Mapping

Reports = Iterator[IterationReport]
Weights = npt.NDArray[np.float32]


@dataclasses.dataclass(frozen=True, eq=False)
class BaselineSide:
    """The training data of one side's tagger; it travels to other processes as arrays."""

    encoding: Encoding
    keys: int
    full_from: int
    rows: _native.FeatureRows
    first: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32]
    sets: _native.TagSets
    held: Ids  # sentences of other sides in which some labels of this side are known
    learning: AdaGrad

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def examples(self) -> _native.TaggingData:
        return _native.TaggingData(self.rows, self.first, self.labels, self.sets)

    def layout(self, sentences: Ids) -> _native.TaggerLayout:
        """Where the weights are that these sentences, and those with known labels, teach."""
        taught = np.concatenate([sentences, self.held])
        return _native.lay_out_tagger_for(*self._labels, self.keys, self.examples, self.full_from, taught)

    def whole_layout(self) -> _native.TaggerLayout:
        """A layout with the features of all sentences."""
        return _native.lay_out_tagger(*self._labels, self.keys, self.examples, self.full_from)

    @property
    def _labels(self) -> tuple[int, _native.Succession]:
        return len(self.encoding.labels), self.encoding.succession.native()

    def fit(
        self,
        sentences: Ids,
        threads: int,
        watch: Callable[[Reports], Reports] | None = None,
        layout: _native.TaggerLayout | None = None,
    ) -> Weights:
        """Train on these sentences, and on as many others in which some of the side's labels are known;
        return the mean of the weights after each iteration."""
        objective = _native.TaggingObjective(layout or self.layout(sentences), self.examples)
        store = AllWeights(np.zeros(objective.weights, np.float32), averages=True)
        trainer = Trainer(
            self.learning.rule(objective, len(sentences), threads),
            objective.weights,
            len(sentences),
            self.learning,
            draw=lambda rng: _drawn(rng, sentences, self.held),
            start=store,
        )
        reports = trainer.run(None)
        for _ in reports if watch is None else watch(reports):
            pass
        store.total /= np.float32(trainer.iteration)
        return store.total


@dataclasses.dataclass(frozen=True, eq=False)
class HeldOutJob:
    """Finds candidates for some of a side's sentences with a tagger that learns from the others."""

    side: BaselineSide
    own: Ids
    rows: _native.FeatureRows  # including those of a guide, if there is one
    pruning: _native.Pruning

    def __call__(self, part: Ids) -> _native.TagSets:
        others = np.setdiff1d(self.own, part)
        layout = self.side.layout(others)
        weights = self.side.fit(others, 1, layout=layout)
        first = self.side.first[part[0] : part[-1] + 2]
        return _native.tag_candidates(layout, weights, self.rows, first, self.pruning, 1)


class BaselineTaggers:
    """A plain tagger for each side; those of the sides in `guided` see the guide's labels."""

    def __init__(
        self, data: TrainingData, guided: Sequence[int], full_from: int, learning: AdaGrad, threads: int
    ) -> None:
        self.data, self._threads = data, threads
        self._sides = [
            BaselineSide(
                encoding,
                len(data.keys),
                full_from,
                data.rows if side in guided else data.shared,
                data.first,
                data.own_labels(side),
                data.own_sets(side),
                data.held_sentences(side),
                learning,
            )
            for side, encoding in enumerate(data.encodings)
        ]
        self.layouts = [side.layout(data.sentences(k)) for k, side in enumerate(self._sides)]
        self.weights: list[Weights] = []

    def whole_layouts(self) -> list[_native.TaggerLayout]:
        """The layouts of sides with the features of all sides."""
        return [side.whole_layout() for side in self._sides]

    def train(self, watch: Callable[[int, Reports], Reports]) -> None:
        """Train each side's tagger on its sentences; `watch` sees iterations, unless they run elsewhere."""
        jobs = []
        for side, own in enumerate(self._sides):
            here = () if has_workers() else (functools.partial(watch, side), self.layouts[side])
            jobs.append((own, self.data.sentences(side), self._threads, *here))
        for weights in run_jobs(BaselineSide.fit, jobs):
            self.weights.append(np.require(weights, requirements="W"))  # Ray returns read-only arrays

    def candidates(
        self,
        side: int,
        pruning: _native.Pruning,
        rows: _native.FeatureRows | None = None,
        first: npt.NDArray[np.int64] | None = None,
    ) -> _native.TagSets:
        """The side's candidates for each unit of the training data, or of other sentences."""
        rows = self.data.rows if rows is None else rows
        first = self.data.first if first is None else first
        layout, weights = self.layouts[side], self.weights[side]
        return _native.tag_candidates(layout, weights, rows, first, pruning, self._threads)

    def spread(
        self, side: int, share: float, layout: _native.TaggerLayout, out: Weights | None = None
    ) -> Weights:
        """A share of the side's weights in a layout of all features."""
        out = small_pages(layout.weights) if out is None else out
        _native.copy_weights(self.layouts[side], self.weights[side], share, layout, out)
        return out

    def labels(self, side: int) -> npt.NDArray[np.int32]:
        """The side's best label for each unit of the training data."""
        rows, first = self.data.rows, self.data.first
        return _native.tag_units(self.layouts[side], self.weights[side], rows, first, self._threads)

    def jackknifed(
        self, side: int, pruning: _native.Pruning, folds: int, session: Session
    ) -> _native.TagSets:
        """Like `candidates`, but taggers that have not seen the side's own sentences find those for them."""
        own, first = self.data.sentences(side), self.data.first
        parts = np.array_split(own, min(folds, len(own)))
        job = HeldOutJob(self._sides[side], own, self.data.rows, pruning)
        found = run_jobs(job, [(part,) for part in parts], self._threads)
        held_out = list(session.parts(f"jack-knifing, side {side + 1}", found, len(parts)))
        before = self.candidates(side, pruning, first=first[: own[0] + 1])
        after = self.candidates(side, pruning, first=first[own[-1] + 1 :])
        return chain_sets([before, *held_out, after])


def _drawn(rng: np.random.Generator, sentences: Ids, others: Ids) -> Ids:
    """The sentences, and at most as many others, in random order."""
    if len(others):
        sentences = np.concatenate([sentences, rng.permutation(others)[: len(sentences)]])
    return rng.permutation(sentences)


def offline_candidates(
    baselines: BaselineTaggers,
    pruning: _native.Pruning,
    folds: int,
    *,
    settings: str,
    cache: str | Path | None,
    session: Session,
) -> list[_native.TagSets]:
    """The candidates of all sides on the training sentences; `cache` is a folder that stores them."""
    content = f"{baselines.data.digest()} {settings} {folds}"
    digest = hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
    path = None if cache is None else Path(cache) / f"candidates-{digest}"
    sides = range(len(baselines.layouts))
    if path is not None and path.exists():
        _, arrays = read_model(path)
        return [_native.TagSets(np.array(arrays[f"{k}.first"]), np.array(arrays[f"{k}.tags"])) for k in sides]
    found = [baselines.jackknifed(side, pruning, folds, session) for side in sides]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {f"{k}.first": sets.first for k, sets in enumerate(found)}
        arrays |= {f"{k}.tags": sets.tags for k, sets in enumerate(found)}
        write_model(path, {"kind": "candidates"}, arrays)
    return found


def side_mappings(mapping: str | Mapping, sides: Sides, baselines: BaselineTaggers) -> list[SideMapping]:
    """Which labels may go together, for each pair of sides; an empty list if all may."""
    if mapping == "complete":
        return []
    found = []
    for a, b in itertools.combinations(range(len(sides)), 2):
        encodings = sides.encodings[a], sides.encodings[b]
        tags_a, tags_b = (each.tags or () for each in encodings)
        if isinstance(mapping, Mapping) or not mapping.startswith("automatic"):
            pairs = table_mapping(mapping, (sides.standards[a], sides.standards[b]), tags_a, tags_b)
        else:
            pairs = Mapping(tags_a, tags_b, _automatic(mapping, baselines, a, b))
        found.append(SideMapping(a, b, on_labels(pairs.completed().matrix, *encodings)))
    return found


def _automatic(mapping: str, baselines: BaselineTaggers, a: int, b: int) -> npt.NDArray[np.bool_]:
    first, second = (_seen_together(baselines, a, b, on=side) for side in (a, b))
    matrix = {
        "automatic": first | second,
        "automatic-intersection": first & second,
        "automatic-first": first,
        "automatic-second": second,
    }.get(mapping)
    if matrix is None:
        raise ConfigError(f"there is no mapping {mapping!r}", f"choose one of: {', '.join(MAPPINGS)}")
    return matrix


def _seen_together(baselines: BaselineTaggers, a: int, b: int, *, on: int) -> npt.NDArray[np.bool_]:
    """The pairs of gold tags in one side's corpus and tags of the other side's baseline tagger there."""
    data, other = baselines.data, b if on == a else a
    gold, guess = data.own_labels(on), baselines.labels(other)
    known = gold >= 0
    tag_of = [label_tags(encoding) for encoding in data.encodings]
    pairs = {on: tag_of[on][gold[known]], other: tag_of[other][guess[known]]}
    matrix = np.zeros((len(data.encodings[a].tags or ()), len(data.encodings[b].tags or ())), np.bool_)
    matrix[pairs[a], pairs[b]] = True
    return matrix
