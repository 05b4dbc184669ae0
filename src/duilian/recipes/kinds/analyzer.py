"""Kind analyzer: a coupled tagger of characters, and a parser for the first side's standard, in one file."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from duilian.corpus import Corpus, Layer
from duilian.models.coupled import CoupledTagger
from duilian.models.parser import Parser
from duilian.models.suite import Suite
from duilian.recipes.kinds.coupled import MOST_SIDES, CoupledSettings, fit_coupled
from duilian.recipes.kinds.parser import ITERATIONS, with_predicted_tags
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, forget_the_machine, learn_settings, origin

PATIENCE = 6
PARSER = "parser_"  # how the keys of its settings begin
TAGGER = "tagger"  # what is kept of a run between its two stages


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnalyzerSettings(CoupledSettings):
    """`[model]` of kind analyzer: that of kind coupled, and `parser_…` as in kind parser.

    `[learn]` is about the tagger, as is `least` in `[save]`; `parser_least` is the parser's.
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


def train_analyzer(recipe: Recipe, run: Run) -> float | None:
    """The tagger, then the parser; a run that was stopped between the two goes on with the parser.

    The tagger is read from the file in which it waits, stopped or not: its weights are rounded then, and a
    run that goes on must not differ from one that was never stopped.
    """
    waiting = run.stage(TAGGER)
    if not (run.resume and waiting.exists()):
        model = {key: value for key, value in recipe.model.items() if not key.startswith(PARSER)}
        tagger, notes = fit_coupled(recipe, run, model | {"level": "char"})
        result = {"dev_score": tagger.best_score_, "iterations": tagger.iterations_}
        if recipe.save.least > 0:
            tagger.trim(recipe.save.least)
        forget_the_machine(tagger)
        tagger.save(waiting, precision=recipe.save.precision, notes=notes | result)
        run.checkpoint.unlink(missing_ok=True)
    tagger = CoupledTagger.load(waiting)
    parser, parser_notes = _fit_parser(recipe, run, tagger)
    notes = origin(recipe) | tagger.notes_ | {"parser": parser_notes}
    Suite(tagger, parser).save(run.output, precision=recipe.save.precision, notes=notes)
    waiting.unlink()
    score = tagger.notes_["dev_score"]
    return None if score is None else float(score)


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
    forget_the_machine(parser)
    if least > 0:
        parser.trim(least)
    lifted = {"lifted": parser.lifted_}
    return parser, lifted | {"dev_score": parser.best_score_, "iterations": parser.iterations_}


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
