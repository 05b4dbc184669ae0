"""The parser of an analyser: its settings, and the sentences that it learns from.

In use, a parser sees the tags of a tagger, so it learns from such tags. On the training sentences of its side
they come from taggers that have not seen the sentences, on further treebanks from the analyser's own tagger.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, Literal

from duilian.corpus import Corpus, Layer, Sentence
from duilian.corpus.trees import find_fault
from duilian.errors import ConfigError, StandardError
from duilian.learning import AdaGrad, Session, jackknifed
from duilian.models.base.feature_settings import Features
from duilian.models.coupled.config import CoupledConfig
from duilian.models.coupled.effort import Effort
from duilian.models.coupled.model import CoupledTagger
from duilian.models.coupled.predictor import CoupledPredictor
from duilian.models.crf.model import Tagger
from duilian.models.joint_parser.config import JointTagging
from duilian.models.parser.config import TreeSearch
from duilian.models.parser.treebank import jackknifed_tags
from duilian.models.registry import estimator_of
from duilian.models.roles import Ability
from duilian.recipes.parts import Side
from duilian.recipes.recipe import Recipe
from duilian.recipes.run import Run
from duilian.recipes.steps import corpora_of
from duilian.settings import Settings, setting
from duilian.standards import paired, split_pair
from duilian.text import Script

FOLD_ITERATIONS = 4
FOLD_SENTENCES = 8000  # of each other side: jack-knifing trains many taggers


@dataclasses.dataclass(frozen=True, kw_only=True)
class HintPart(Settings):
    """`[parser.hints]`: a plain tagger of words in another standard, whose tags the parser sees, too."""

    standard: str | None = setting(None, "The standard of another side; none: no hints.")
    iterations: int = setting(4, "Passes over the training data.", at_least=1)
    min_weight: float = setting(0.0, "Drop weights smaller than this.", at_least=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ParserPart(Settings):
    """`[parser]`: the main settings of the parser, some with other defaults than for kind `parser`."""

    kind: Literal["parser", "joint-parser"] = setting(
        "parser",
        "The kind of the parser; a `joint-parser` chooses among the tags that a coupled tagger leaves, or "
        "finds tags of its own.",
    )
    file: str | None = setting(
        None,
        "A model file with a trained parser of any kind, which becomes the analyser's; beside it, only "
        "`standard` may be set. None: a parser is trained.",
    )
    standard: str | None = setting(
        None, "The standard of the trees; none: that of the first side, or of the parser in `file`."
    )
    order: Literal[1, 2, 3] = setting(2, "As for kind parser.")
    bits: int = setting(22, "The table for parts of trees has 2^bits weights.", at_least=4, at_most=28)
    relation_bits: int = setting(21, "The table for relations has 2^bits weights.", at_least=4, at_most=28)
    pruning_bits: int = setting(18, "The table for pruning has 2^bits weights.", at_least=4, at_most=28)
    threshold: float = setting(0.03, "Pruning threshold, as for kind parser.", at_least=0, at_most=1)
    head_cost: float = setting(TreeSearch.head_cost, "As for kind parser.", at_least=0)
    tagging: JointTagging = setting(JointTagging(), "For a `joint-parser`: as for that kind.")
    tag_threshold: float | None = setting(
        None,
        "The `tagging` threshold of a `joint-parser` once it is trained; none: as in training. A higher one "
        "is faster.",
        at_least=0,
        at_most=1,
    )
    tag_folds: int = setting(0, "Train on jack-knifed tags in this many folds; 0: on gold tags.", at_least=0)
    folds_by: Literal["plain", "coupled"] = setting(
        "plain", "Taggers to jack-knife: plain ones, or coupled ones for the words of all sides."
    )
    sees: Literal["pairs", "xpos"] = setting(
        "pairs", "For pairs of tags: the parser sees both, or only the language-specific tag."
    )
    hints: HintPart = setting(HintPart(), "Tags of another standard.")
    treebanks: tuple[str, ...] = setting((), "Further treebanks, tagged by the tagger.")
    treebank_relations: bool = setting(True, "Whether to learn relations from further treebanks, too.")
    iterations: int = setting(20, "Passes over the training data.", at_least=1)
    patience: int = setting(
        6, "Stop after this many iterations without improvement on the dev set.", at_least=1
    )
    min_weight: float = setting(0.0, "Drop weights smaller than this.", at_least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.file is None:
            return
        usual = ParserPart()
        others = [field.name for field in dataclasses.fields(self) if field.name not in ("file", "standard")]
        changed = [name for name in others if getattr(self, name) != getattr(usual, name)]
        if changed:
            hint = "leave out file to train a parser, or the other keys to use the one in the file"
            raise ConfigError(f"has a file, so it cannot have {', '.join(changed)}", hint)

    @property
    def finds_tags(self) -> bool:
        """Whether the parser finds tags itself."""
        return Ability.TAGS in estimator_of(self.kind).abilities


@dataclasses.dataclass(frozen=True)
class ParserSentences:
    """Where the sentences of the parser come from: a recipe, its run, and the analyser's tagger."""

    settings: ParserPart
    recipe: Recipe
    run: Run
    tagger: Any
    side: Side

    def train(self) -> tuple[list[Layer], list[Layer] | None, dict[str, Any]]:
        """Return train and dev with the tags that the parser sees, and notes on further treebanks."""
        own, standard, threads = self.settings, self.side.standard, self.run.threads
        corpus, dev = corpora_of(self.recipe, self.side, trees="partial")
        layers = [sentence[standard] for sentence in corpus if _has_tree(sentence[standard])]
        if not layers:
            raise StandardError(
                f"{corpus.source}: no sentence has a complete tree for the parser to learn from"
            )
        if own.finds_tags:  # sentences without trees teach it tags
            others = [sentence[standard] for sentence in corpus if not _has_tree(sentence[standard])]
            layers += [dataclasses.replace(layer, heads=None, relations=None) for layer in others]
            return self._seen(layers), None if dev is None else self._seen(_layers(dev)), {}
        layers = self._seen(layers)
        if own.tag_folds:
            self.run.session().stage(f"tagging in {own.tag_folds} folds")
            jackknife = self._coupled_folds if own.folds_by == "coupled" else self._plain_folds
            layers = jackknife(layers)
        further, notes = self._further()
        held_out = None if dev is None else with_found_tags(self.tagger, dev, threads)
        return [*layers, *further], held_out, notes

    def hinter(self, script: Script) -> Tagger | None:
        """Train the tagger that gives hints."""
        own = self.settings.hints
        if own.standard is None:
            return None
        self.run.session().stage(f"hints of {own.standard}")
        (side,) = (side for side in self.recipe.sides if side.standard == own.standard)
        corpus, _ = corpora_of(self.recipe, side)
        learning = AdaGrad(iterations=own.iterations, seed=self._seed)
        tagger = Tagger(own.standard, features=Features(script=script), learning=learning)
        return tagger.fit(corpus, threads=self.run.threads).trim(own.min_weight)

    @property
    def _seed(self) -> int:
        seed: int = self.recipe.config.get("learning", AdaGrad()).seed
        return seed

    def _seen(self, layers: list[Layer]) -> list[Layer]:
        return list(map(_with_xpos, layers)) if self.settings.sees == "xpos" else layers

    def _plain_folds(self, layers: list[Layer]) -> list[Layer]:
        return jackknifed_tags(layers, self.settings.tag_folds, self.side.standard, self.run.session())

    def _coupled_folds(self, layers: list[Layer]) -> list[Layer]:
        """Retag the sentences with coupled word taggers that have not seen them."""
        sides, standard, threads = self.recipe.sides, self.side.standard, self.run.threads
        corpora = [
            [] if side == self.side else _layers(self.recipe.corpus(_shortened(side), "train"))
            for side in sides
        ]
        config = CoupledConfig(
            standards=tuple(side.standard for side in sides),
            learning=AdaGrad(iterations=FOLD_ITERATIONS, seed=self._seed),
        )

        def retag(others: list[Layer], held_out: list[Layer]) -> list[Layer]:
            own = [found or others for found in corpora]
            tagger = CoupledTagger.with_config(config).fit(own, session=Session(threads=threads))
            return _retagged(tagger, held_out, standard, threads)

        folds = jackknifed(layers, self.settings.tag_folds, retag, self.run.session(), "tagging")
        return list(itertools.chain.from_iterable(folds))

    def _further(self) -> tuple[list[Layer], dict[str, Any]]:
        if not self.settings.treebanks:
            return [], {}
        side = dataclasses.replace(self.side, train=self.settings.treebanks, format=None, limit=None)
        corpus = self.recipe.corpus(side, "train", "whole")
        assert corpus is not None
        found = with_found_tags(self.tagger, corpus, self.run.threads)
        found = self._seen(found)
        if not self.settings.treebank_relations:
            found = [dataclasses.replace(layer, relations=None) for layer in found]
        notes = {"sentences": len(corpus), "fingerprint": corpus.fingerprint()}
        return found, {"treebanks": notes}


