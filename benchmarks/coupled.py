"""Coupled compared with single and guided taggers on dev sets: scores, significance, size, memory, speed.

python benchmarks/coupled.py --data DIR --task zx-words              # also udc-words, zx-chars, udc-chars
python benchmarks/coupled.py --data DIR --task three                 # three standards against two
python benchmarks/coupled.py --data DIR --task mappings              # Table V of Li et al. (2017)
python benchmarks/coupled.py --data DIR --task features              # Table VIII, ibid.
python benchmarks/coupled.py --data DIR --task pruning               # online, offline, r and λ
python benchmarks/coupled.py --data DIR --task starts                # warm and cold, AdaGrad and SGD
python benchmarks/coupled.py --data DIR --task conversion            # UD v1 → v2, gold on both sides
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from duilian.corpus import Layer, Sentence, read
from duilian.evaluation import align, p_value, tag_counts
from duilian.learning import AdaGrad
from duilian.models import (
    CoupledFeatures,
    CoupledPruning,
    CoupledTagger,
    GuidedTagger,
    Tagger,
    load,
    tagger_for,
)
from duilian.models.base.packing import Columns
from duilian.models.coupled.config import CoupledConfig
from duilian.models.guided.predictor import GuidedPacker, GuidedPredictor
from duilian.models.guided.storage import GuidedModel
from duilian.recipes import Recipe, Run, train

RECIPES = Path(__file__).parent.parent / "recipes"
TASKS = {
    "zx-words": ("zx-pd", "zx-pos", "zx-guided"),
    "udc-words": ("udc-pd", "udc-xpos", "udc-guided"),
    "zx-chars": ("zx-pd-char", "zx-char", "zx-char-guided"),
    "udc-chars": ("udc-pd-char", "udc-char", "udc-char-guided"),
}
MAPPINGS = ("complete", "tight", "relaxed", "automatic", "automatic-intersection")
FEATURES = ("all", "separate", "joint")
PRUNINGS: dict[str, dict[str, Any]] = {
    "online, r = 8, λ = .98": {},
    "online, r = 4, λ = .98": {"pruning": {"max_candidates": 4}},
    "online, r = 8, λ = .90": {"pruning": {"candidate_mass": 0.9}},
    "offline, r = 8, λ = .98": {"pruning": {"kind": "offline"}},
    "offline, r = 16, λ = .9999": {
        "pruning": {"kind": "offline", "max_candidates": 16, "candidate_mass": 0.9999}
    },
}
STARTS: dict[str, dict[str, Any]] = {
    "warm source, AdaGrad": {},
    "both cold, AdaGrad": {"start": {"kind": "cold"}},
    "both warm, AdaGrad": {"start": {"shares": (1.0, 1.0)}},
    "warm source, AdaGrad, best path": {"decoding": "path"},
    "cold, SGD, best path (the papers)": {
        "start": {"kind": "cold"},
        "learning": {"algorithm": "sgd", "batch": 30, "average": False, "iterations": 20},
        "decoding": "path",
    },
}


class Bench:
    """Trains recipes and collects measurements."""

    def __init__(self, data: Path, threads: int, limit: int | None, folder: Path) -> None:
        self.data, self.threads, self.limit, self.folder = data, threads, limit, folder
        self.rows: list[dict[str, Any]] = []

    def train(self, name: str, *overrides: str, note: str = "") -> Path:
        """Train a recipe and add a row with its scores, size and cost."""
        recipe = Recipe.load(RECIPES / f"{name}.toml", self.data, overrides)
        output = self.folder / f"{name}{len(self.rows)}.model"
        start, cpu = time.perf_counter(), time.process_time()
        train(recipe, Run(output=output, threads=self.threads))
        model = load(output)
        scores = {
            side.standard: self.score(output, recipe, side.standard)
            for side in recipe.sides
            if side.dev is not None and (isinstance(model, CoupledTagger) or side is recipe.sides[0])
        }
        self.row(
            f"{name}{' ' + note if note else ''}",
            **scores,
            seconds=time.perf_counter() - start,
            cpu=time.process_time() - cpu,
            megabytes=output.stat().st_size / 1e6,
            peak_gb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        )
        return output

    def row(self, name: str, **values: Any) -> None:
        self.rows.append({"name": name, **values})
        shown = "  ".join(
            f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}"
            for key, value in values.items()
        )
        print(f"{name:34} {shown}", flush=True)

    def score(self, model: Path, recipe: Recipe, standard: str) -> str:
        counts = self.counts(model, recipe, standard)
        return " / ".join(f"{100 * f1(each):.2f}" for each in counts)

    def counts(self, model: Path, recipe: Recipe, standard: str) -> list[np.ndarray[Any, Any]]:
        """Count gold, guess and correct per sentence: of tags, or of words and of words with tags."""
        side = next(side for side in recipe.sides if side.standard == standard)
        dev = recipe.corpus(side, "dev")
        assert dev is not None
        gold = [sentence[standard] for sentence in dev]
        tagger = tagger_for(load(model), standard)
        guess = tagger.predict_layers(gold, threads=self.threads)
        if tagger.level == "word":
            return [tag_counts(tags_of(gold), tags_of(guess))]
        words = align([layer.words for layer in gold], [layer.words for layer in guess])
        return [words.word_counts(), words.word_tag_counts(tags_of(gold), tags_of(guess))]

    def speed(self, models: Sequence[tuple[str, Path]], gold: Sequence[Layer], standard: str) -> None:
        """Measure units per CPU second, bytes to bytes, single-threaded, taking turns; the best of five."""
        best: dict[str, float] = {}
        taggers = {name: tagger_for(load(path), standard) for name, path in models}
        level = next(iter(taggers.values())).level
        text = "".join((" " if level == "word" else "").join(layer.words) + "\n" for layer in gold)
        units = sum(len(layer) if level == "word" else len("".join(layer.words)) for layer in gold)
        copies = max(1, 60_000 // units)
        source = text.encode() * copies
        for _ in range(5):
            for name, tagger in taggers.items():
                start = time.process_time()
                tagger.tag_lines(source)
                rate = units * copies / (time.process_time() - start)
                best[name] = max(best.get(name, 0.0), rate)
        slowest = max(best.values())
        for name, rate in best.items():
            self.row(f"speed of {name}", thousand_units_per_s=rate / 1e3, of_the_fastest=rate / slowest)


def tags_of(layers: Sequence[Layer]) -> list[Any]:
    return [layer.tags or () for layer in layers]


def f1(counts: np.ndarray[Any, Any]) -> float:
    gold, guess, correct = counts.sum(axis=0)
    return float(2 * correct / max(gold + guess, 1))


def compare(bench: Bench, task: str) -> None:
    """Compare single, guided and coupled taggers, with the significance of the differences."""
    coupled, alone, guided = TASKS[task]
    paths = {name: bench.train(name) for name in (alone, guided, coupled)}
    recipe = Recipe.load(RECIPES / f"{coupled}.toml", bench.data)
    standard = recipe.sides[0].standard
    found = {name: bench.counts(path, recipe, standard)[-1] for name, path in paths.items()}
    metric = "accuracy" if recipe.config.level == "word" else "f1"
    for other in (alone, guided):
        p = p_value(found[coupled], found[other], metric)
        bench.row(f"{coupled} against {other}", p=f"{p:.4f}")
    speeds(bench, task, paths[alone], paths[coupled])


def speeds(bench: Bench, task: str, alone: Path, coupled: Path) -> None:
    """Measure the tagging speed of two models of a task, taking turns."""
    names = TASKS[task]
    recipe = Recipe.load(RECIPES / f"{names[0]}.toml", bench.data)
    side = recipe.sides[0]
    dev = recipe.corpus(side, "dev")
    assert dev is not None
    layers = [sentence[side.standard] for sentence in dev]
    bench.speed([(names[1], alone), (names[0], coupled)], layers, side.standard)


def three(bench: Bench) -> None:
    for name in ("zx-pd", "udc-pd", "zx-udc-pd"):
        bench.train(name)


def ablate(bench: Bench, settings: dict[str, dict[str, Any]]) -> None:
    """Train zx + pd at word level with each setting; dev scores of both sides."""
    recipe = Recipe.load(RECIPES / "zx-pd.toml", bench.data)
    corpora = [recipe.corpus(side, "train") for side in recipe.sides]
    corpora[1] = corpora[1][: bench.limit] if corpora[1] is not None else None
    dev = [recipe.corpus(side, "dev") for side in recipe.sides]
    usual = CoupledConfig(
        standards=tuple(side.standard for side in recipe.sides),
        pruning=CoupledPruning(folds=5),
        learning=AdaGrad(rate=0.15, batch=8, iterations=8, sample=(2373, 4746)),
    )
    for name, chosen in settings.items():
        start = time.perf_counter()
        tagger = CoupledTagger.with_config(usual.updated(chosen))
        tagger.fit(corpora, dev=dev, threads=bench.threads)
        scores = {key: f"{value:.2f}" for key, value in tagger.best_scores_.items() if key != "average"}
        bench.row(name, **scores, seconds=time.perf_counter() - start)


def mappings(bench: Bench) -> None:
    ablate(bench, {name: {"mapping": name} for name in MAPPINGS})


def features(bench: Bench) -> None:
    settings: dict[str, dict[str, Any]] = {name: {"features": {"parts": name}} for name in FEATURES}
    settings["joint"]["pruning"] = {"kind": "offline"}  # online pruning needs separate features
    ablate(bench, settings)


def pruning(bench: Bench) -> None:
    ablate(bench, PRUNINGS)


def starts(bench: Bench) -> None:
    ablate(bench, STARTS)


def conversion(bench: Bench) -> None:
    """Learn v1 from udc/train and v2 from the first 350 sentences of gsdsimp-dev; convert the rest."""
    v1 = read(str(bench.data / "udc/train.conll"), standard="v1", column="xpos")
    old = read(str(bench.data / "udc/dev.conll"), standard="v1", column="xpos")
    new = read(str(bench.data / "ud2/gsdsimp-dev.conllu"), standard="v2", column="upos")
    # The same text up to punctuation and variant characters; a pair has the words of v1.
    both = {
        place: Sentence({"v1": a["v1"], "v2": Layer(a["v1"].words, b["v2"].tags)})
        for place, (a, b) in enumerate(zip(old, new, strict=True))
        if sizes(a["v1"]) == sizes(b["v2"])
    }
    learned = [Sentence({"v2": b["v2"]}) for b in list(new)[:350]]
    held_out = [pair for place, pair in both.items() if place >= 350]
    gold = [pair["v2"] for pair in held_out]

    def row(name: str, guess: Sequence[Layer]) -> np.ndarray[Any, Any]:
        counts = tag_counts(tags_of(gold), tags_of(guess))
        bench.row(name, v2=f"{100 * f1(counts):.2f}", sentences=len(gold))
        return counts

    plain = Tagger("v2").fit(learned, threads=bench.threads)
    row("plain v2 tagger", plain.predict_layers(gold))
    table = best_table(v1, plain)
    row(
        "best tag table",
        [Layer(p["v1"].words, tuple(table[t] for t in p["v1"].tags or ())) for p in held_out],
    )
    source = Tagger("v1").fit(v1, threads=bench.threads)
    guided = GuidedTagger("v2", source_standard="v1").fit(learned, source=source, threads=bench.threads)
    given = GivenGuides(guided.model_, {pair["v2"].words: pair["v1"] for pair in held_out})
    other = row("guided with the given tags", given.predict_layers(gold))
    sample = (4 * len(learned), len(v1))
    for name, guide in {"coupled": None, "coupled with guide features": "v1"}.items():
        tagger = CoupledTagger(
            ("v2", "v1"),
            features=CoupledFeatures(guide=guide, joint_count=2),
            learning=AdaGrad(rate=0.05, batch=8, iterations=6, sample=sample),
        )
        tagger.fit([learned, v1], threads=bench.threads)
        converted = tagger.convert([Sentence({"v1": p["v1"]}) for p in held_out], "v1", "v2")
        mine = row(name, converted)
    bench.row("coupled against guided", p=f"{p_value(mine, other, 'accuracy'):.4f}")


def sizes(layer: Layer) -> list[int]:
    return [len(word) for word in layer.words]


def best_table(v1: Sequence[Sentence], plain: Tagger) -> dict[str, str]:
    """Map each v1 tag to the v2 tag that the plain v2 tagger gives most often on the v1 corpus."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence, tags in zip(v1, plain.predict([s["v1"].words for s in v1]), strict=True):
        for a, b in zip(sentence["v1"].tags or (), tags, strict=True):
            seen[str(a)][b] += 1
    return defaultdict(lambda: "X", {a: counts.most_common(1)[0][0] for a, counts in seen.items()})


