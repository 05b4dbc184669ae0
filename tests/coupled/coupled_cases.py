"""Small random corpora for a coupled model, and its twin: the same model by listing every path of bundles.

The twin implements the score (oracle.scorer), pruning and both ways of decoding from their definitions. It
shares no recursion with the native core; it only asks it for the position of each weight.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from duilian import _native
from duilian.lattice import SideMapping, Succession
from duilian.standards import BoundaryScheme
from oracle import scorer
from oracle.chain import Bundle
from oracle.scorer import START, STOP, NamedWeights, WeightName

Sets = list[list[int]]
"""[units][labels], ascending."""

Weights = npt.NDArray[np.float32]

ROWS = 5
NO_STRENGTH = np.array([], np.float32)


def no_sets() -> _native.TagSets:
    return tag_sets([])


def tag_sets(sets: Sequence[Sequence[int]]) -> _native.TagSets:
    first = np.cumsum([0, *map(len, sets)], dtype=np.int32)
    return _native.TagSets(first, np.array([label for each in sets for label in each], np.int32))


def sets_of(native: _native.TagSets) -> Sets:
    return [native.tags[a:b].tolist() for a, b in itertools.pairwise(native.first.tolist())]


def boundary_rules(tags: int) -> Succession:
    """Labels in blocks: E of all tags, then S, B, I."""
    labels = [f"{letter}@{tag}" for letter in "ESBI" for tag in range(tags)]
    scheme = BoundaryScheme.BIES
    return Succession(scheme.allowed(labels), scheme.allowed_start(labels), scheme.allowed_end(labels))


def is_legal(rules: Succession, path: Sequence[int]) -> bool:
    return bool(
        rules.start[path[0]]
        and rules.end[path[-1]]
        and all(rules.allows[a, b] for a, b in itertools.pairwise(path))
    )


def legal_paths(rules: Succession, sets: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    return [path for path in itertools.product(*sets) if is_legal(rules, path)]


@dataclasses.dataclass
class Case:
    """Sentences of several sides in a row, each annotated on its own side, and perhaps on others."""

    rules: list[Succession]
    mappings: list[SideMapping]
    features: list[list[int]]  # [units]  feature rows
    first: list[int]  # [sentences + 1]  in units
    side: list[int]  # [sentences]
    known: Sets  # [units]  what the annotation allows; nothing: anything
    held: list[Sets] = dataclasses.field(
        default_factory=list
    )  # [sides][units]  the same of sides not its own

    @property
    def labels(self) -> list[int]:
        return [len(rules.start) for rules in self.rules]

    @property
    def sides(self) -> int:
        return len(self.rules)

    @property
    def sentences(self) -> int:
        return len(self.side)

    def span(self, sentence: int) -> range:
        return range(self.first[sentence], self.first[sentence + 1])

    def side_of_unit(self, unit: int) -> int:
        return next(side for s, side in enumerate(self.side) if unit in self.span(s))

    def allowed(self, unit: int, side: int) -> list[int]:
        """What annotation allows a side; nothing: anything."""
        if side == self.side_of_unit(unit):
            return self.known[unit]
        return self.held[side][unit] if self.held else []

    def is_correct(self, unit: int, bundle: Bundle) -> bool:
        allowed = [self.allowed(unit, side) for side in range(self.sides)]
        return all(not known or label in known for known, label in zip(allowed, bundle, strict=True))

    def is_told(self, sentence: int, side: int) -> bool:
        """Whether something is known about a side, or should be."""
        return side == self.side[sentence] or any(self.allowed(unit, side) for unit in self.span(sentence))

    def all_labels(self) -> list[Sets]:
        return [[list(range(count))] * len(self.features) for count in self.labels]

    def rows(self, strength: npt.NDArray[np.float32] = NO_STRENGTH) -> _native.FeatureRows:
        first = np.cumsum([0, *map(len, self.features)], dtype=np.int64)
        return _native.FeatureRows(
            first, np.array([row for unit in self.features for row in unit], np.uint32), strength
        )

    def annotation(self, side: int | None = None) -> tuple[npt.NDArray[np.int32], _native.TagSets]:
        """Labels and sets of all units, or of the units that are a side's own."""
        own = [side is None or self.side_of_unit(u) == side for u in range(len(self.features))]
        known = [each if is_own else [] for each, is_own in zip(self.known, own, strict=True)]
        label = np.array([each[0] if len(each) == 1 else -1 for each in known], np.int32)
        sets = [each if len(each) > 1 else [] for each in known]
        return label, tag_sets(sets) if any(sets) else no_sets()

    def data(
        self, candidates: Sequence[Sets] = (), strength: npt.NDArray[np.float32] = NO_STRENGTH
    ) -> _native.CoupledData:
        label, sets = self.annotation()
        return _native.CoupledData(
            self.rows(strength),
            np.array(self.first, np.int64),
            np.array(self.side, np.int32),
            label,
            sets,
            [tag_sets(each) for each in candidates],
            [tag_sets(each) for each in self.held],
        )

    def plain_layouts(self, full_from: int, row_count: int = ROWS) -> list[_native.TaggerLayout]:
        layouts = []
        for side, rules in enumerate(self.rules):
            data = _native.TaggingData(self.rows(), np.array(self.first, np.int64), *self.annotation(side))
            layouts.append(
                _native.lay_out_tagger(self.labels[side], rules.native(), row_count, data, full_from)
            )
        return layouts

    def shape(self) -> _native.CoupledShape:
        return _native.CoupledShape(
            self.labels,
            [rules.native() for rules in self.rules],
            [_native.SideMapping(a, b, allows.astype(np.uint8)) for a, b, allows in self.mappings],
        )

    def pairs(self) -> list[list[int]]:
        return [list(pair) for pair in itertools.combinations(range(self.sides), 2)]


