"""Models and files of answers against each other on gold sentences."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from duilian.arguments import checked
from duilian.corpus import Corpus, Layer
from duilian.engine.measuring import answer_of
from duilian.engine.planning import check_trained
from duilian.errors import ConfigError
from duilian.evaluation import Comparison, compare_layers
from duilian.evaluation.comparison import TRIALS
from duilian.models.offers import OffersLabeler
from duilian.models.roles import TreeAnnotator

MAX_TRIALS = 10_000_000
_log = logging.getLogger("duilian")


@checked
def compare(
    gold: Corpus,
    systems: Mapping[str, Any],
    *,
    standard: str | None = None,
    trials: int = TRIALS,
    seed: int = 1,
    threads: int = 1,
) -> Comparison:
    """Compare two or more systems with the first: scores, differences, significance, and what changed.

    A system is a model, a corpus of its answers, or a list of several runs of it.

    >>> from duilian import AdaGrad, Tagger, demo
    >>> corpus, gold = demo.load("ctb", "ctb"), demo.load("ctb-dev", "ctb")
    >>> short, long = (Tagger("ctb", learning=AdaGrad(iterations=n)).fit(corpus) for n in (1, 5))
    >>> found = compare(gold, {"short": short, "long": long})
    >>> found.contrasts[0].differences[0].difference > 0
    True
    """
    if not isinstance(gold, Corpus):
        raise ConfigError(
            f"gold must be a corpus, got {type(gold).__name__}", "read it with duilian.read(path)"
        )
    if not 1 <= trials <= MAX_TRIALS:
        raise ConfigError(f"trials must be between 1 and {MAX_TRIALS:,}, got {trials!r}")
    if seed < 0:
        raise ConfigError(f"seed must not be negative, got {seed!r}")
    runs = {
        str(name): list(each) if isinstance(each, list | tuple) else [each] for name, each in systems.items()
    }
    every = [run for each in runs.values() for run in each]
    judged = _comparable(gold, every)
    answers: dict[str, list[Sequence[Layer]]] = {name: [] for name in runs}
    shown: Sequence[Layer] | None = None
    for name, each in runs.items():
        for run in each:
            found = answer_of(run, judged, None if isinstance(run, Corpus) else standard, threads)
            # Characters that no model sees are left out of gold if one of the systems is a model.
            shown = found.gold if shown is None or not isinstance(run, Corpus) else shown
            answers[name].append(found.guess)
    _warn_of_given_words(runs, answers, shown or ())
    return compare_layers(shown or (), answers, standard=gold.standard, trials=trials, seed=seed)


def _warn_of_given_words(
    runs: Mapping[str, Sequence[Any]], answers: Mapping[str, Sequence[Sequence[Layer]]], gold: Sequence[Layer]
) -> None:
    """Say so if some systems are given the words of gold, while others have found words of their own."""
    told = [
        name
        for name, each in runs.items()
        if any(isinstance(run, OffersLabeler) and run.labeler.reads == "words" for run in each)
    ]
    cut = [
        name
        for name, each in answers.items()
        if any(a.words != b.words for guess in each for a, b in zip(guess, gold, strict=False))
    ]
    if told and cut:
        names = ", ".join(told)
        message = "%s reads words and was given those of gold, but %s found its own: compare only their tags"
        _log.warning(message, names, cut[0])


def _comparable(gold: Corpus, systems: Sequence[Any]) -> Corpus:
    """The gold sentences that every system can answer: with trees for parsers, with tags if there are any."""
    for system in systems:
        check_trained(system)
        if not isinstance(system, Corpus | TreeAnnotator | OffersLabeler):
            hint = "give models (duilian.load), corpora of answers (duilian.read) or lists of them"
            raise ConfigError(f"systems must be models or corpora, got {type(system).__name__}", hint)
    layers = [sentence[gold.standard] for sentence in gold]
    if any(isinstance(each, Corpus) for each in systems):
        return gold
    wants_trees = any(isinstance(each, TreeAnnotator) for each in systems)
    has_tags = any(layer.tags is not None for layer in layers)
    kept = [
        sentence
        for sentence, layer in zip(gold, layers, strict=True)
        if (not wants_trees or layer.heads is not None) and (not has_tags or layer.tags is not None)
    ]
    return Corpus(kept, standard=gold.standard, source=gold.source)