@dataclasses.dataclass(frozen=True)
class GivenPacker(GuidedPacker):
    """Packs units with the labels of a source that are given; where none are, with those it finds."""

    given: Mapping[tuple[str, ...], Layer]

    def columns(
        self, units: Sequence[Sequence[str]], layers: Sequence[Layer], threads: int
    ) -> Sequence[Columns]:
        """The tags of the source."""
        found = super().columns(units, layers, threads)
        return [
            {"guide": [str(tag) for tag in self.given[tuple(words)].tags or ()]}
            if tuple(words) in self.given
            else guess
            for words, guess in zip(units, found, strict=True)
        ]


class GivenGuides(GuidedPredictor):
    """A guided tagger that is given its source's labels."""

    def __init__(self, model: GuidedModel, given: Mapping[tuple[str, ...], Layer]) -> None:
        super().__init__(model)
        self.packer = GivenPacker(**vars(self.packer), given=given)


def main() -> None:
    """Run the task named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    others = {
        "three": three,
        "mappings": mappings,
        "features": features,
        "pruning": pruning,
        "starts": starts,
        "conversion": conversion,
    }
    parser.add_argument("--task", choices=[*TASKS, *others], required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, help="ablations: number of source sentences")
    parser.add_argument(
        "--models",
        type=Path,
        nargs=2,
        metavar=("ALONE", "COUPLED"),
        help="only compare the speed of two trained models of the task",
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.data, options.threads, options.limit, Path(folder))
        if options.models and options.task in TASKS:
            speeds(bench, options.task, *options.models)
        elif options.task in TASKS:
            compare(bench, options.task)
        else:
            others[options.task](bench)
    if options.json:
        options.json.write_text(json.dumps(bench.rows, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
