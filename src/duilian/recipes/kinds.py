"""The kinds of models that a recipe can name: for each its settings, and how it is trained and saved."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, Literal

from duilian.corpus import Corpus, Sentence
from duilian.errors import StandardError
from duilian.features.templates import presets
from duilian.models.guided import GuidedTagger
from duilian.models.tagger import Tagger
from duilian.recipes.recipe import Kind, Recipe, Run, Side, register


@dataclasses.dataclass(frozen=True, kw_only=True)
class CrfSettings:
    """`[model]` of kind crf; what each means stands in `Tagger`."""

    level: Literal["word", "char"] = "word"
    templates: str | None = None
    segment_only: bool = False
    scheme: str = "BIES"
    join_letters: bool = False
    join_digits: bool = False
    script: Literal["as-is", "simplified"] = "as-is"
    min_count: int = 1
    full_from: int = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuidedSettings(CrfSettings):
    """`[model]` of kind guided: the first side is the target, the second the source that guides it."""

    folds: int = 0  # of jack-knifing, if the target's own plain tagger guides too
    source_iterations: int | None = None  # None: as many as the target


def train_crf(recipe: Recipe, run: Run) -> float | None:
    """The plain tagger from a recipe of kind crf."""
    (side,) = recipe.sides
    tagger = Tagger(side.standard, sample=side.sample, **recipe.model, **_learn(recipe, run))
    corpus, dev = _corpora(recipe, side, run, is_tagged=not tagger.segment_only)
    tagger.fit(
        corpus,
        dev=None if dev is None else _with_tags(dev, tagger),
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    return _save(tagger, recipe, run, _notes(recipe, side, corpus, dev, tagger))


def train_guided(recipe: Recipe, run: Run) -> float | None:
    """The guide-feature tagger from a recipe of kind guided; with --resume the source is trained again."""
    side, source_side = recipe.sides
    learn, model = _learn(recipe, run), dict(recipe.model)
    source_iterations = model.pop("source_iterations", None)
    tagger = GuidedTagger(
        side.standard, source_standard=source_side.standard, sample=side.sample, **model, **learn
    )
    corpus, dev = _corpora(recipe, side, run, is_tagged=not tagger.segment_only)
    source_corpus, _ = _corpora(recipe, source_side, run, is_tagged=not tagger.segment_only)
    shared = {name: value for name, value in model.items() if name not in ("folds", "templates")}
    learn |= {"iterations": source_iterations} if source_iterations else {}
    source = Tagger(source_side.standard, sample=source_side.sample, **shared, **learn)
    source_dev = recipe.corpus(source_side, "dev")
    source.fit(source_corpus, dev=None if source_dev is None else _with_tags(source_dev, source))
    tagger.fit(
        corpus,
        source=source,
        dev=None if dev is None else _with_tags(dev, tagger),
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    if recipe.save.least > 0:
        source.trim(recipe.save.least)
    return _save(tagger, recipe, run, _notes(recipe, side, corpus, dev, tagger))


def _learn(recipe: Recipe, run: Run) -> dict[str, Any]:
    return recipe.learn.chosen() | ({} if run.threads is None else {"threads": run.threads})


def _corpora(recipe: Recipe, side: Side, run: Run, *, is_tagged: bool) -> tuple[Corpus, Corpus | None]:
    """Train and dev of a side, looked over for what would spoil a run."""
    corpus, dev = recipe.corpus(side, "train"), recipe.corpus(side, "dev")
    assert corpus is not None
    for part in filter(None, (corpus, dev) if is_tagged else ()):
        check_tags(part)
    if dev is not None:
        _warn_of_overlap(corpus, dev, run)
    return corpus, dev


def _save(tagger: Tagger, recipe: Recipe, run: Run, notes: dict[str, Any]) -> float | None:
    if recipe.save.least > 0:
        tagger.trim(recipe.save.least)
    _forget_the_machine(tagger)
    tagger.save(run.output, precision=recipe.save.precision, notes=notes)
    return tagger.best_score_


def check_tags(corpus: Corpus) -> None:
    """Refuse a corpus in which nothing is tagged."""
    if not any(sentence[corpus.standard].tags for sentence in corpus):
        raise StandardError(
            f"{corpus.source}: the corpus has no tags in {corpus.standard!r}",
            "a corpus of words alone needs level = 'char' and segment_only = true",
        )


def _with_tags(dev: Corpus, tagger: Tagger) -> list[Sentence]:
    """What can be scored: at word level a sentence without tags says nothing."""
    return [each for each in dev if tagger.level == "char" or each[dev.standard].tags is not None]


def _warn_of_overlap(corpus: Corpus, dev: Corpus, run: Run) -> None:
    if corpus == dev:
        run.warn("the dev set is the training corpus: its score says nothing about new text")
        return
    seen = {sentence[corpus.standard].words for sentence in corpus}
    count = sum(sentence[dev.standard].words in seen for sentence in dev)
    if count:
        run.warn(f"{count} of {len(dev)} dev sentences also occur in the training corpus")


def _forget_the_machine(tagger: Tagger) -> None:
    """Threads and folders of this run must not make the model's bytes differ."""
    tagger.set_params(threads=1)
    if tagger.templates is not None and tagger.templates not in presets():
        tagger.templates_.name = Path(tagger.templates).name
        tagger.set_params(templates=tagger.templates_.name)


def _notes(recipe: Recipe, side: Side, corpus: Corpus, dev: Corpus | None, tagger: Tagger) -> dict[str, Any]:
    parts = [("train", corpus), *([] if dev is None else [("dev", dev)])]
    return {
        "recipe": recipe.text,
        "overrides": list(recipe.overrides),
        "reading": side.reading(),
        "corpora": {
            name: {"sentences": len(part), "fingerprint": part.fingerprint()} for name, part in parts
        },
        "dev_score": tagger.best_score_,
        "iterations": tagger.iterations_,
    }


register(Kind("crf", CrfSettings, range(1, 2), train_crf))
register(Kind("guided", GuidedSettings, range(2, 3), train_guided))
