"""Kind multitask: two standards that share weights through a loose mapping."""

from __future__ import annotations

import dataclasses
from typing import Literal

from duilian.models.multitask import MultitaskTagger
from duilian.recipes.kinds.several import check_mapping, check_standards, warn_of_missing_dev
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, learn_settings, save, scorable, side_notes, warn_of_overlap


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultitaskSettings:
    """`[model]` of kind multitask; what each means stands in `MultitaskTagger`."""

    level: Literal["char"] = "char"
    templates: str = "multitask"
    mapping: str = "relaxed"
    listens: Literal["both", "first", "second"] = "both"
    expansion: Literal["all", "best"] = "all"
    align_names: bool = True
    scheme: str = "BIES"
    join_letters: bool = False
    join_digits: bool = False
    script: Literal["as-is", "simplified"] = "as-is"
    min_count: int = 1
    full_from: int = 2


def train_multitask(recipe: Recipe, run: Run) -> float | None:
    """The multi-task tagger from a recipe of kind multitask: one corpus per side."""
    sides = recipe.sides
    tagger = MultitaskTagger(
        [side.standard for side in sides],
        samples=[side.sample for side in sides],
        **recipe.model,
        **learn_settings(recipe, run),
    )
    corpora = [corpora_of(recipe, side) for side in sides]
    check_standards([corpus for corpus, _ in corpora])
    check_mapping(recipe.model.get("mapping", "relaxed"), [corpus for corpus, _ in corpora])
    warn_of_overlap(corpora, tagger.level, run)
    warn_of_missing_dev([(corpus.standard, dev) for corpus, dev in corpora], run)
    dev_sets = [scorable(dev, tagger.level) for _, dev in corpora]
    tagger.fit(
        [corpus for corpus, _ in corpora],
        dev=dev_sets if any(dev is not None for dev in dev_sets) else None,
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    _warn_of_lone_labels(tagger, run)
    notes = {
        side.standard: side_notes(side, corpus, dev) | {"dev_score": tagger.best_scores_.get(side.standard)}
        for side, (corpus, dev) in zip(sides, corpora, strict=True)
    }
    return save(tagger, recipe, run, {"sides": notes})


def _warn_of_lone_labels(tagger: MultitaskTagger, run: Run) -> None:
    for standard, labels in zip(tagger.standards, tagger.mapping_.without_partner(), strict=True):
        tags = list(dict.fromkeys(label.partition("@")[2] for label in labels))
        if tags:
            run.warn(f"in {standard!r} nothing maps to {', '.join(tags)}: learned from its own corpus alone")


register(Kind("multitask", MultitaskSettings, range(2, 3), train_multitask))
