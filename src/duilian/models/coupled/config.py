"""Settings of the coupled tagger."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal

from duilian.errors import ConfigError
from duilian.labels.encoding import Level
from duilian.learning import AdaGrad, Learning, Sgd
from duilian.models.base.feature_settings import DEFAULT_TEMPLATES, Features
from duilian.settings import Settings, setting
from duilian.standards import Mapping

MAX_CANDIDATES = 100  # bundles are pairs of candidates, and scores have pairs of bundles


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoupledFeatures(Features):
    """Units and features of a coupled tagger."""

    parts: Literal["all", "separate", "joint"] = setting(
        "all", "Features of single labels (`separate`), of bundles of labels (`joint`), or both (`all`)."
    )
    joint_count: int | None = setting(
        None,
        "Keep joint features seen at least this often; none: 3 times for words, 2 for characters.",
        at_least=1,
    )
    guide: str | None = setting(
        None, "Standard whose labels are features of the others, for conversion from it."
    )

    def default_templates(self, level: Level) -> str:
        """The preset to use by default."""
        return f"guide-{level}" if self.guide else DEFAULT_TEMPLATES[level]


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoupledPruning(Settings):
    """How the lattice of bundles is kept small."""

    kind: Literal["online", "offline", "mixed"] = setting(
        "online",
        "`online`: with the model's own separate features; `offline`: with jack-knifed baseline taggers; "
        "`mixed`: online in training, with baseline taggers when tagging.",
    )
    max_candidates: int = setting(
        8,
        "Maximum number of labels per unit and standard, the r of the papers.",
        at_least=1,
        at_most=MAX_CANDIDATES,
    )
    max_candidates_tagging: int | None = setting(
        None,
        "The same when tagging; none: as in training, but three times that for characters pruned without "
        "baseline taggers.",
        at_least=1,
        at_most=MAX_CANDIDATES,
    )
    candidate_mass: float = setting(
        0.98,
        "Keep candidates until their probabilities sum to this, the λ of the papers.",
        above=0,
        at_most=1,
    )
    bundle_gap: float | None = setting(
        5.0,
        "When tagging, skip bundles that score this far (in nats) below the best of their unit; none or inf: "
        "try all.",
        at_least=0,
        is_finite=False,
    )
    folds: int = setting(10, "Number of jack-knifing folds, for offline pruning.", at_least=2)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bundle_gap == math.inf:  # TOML has no null
            object.__setattr__(self, "bundle_gap", None)

    @property
    def native_gap(self) -> float:
        """The gap as a number."""
        return math.inf if self.bundle_gap is None else self.bundle_gap


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfTraining(Settings):
    """How a teacher finds labels for the sides that the largest corpus leaves open."""

    rounds: int = setting(
        0,
        "Number of teachers that convert the largest corpus, each learning from the one before.",
        at_least=0,
        at_most=9,
    )
    confidence: float = setting(
        0.95,
        "Labels become annotation if a teacher finds them at least this probable.",
        above=0,
        at_most=1,
    )
    known_from: int | None = setting(
        None,
        "Do not annotate words that occur at least this often in the standard's own corpus, which covers "
        "them; none: annotate all.",
        at_least=1,
    )
    mapping: str | None = setting(
        None, "Tags that may go together in conversion; none: the strictest table there is, otherwise all."
    )
    iterations: int = setting(3, "Iterations of each teacher.", at_least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.mapping or "").startswith("automatic"):
            raise ConfigError(
                f"a teacher needs a table of tags, or none; {self.mapping!r} is learned in training",
                "choose complete, strict, tight, relaxed or a file",
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Start(Settings):
    """What training starts with: weights, and labels found by a teacher."""

    kind: Literal["warm", "cold"] = setting(
        "warm", "`warm`: start with weights of baseline taggers; `cold`: with zeros, as in the papers."
    )
    shares: tuple[float, ...] | None = setting(
        None,
        "The share of its baseline tagger's weights that each standard starts with; none: 1 for the largest "
        "corpus, 0.3 (characters) or 0 (words) for the others.",
    )
    baseline_iterations: int = setting(8, "Iterations of the baseline taggers.", at_least=1)
    self_training: SelfTraining = setting(
        SelfTraining(), "Labels for the sides that the largest corpus leaves open.", is_optional=True
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoupledConfig(Settings):
    """Kind `coupled`: one model from corpora in several standards."""

    standards: tuple[str, ...] = setting(("ctb", "pku"), "Names of the standards, at least two.")
    level: Level = setting("word", "`word`: tag given words; `char`: cut text into words, and tag them.")
    mapping: str | Mapping = setting(
        "complete",
        "Tags that may go together: complete (all), strict, tight or relaxed (tables), a file, automatic (or "
        "automatic-intersection, automatic-first, automatic-second); in Python also a `Mapping`.",
    )
    decoding: Literal["marginals", "path"] = setting(
        "marginals", "`marginals`: the most probable label of each unit; `path`: the best path of bundles."
    )
    features: CoupledFeatures = setting(CoupledFeatures(), "Units and features.")
    pruning: CoupledPruning = setting(CoupledPruning(), "How the lattice is kept small.")
    start: Start = setting(Start(), "The weights to start with.")
    learning: Learning = setting(AdaGrad(rate=0.15, batch=8, iterations=8), "How to learn.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.learning.check_rule("coupled", AdaGrad, Sgd)
        self.features.check_level(self.level)
        count, guide = len(self.standards), self.features.guide
        if isinstance(self.learning.sample, int):
            raise ConfigError("learning.sample needs one number per standard")
        for name, given in (("learning.sample", self.learning.sample), ("start.shares", self.start.shares)):
            if given is not None and len(given) != count:
                raise ConfigError(f"{name} has {len(given)} numbers for {count} standards")
        if isinstance(self.mapping, Mapping) and count != 2:
            raise ConfigError(f"a single mapping needs exactly two standards, got {count}")
        if self.features.parts == "joint" and self.pruning.kind != "offline":
            raise ConfigError("online pruning needs separate features", "use offline pruning")
        if guide is not None and guide not in self.standards:
            raise ConfigError(f"the guide {guide!r} is not one of {', '.join(self.standards)}")
