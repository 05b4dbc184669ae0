"""Batch parsing of sentences, and scoring of parsers on gold trees."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from duilian import _native
from duilian.corpus import Corpus, Layer, Sentence
from duilian.corpus.batches import batches
from duilian.corpus.paired_layers import join_pairs, split_pairs
from duilian.corpus.places import PlacedSentence
from duilian.errors import ConfigError, CorpusError, DuilianError, StandardError
from duilian.evaluation import Evaluation, PruningScore, evaluate_layers
from duilian.models import StandardTagger
from duilian.models.offers import OffersLayers, OffersPruning
from duilian.models.parser.model import Parser
from duilian.models.parser.predictor import ParserPredictor
from duilian.models.roles import Ability, TaggedWords, TreeAnnotator, Trees


def parse_sentences(
    parser: Parser, sentences: Iterable[PlacedSentence], *, keep_heads: bool = False, threads: int = 1
) -> Iterator[Sentence]:
    """Parse the layer of the parser's standard in each sentence; in order and in constant memory."""
    for batch in batches(sentences):
        layers = [layer_to_parse(each.sentence, parser) for each in batch]
        with _naming_places(parser, batch, layers):
            parsed = parser.predict_layers(layers, keep_heads=keep_heads, threads=threads)
        for each, layer in zip(batch, parsed, strict=True):
            layers_of_all = {**each.sentence.layers, parser.standard: split_pairs(layer)}
            yield dataclasses.replace(each.sentence, layers=layers_of_all)


def parse_k_best(
    parser: Parser, sentences: Iterable[PlacedSentence], k: int, *, keep_heads: bool = False
) -> Iterator[Sentence]:
    """Yield each sentence once per tree of its k best, best first, with rank and score as comments.

    A score is a sum of weights, not a probability: it compares trees of one sentence.
    """
    for batch in batches(sentences):
        layers = [layer_to_parse(each.sentence, parser) for each in batch]
        with _naming_places(parser, batch, layers):
            parser.predictor_.check_tags(layers)
        for each, layer in zip(batch, layers, strict=True):
            found = parser.predictor_.ranked_trees(layer, k, keep_heads=keep_heads)
            if layer.words and not found:
                message = "the given heads fit into no projective tree with one root"
                raise _placed(each, 0, message, "without --nbest they are kept all the same")
            yield from _ranked_trees(each.sentence, parser.standard, found)


def _ranked_trees(sentence: Sentence, standard: str, trees: list[tuple[float, Layer]]) -> Iterator[Sentence]:
    for rank, (score, tree) in enumerate(trees, start=1):
        yield dataclasses.replace(
            sentence,
            layers={**sentence.layers, standard: split_pairs(tree)},
            comments=(*sentence.comments, f"# rank = {rank}", f"# score = {score:.6f}"),
        )


@contextlib.contextmanager
def _naming_places(
    parser: Parser, batch: Sequence[PlacedSentence], layers: Sequence[Layer]
) -> Iterator[None]:
    """Let errors about tags name the file and line."""
    try:
        yield
    except StandardError as error:
        known, finds_tags = set(parser.tags_), Ability.TAGS in parser.abilities
        for each, layer in zip(batch, layers, strict=True):
            for word, tag in enumerate(layer.tags or (None,) * len(layer)):
                if not finds_tags and not isinstance(tag, str):
                    message = f"the word {layer.words[word]!r} has no tag, and a {parser.kind} needs tags"
                    raise _placed(each, word, message, error.hint) from None
                if (
                    finds_tags
                    and tag is not None
                    and known.isdisjoint([tag] if isinstance(tag, str) else tag)
                ):
                    raise _placed(each, word, error.message, error.hint) from None
        raise _placed(batch[0], 0, error.message, error.hint) from None


def _placed(place: PlacedSentence, word: int, message: str, hint: str) -> DuilianError:
    """An error about a word; its file and line, if it comes from one."""
    if not place.path:
        return StandardError(message, hint)
    return CorpusError(place.path, place.line_of(word), message, hint)


