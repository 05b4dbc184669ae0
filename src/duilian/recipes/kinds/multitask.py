"""Kind multitask: two standards that share weights through a loose mapping."""

from __future__ import annotations

from typing import cast

from duilian.models.multitask.config import MultitaskConfig
from duilian.models.multitask.model import MultitaskTagger
from duilian.recipes.kinds.several import read_sides
from duilian.recipes.parts import Kind, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import save


def train_multitask(recipe: Recipe, run: Run) -> float | None:
    """Train the multi-task tagger: one corpus per side."""
    config = cast(MultitaskConfig, recipe.config)
    tagger = MultitaskTagger.with_config(config)
    corpora = read_sides(recipe, run, tagger.level, str(config.mapping))
    tagger.fit(corpora.train, dev=corpora.dev, session=run.session())
    _warn_of_lone_labels(tagger, run)
    return save(tagger, recipe, run, corpora.notes(tagger.best_scores_.get))


def _warn_of_lone_labels(tagger: MultitaskTagger, run: Run) -> None:
    for standard, labels in zip(tagger.standards, tagger.mapping_.without_partner(), strict=True):
        tags = list(dict.fromkeys(label.partition("@")[2] for label in labels))
        if tags:
            run.warn(f"no tag maps to {', '.join(tags)} of {standard!r}: learned from its own corpus only")


register(Kind("multitask", MultitaskConfig, range(2, 3), train_multitask, answers_all=True))
