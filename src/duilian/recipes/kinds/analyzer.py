"""Kind analyzer: a coupled tagger of characters, a parser for the first side's standard, and perhaps a
segmenter for one of the sides', in one file.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

from duilian.corpus import Corpus, Layer
from duilian.errors import ConfigError
from duilian.models.coupled.model import CoupledTagger
from duilian.models.crf.model import Tagger
from duilian.models.parser.model import Parser
from duilian.models.suite.model import Suite
from duilian.recipes.kinds.coupled import MOST_SIDES, CoupledSettings, fit_coupled
from duilian.recipes.kinds.parser import ITERATIONS, with_predicted_tags
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, learn_settings, origin, strip_environment

PATIENCE = 6
PARSER, SEGMENTER = "parser_", "segmenter"  # how the keys of their settings begin
TAGGER = "tagger"  # what is kept of a run between its two stages


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnalyzerSettings(CoupledSettings):
    """`[model]` of kind analyzer: that of kind coupled, and `parser_…` as in kind parser.

    `[learn]` is about the tagger, as is `least` in `[save]`; `parser_least` is the parser's. `segmenter`
    names the standard of a small tagger that only cuts text.
    """

    level: Literal["char"] = "char"
    parser_order: Literal[1, 2, 3] = 2
    parser_bits: int = 22
    parser_relation_bits: int = 21
    parser_pruning_bits: int = 18
    parser_threshold: float = 1e-3
    parser_folds: int = 0
    parser_iterations: int = ITERATIONS
    parser_least: float = 0.0
    segmenter: str | None = None  # a side's standard
    segmenter_iterations: int = 6
    segmenter_least: float = 0.0


def train_analyzer(recipe: Recipe, run: Run) -> float | None:
    """The tagger, then the parser; a run that was stopped between the two goes on with the parser.

    The tagger is read from the file in which it waits, stopped or not: its weights are rounded then, and a
    run that goes on must not differ from one that was never stopped.
    """
    waiting = run.stage(TAGGER)
    if not (run.resume and waiting.exists()):
        model = {key: value for key, value in recipe.model.items() if not key.startswith((PARSER, SEGMENTER))}
        tagger, notes = fit_coupled(recipe, run, model | {"level": "char"})
        result = {"dev_score": tagger.best_score_, "iterations": tagger.iterations_}
        if recipe.save.least > 0:
            tagger.trim(recipe.save.least)
        strip_environment(tagger)
        tagger.save(waiting, precision=recipe.save.precision, notes=notes | result)
        run.checkpoint.unlink(missing_ok=True)
    tagger = ThoroughTagger.load(waiting)
    parser, parser_notes = _fit_parser(recipe, run, tagger)
    segmenter = _fit_segmenter(recipe, run, tagger)
    notes = origin(recipe) | tagger.notes_ | {"parser": parser_notes}
    if segmenter is not None:
        notes["segmenter"] = {"dev_score": segmenter.best_score_, "iterations": segmenter.iterations_}
    Suite(tagger, parser, segmenter).save(run.output, precision=recipe.save.precision, notes=notes)
    waiting.unlink()
    score = tagger.notes_["dev_score"]
    return None if score is None else float(score)


class ThoroughTagger(CoupledTagger):
    """One without a hurried first look: scores that a model file keeps do not depend on how hurried it is."""

    window: ClassVar[float] = 0.0


def _fit_parser(recipe: Recipe, run: Run, tagger: CoupledTagger) -> tuple[Parser, dict[str, Any]]:
    side, learn = recipe.sides[0], learn_settings(recipe, run)
    settings = dataclasses.asdict(AnalyzerSettings(**recipe.model))
    chosen = {key.removeprefix(PARSER): settings[key] for key in settings if key.startswith(PARSER)}
    folds, least = chosen.pop("folds"), chosen.pop("least")
    parser = Parser(
        side.standard,
        script=tagger.script,
        patience=PATIENCE,
        **chosen,
        **{key: learn[key] for key in ("seed", "threads") if key in learn},
    )
    corpus, dev = corpora_of(recipe, side, trees="whole")
    layers = parser.layers(corpus)
    if folds:
        if run.on_stage:
            run.on_stage(f"tagging in {folds} folds")
        layers, _ = with_predicted_tags(corpus, None, folds, parser.threads)
    parser.fit(
        layers,
        dev=None if dev is None else _as_it_will_be(tagger, dev, parser.threads),
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    strip_environment(parser)
    if least > 0:
        parser.trim(least)
    lifted = {"lifted": parser.lifted_}
    return parser, lifted | {"dev_score": parser.best_score_, "iterations": parser.iterations_}


def _fit_segmenter(recipe: Recipe, run: Run, tagger: CoupledTagger) -> Tagger | None:
    settings, learn = AnalyzerSettings(**recipe.model), learn_settings(recipe, run)
    if settings.segmenter is None:
        return None
    sides = [side for side in recipe.sides if side.standard == settings.segmenter]
    if not sides:
        names = ", ".join(side.standard for side in recipe.sides)
        raise ConfigError(f"{recipe.file}: [model] segmenter {settings.segmenter!r} is none of {names}")
    if run.on_stage:
        run.on_stage(f"segmenter of {settings.segmenter}")
    corpus, dev = corpora_of(recipe, sides[0])
    segmenter = Tagger(
        settings.segmenter,
        level="char",
        segment_only=True,
        templates=settings.templates,
        script=tagger.script,
        join_letters=tagger.join_letters,
        join_digits=tagger.join_digits,
        iterations=settings.segmenter_iterations,
        **{key: learn[key] for key in ("seed", "threads") if key in learn},
    )
    segmenter.fit(corpus, dev=dev)
    strip_environment(segmenter)
    return segmenter.trim(settings.segmenter_least)


def _as_it_will_be(tagger: CoupledTagger, dev: Corpus, threads: int) -> list[Layer]:
    """The gold words and trees of a dev set with the tags that the tagger gives those words."""
    layers = [sentence[dev.standard] for sentence in dev]
    tags = tagger.set_params(threads=threads).tags_of_words(layers, dev.standard)
    tagger.set_params(threads=1)
    return [dataclasses.replace(layer, tags=each) for layer, each in zip(layers, tags, strict=True)]


register(
    Kind(
        "analyzer",
        AnalyzerSettings,
        range(2, MOST_SIDES + 1),
        train_analyzer,
        iterations=CoupledTagger().iterations,
        answers_all=True,
    )
)