def layer_to_parse(sentence: Sentence, parser: Parser) -> Layer:
    """Return the layer of the parser's standard, or the only layer."""
    if parser.standard not in sentence.layers and len(sentence.layers) == 1:
        return join_pairs(next(iter(sentence.layers.values())))
    return join_pairs(sentence[parser.standard])


def with_tags(layers: list[Layer], tagger: StandardTagger, threads: int = 1) -> list[Layer]:
    """Replace the tags by the tagger's."""
    if tagger.level != "word":
        raise ConfigError("to parse given words, the tagger must be word-level", "set level in its recipe")
    guess = tagger.predict_layers(layers, threads=threads)
    return [dataclasses.replace(layer, tags=each.tags) for layer, each in zip(layers, guess, strict=True)]


def measure_parser(
    parser: TreeAnnotator | OffersLayers,
    gold: Corpus,
    *,
    tagger: StandardTagger | None = None,
    threads: int = 1,
) -> Evaluation:
    """Compute all metrics that the gold trees allow, and time tagging and parsing.

    The parser sees gold tags unless there is a tagger.
    """
    layers = [sentence[gold.standard] for sentence in gold]
    layers = [layer for layer in layers if layer.heads is not None]
    if not layers:
        raise ConfigError(f"{gold.source}: there are no trees to compare with")
    start = time.perf_counter()
    tagged = layers if tagger is None else with_tags(layers, tagger, threads)
    guess = parsed_layers(parser, tagged, threads)
    seconds = time.perf_counter() - start
    found = evaluate_layers(layers, guess, standard=gold.standard).timed(seconds)
    if not isinstance(parser, OffersPruning):
        return found
    return dataclasses.replace(found, pruning=pruning_score(parser.predictor_, layers, guess, threads))


def parsed_layers(
    parser: TreeAnnotator | OffersLayers, layers: Sequence[Layer], threads: int = 1
) -> list[Layer]:
    """The words and tags of sentences with the trees of a parser, ours or a foreign one."""
    if isinstance(parser, OffersLayers):
        return parser.predict_layers(layers, threads=threads)
    if any(not isinstance(tag, str) for layer in layers for tag in layer.tags or (None,) * len(layer)):
        raise StandardError(f"a {parser.kind} needs the tag of every word", "tag the sentences first")
    names = tuple(sorted({str(tag) for layer in layers for tag in layer.tags or ()}))
    number = {name: k for k, name in enumerate(names)}
    tags = np.array([number[str(tag)] for layer in layers for tag in layer.tags or ()], np.int32)
    found = parser.annotate(TaggedWords([layer.words for layer in layers], tags, names), (), threads)
    ends = np.cumsum([0, *map(len, layers)]).tolist()
    return [
        dataclasses.replace(layer, heads=tuple(found.heads[a:b].tolist()), relations=_relations(found, a, b))
        for layer, (a, b) in zip(layers, itertools.pairwise(ends), strict=True)
    ]


def _relations(trees: Trees, start: int, end: int) -> tuple[str, ...] | None:
    if trees.relation is None:
        return None
    return tuple(trees.names[k] for k in trees.relation[start:end].tolist())


def pruning_score(
    parser: ParserPredictor, gold: list[Layer], guess: list[Layer], threads: int = 1
) -> PruningScore | None:
    """Score the pruning of heads; None for a parser that tries every arc.

    A joint parser prunes by the tags of its plain tagger, other parsers by those of `guess`.
    """
    if parser.min_share <= 0:
        return None
    data = parser.packer.data(with_heads_of(parser.pruning_tags(guess, threads=threads), gold))
    allowed = parser.allowed_arcs(data, threads=threads)
    words, kept, right = _native.count_allowed(data, allowed)
    return PruningScore(heads=kept / words, oracle=100.0 * right / words) if words else None


def with_heads_of(layers: list[Layer], trees: list[Layer]) -> list[Layer]:
    """Copy the heads of `trees` to the words and tags of `layers`."""
    return [dataclasses.replace(a, heads=b.heads) for a, b in zip(layers, trees, strict=True)]
