"""Kind parser: trees of tagged words, of order 1, 2 or 3."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Literal

from duilian.corpus import Corpus, Layer
from duilian.learning import jackknifed
from duilian.models.crf.model import Tagger
from duilian.models.parser.model import Parser
from duilian.recipes.recipe import Kind, Recipe, Run, register
from duilian.recipes.steps import corpora_of, learn_settings, save, side_notes, warn_of_overlap

ITERATIONS = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class ParserSettings:
    """`[model]` of kind parser; what each means stands in `Parser`."""

    order: Literal[1, 2, 3] = 2
    bits: int = 24
    relation_bits: int = 23
    pruning_bits: int = 20
    threshold: float = 1e-4
    pruning_iterations: int = 2
    longest: int = 200
    margin: float = 200.0
    relation_margin: float = 40.0
    guess_iterations: int = 3
    script: Literal["as-is", "simplified"] = "as-is"
    folds: int = 0  # train and choose on a plain tagger's tags, jack-knifed in so many folds; 0: on gold tags


def train_parser(recipe: Recipe, run: Run) -> float | None:
    """The parser from a recipe of kind parser; with --resume pruning is learned again."""
    (side,) = recipe.sides
    model = dict(recipe.model)
    folds = model.pop("folds", 0)
    parser = Parser(side.standard, **model, **{"iterations": ITERATIONS} | learn_settings(recipe, run))
    corpora = corpora_of(recipe, side, trees="whole")
    if not folds:
        return fit_and_save(parser, recipe, run, corpora)
    if run.on_stage:
        run.on_stage(f"tagging in {folds} folds")
    return fit_and_save(parser, recipe, run, corpora, with_predicted_tags(*corpora, folds, parser.threads))


def fit_and_save(
    parser: Parser,
    recipe: Recipe,
    run: Run,
    corpora: tuple[Corpus, Corpus | None],
    layers: tuple[list[Layer], list[Layer] | None] | None = None,
) -> float | None:
    """Train on the sentences of train and dev, or on these layers of them; gives the score on the dev set."""
    corpus, dev = corpora
    warn_of_overlap([corpora], "word", run)
    train_layers, dev_layers = layers or (parser.layers(corpus), None if dev is None else parser.layers(dev))
    parser.fit(
        train_layers,
        dev=dev_layers,
        on_iteration=run.on_iteration,
        checkpoint=run.checkpoint,
        resume=run.resume,
    )
    if parser.lifted_:
        run.warn(f"{parser.lifted_} words of crossing arcs were lifted to make the trees projective")
    notes = side_notes(recipe.sides[0], corpus, dev) | {"lifted": parser.lifted_}
    return save(parser, recipe, run, notes)


def with_predicted_tags(
    corpus: Corpus, dev: Corpus | None, folds: int, threads: int
) -> tuple[list[Layer], list[Layer] | None]:
    """The trees with the tags of taggers that did not see them."""
    standard = corpus.standard

    def tagged(train: list[Layer], held_out: list[Layer]) -> list[Layer]:
        found = Tagger(standard, threads=threads).fit(train).predict_layers(held_out)
        pairs = zip(held_out, found, strict=True)
        return [dataclasses.replace(gold, tags=guess.tags) for gold, guess in pairs]

    layers = [sentence[standard] for sentence in corpus]
    train = list(itertools.chain.from_iterable(jackknifed(layers, folds, tagged)))
    return train, None if dev is None else tagged(layers, [sentence[standard] for sentence in dev])


register(Kind("parser", ParserSettings, range(1, 2), train_parser, iterations=ITERATIONS))
