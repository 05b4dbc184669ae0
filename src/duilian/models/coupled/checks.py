"""Parameters of a coupled tagger that cannot be meant, refused before any work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from duilian.errors import ConfigError
from duilian.standards import Mapping as TagMapping

if TYPE_CHECKING:
    from duilian.models.coupled.model import CoupledTagger


def check_parameters(tagger: CoupledTagger, corpora: Sequence[object], dev: Sequence[object] | None) -> None:
    """Raises ConfigError, with what can be meant."""
    names = tagger.standards
    if len(names) < 2 or len(set(names)) < len(names):
        raise ConfigError(f"standards must be at least two different names, got {', '.join(names)}")
    for what, found in (
        ("corpora", corpora),
        ("dev sets", dev),
        ("samples", tagger.samples),
        ("warm", tagger.warm),
    ):
        if found is not None and len(found) != len(names):
            raise ConfigError(f"{len(found)} {what} for {len(names)} standards")
    if isinstance(tagger.mapping, TagMapping) and len(names) != 2:
        raise ConfigError(f"one mapping is for two standards, not for {len(names)}")
    for name, known in (
        ("features", ("all", "separate", "joint")),
        ("pruning", ("online", "offline", "mixed")),
        ("start", ("warm", "cold")),
        ("decoding", ("marginals", "path")),
        ("keep", ("all", "average")),
        ("algorithm", ("adagrad", "sgd")),
    ):
        if getattr(tagger, name) not in known:
            raise ConfigError(
                f"{name} must be {' or '.join(map(repr, known))}, got {getattr(tagger, name)!r}"
            )
    if tagger.features == "joint" and tagger.pruning != "offline":
        raise ConfigError("without separate features nothing prunes online", "use pruning = 'offline'")
    if min(tagger.most, tagger.tagging_most or 1) < 1 or not 0 < tagger.mass <= 1:
        got = f"{tagger.most}, {tagger.tagging_most} and {tagger.mass}"
        raise ConfigError(f"pruning needs most, tagging_most >= 1 and 0 < mass <= 1, got {got}")
    if tagger.folds < 2:
        raise ConfigError(f"folds must be at least 2, got {tagger.folds}")
    for name in ("min_count", "joint_count"):
        if (found := getattr(tagger, name)) is not None and found < 1:
            raise ConfigError(f"{name} must be at least 1, got {found}")
    if tagger.margin is not None and not tagger.margin >= 0:
        raise ConfigError(f"margin must be at least 0, got {tagger.margin}")
    if any(count is not None and count < 1 for count in tagger.samples or ()):
        raise ConfigError(f"samples must be at least 1 each, got {tagger.samples}")
    if tagger.guide is not None:
        tagger.side(tagger.guide)