@dataclasses.dataclass(frozen=True)
class LayoutOptions:
    """How many weights a model gets."""

    full_from: int = 1
    seen: int = 1
    linked: int = 1000
    bundles: int = 1000
    is_joint: bool = True


EVERYTHING = LayoutOptions()


def lay_out(
    case: Case,
    options: LayoutOptions = EVERYTHING,
    latent: Sequence[Sets] | None = None,
    row_count: int = ROWS,
) -> _native.CoupledLayout:
    return _native.lay_out_coupled(
        case.shape(),
        case.plain_layouts(options.full_from, row_count),
        case.data(),
        [tag_sets(each) for each in latent or case.all_labels()],
        case.pairs() if options.is_joint else [],
        options.seen,
        options.linked,
        options.bundles,
    )


def random_case(
    seed: int,
    *,
    sides: int = 2,
    rules: str = "free",
    mapped: bool = False,
    partial: bool = False,
    held: bool = False,
) -> Case:
    """Three sentences of every side, short enough to list all paths of bundles."""
    rng = random.Random(f"{seed} {sides} {rules} {mapped} {partial}")
    makers = {
        "free": lambda: Succession.free(rng.randint(2, 3 if sides == 2 else 2)),
        "bound": lambda: boundary_rules(1),
        "many": lambda: Succession.free(12),
    }
    kinds = ["free", "bound"] if rules == "mixed" else [rules]
    chosen = [makers[kind]() for kind in itertools.islice(itertools.cycle(kinds), sides)]
    longest = 2 if rules == "many" else 3 if sides == 2 or (rules == "free" and seed % 4 == 0) else 2
    case = Case(chosen, [], [], [0], [], [])
    for side in list(range(sides)) * 2:
        gold = rng.choice(legal_paths(chosen[side], [range(case.labels[side])] * rng.randint(1, longest)))
        case.side.append(side)
        case.known += [random_known(rng, label, case.labels[side], partial) for label in gold]
        case.features += [rng.choices(range(ROWS), k=rng.randint(0, 4)) for _ in gold]
        case.first.append(len(case.features))
    if rules == "many":  # open units, where every feature meets every bundle
        for unit in range(0, len(case.features), 2):
            case.known[unit], case.features[unit] = [], list(range(ROWS))
    if held:
        case.held = random_held(rng, case)
    if mapped:
        case.mappings = [random_mapping(rng, case.labels, a, b) for a, b in case.pairs()]
    return case


