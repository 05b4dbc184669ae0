"""English words in Chinese text: accuracy on our own sentences, gluing, Chinese words, size and speed.

    python benchmarks/english.py MODEL [BASE] [--data DIR] [--dev]

MODEL was trained with [mixing]; BASE is the same without, for comparison. `real` is the accuracy on the
English words of tests/data/mixed/real.txt (with --dev: dev.txt, for tuning) in each standard, by part of
speech. A word counts if it is a word of its own with the right tag. `frames` are 真X, 别X, 太X, 好X, 很X了
with 64 English words each: how many are cut off from the Han around them. With --data, the dev sets of
the sides: F1 of words, and with tags, of all sentences and of those without letters. Speed is in CPU time,
the models taking turns.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from duilian import Ask, load
from duilian.corpus import Corpus, Layer, read
from duilian.corpus.mixing import part_of_tags
from duilian.engine import Analyzer
from duilian.evaluation import main_score
from measure import facts

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "mixed"
TAGGED = re.compile(r"\[(.+?)/(NN|NR|VV|VA|JJ)\]")
PARTS = ("NN", "NR", "VV", "VA", "JJ")
MORE = {"pku": {"vn": "NN", "an": "NN", "j": "NN", "vd": "VV", "ad": "VA"}, "gsd": {}}
SAME = {"gsd": {"VA": "JJ"}, "ud": {"VA": "JJ"}, "ud1": {"VA": "JJ"}}  # one tag for both
FRAMES = ("真{}", "别{}", "太{}", "好{}", "很{}了")
WORDS = tuple(
    re.findall(
        r"\S+",
        """nice check cool high open fair busy smart cute sexy low man crazy chill emo happy easy
        simple fresh special update upload follow focus copy call push send post try join miss
        save test book show out in fan PK OK NB VIP Nice Cool Fashion English iPhone report
        project deadline meeting party boss bug logo link demo strong slow professional X A e""",
    )
)
READS = {"gsd": ("udc/dev.conll", {"format": "conllx", "column": "xpos"})}
READS["pku"] = ("pd/dev.txt", {"format": "slash", "cut": "sentence"})
READS["ud"] = ("ud2/gsdsimp-dev.conllu", {"column": "upos"})
ROUNDS = 5


def sentences(path: Path) -> Iterable[tuple[str, list[tuple[int, int, str]]]]:
    """The text of each sentence without blanks, and its English words: start, end, part of speech."""
    for line in path.read_text(encoding="utf-8").splitlines():
        text, words, at = "", [], 0
        for match in () if line.startswith("#") else TAGGED.finditer(line):
            text += line[at : match.start()].replace(" ", "")
            words.append((len(text), len(text) + len(match[1]), match[2]))
            text, at = text + match[1], match.end()
        if words:
            yield text + line[at:].replace(" ", ""), words


def spans(layer: Layer) -> dict[tuple[int, int], str]:
    ends = list(itertools.accumulate(map(len, layer.words)))
    return {(b - len(w), b): str(t) for b, w, t in zip(ends, layer.words, layer.tags or (), strict=True)}


def accuracy(zh: Analyzer, standard: str, path: Path, *, verbose: bool) -> str:
    """The share of English words that are right: all, and by part of speech."""
    part = part_of_tags(standard, PARTS) | MORE.get(standard, {})
    same = SAME.get(standard, {})
    right, total = collections.Counter(), collections.Counter()
    ask = Ask((standard,), trees=False)
    for text, words in sentences(path):
        doc = zh(text, ask=ask)
        found = spans(Layer(tuple(doc.words(standard)), tuple(doc.tags(standard))))
        for begin, end, wanted in words:
            tag = found.get((begin, end), "")
            got = part.get(tag, tag)
            is_right = same.get(got, got) == same.get(wanted, wanted)
            right[wanted] += is_right
            total[wanted] += 1
            if verbose and not is_right:
                print(f"  {standard} {text[begin:end]} {wanted}: {tag}  {text}")
    parts = "  ".join(f"{each} {right[each]}/{total[each]}" for each in PARTS)
    return f"{100 * right.total() / total.total():6.1f}   {parts}"


def frames(zh: Analyzer, standard: str) -> str:
    """How many frames have the English word as a word of its own."""
    cut = [
        word in zh(frame.format(word), ask=Ask((standard,), trees=False)).words(standard)
        for frame in FRAMES
        for word in WORDS
    ]
    return f"{sum(cut)} of {len(cut)} cut"


def chinese(zh: Analyzer, standard: str, corpus: Corpus) -> str:
    """F1 of words and of words with tags, for all sentences and for those without letters."""
    gold = [sentence[standard] for sentence in corpus]
    tagger = zh.model.of(standard) if hasattr(zh.model, "of") else zh.model
    guess = tagger.predict_layers(gold)
    pairs = list(zip(gold, guess, strict=True))
    rows = []
    for kept in (pairs, [(a, b) for a, b in pairs if not re.search("[A-Za-zＡ-Ｚａ-ｚ]", "".join(a.words))]):
        wanted, found = [a for a, _ in kept], [b for _, b in kept]
        bare = [[Layer(each.words) for each in side] for side in (wanted, found)]
        rows.append(f"{main_score(*bare, is_cut=True):.2f} / {main_score(wanted, found, is_cut=True):.2f}")
    return f"{rows[0]}   without letters {rows[1]}"


def speeds(models: Sequence[Analyzer], texts: Sequence[str]) -> list[float]:
    """Characters per second of CPU time in one thread, the best of some rounds."""
    best, ask = [float("inf")] * len(models), Ask(trees=False)
    for _ in range(ROUNDS):
        for k, zh in enumerate(models):
            start = time.process_time()
            collections.deque(zh.pipe(texts, ask=ask), maxlen=0)
            best[k] = min(best[k], time.process_time() - start)
    return [sum(map(len, texts)) / seconds for seconds in best]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument(
        "--data", type=Path, help="folder with udc and pd, to measure Chinese words and speed"
    )
    parser.add_argument("--dev", action="store_true", help="sentences to tune on")
    parser.add_argument("--verbose", action="store_true", help="show what is wrong")
    options = parser.parse_args()
    path = FOLDER / ("dev.txt" if options.dev else "real.txt")
    analyzers = [load(name) for name in options.models]
    corpora = {}
    for zh in analyzers if options.data else ():
        for name in filter(READS.get, zh.standards):
            file, how = READS[name]
            corpora.setdefault(name, read(str(options.data / file), standard=name, **how))
    for model, zh in zip(options.models, analyzers, strict=True):
        print(f"{Path(model).name}: {Path(model).stat().st_size:,} bytes")
        for name in zh.standards:
            print(f"  {path.stem} {name} {accuracy(zh, name, path, verbose=options.verbose)}")
            print(f"  frames {name} {frames(zh, name)}")
            if name in corpora:
                print(f"  words / with tags {name} {chinese(zh, name, corpora[name])}", flush=True)
    if corpora:
        texts = [sentence[name].text for name, corpus in corpora.items() for sentence in corpus[:1000]]
        for model, speed in zip(options.models, speeds(analyzers, texts), strict=True):
            print(f"{Path(model).name}: {speed:,.0f} characters/s")
    print(facts())


if __name__ == "__main__":
    main()