def _shortened(side: Side) -> Side:
    return dataclasses.replace(side, limit=min(side.limit or FOLD_SENTENCES, FOLD_SENTENCES))


def _has_tree(layer: Layer) -> bool:
    """Whether there is a complete tree; some files of a side may have only words and tags."""
    return layer.heads is not None and find_fault(layer.heads) is None


def _layers(corpus: Corpus | None) -> list[Layer]:
    assert corpus is not None
    return [sentence[corpus.standard] for sentence in corpus]


def with_found_tags(tagger: Any, corpus: Corpus, threads: int) -> list[Layer]:
    """The gold words and trees of a corpus with the tags that the tagger gives those words."""
    layers = _layers(corpus)
    if tagger.kind == CoupledTagger.kind:
        return _retagged(tagger, layers, corpus.standard, threads)
    from duilian.engine.analyzer import Analyzer  # not needed for the other kinds

    bare = [Sentence({corpus.standard: Layer(layer.words)}) for layer in layers]
    docs = Analyzer(tagger).fill(bare, corpus.standard, threads=threads)
    return _with_tags(layers, [_pairs(doc.layer(corpus.standard)) for doc in docs])


def _pairs(table: Any) -> tuple[str, ...]:
    """The tags as the tagger has them: pairs, if there are two for each word."""
    if table.xpos is None:
        return tuple(map(str, table.tags))
    return tuple(paired(a, b) if b else a for a, b in zip(table.tags, table.xpos, strict=True))


def _retagged(tagger: Any, layers: Sequence[Layer], standard: str, threads: int) -> list[Layer]:
    # Exact pruning: the score in a model file must not depend on shortcuts for speed.
    exact = CoupledPredictor(tagger.model_, effort=Effort(0.0))
    return _with_tags(layers, exact.tags_of_words(layers, standard, threads=threads))


def _with_xpos(layer: Layer) -> Layer:
    tags = (split_pair(tag)[1] or tag if isinstance(tag, str) else tag for tag in layer.tags or ())
    return dataclasses.replace(layer, tags=tuple(tags))


def _with_tags(layers: Sequence[Layer], tags: Sequence[tuple[str, ...]]) -> list[Layer]:
    return [dataclasses.replace(layer, tags=each) for layer, each in zip(layers, tags, strict=True)]
