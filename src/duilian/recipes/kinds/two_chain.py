"""Kind two-chain: boundaries and tags in one model. A second side, if there is one, gives boundaries only."""

from __future__ import annotations

from typing import cast

from duilian.errors import ConfigError
from duilian.models.two_chain.config import TwoChainConfig
from duilian.models.two_chain.model import TwoChainTagger
from duilian.recipes.parts import Kind, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import corpora_of, save, scorable, side_notes, warn_of_overlap


def train_two_chain(recipe: Recipe, run: Run) -> float | None:
    """Train two chains: the first side has tags, the second is used for its boundaries."""
    side, *further = recipe.sides
    if further and any(each.sample is not None for each in recipe.sides):
        raise ConfigError(
            f"{recipe.file}: [[side]] sample does not apply to kind two-chain with two corpora",
            "sentences are drawn from both; use limit to shorten a corpus",
        )
    tagger = TwoChainTagger.with_config(cast(TwoChainConfig, recipe.config))
    corpus, dev = corpora_of(recipe, side)
    segmented = [corpora_of(recipe, each, is_tagged=False)[0] for each in further]
    warn_of_overlap([(corpus, dev)], tagger.level, run)
    tagger.fit(
        corpus,
        segmented=[sentence[part.standard] for part in segmented for sentence in part],
        dev=scorable(dev, tagger.level),
        session=run.session(),
    )
    notes = side_notes(side, corpus, dev)
    for each, part in zip(further, segmented, strict=True):
        notes["boundaries"] = side_notes(each, part, None)
    return save(tagger, recipe, run, notes)


register(Kind("two-chain", TwoChainConfig, range(1, 3), train_two_chain))
