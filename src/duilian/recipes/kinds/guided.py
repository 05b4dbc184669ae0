"""Kind guided: a source tagger's answers are features of the target tagger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from duilian.models.crf.model import Tagger
from duilian.models.guided.config import GuidedConfig
from duilian.models.guided.model import GuidedTagger
from duilian.recipes.parts import Kind, Side, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import corpora_of, save, scorable, side_notes, warn_of_overlap
from duilian.settings import Settings


class _GuidedKind(Kind):
    """The first side is the target, the second the source that guides it."""

    def with_sides(self, config: Settings, sides: Sequence[Side]) -> Settings:
        return super().with_sides(config, sides).updated({"source_standard": sides[1].standard})


def train_guided(recipe: Recipe, run: Run) -> float | None:
    """Train the guided tagger; with --resume the source tagger is trained again."""
    config = cast(GuidedConfig, recipe.config)
    corpora = [corpora_of(recipe, each, is_tagged=not config.segment_only) for each in recipe.sides]
    for pair in corpora:
        warn_of_overlap([pair], config.level, run)
    (corpus, dev), (source_corpus, source_dev) = corpora
    side, source_side = recipe.sides
    source_config = config.source_config().updated({"learning": {"sample": source_side.sample}})
    source = Tagger.with_config(source_config)
    source.fit(source_corpus, dev=scorable(source_dev, config.level), threads=run.threads)
    tagger = GuidedTagger.with_config(config)
    tagger.fit(corpus, source=source, dev=scorable(dev, config.level), session=run.session())
    if recipe.saving.min_weight > 0:
        source.trim(recipe.saving.min_weight)
    return save(tagger, recipe, run, side_notes(side, corpus, dev))


register(_GuidedKind("guided", GuidedConfig, range(2, 3), train_guided))
