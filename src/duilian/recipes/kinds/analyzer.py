"""Kind analyzer: a character tagger of any kind, a parser and, optionally, a segmenter, in one file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from duilian.errors import ConfigError
from duilian.learning import AdaGrad
from duilian.models.base.feature_settings import Features
from duilian.models.coupled.config import CoupledConfig
from duilian.models.crf.model import Tagger
from duilian.models.parser.config import TreeConfig
from duilian.models.parser.model import Parser
from duilian.models.registry import PARSERS, SUITE, estimator_of, load
from duilian.models.suite.model import Suite
from duilian.recipes.kinds.coupled import MAX_SIDES
from duilian.recipes.kinds.parser_part import ParserPart, ParserSentences
from duilian.recipes.kinds.trained_parser import dev_score, trained_parser
from duilian.recipes.parts import KINDS, Kind, Side, register
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import corpora_of, curve_notes, origin
from duilian.recipes.train_files import refuse_weights
from duilian.settings import Settings, setting

TAGGER = "tagger"  # the file that is kept between the two stages of a run


@dataclasses.dataclass(frozen=True, kw_only=True)
class SegmenterPart(Settings):
    """`[segmenter]`: a small plain tagger that only cuts text."""

    standard: str | None = setting(None, "The standard of a side; none: no segmenter.")
    iterations: int = setting(6, "Passes over the training data.", at_least=1)
    min_weight: float = setting(0.0, "Drop weights smaller than this.", at_least=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaggerPart(Settings):
    """`[tagger]`: a tagger that is not coupled; its settings are in `[tagger.features]` and so on."""

    alternative_key: ClassVar[str] = "kind"

    @classmethod
    def alternatives(cls) -> Mapping[str, type[Settings]]:
        return {name: kind.config for name, kind in KINDS.items() if name not in (*PARSERS, SUITE)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnalyzerConfig(CoupledConfig):
    """Kind `analyzer`: without `[tagger]`, the settings of the tagger are those of kind `coupled`."""

    level: Literal["char"] = setting("char", "Always characters: the tagger cuts text into words.")
    tagger: Settings = setting(TaggerPart(), "The tagger, if it is not a coupled one.")
    parser: ParserPart = setting(ParserPart(), "The parser.")
    segmenter: SegmenterPart = setting(SegmenterPart(), "The segmenter.")

    def __post_init__(self) -> None:
        super().__post_init__()
        hints = self.parser.hints.standard
        parts = {"segmenter's": self.segmenter.standard, "parser's": self.parser.standard, "hints'": hints}
        for part, name in parts.items():
            if name not in (None, *self.standards):
                names = ", ".join(self.standards)
                raise ConfigError(f"the {part} standard {name!r} is not one of {names}")
        if hints is not None and hints == (self.parser.standard or self.standards[0]):
            raise ConfigError(f"the parser has the standard {hints!r} itself: hints come from another one")

    @property
    def tagger_kind(self) -> str:
        """The kind of the tagger."""
        found = {known: name for name, known in TaggerPart.alternatives().items()}
        return found.get(type(self.tagger), "coupled")

    def tagger_config(self, sides: Sequence[Side] = ()) -> Settings:
        """The settings of the tagger for these sides."""
        fields = dataclasses.fields(CoupledConfig)
        top = CoupledConfig(**{field.name: getattr(self, field.name) for field in fields})
        if self.tagger == TaggerPart():  # there is no [tagger]
            return top
        shared = {"sample": top.learning.sample, "seed": top.learning.seed}
        plain = CoupledConfig(standards=top.standards, level=top.level).updated({"learning": shared})
        if top != plain:
            hint = "write [tagger.features], [tagger.learning] and so on; [learning] seed is for all parts"
            raise ConfigError("in a recipe with [tagger], the settings of the tagger belong there", hint)
        found = KINDS[self.tagger_kind].with_sides(self.tagger, sides)
        found = found.updated({"learning": {"seed": top.learning.seed}})
        has_level = "level" in {field.name for field in dataclasses.fields(found)}
        return found.updated({"level": "char"}) if has_level else found

    @property
    def tagger_features(self) -> Features:
        """How the tagger reads text."""
        found: Features = self.tagger.get("features", self.features)
        return found

    def parser_config(self, *, is_trained: bool = False) -> TreeConfig:
        """The settings of the parser, for training or (`is_trained`) for use afterwards."""
        own = self.parser
        found: TreeConfig = estimator_of(own.kind).config_type()
        tagging: dict[str, Any] = {}
        if own.finds_tags:
            tagging = {"tagging": own.tagging.to_dict()}
            if own.tag_folds:
                tagging["tagging"]["folds"] = own.tag_folds
            if is_trained and own.tag_threshold is not None:
                tagging["tagging"]["threshold"] = own.tag_threshold
        return found.updated(
            {
                "standard": own.standard or self.standards[0],
                "order": own.order,
                "script": self.tagger_features.script,
                "trees": {"bits": own.bits, "head_cost": own.head_cost},
                "relations": {"bits": own.relation_bits},
                "pruning": {"bits": own.pruning_bits, "threshold": own.threshold},
                "learning": {
                    "iterations": own.iterations,
                    "patience": own.patience,
                    "seed": self.learning.seed,
                },
            }
            | tagging
        )


def train_analyzer(recipe: Recipe, run: Run) -> float | None:
    """Train the tagger, then the parser; a run that was stopped between the two resumes with the parser.

    A parser from a file is checked before the tagger is trained.

    The tagger is always read back from its file, which has rounded weights: a resumed run must not differ
    from one that was never stopped.
    """
    config, saving, waiting = cast(AnalyzerConfig, recipe.config), recipe.saving, run.stage(TAGGER)
    kind = KINDS[config.tagger_kind]
    refuse_weights(recipe.file, kind.name, (side.train for side in recipe.sides))
    if len(recipe.sides) not in kind.sides:
        raise ConfigError(
            f"{recipe.file}: a tagger of kind {kind.name} cannot have {len(recipe.sides)} sides"
        )
    trained = None if config.parser.file is None else trained_parser(config.parser, recipe)
    if not (run.resume and waiting.exists()):
        part = dataclasses.replace(recipe, kind=kind.name, config=config.tagger_config(recipe.sides))
        known = {field.name: getattr(run, field.name) for field in dataclasses.fields(Run)}
        new = run.stage(f"{TAGGER}.new")
        kind.train(part, _TaggerRun(**known | {"output": new}, whole=run))
        run.forget()
        new.replace(waiting)  # only now: once the tagger is there, a checkpoint is taken for the parser's
    tagger: Any = load(waiting)
    if trained is None:
        parser, parser_notes = _fit_parser(config, recipe, run, tagger)
    else:
        parser, origin_of_parser = trained
        parser_notes = origin_of_parser | {"dev_score": dev_score(parser, recipe, tagger, run.threads)}
    segmenter = _fit_segmenter(config, recipe, run)
    notes = origin(recipe) | tagger.notes_ | {"parser": parser_notes}
    if segmenter is not None:
        notes["segmenter"] = {"dev_score": segmenter.best_score_, "iterations": segmenter.iterations_}
    suite = Suite(tagger, parser, segmenter)
    suite.fit_confidence([recipe.corpus(side, "dev") for side in recipe.sides], run.threads)
    suite.save(run.output, precision=saving.precision, notes=notes)
    run.forget()  # before the tagger: without it, the parser's checkpoint would seem to be the tagger's
    waiting.unlink()
    score = tagger.notes_["dev_score"]
    return None if score is None else float(score)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _TaggerRun(Run):
    """The first stage of a run, with the checkpoint of the whole run."""

    whole: Run

    @property
    def checkpoint(self) -> Path:
        return self.whole.checkpoint


def _fit_parser(
    config: AnalyzerConfig, recipe: Recipe, run: Run, tagger: Any
) -> tuple[Parser, dict[str, Any]]:
    own = config.parser
    parser: Parser = estimator_of(own.kind).with_config(config.parser_config())
    (side,) = (side for side in recipe.sides if side.standard == parser.standard)
    sentences = ParserSentences(own, recipe, run, tagger, side)
    layers, dev, notes = sentences.train()
    hinter = sentences.hinter(config.tagger_features.script)
    parser.fit(layers, dev=dev, hinter=hinter, session=run.session())
    if own.min_weight > 0:
        parser.trim(own.min_weight)
    parser.use(parser.model_.searching_as(config.parser_config(is_trained=True)))
    notes["lifted"] = parser.lifted_
    result = {"dev_score": parser.best_score_, "iterations": parser.iterations_}
    return parser, notes | result | curve_notes(run)


def _fit_segmenter(config: AnalyzerConfig, recipe: Recipe, run: Run) -> Tagger | None:
    own, features = config.segmenter, config.tagger_features
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
            templates=config.features.templates,
            script=features.script,
            join_letters=features.join_letters,
            join_digits=features.join_digits,
        ),
        learning=AdaGrad(iterations=own.iterations, seed=config.learning.seed),
    )
    return segmenter.fit(corpus, dev=dev, threads=run.threads).trim(own.min_weight)


register(Kind("analyzer", AnalyzerConfig, range(1, MAX_SIDES + 1), train_analyzer, answers_all=True))
