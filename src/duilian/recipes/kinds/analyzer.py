"""Kind analyzer: a coupled tagger of characters, a parser for the first side's standard, and perhaps a
segmenter for one of the sides', in one file.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, cast

from duilian.corpus import Corpus, Layer
from duilian.errors import ConfigError
from duilian.learning import AdaGrad
from duilian.models.base.feature_settings import Features
from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.model import CoupledTagger
from duilian.models.coupled.predictor import CoupledPredictor
from duilian.models.crf.model import Tagger
from duilian.models.parser.config import ParserConfig
from duilian.models.parser.model import Parser
from duilian.models.parser.treebank import jackknifed_tags
from duilian.models.suite.model import Suite
from duilian.recipes.kinds.coupled import MAX_SIDES, fit_coupled
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, origin
from duilian.settings import Settings, setting

TAGGER = "tagger"  # what is kept of a run between its two stages


@dataclasses.dataclass(frozen=True, kw_only=True)
class ParserPart(Settings):
    """`[parser]`: the settings of the parser that differ from a parser's own, in short."""

    order: Literal[1, 2, 3] = setting(2, "As in kind parser.")
    bits: int = setting(22, "The table for parts of trees has 2^bits weights.", at_least=4, at_most=28)
    relation_bits: int = setting(21, "The table for relations has 2^bits weights.", at_least=4, at_most=28)
    pruning_bits: int = setting(18, "The table for pruning has 2^bits weights.", at_least=4, at_most=28)
    threshold: float = setting(1e-3, "The threshold of pruning, as in kind parser.", at_least=0, at_most=1)
    tag_folds: int = setting(0, "Train on jack-knifed tags in this many folds; 0: on gold tags.", at_least=0)
    iterations: int = setting(20, "Passes over the training data.", at_least=1)
    patience: int = setting(
        6, "Stop after this many iterations without improvement on the dev set.", at_least=1
    )
    min_weight: float = setting(0.0, "Leave out weights smaller than this.", at_least=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SegmenterPart(Settings):
    """`[segmenter]`: a small plain tagger that only cuts text."""

    standard: str | None = setting(None, "A side's standard; none: no segmenter.")
    iterations: int = setting(6, "Passes over the training data.", at_least=1)
    min_weight: float = setting(0.0, "Leave out weights smaller than this.", at_least=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnalyzerConfig(CoupledConfig):
    """Kind `analyzer`: the settings of the tagger are those of kind `coupled`."""

    level: Literal["char"] = setting("char", "Always characters: the tagger cuts text into words.")
    parser: ParserPart = setting(ParserPart(), "The parser of the first side's standard.")
    segmenter: SegmenterPart = setting(SegmenterPart(), "The segmenter.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.segmenter.standard not in (None, *self.standards):
            names = ", ".join(self.standards)
            raise ConfigError(f"the segmenter's standard {self.segmenter.standard!r} is none of {names}")

    def tagger_config(self) -> CoupledConfig:
        """The settings of the tagger."""
        fields = dataclasses.fields(CoupledConfig)
        return CoupledConfig(**{field.name: getattr(self, field.name) for field in fields})

    def parser_config(self) -> ParserConfig:
        """The settings of the parser."""
        own = self.parser
        return ParserConfig().updated(
            {
                "standard": self.standards[0],
                "order": own.order,
                "script": self.features.script,
                "trees": {"bits": own.bits},
                "relations": {"bits": own.relation_bits},
                "pruning": {"bits": own.pruning_bits, "threshold": own.threshold},
                "learning": {
                    "iterations": own.iterations,
                    "patience": own.patience,
                    "seed": self.learning.seed,
                },
            }
        )


def train_analyzer(recipe: Recipe, run: Run) -> float | None:
    """Train the tagger, then the parser; a run that was stopped between the two goes on with the parser.

    The tagger is read from the file in which it waits, stopped or not: its weights are rounded then, and a
    run that goes on must not differ from one that was never stopped.
    """
    config, saving, waiting = cast(AnalyzerConfig, recipe.config), recipe.saving, run.stage(TAGGER)
    if not (run.resume and waiting.exists()):
        tagger, notes = fit_coupled(config.tagger_config(), recipe, run)
        result = {"dev_score": tagger.best_score_, "iterations": tagger.iterations_}
        if saving.min_weight > 0:
            tagger.trim(saving.min_weight)
        tagger.save(waiting, precision=saving.precision, notes=notes | result)
        run.checkpoint.unlink(missing_ok=True)
    tagger = CoupledTagger.load(waiting)
    parser, parser_notes = _fit_parser(config, recipe, run, tagger)
    segmenter = _fit_segmenter(config, recipe, run)
    notes = origin(recipe) | tagger.notes_ | {"parser": parser_notes}
    if segmenter is not None:
        notes["segmenter"] = {"dev_score": segmenter.best_score_, "iterations": segmenter.iterations_}
    Suite(tagger, parser, segmenter).save(run.output, precision=saving.precision, notes=notes)
    waiting.unlink()
    score = tagger.notes_["dev_score"]
    return None if score is None else float(score)


def _fit_parser(
    config: AnalyzerConfig, recipe: Recipe, run: Run, tagger: CoupledTagger
) -> tuple[Parser, dict[str, Any]]:
    parser = Parser.with_config(config.parser_config())
    corpus, dev = corpora_of(recipe, recipe.sides[0], trees="whole")
    layers, session = parser.layers(corpus), run.session()
    if folds := config.parser.tag_folds:
        session.stage(f"tagging in {folds} folds")
        layers = jackknifed_tags(layers, folds, parser.standard, run.threads)
    held_out = None if dev is None else _with_found_tags(tagger, dev, run.threads)
    parser.fit(layers, dev=held_out, session=session)
    if config.parser.min_weight > 0:
        parser.trim(config.parser.min_weight)
    lifted = {"lifted": parser.lifted_}
    return parser, lifted | {"dev_score": parser.best_score_, "iterations": parser.iterations_}


def _fit_segmenter(config: AnalyzerConfig, recipe: Recipe, run: Run) -> Tagger | None:
    own, features = config.segmenter, config.features
    if own.standard is None:
        return None
    run.session().stage(f"segmenter of {own.standard}")
    (side,) = (side for side in recipe.sides if side.standard == own.standard)
    corpus, dev = corpora_of(recipe, side)
    segmenter = Tagger(
        own.standard,
        level="char",
        segment_only=True,
        features=Features(
            templates=features.templates,
            script=features.script,
            join_letters=features.join_letters,
            join_digits=features.join_digits,
        ),
        learning=AdaGrad(iterations=own.iterations, seed=config.learning.seed),
    )
    return segmenter.fit(corpus, dev=dev, threads=run.threads).trim(own.min_weight)


def _with_found_tags(tagger: CoupledTagger, dev: Corpus, threads: int) -> list[Layer]:
    """The gold words and trees of a dev set with the tags that the tagger gives those words.

    It prunes exactly: a score that a model file keeps must not depend on how fast the tagger is.
    """
    layers = [sentence[dev.standard] for sentence in dev]
    exact = CoupledPredictor(tagger.model_, coarse_window=0.0)
    tags = exact.tags_of_words(layers, dev.standard, threads=threads)
    return [dataclasses.replace(layer, tags=each) for layer, each in zip(layers, tags, strict=True)]


register(Kind("analyzer", AnalyzerConfig, range(2, MAX_SIDES + 1), train_analyzer, answers_all=True))
