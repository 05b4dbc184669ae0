"""What every run does before and after training: check corpora, record their origin, save the model."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from duilian.corpus import Corpus, Sentence, Tag, TreeCheck
from duilian.errors import StandardError
from duilian.labels.encoding import Level
from duilian.learning.run_log import curve_of
from duilian.modelfile import read_model
from duilian.models.base.precision import Precision
from duilian.recipes.parts import Side
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.standards import is_pair, split_pair, with_parts


class Trainable(Protocol):
    """A trained estimator, as far as saving it goes."""

    best_score_: float | None
    iterations_: int

    def trim(self, min_weight: float) -> Any:
        """Drop small weights."""

    def save(self, path: Path, *, precision: Precision, notes: dict[str, Any]) -> None:
        """Write the model file."""


def corpora_of(
    recipe: Recipe, side: Side, *, is_tagged: bool = True, trees: TreeCheck = "any"
) -> tuple[Corpus, Corpus | None]:
    """Read train and dev of a side, which have trees of this sort and, if `is_tagged`, tags."""
    corpus, dev = recipe.corpus(side, "train", trees), recipe.corpus(side, "dev", trees)
    assert corpus is not None
    corpus = _without_rare_pairs(corpus, side.min_pairs)
    for part in filter(None, (corpus, dev) if is_tagged else ()):
        check_tags(part)
    return corpus, dev


def _without_rare_pairs(corpus: Corpus, least: int) -> Corpus:
    """Replace rare pairs of tags with their specific tags, if these are in frequent pairs."""
    if least == 1:
        return corpus
    layers = [sentence[corpus.standard] for sentence in corpus]
    counts = Counter(tag for layer in layers for tag in layer.tags or () if isinstance(tag, str))
    usual = with_parts(tag for tag, count in counts.items() if count >= least)
    spelled: dict[Tag, Tag] = {
        tag: split_pair(tag)[1]
        for tag, count in counts.items()
        if is_pair(tag) and count < least and split_pair(tag)[1] in usual
    }
    found = [
        layer
        if layer.tags is None or spelled.keys().isdisjoint(layer.tags)
        else dataclasses.replace(layer, tags=tuple(spelled.get(tag, tag) for tag in layer.tags))
        for layer in layers
    ]
    pairs = zip(corpus, found, strict=True)
    sentences = [dataclasses.replace(each, layers={**each.layers, corpus.standard: x}) for each, x in pairs]
    return Corpus(sentences, standard=corpus.standard, source=corpus.source)


def check_tags(corpus: Corpus) -> None:
    """Raise StandardError if a corpus has no tags."""
    if not any(sentence[corpus.standard].tags for sentence in corpus):
        raise StandardError(
            f"{corpus.source}: the corpus has no tags in {corpus.standard!r}",
            "a corpus of words alone needs level = 'char' and segment_only = true",
        )


def scorable(dev: Corpus | None, level: Level) -> list[Sentence] | None:
    """The dev sentences that can be scored: at word level, those with tags."""
    if dev is None:
        return None
    return [each for each in dev if level == "char" or each[dev.standard].tags is not None]


def warn_of_overlap(corpora: Sequence[tuple[Corpus, Corpus | None]], level: Level, run: Run) -> None:
    """Warn of dev sentences that also occur in a training corpus, even in that of another side.

    Sentences are the same if their words are; at character level, if their text is.
    """
    for number, (train, _) in enumerate(corpora):
        seen = {_content(sentence, train.standard, level) for sentence in train}
        for other, (_, dev) in enumerate(corpora):
            if dev is None:
                continue
            ours, theirs = (f" of {part.standard!r}" if len(corpora) > 1 else "" for part in (dev, train))
            if number == other and train == dev:
                run.warn(
                    f"the dev set{ours} is the training corpus, so its score says nothing about new text"
                )
                continue
            count = sum(_content(sentence, dev.standard, level) in seen for sentence in dev)
            if count:
                occur = "occurs" if count == 1 else "occur"
                run.warn(
                    f"{count} of {len(dev)} dev sentences{ours} also {occur} in the training corpus{theirs}"
                )


def _content(sentence: Sentence, standard: str, level: Level) -> tuple[str, ...] | str:
    words = sentence[standard].words
    return words if level == "word" else "".join(words)


def save(estimator: Trainable, recipe: Recipe, run: Run, notes: dict[str, Any]) -> float | None:
    """Write the model file as `[saving]` says; return the score on the dev set."""
    saving = recipe.saving
    if saving.min_weight > 0:
        estimator.trim(saving.min_weight)
    result = {"dev_score": estimator.best_score_, "iterations": estimator.iterations_}
    notes = origin(recipe) | notes | result | curve_notes(run)
    estimator.save(run.output, precision=saving.precision, notes=notes)
    return estimator.best_score_


def origin(recipe: Recipe) -> dict[str, Any]:
    """Where a model comes from, for its notes."""
    card = {"card": dict(recipe.card)} if recipe.card else {}
    return {"recipe": recipe.text, "overrides": list(recipe.overrides)} | card


def is_made_by(recipe: Recipe, model: Path) -> bool:
    """Whether a finished model comes from this very recipe with the same settings."""
    notes = read_model(model)[0].get("notes") or {}
    return all(notes.get(key) == value for key, value in origin(recipe).items())


def curve_notes(run: Run) -> dict[str, Any]:
    """The learning curve, without anything that depends on the machine."""
    return {"curve": curve_of(run.history).to_dict()} if run.history else {}


def side_notes(side: Side, corpus: Corpus, dev: Corpus | None) -> dict[str, Any]:
    """How a side was read, and the size and fingerprint of its corpora."""
    parts = [("train", corpus), *([] if dev is None else [("dev", dev)])]
    return {
        "reading": side.reading(),
        "corpora": {
            name: {"sentences": len(part), "fingerprint": part.fingerprint()} for name, part in parts
        },
    }
