"""What a coupled tagger is trained on: the sentences of all sides as one body of features, a plain tagger for
each side over the same features, their candidates for pruning, and the mapping between the sides.

The plain taggers are cheap here (features are extracted once) and serve three times: they start the source
side warm, they say which bundles a word may have (joint features exist for those only), and they prune
offline.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.corpus import Layer
from duilian.errors import ConfigError, DuilianError
from duilian.features import Templates, pack
from duilian.lattice import SideMapping
from duilian.learning import LearnConfig
from duilian.modelfile import read_model, write_model
from duilian.models.coupled_labels import NO_SETS, on_labels, table_mapping, tag_numbers
from duilian.models.encoding import Encoding
from duilian.standards import Mapping
from duilian.text import Folding

Ids = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]
MappingName = Literal[
    "complete",
    "tight",
    "relaxed",
    "automatic",
    "automatic-intersection",
    "automatic-first",
    "automatic-second",
]
MAPPINGS = get_args(MappingName)

PLAIN_RATE = 0.3
PLAIN_BATCH = 8


@dataclasses.dataclass(frozen=True)
class Body:
    """The sentences of all sides in a row, with their features."""

    encodings: Sequence[Encoding]
    keys: npt.NDArray[np.uint64]
    rows: _native.FeatureRows
    shared: _native.FeatureRows  # without the guide's features, which are one side's own
    first: npt.NDArray[np.int64]  # [sentences + 1]  in units
    side: npt.NDArray[np.int32]  # [sentences]
    label: npt.NDArray[np.int32]  # [units]  of the sentence's own side
    sets: _native.TagSets

    def sentences(self, side: int) -> Ids:
        """The numbers of one side's sentences."""
        return np.flatnonzero(self.side == side).astype(np.int64)

    def own_labels(self, side: int) -> npt.NDArray[np.int32]:
        """Labels where they are this side's, else -1."""
        own = np.repeat(self.side, np.diff(self.first)) == side
        return np.where(own, self.label, -1).astype(np.int32)

    def own_sets(self, side: int) -> _native.TagSets:
        """Label sets where they are this side's, else none."""
        if len(self.sets.first) == 1:
            return NO_SETS
        own = np.repeat(self.side, np.diff(self.first)) == side
        sizes = np.diff(self.sets.first)
        kept = self.sets.tags[np.repeat(own, sizes)]
        first = np.concatenate([[0], np.cumsum(np.where(own, sizes, 0))])
        return _native.TagSets(first.astype(np.int32), kept)

    def digest(self) -> str:
        """What the features and labels are, in short."""
        digest = hashlib.blake2b(digest_size=16)
        arrays = (self.keys, self.first, self.side, self.label, self.sets.first, self.sets.tags)
        for part in (*arrays, self.rows.first, self.rows.rows):
            digest.update(np.ascontiguousarray(part).tobytes())
        for encoding in self.encodings:
            digest.update(repr(encoding.labels).encode())
        return digest.hexdigest()


def make_body(
    sides: Sequence[Sequence[Layer]],
    encodings: Sequence[Encoding],
    templates: Templates,
    folding: Folding,
    *,
    min_count: int,
    guide: Sequence[Sequence[str]] | None = None,
    shared_templates: Templates | None = None,
) -> Body:
    """Units, labels and features of all sides' sentences; `guide` has a column of guide labels for each."""
    encoded = [encoding.encode(layers) for encoding, layers in zip(encodings, sides, strict=True)]
    units = [each for side in encoded for each in side.units]
    columns = None if guide is None else [{"guide": labels} for labels in guide]
    packed = pack(units, folding, columns)
    keys = _native.count_keys(templates.native, packed, min_count)
    index = _native.FeatureIndex(keys)
    rows = _native.extract_rows(templates.native, packed, index, 1)
    shared = (
        rows
        if shared_templates is None
        else _native.extract_rows(shared_templates.native, pack(units, folding), index, 1)
    )
    return Body(
        encodings,
        keys,
        rows,
        shared,
        packed.first,
        np.repeat(np.arange(len(sides), dtype=np.int32), [len(layers) for layers in sides]),
        np.concatenate([each.label for each in encoded]),
        _join_sets([each.sets for each in encoded], [len(each.label) for each in encoded]),
    )


