"""Kind two-chain: boundaries and tags in one model. A second side, if there is one, gives boundaries only."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from duilian.errors import ConfigError
from duilian.models.two_chain.model import TwoChainTagger
from duilian.recipes.kinds.crf import LevelSettings
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, learn_settings, save, scorable, side_notes, warn_of_overlap


@dataclasses.dataclass(frozen=True, kw_only=True)
class TwoChainSettings(LevelSettings):
    """`[model]` of kind two-chain; what each means stands in `TwoChainTagger`."""

    level: Literal["word", "char"] = "char"
    edge: bool = True
    modes: list[str] | None = None
    cost: Literal["once", "label"] = "once"


def train_two_chain(recipe: Recipe, run: Run) -> float | None:
    """Two chains from a recipe: the first side has tags, the second is used for its boundaries."""
    side, *further = recipe.sides
    if further and (side.sample is not None or further[0].sample is not None):
        raise ConfigError(
            f"{recipe.file}: [[side]] sample is not for two corpora of kind two-chain",
            "sentences are drawn from both; cut a corpus with limit",
        )
    tagger = TwoChainTagger(side.standard, sample=side.sample, **recipe.model, **_learn(recipe, run))
    corpus, dev = corpora_of(recipe, side)
    segmented = [corpora_of(recipe, each, is_tagged=False)[0] for each in further]
    warn_of_overlap([(corpus, dev)], tagger.level, run)
    tagger.fit(
        corpus,
        segmented=[sentence[part.standard] for part in segmented for sentence in part],
        dev=scorable(dev, tagger.level),
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    notes = side_notes(side, corpus, dev)
    for each, part in zip(further, segmented, strict=True):
        notes["boundaries"] = side_notes(each, part, None)
    return save(tagger, recipe, run, notes)


def _learn(recipe: Recipe, run: Run) -> dict[str, Any]:
    """`[learn]`, as far as there is a choice: the learner is passive-aggressive, one sentence at a time."""
    learn = learn_settings(recipe, run)
    if learn.pop("algorithm", "pa") != "pa":
        raise ConfigError(f"{recipe.file}: [learn] algorithm must be 'pa' for a model of kind two-chain")
    for name in ("batch", "l2"):
        if name in learn:
            raise ConfigError(f"{recipe.file}: [learn] {name} is not for a model of kind two-chain")
    return learn


register(
    Kind("two-chain", TwoChainSettings, range(1, 3), train_two_chain, iterations=TwoChainTagger().iterations)
)
