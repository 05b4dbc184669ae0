"""Scoring of models, and of files of answers, on gold sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence, Set
from typing import Any

from duilian.arguments import checked
from duilian.corpus import Corpus, Layer, guess_format, read
from duilian.corpus.formats.lookup import find_format
from duilian.corpus.paired_layers import join_pairs
from duilian.engine.analyzer import Analyzer
from duilian.engine.answers import Answer, answer_of_file, answer_of_tagger, answer_of_text, answer_of_words
from duilian.engine.parsing import measure_parser, parsed_layers
from duilian.engine.planning import check_trained
from duilian.errors import ConfigError, StandardError
from duilian.evaluation import Evaluation, evaluate_layers, raw_tree_score
from duilian.models import Parser, StandardTagger, reading_of
from duilian.models.offers import OffersLabeler, OffersSegments
from duilian.models.registry import tagger_for
from duilian.models.roles import TreeAnnotator, chosen_standard
from duilian.standards import are_pairs, is_pair, split_pair, with_parts


@checked
def evaluate(
    model: Any,
    gold: Corpus,
    *,
    standard: str | None = None,
    vocabulary: Set[str] | None = None,
    other_vocabulary: Set[str] | None = None,
    threads: int = 1,
) -> Evaluation:
    """Score a tagger, a parser, an analyser or a corpus of answers with every metric that gold allows.

    >>> from duilian import Tagger, demo
    >>> tagger = Tagger("ctb").fit(demo.load("ctb", "ctb"))
    >>> round(evaluate(tagger, demo.load("ctb-dev", "ctb")).accuracy)
    90

    `standard` is the model's; the default is that of the gold sentences. A parser gets gold words and tags, a
    tagger at word level gold words, and the others raw text, which an analyser reads as it reads any text.
    Words outside a vocabulary are scored separately, and again those in another corpus's vocabulary.
    """
    check_trained(model)
    if not isinstance(gold, Corpus) or not (isinstance(model, Corpus) or _can_answer(model)):
        raise ConfigError(
            "expected a model and a corpus", "read them with duilian.load(path), duilian.read(path)"
        )
    if isinstance(model, TreeAnnotator):
        return measure_parser(
            model, gold, vocabulary=vocabulary, other_vocabulary=other_vocabulary, threads=threads
        )
    found = answer_of(model, gold, standard, threads)
    measured = evaluate_layers(
        found.gold,
        found.guess,
        standard=gold.standard,
        vocabulary=vocabulary,
        other_vocabulary=other_vocabulary,
    )
    if found.is_raw and measured.trees is not None:  # the words happen to be those of gold
        measured = dataclasses.replace(measured, raw_trees=raw_tree_score(found.gold, found.guess))
    return measured if found.seconds is None else measured.timed(found.seconds)


def answer_of(model: Any, gold: Corpus, standard: str | None = None, threads: int = 1) -> Answer:
    """Ask a model, or read a corpus of answers.

    A gold tag that a model does not know counts as an error. If it knows none of them, the gold sentences
    are in another standard, and that is refused.
    """
    if isinstance(model, Corpus):
        return answer_of_file(model, gold)
    if isinstance(model, TreeAnnotator):
        layers = [each for each in _layers(gold) if each.heads is not None]
        return Answer(layers, parsed_layers(model, layers, threads))
    labeler = model.labeler
    chosen = _chosen_standard(labeler.standards, gold, standard)
    layers, encoding = _layers(gold), labeler.encoding(chosen)
    if encoding.level == "word" or labeler.reads == "words":
        layers = [layer for layer in layers if layer.tags is not None]
        if gold and not layers:
            raise StandardError(f"{gold.source}: there are no tags to compare with")
    if not layers:
        raise ConfigError("there are no sentences to evaluate")
    own = model.model if isinstance(model, Analyzer) else model
    scores_segments = isinstance(own, OffersSegments) and own.scores_segments  # whatever the tags of gold are
    if not scores_segments:
        _check_gold_tags(encoding.tags, chosen, labeler.standards, layers, gold.source)
    if isinstance(model, Analyzer) and labeler.reads == "text" and not scores_segments:
        found = answer_of_text(model, layers, chosen, threads)
    elif isinstance(model, Analyzer) and not scores_segments and _tags_words(model):
        found = answer_of_words(model, layers, chosen, threads)
    else:
        found = answer_of_tagger(tagger_for(own, chosen), layers, threads)
    if not are_pairs(encoding.tags or ()):
        return found
    part = _compared_part(layers)
    return dataclasses.replace(found, guess=[_with_part(layer, part) for layer in found.guess])


def _tags_words(model: Analyzer) -> bool:
    """Whether only the analyser can say how it tags given words: parser and lexicon may change the tags, and
    a foreign model has no estimator to ask.
    """
    return bool(model.parser or model.lexicon) or not isinstance(model.model, OffersLabeler)


def _can_answer(model: Any) -> bool:
    return isinstance(model, TreeAnnotator | OffersLabeler)


def _layers(gold: Corpus) -> list[Layer]:
    return [sentence[gold.standard] for sentence in gold]


def _chosen_standard(names: Sequence[str], gold: Corpus, standard: str | None) -> str:
    if standard is None and gold.standard not in names and len(names) > 1:
        message = f"the gold sentences are in {gold.standard!r}, the model answers in {', '.join(names)}"
        raise ConfigError(message, f"choose one to compare with, such as standard={names[0]!r}")
    return chosen_standard(standard or (gold.standard if gold.standard in names else None), names)


def _check_gold_tags(
    known: Sequence[str] | None, name: str, standards: Sequence[str], layers: Sequence[Layer], source: str
) -> None:
    """Refuse gold of which no tag is known."""
    seen = sorted({each for layer in layers for tag in layer.tags or () for each in _tag_names(tag)})
    if known is None or not seen or with_parts(known).intersection(seen):
        return
    hint = f"in {name!r} the model has {', '.join(known[:5])} …; choose another --standard"
    if len(standards) == 1:
        hint = f"the model has {', '.join(known[:5])} …; its standard is {name!r}"
    raise StandardError(f"{source}: the model knows none of the tags, such as {seen[0]!r}", hint)


def unknown_tags(tagger: StandardTagger, layers: Sequence[Layer]) -> list[str]:
    """Return the gold tags that the tagger does not know, sorted."""
    known = with_parts(tagger.encoding_.tags or ())
    seen: set[str] = set()
    for layer in layers:
        for tag in layer.tags or ():
            seen |= _tag_names(tag)
    return sorted(seen - known)


def _compared_part(layers: Sequence[Layer]) -> int | None:
    """Which part of pairs of tags gold has: universal tags (0), specific ones (1) or both (None)."""
    names = {name for layer in layers for tag in layer.tags or () for name in _tag_names(tag)}
    if not names or any(map(is_pair, names)):
        return None
    return 0 if any(split_pair(name)[0] for name in names) else 1


def _with_part(layer: Layer, part: int | None) -> Layer:
    """A layer with one part of its pairs as tags, or both; an analysis has the specific part in a column."""
    tags = list(map(str, join_pairs(layer).tags or ()))
    parts = tags if part is None else [split_pair(tag)[part] for tag in tags]
    return dataclasses.replace(layer, tags=tuple(parts))


def _tag_names(tag: str | frozenset[str] | None) -> frozenset[str]:
    if tag is None:
        return frozenset()
    return frozenset([tag]) if isinstance(tag, str) else tag


def read_gold_files(paths: Sequence[str], tagger: StandardTagger | Parser, **reading: Any) -> Corpus:
    """Read several gold files as one corpus."""
    corpora = [read_gold(path, tagger, **reading) for path in paths]
    return Corpus(
        [sentence for part in corpora for sentence in part],
        standard=reading.get("standard") or tagger.standard,
        source=", ".join(part.source for part in corpora),
    )


def read_gold(path: str, tagger: StandardTagger | Parser, **reading: Any) -> Corpus:
    """Read gold sentences as the tagger's training corpus was read, unless `reading` says otherwise."""
    noted = reading_of(tagger)
    chosen = {name: value for name, value in reading.items() if value is not None}
    options: dict[str, Any] = {
        "standard": tagger.standard,
        "column": noted.get("column"),
        "check_tags": False,
    }
    if "names" not in chosen and "columns" in noted:
        options["names"] = noted["columns"]
    if "cut" not in chosen and noted.get("cut") == "sentence" and path != "-":
        form = chosen.get("format") or guess_format(path, encoding=chosen.get("encoding", "utf-8"))
        options["cut"] = "sentence" if find_format(form).is_by_line else "line"
    return read(path, **(options | chosen))