def _join_sets(sets: Sequence[_native.TagSets], units: Sequence[int]) -> _native.TagSets:
    if all(len(each.first) == 1 for each in sets):
        return NO_SETS
    empty = [_native.TagSets(np.zeros(count + 1, np.int32), np.zeros(0, np.int32)) for count in units]
    return _chain_sets([a if len(a.first) > 1 else b for a, b in zip(sets, empty, strict=True)])


class PlainSides:
    """A plain tagger for each side, over the features of the whole body."""

    def __init__(self, body: Body, guided: Sequence[int], full_from: int) -> None:
        """`guided` are the sides that see the guide's features."""
        self.body = body
        self.layouts: list[_native.TaggerLayout] = []
        self.data: list[_native.TaggingData] = []
        for side, encoding in enumerate(body.encodings):
            rows = body.rows if side in guided else body.shared
            label = body.own_labels(side)
            data = _native.TaggingData(rows, body.first, label, body.own_sets(side))
            layout = _native.lay_out_tagger(
                len(encoding.labels), encoding.succession.native(), len(body.keys), data, full_from
            )
            self.layouts.append(layout)
            self.data.append(data)
        self.weights: list[Weights] = []

    def train(self, config: LearnConfig, on_side: Callable[[int], None] | None = None) -> None:
        """One tagger from each side's sentences."""
        for side in range(len(self.layouts)):
            self.weights.append(self._fit(side, self.body.sentences(side), config, config.threads))
            if on_side:
                on_side(side)

    def _fit(self, side: int, sentences: Ids, config: LearnConfig, threads: int) -> Weights:
        objective = _native.TaggingObjective(self.layouts[side], self.data[side])
        weights = np.zeros(objective.weights, np.float32)
        squares, total = np.zeros_like(weights), np.zeros_like(weights)
        for iteration in range(config.iterations):
            order = np.random.default_rng([config.seed, iteration]).permutation(sentences)
            try:
                objective.adagrad_pass(weights, squares, PLAIN_RATE, order, PLAIN_BATCH, threads)
            except RuntimeError as error:
                raise DuilianError(f"the plain tagger of side {side + 1} failed: {error}") from None
            total += weights
        return total / np.float32(max(config.iterations, 1))

    def candidates(
        self,
        side: int,
        pruning: _native.Pruning,
        threads: int,
        rows: _native.FeatureRows | None = None,
        first: npt.NDArray[np.int64] | None = None,
    ) -> _native.TagSets:
        """The side's candidates for every unit of the body, or of other sentences."""
        rows = self.body.rows if rows is None else rows
        first = self.body.first if first is None else first
        return _native.tag_candidates(self.layouts[side], self.weights[side], rows, first, pruning, threads)

    def labels(self, side: int, threads: int) -> npt.NDArray[np.int32]:
        """The side's best label for every unit of the body."""
        rows, first = self.body.rows, self.body.first
        return _native.tag_units(self.layouts[side], self.weights[side], rows, first, threads)

    def jackknifed(
        self, side: int, pruning: _native.Pruning, folds: int, config: LearnConfig
    ) -> _native.TagSets:
        """Candidates where the side's own training sentences are pruned by taggers that did not see them."""
        own, first = self.body.sentences(side), self.body.first
        layout, rows = self.layouts[side], self.body.rows
        parts = np.array_split(own, min(folds, len(own)))

        def run(part: Ids) -> _native.TagSets:
            weights = self._fit(side, np.setdiff1d(own, part), config, 1)
            return _native.tag_candidates(layout, weights, rows, first[part[0] : part[-1] + 2], pruning, 1)

        with ThreadPoolExecutor(config.threads) as pool:
            held_out = list(pool.map(run, parts))
        before = self.candidates(side, pruning, config.threads, first=first[: own[0] + 1])
        behind = self.candidates(side, pruning, config.threads, first=first[own[-1] + 1 :])
        return _chain_sets([before, *held_out, behind])