def random_known(rng: random.Random, gold: int, labels: int, partial: bool) -> list[int]:
    if not partial or rng.random() < 0.4:
        return [gold]
    if rng.random() < 0.4:
        return []
    return sorted({gold, *rng.sample(range(labels), rng.randint(1, labels - 1))})


def random_held(rng: random.Random, case: Case) -> list[Sets]:
    """In most sentences, some labels of the other sides, taken from a legal path."""
    held: list[Sets] = [[[] for _ in case.features] for _ in range(case.sides)]
    for sentence, own in enumerate(case.side):
        for side in set(range(case.sides)) - {own}:
            units = case.span(sentence)
            path = rng.choice(legal_paths(case.rules[side], [range(case.labels[side])] * len(units)))
            if rng.random() < 0.8:
                for unit, label in zip(units, path, strict=True):
                    held[side][unit] = random_known(rng, label, case.labels[side], partial=True)
    return held


def random_mapping(rng: random.Random, labels: Sequence[int], a: int, b: int) -> SideMapping:
    allows = np.array([[rng.random() < 0.6 for _ in range(labels[b])] for _ in range(labels[a])])
    return SideMapping(a, b, allows)


def random_weights(seed: int, size: int, scale: float = 1.0) -> Weights:
    return (scale * np.random.default_rng(seed).normal(size=size)).astype(np.float32)


def random_sets(rng: random.Random, labels: int, units: int) -> Sets:
    return [sorted(rng.sample(range(labels), rng.randint(1, labels))) for _ in range(units)]


def places(case: Case, layout: _native.CoupledLayout) -> dict[WeightName, int]:
    """Where each weight lies."""
    found: dict[WeightName, int] = {}
    for side, labels in enumerate(case.labels):
        own, at = layout.side(side), layout.side_at[side]
        add_transitions(found, side, list(range(labels)), at)
        for row, (begin, end) in enumerate(itertools.pairwise(own.first.tolist())):
            for k in range(begin, end):
                name = WeightName("state", side, str(row), int(own.label[k]))
                found[name] = at + own.transitions + k
    joint: list[tuple[tuple[int, ...], Bundle]] = []  # by joint label
    for part in range(layout.shape.parts):
        view = tuple(layout.shape.part_sides(part))
        bundles = [tuple(bundle) for bundle in layout.shape.part_bundles(part).tolist()]
        linked = bundles[: layout.shape.part_linked(part)]
        add_transitions(found, view, linked, layout.joint_transition_at[part])
        joint += [(view, bundle) for bundle in bundles]
    for row, (begin, end) in enumerate(itertools.pairwise(layout.joint_first.tolist())):
        for k in range(begin, end):
            view, bundle = joint[layout.joint_label[k]]
            found[WeightName("state", view, str(row), bundle)] = layout.joint_state_at + k
    return found


def add_transitions(
    found: dict[WeightName, int], view: scorer.View, labels: Sequence[scorer.Label], at: int
) -> None:
    """[L + 1, L + 1], start as the last row and stop as the last column; their meeting has no meaning."""
    for i, before in enumerate([*labels, START]):
        for j, after in enumerate([*labels, STOP]):
            if (before, after) != (START, STOP):
                found[WeightName("transition", view, before, after)] = at + i * (len(labels) + 1) + j


@dataclasses.dataclass(frozen=True)
class Pruning:
    """r and λ, or the window of rough scores."""

    most: int
    mass: float
    window: float = 0.0

    @property
    def native(self) -> _native.Pruning:
        return _native.Pruning(self.most, self.mass, 0.0, self.window)


KEEP_ALL = Pruning(1000, 1.0)


def choose(p: Sequence[float], pruning: Pruning) -> list[int]:
    """The fewest most probable labels that together have more than λ, at most r (Li et al. 2016)."""
    order = sorted(range(len(p)), key=lambda label: -p[label])
    for count in range(1, len(p) + 1):
        is_enough = pruning.mass < 1.0 and sum(p[label] for label in order[:count]) > pruning.mass
        if is_enough or count == pruning.most:
            return sorted(order[:count])
    return sorted(order)


