"""Kind coupled: one model from corpora of any number of standards."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Literal

from duilian.corpus import Corpus
from duilian.errors import ConfigError, StandardError
from duilian.models.coupled import CoupledTagger
from duilian.models.coupled_training import AVERAGE
from duilian.models.coupling import MAPPINGS
from duilian.recipes.kinds.crf import LevelSettings
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, learn_settings, save, scorable, side_notes, warn_of_overlap
from duilian.standards.mapping_table import MappingTable

CACHE = ".duilian-cache"
MOST_SIDES = 8
TABLES = ("tight", "relaxed")  # mappings that stand in a shipped table for each pair of standards


@dataclasses.dataclass(frozen=True, kw_only=True)
class CoupledSettings(LevelSettings):
    """`[model]` of kind coupled; what each means stands in `CoupledTagger`. Any number of sides from two."""

    mapping: str = "complete"
    features: Literal["all", "separate", "joint"] = "all"
    pruning: Literal["online", "offline"] = "online"
    most: int = 8
    tagging_most: int | None = None
    mass: float = 0.98
    folds: int = 10
    start: Literal["warm", "cold"] = "warm"
    warm: list[float] | None = None
    plain_iterations: int = 8
    guide: str | None = None
    joint_count: int | None = None
    decoding: Literal["marginals", "path"] = "marginals"
    margin: float = 5.0  # inf: every bundle is tried when tagging
    keep: Literal["all", "average"] = "all"


def train_coupled(recipe: Recipe, run: Run) -> float | None:
    """The coupled tagger from a recipe of kind coupled: one corpus per side, one model for all."""
    sides, learn = recipe.sides, learn_settings(recipe, run)
    if learn.get("algorithm") == "sgd":
        learn = {"rate": None, **learn}  # its first step is found by trying
    tagger = CoupledTagger(
        [side.standard for side in sides],
        samples=[side.sample for side in sides],
        cache=str(run.output.parent / CACHE),
        **recipe.model,
        **learn,
    )
    corpora = [corpora_of(recipe, side) for side in sides]
    _check_standards([corpus for corpus, _ in corpora])
    _check_mapping(recipe.model.get("mapping", "complete"), [corpus for corpus, _ in corpora])
    warn_of_overlap(corpora, tagger.level, run)
    _warn_of_missing_dev([(corpus.standard, dev) for corpus, dev in corpora], run)
    dev_sets = [scorable(dev, tagger.level) for _, dev in corpora]
    tagger.fit(
        [corpus for corpus, _ in corpora],
        dev=dev_sets if any(dev is not None for dev in dev_sets) else None,
        on_iteration=run.on_iteration,
        on_stage=run.on_stage,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    notes = {
        side.standard: side_notes(side, corpus, dev)
        | {"dev_score": None if dev is None else _side_score(tagger, side.standard)}
        for side, (corpus, dev) in zip(sides, corpora, strict=True)
    }
    return save(tagger, recipe, run, {"sides": notes})


def _side_score(tagger: CoupledTagger, standard: str) -> float | None:
    """The best on a side's dev set; if there is but one dev set, it is the average too."""
    return tagger.best_scores_.get(standard, tagger.best_scores_[AVERAGE])


def _tags(corpus: Corpus) -> set[str]:
    found = {tag for sentence in corpus for tag in sentence[corpus.standard].tags or () if tag is not None}
    return {name for tag in found for name in ((tag,) if isinstance(tag, str) else tag)}


def _check_standards(corpora: list[Corpus]) -> None:
    for a, b in itertools.combinations(corpora, 2):
        if a.standard != b.standard:
            continue
        if _tags(a).isdisjoint(_tags(b)):
            raise StandardError(
                f"two corpora declared as {a.standard!r} have no tag in common ({a.source} and {b.source})",
                "give one of them another standard name",
            )
        raise ConfigError(
            f"two sides have the same standard {a.standard!r}",
            "list the files of one standard in one side: train = ['a.txt', 'b.txt']",
        )


def _check_mapping(mapping: str, corpora: list[Corpus]) -> None:
    """Refuse, before hours of training, a table that is missing or does not fit the corpora."""
    if mapping in MAPPINGS and mapping not in TABLES:
        return
    if mapping.startswith("automatic"):
        raise ConfigError(f"there is no mapping {mapping!r}", f"there are: {', '.join(MAPPINGS)}")
    for a, b in itertools.combinations(corpora, 2):
        name = f"{a.standard}-{b.standard}.{mapping}" if mapping in TABLES else mapping
        table = MappingTable.load(name)
        for side, (corpus, standard) in enumerate(((a, table.left), (b, table.right))):
            known = _tags(corpus) if standard is None else None  # a declared standard has checked its tags
            for pair, (path, line) in table.pairs.items():
                if known is not None and pair[side] not in known:
                    raise StandardError(
                        f"{path}:{line}: the mapping names the tag {pair[side]!r}, "
                        f"which the corpus of {corpus.standard!r} does not have"
                    )


def _warn_of_missing_dev(sides: list[tuple[str, Corpus | None]], run: Run) -> None:
    missing = [repr(standard) for standard, dev in sides if dev is None]
    if len(missing) == len(sides):
        run.warn("no side has a dev set: the weights of the last iteration are kept")
    elif missing:
        has = "has" if len(missing) == 1 else "have"
        run.warn(f"{', '.join(missing)} {has} no dev set: the best weights are chosen without it")


register(
    Kind(
        "coupled",
        CoupledSettings,
        range(2, MOST_SIDES + 1),
        train_coupled,
        iterations=CoupledTagger().iterations,
    )
)