def _chain_sets(parts: Sequence[_native.TagSets]) -> _native.TagSets:
    """Label sets of units that follow each other."""
    sizes = np.concatenate([np.diff(part.first) for part in parts])
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return _native.TagSets(first, np.concatenate([part.tags for part in parts]))


def offline_candidates(
    plain: PlainSides,
    pruning: _native.Pruning,
    folds: int,
    config: LearnConfig,
    *,
    settings: str,
    cache: str | Path | None,
) -> list[_native.TagSets]:
    """Every side's candidates on the training sentences, kept in the folder `cache` by content."""
    digest = hashlib.blake2b(f"{plain.body.digest()} {settings} {folds}".encode(), digest_size=16).hexdigest()
    path = None if cache is None else Path(cache) / f"candidates-{digest}"
    sides = range(len(plain.layouts))
    if path is not None and path.exists():
        _, arrays = read_model(path)
        return [_native.TagSets(np.array(arrays[f"{k}.first"]), np.array(arrays[f"{k}.tags"])) for k in sides]
    found = [plain.jackknifed(side, pruning, folds, config) for side in sides]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {f"{k}.first": sets.first for k, sets in enumerate(found)}
        arrays |= {f"{k}.tags": sets.tags for k, sets in enumerate(found)}
        write_model(path, {"kind": "candidates"}, arrays)
    return found


def side_mappings(
    mapping: str | Mapping, standards: Sequence[str], plain: PlainSides, threads: int
) -> list[SideMapping]:
    """What may go with what, for each pair of sides; none if everything may."""
    if mapping == "complete":
        return []
    encodings = plain.body.encodings
    found = []
    for a, b in itertools.combinations(range(len(standards)), 2):
        tags = _tag_mapping(mapping, standards, a, b, plain, threads)
        found.append(SideMapping(a, b, on_labels(tags.matrix, encodings[a], encodings[b])))
    return found


def _tag_mapping(
    mapping: str | Mapping, standards: Sequence[str], a: int, b: int, plain: PlainSides, threads: int
) -> Mapping:
    tags_a, tags_b = (plain.body.encodings[side].tags or () for side in (a, b))
    if isinstance(mapping, Mapping) or not mapping.startswith("automatic"):
        return table_mapping(mapping, (standards[a], standards[b]), tags_a, tags_b).completed()
    first = _seen_together(plain, a, b, on=a, threads=threads)
    second = _seen_together(plain, a, b, on=b, threads=threads)
    matrix = {
        "automatic": first | second,
        "automatic-intersection": first & second,
        "automatic-first": first,
        "automatic-second": second,
    }.get(mapping)
    if matrix is None:
        raise ConfigError(f"there is no mapping {mapping!r}", f"there are: {', '.join(MAPPINGS)}")
    return Mapping(tags_a, tags_b, matrix).completed()


def _seen_together(plain: PlainSides, a: int, b: int, *, on: int, threads: int) -> npt.NDArray[np.bool_]:
    """Gold tags of one side's corpus with those that the other's plain tagger gives there."""
    body, other = plain.body, b if on == a else a
    gold, guess = body.own_labels(on), plain.labels(other, threads)
    known = gold >= 0
    tag_of = [tag_numbers(encoding) for encoding in body.encodings]
    pairs = {on: tag_of[on][gold[known]], other: tag_of[other][guess[known]]}
    matrix = np.zeros((len(body.encodings[a].tags or ()), len(body.encodings[b].tags or ())), np.bool_)
    matrix[pairs[a], pairs[b]] = True
    return matrix
