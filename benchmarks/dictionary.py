"""Models with a dictionary: accuracy, recall of unknown words in and outside the list, speed.

    python benchmarks/dictionary.py RECIPE MODEL… --list FILE --data DIR [--part dev] [--repeats 5]

Every model was trained from the recipe, or from one that differs in its settings alone. The first has no
dictionary: speeds are compared with its own, and it also gets the list as a lexicon. A word is unknown if the
training corpus of its standard lacks it, and listed if FILE has it. Speeds are of `pipe` on the texts, models
in turns, the best of some repeats; times are CPU times of one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from duilian import Analyzer, Layer, Lexicon, load
from duilian.corpus.counts import percentage
from duilian.engine.analyzer import own_layer
from duilian.evaluation import align, main_score, word_score
from duilian.features import Dictionary, Reading
from duilian.labels.encoding import Encoding
from duilian.labels.units import units_of_texts
from duilian.models.registry import tagger_for
from duilian.recipes import Recipe
from duilian.text import Folding


def recalls(gold: Sequence[Layer], found: Sequence[Layer], known: set[str], listed: set[str]) -> str:
    """The recall of unknown words, listed and not."""
    alignment = align([each.words for each in gold], [each.words for each in found])
    every = alignment.by_vocabulary(known)
    other = alignment.by_vocabulary(known | listed)
    count, right = every.unknown - other.unknown, every.unknown_found - other.unknown_found
    return f"{percentage(right, count):.1f} of {count}, {other.unknown_recall:.1f} of {other.unknown}"


def seconds(analyzer: Analyzer, texts: Sequence[str]) -> float:
    """CPU time of an analysis."""
    start = time.process_time()
    for _ in analyzer.pipe(texts):
        pass
    return time.process_time() - start


def look_up_speed(words: Dictionary, texts: Sequence[str], repeats: int) -> float:
    """Characters per second of the extra work of packing with the dictionary."""
    batch, best = units_of_texts(texts, Encoding("char", None), ()), []
    for reading in (Reading(Folding()), Reading(Folding(), words.folded(Folding()))):
        times = []
        for _ in range(repeats):
            start = time.process_time()
            batch.packed(reading)
            times.append(time.process_time() - start)
        best.append(min(times))
    return len(batch) / (best[1] - best[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--list", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    recipe, words = Recipe.load(options.recipe, options.data), Dictionary.read(options.list)
    listed, analyzers = {each.word for each in words}, {path: load(path) for path in options.models}
    texts: list[str] = []
    for side in recipe.sides:
        name, corpus = side.standard, recipe.corpus(side, options.part)
        train = recipe.corpus(side, "train")
        if corpus is None or train is None:
            continue
        known = {word for sentence in train for word in sentence[name].words}
        gold = [own_layer(sentence, name) for sentence in corpus]
        texts += [layer.text for layer in gold]
        print(f"{name}: words, words with tags; unknown words listed, not listed")
        for path, analyzer in analyzers.items():
            found = tagger_for(analyzer.model, name).predict_layers(gold)
            words_right = word_score([each.words for each in gold], [each.words for each in found]).f1
            shown = f"{words_right:.2f} {main_score(gold, found, is_cut=True):.2f}"
            print(f"  {Path(path).name}: {shown}; {recalls(gold, found, known, listed)}")
        plain = tagger_for(analyzers[options.models[0]].model, name)
        found = plain.predict_layers(gold, lexicon=Lexicon.read(options.list, mode="prefer"))
        words_right = word_score([each.words for each in gold], [each.words for each in found]).f1
        print(f"  {Path(options.models[0]).name} with the list as a preferred lexicon: {words_right:.2f}")
    best = {path: float("inf") for path in analyzers}
    for _ in range(options.repeats):
        for path, analyzer in analyzers.items():
            best[path] = min(best[path], seconds(analyzer, texts))
    for path, time_ in best.items():
        speed = sum(map(len, texts)) / time_ / 1e3
        print(f"{Path(path).name}: {speed:.0f} thousand characters/s, {best[options.models[0]] / time_:.2f}")
    print(f"look-up: {look_up_speed(words, texts, options.repeats) / 1e6:.1f} million characters/s")


if __name__ == "__main__":
    main()
