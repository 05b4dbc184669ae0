"""Scoring of models on gold sentences, with timing."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence, Set
from typing import Any, cast

from duilian.arguments import checked
from duilian.corpus import Corpus, Layer, guess_format, read
from duilian.corpus.formats.lookup import find_format
from duilian.engine.analyzer import Analyzer
from duilian.engine.parsing import measure_parser
from duilian.errors import ConfigError, StandardError
from duilian.evaluation import Evaluation, RawTreeScore, evaluate_layers, raw_tree_score
from duilian.models import Parser, StandardTagger, reading_of
from duilian.models.registry import standards_of, tagger_for
from duilian.models.roles import TreeAnnotator
from duilian.standards import are_pairs, is_pair, split_pair, with_parts


@checked
def evaluate(
    model: Any,
    gold: Corpus,
    *,
    standard: str | None = None,
    vocabulary: Set[str] | None = None,
    threads: int = 1,
) -> Evaluation:
    """Score a tagger, a parser or an analyser on gold sentences with every metric that they allow.

    >>> from duilian import Tagger, demo
    >>> tagger = Tagger("ctb").fit(demo.load("ctb", "ctb"))
    >>> round(evaluate(tagger, demo.load("ctb-dev", "ctb")).accuracy)
    90

    `standard` is the model's; the default is that of the gold sentences. A parser gets gold words and tags, a
    tagger at word level gold words, and the others raw text. Words outside a vocabulary are scored apart.
    """
    if isinstance(model, Analyzer):
        found = evaluate(model.model, gold, standard=standard, vocabulary=vocabulary, threads=threads)
        return dataclasses.replace(found, raw_trees=_measure_trees(model, gold, threads))
    if isinstance(model, TreeAnnotator):
        return measure_parser(cast(Parser, model), gold, threads=threads)
    if not isinstance(gold, Corpus) or not hasattr(model, "labeler"):
        raise ConfigError(
            "expected a model and a corpus", "read them with duilian.load(path), duilian.read(path)"
        )
    names = standards_of(model)
    chosen = standard or (gold.standard if gold.standard in names else None)
    if chosen is None and len(names) > 1:
        message = f"the gold sentences are in {gold.standard!r}, the model answers in {', '.join(names)}"
        raise ConfigError(message, f"name one to compare with, such as standard={names[0]!r}")
    return _measure_tagger(tagger_for(model, chosen), gold, vocabulary, threads)


def _measure_tagger(
    tagger: StandardTagger, gold: Corpus, vocabulary: Set[str] | None, threads: int
) -> Evaluation:
    """Compute all metrics that the gold sentences allow, and time the tagger.

    A gold tag that the tagger does not know counts as an error. If it knows none of them, the gold sentences
    are in another standard, and that is refused.
    """
    layers = [sentence[gold.standard] for sentence in gold]
    if tagger.encoding_.level == "word":
        layers = [layer for layer in layers if layer.tags is not None]
        if gold and not layers:
            raise StandardError(f"{gold.source}: there are no tags to compare with")
    if not layers:
        raise ConfigError("there are no sentences to evaluate")
    _check_gold_tags(tagger, layers, gold.source)
    part = _compared_part(tagger, layers)
    start = time.perf_counter()
    guess = tagger.predict_layers(layers, threads=threads)
    seconds = time.perf_counter() - start
    if part is not None:
        guess = [_with_part(layer, part) for layer in guess]
    if tagger.scores_segments:
        layers, guess = ([tagger.segments_of(each) for each in side] for side in (layers, guess))
    elif tagger.encoding_.level == "char":
        layers = [_visible(*pair, tagger) for pair in zip(layers, guess, strict=True)]
    return evaluate_layers(layers, guess, standard=gold.standard, vocabulary=vocabulary).timed(seconds)


def _measure_trees(analyzer: Analyzer, gold: Corpus, threads: int) -> RawTreeScore | None:
    """Score attachment by the rules of CoNLL 2018; None if gold has no trees in the parser's standard.

    Each gold sentence is one text. Corpora have no spaces between words in letters, so these may be cut here.
    """
    if analyzer.parser is None or gold.standard != analyzer.parser.standard:
        return None
    layers = [layer for layer in (sentence[gold.standard] for sentence in gold) if layer.heads is not None]
    if not layers:
        return None
    unrestricted = Analyzer(analyzer.model, analyzer.parser, whole=())
    docs = unrestricted.pipe((layer.text for layer in layers), threads=threads)
    return raw_tree_score(
        layers, (sentence[gold.standard] for doc in docs for sentence in doc.to_sentences())
    )


def _check_gold_tags(tagger: StandardTagger, layers: Sequence[Layer], source: str) -> None:
    known = tagger.encoding_.tags
    seen = unknown_tags(tagger, layers)
    if known is None or not seen:
        return
    if not any(_tag_names(tag) & with_parts(known) for layer in layers for tag in layer.tags or ()):
        hint = f"in {tagger.standard!r} the model has {', '.join(known[:5])} …; name another --standard"
        if len(tagger.labeler.standards) == 1:
            hint = f"the model has {', '.join(known[:5])} …; its standard is {tagger.standard!r}"
        raise StandardError(f"{source}: the model knows none of the tags, such as {seen[0]!r}", hint)


def unknown_tags(tagger: StandardTagger, layers: Sequence[Layer]) -> list[str]:
    """Return the gold tags that the tagger does not know, sorted."""
    known = with_parts(tagger.encoding_.tags or ())
    seen: set[str] = set()
    for layer in layers:
        for tag in layer.tags or ():
            seen |= _tag_names(tag)
    return sorted(seen - known)


def _compared_part(tagger: StandardTagger, layers: Sequence[Layer]) -> int | None:
    """Which part of a tagger's pairs gold has: universal tags (0), specific ones (1) or both (None)."""
    if not are_pairs(tagger.encoding_.tags or ()):
        return None
    names = {name for layer in layers for tag in layer.tags or () for name in _tag_names(tag)}
    if not names or any(map(is_pair, names)):
        return None
    return 0 if any(split_pair(name)[0] for name in names) else 1


def _with_part(layer: Layer, part: int) -> Layer:
    tags = layer.tags or ()
    return dataclasses.replace(layer, tags=tuple(split_pair(str(tag))[part] for tag in tags))


def _tag_names(tag: str | frozenset[str] | None) -> frozenset[str]:
    if tag is None:
        return frozenset()
    return frozenset([tag]) if isinstance(tag, str) else tag


def _visible(gold: Layer, guess: Layer, tagger: StandardTagger) -> Layer:
    """Drop white space and invisible characters from gold words: they are in no unit."""
    if "".join(gold.words) == "".join(guess.words):
        return gold
    return dataclasses.replace(
        gold, words=tuple("".join(tagger.encoding_.split([word])[0]) for word in gold.words)
    )


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