@dataclasses.dataclass
class Twin:
    """The model on its case's sentences, by listing."""

    case: Case
    theta: dict[WeightName, float]
    views: list[scorer.View]

    @classmethod
    def of(cls, case: Case, layout: _native.CoupledLayout, weights: Weights) -> Twin:
        theta = {name: float(weights[at]) for name, at in places(case, layout).items()}
        parts = [tuple(layout.shape.part_sides(p)) for p in range(layout.shape.parts)]
        return cls(case, theta, [*range(case.sides), *parts])

    @property
    def weights(self) -> NamedWeights:
        return NamedWeights(self.theta, self.views)

    def features(self, sentence: int) -> list[list[str]]:
        return [[str(row) for row in self.case.features[unit]] for unit in self.case.span(sentence)]

    def side_scores(self, side: int, sentence: int, sets: Sets) -> dict[tuple[int, ...], float]:
        """The legal label paths of one side through these sets, by its separate weights alone."""
        theta = {name._replace(side=0): w for name, w in self.theta.items() if name.side == side}
        weights, features = NamedWeights(theta, [0]), self.features(sentence)
        return {
            path: scorer.score(weights, features, [(label,) for label in path])
            for path in legal_paths(self.case.rules[side], sets)
        }

    def candidates(
        self,
        side: int,
        sentence: int,
        pruning: Pruning,
        allowed: Sets | None = None,
        keep: Sequence[int] | None = None,
    ) -> Sets:
        """What pruning leaves of a side; `allowed` per unit of the sentence, nothing: anything."""
        scores = self.allowed_scores(side, sentence, allowed)
        kept = []
        for t, p in enumerate(self.prior(side, sentence, allowed)):
            chosen = set(choose(p, pruning))
            if allowed and allowed[t]:
                chosen &= set(allowed[t])
            kept.append(sorted(chosen if keep is None else chosen | {keep[t]}))
        best = max(scores, key=scores.__getitem__)
        with_best = [sorted({*labels, label}) for labels, label in zip(kept, best, strict=True)]
        return self.trimmed(side, kept) or self.trimmed(side, with_best)

    def allowed_scores(self, side: int, sentence: int, allowed: Sets | None) -> dict[tuple[int, ...], float]:
        every = list(range(self.case.labels[side]))
        given = allowed or [[]] * len(self.case.span(sentence))
        return self.side_scores(side, sentence, [each or every for each in given])

    def prior(self, side: int, sentence: int, allowed: Sets | None = None) -> list[list[float]]:
        """[t][label] the probabilities of one side alone."""
        scores = self.allowed_scores(side, sentence, allowed)
        log_z = scorer.log_sum_exp(scores.values())
        return [
            [
                sum(float(np.exp(s - log_z)) for path, s in scores.items() if path[t] == label)
                for label in range(self.case.labels[side])
            ]
            for t in range(len(self.case.span(sentence)))
        ]

    def narrowed(
        self, sentence: int, columns: scorer.Columns, prior: Sequence[list[list[float]]], margin: float
    ) -> scorer.Columns:
        """Drop bundles that score more than twice `margin` below the best one by separate weights, then those
        more than `margin` below it with joint weights; keep all bundles if no legal path would be left.
        """
        narrow = self.near_best(sentence, columns, prior, 2 * margin, with_joint=False)
        narrow = self.near_best(sentence, narrow, prior, margin)
        return narrow if self.has_path(narrow) else columns

    def near_best(
        self,
        sentence: int,
        columns: scorer.Columns,
        prior: Sequence[list[list[float]]],
        margin: float,
        *,
        with_joint: bool = True,
    ) -> scorer.Columns:
        narrow = []
        for t, (names, column) in enumerate(zip(self.features(sentence), columns, strict=True)):
            promise = {
                bundle: sum(np.log(max(p[t][label], 1e-12)) for p, label in zip(prior, bundle, strict=True))
                + sum(
                    self.theta.get(WeightName("state", view, name, scorer.seen_by(view, bundle)), 0.0)
                    for view in self.views
                    if with_joint and isinstance(view, tuple)
                    for name in names
                )
                for bundle in column
            }
            best = max(promise.values())
            narrow.append([bundle for bundle in column if promise[bundle] >= best - margin])
        return narrow

    def trimmed(self, side: int, sets: Sets) -> Sets:
        """The labels that lie on a legal path; no units if there is none."""
        paths = legal_paths(self.case.rules[side], sets)
        return [sorted(set(labels)) for labels in zip(*paths, strict=True)]

    def gold(self, sentence: int, side: int) -> list[int] | None:
        """The annotation of a side, or the best path that it allows; None if there is no annotation."""
        if not self.case.is_told(sentence, side):
            return None
        every = list(range(self.case.labels[side]))
        sets = [self.case.allowed(unit, side) or every for unit in self.case.span(sentence)]
        scores = self.side_scores(side, sentence, sets)
        return list(max(scores, key=scores.__getitem__))

    def is_legal(self, bundles: Sequence[Bundle]) -> bool:
        paths = zip(*bundles, strict=True)
        return all(is_legal(rules, path) for rules, path in zip(self.case.rules, paths, strict=True))

    def columns(self, candidates: Sequence[Sets], *, mapped: bool) -> list[list[Bundle]]:
        def is_allowed(bundle: Bundle) -> bool:
            return all(allows[bundle[a], bundle[b]] for a, b, allows in self.case.mappings)

        products = [list(itertools.product(*sets)) for sets in zip(*candidates, strict=True)]
        return [[b for b in column if not mapped or is_allowed(b)] for column in products]

    def has_path(self, columns: scorer.Columns) -> bool:
        return next(scorer.sequences(columns, self.is_legal), None) is not None

    def example(self, sentence: int, candidates: Sequence[Sets]) -> scorer.Example:
        """What is possible and what is correct; a mapping that leaves nothing correct is ignored."""
        units = self.case.span(sentence)
        for mapped in (True, False):
            possible = self.columns(candidates, mapped=mapped)
            correct = [
                [bundle for bundle in column if self.case.is_correct(unit, bundle)]
                for unit, column in zip(units, possible, strict=True)
            ]
            if self.has_path(correct):
                return scorer.Example(self.features(sentence), possible, correct, self.is_legal)
        raise ValueError("no path is correct")

    def training_candidates(self, sentence: int, pruning: Pruning) -> list[Sets]:
        return [
            self.candidates(side, sentence, pruning, keep=self.gold(sentence, side))
            for side in range(self.case.sides)
        ]

    def given_candidates(self, sentence: int, candidates: Sequence[Sets]) -> list[Sets]:
        """Candidates that were found beforehand, with what is correct among them."""
        cut = [[list(sets[unit]) for unit in self.case.span(sentence)] for sets in candidates]
        for side, sets in enumerate(cut):
            gold = self.gold(sentence, side)
            if gold is not None:
                wider = [sorted({*labels, label}) for labels, label in zip(sets, gold, strict=True)]
                cut[side] = self.trimmed(side, wider)
        return cut

    def distribution(
        self,
        sentence: int,
        candidates: Sequence[Sets],
        margin: float = np.inf,
        prior: Sequence[list[list[float]]] = (),
    ) -> dict[tuple[Bundle, ...], float]:
        """The probability of every path of bundles."""
        columns: scorer.Columns = self.columns(candidates, mapped=True)
        if not self.has_path(columns):
            columns = self.columns(candidates, mapped=False)
        if margin < np.inf:
            columns = self.narrowed(sentence, columns, prior, margin)
        features = self.features(sentence)
        scores = {
            bundles: scorer.score(self.weights, features, bundles)
            for bundles in scorer.sequences(columns, self.is_legal)
        }
        log_z = scorer.log_sum_exp(scores.values())
        return {bundles: float(np.exp(s - log_z)) for bundles, s in scores.items()}


def side_probabilities(found: dict[tuple[Bundle, ...], float], side: int, labels: int) -> list[list[float]]:
    """[t][label] of one side."""
    length = len(next(iter(found)))
    return [
        [sum(p for path, p in found.items() if path[t][side] == label) for label in range(labels)]
        for t in range(length)
    ]
