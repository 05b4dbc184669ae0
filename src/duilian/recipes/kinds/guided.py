"""Kind guided: a source tagger's answers as features of the target's."""

from __future__ import annotations

import dataclasses

from duilian.models.crf.model import Tagger
from duilian.models.guided.model import GuidedTagger
from duilian.recipes.kinds.crf import CrfSettings
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, learn_settings, save, scorable, side_notes, warn_of_overlap


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuidedSettings(CrfSettings):
    """`[model]` of kind guided: the first side is the target, the second the source that guides it."""

    folds: int = 0  # of jack-knifing, if the target's own plain tagger guides too
    source_iterations: int | None = None  # None: as many as the target


def train_guided(recipe: Recipe, run: Run) -> float | None:
    """The guide-feature tagger from a recipe of kind guided; with --resume the source is trained again."""
    side, source_side = recipe.sides
    learn, model = learn_settings(recipe, run), dict(recipe.model)
    source_iterations = model.pop("source_iterations", None)
    tagger = GuidedTagger(
        side.standard, source_standard=source_side.standard, sample=side.sample, **model, **learn
    )
    corpora = [corpora_of(recipe, each, is_tagged=not tagger.segment_only) for each in recipe.sides]
    for pair in corpora:
        warn_of_overlap([pair], tagger.level, run)
    (corpus, dev), (source_corpus, source_dev) = corpora
    shared = {name: value for name, value in model.items() if name not in ("folds", "templates")}
    learn |= {"iterations": source_iterations} if source_iterations else {}
    source = Tagger(source_side.standard, sample=source_side.sample, **shared, **learn)
    source.fit(source_corpus, dev=scorable(source_dev, tagger.level))
    tagger.fit(
        corpus,
        source=source,
        dev=scorable(dev, tagger.level),
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    if recipe.save.least > 0:
        source.trim(recipe.save.least)
    return save(tagger, recipe, run, side_notes(side, corpus, dev))


register(Kind("guided", GuidedSettings, range(2, 3), train_guided))
