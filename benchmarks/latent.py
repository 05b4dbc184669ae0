"""Holding the latent side of a coupled tagger: zx dev, and the newspaper sentences of tests/data/news.

python benchmarks/latent.py --data DIR                                # words: zx-pd in all ways
python benchmarks/latent.py --data DIR --recipe zx-pd-char-dict       # characters
python benchmarks/latent.py --data DIR --limit 3000 --iterations 3    # quick, with 3,000 sentences of pd

Prints for each way of self-training the score on the recipe's first dev set, and F1 of words with tags on the
news: tagged with nothing given, and converted under the complete and the strict mapping.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from conversion import SOURCE, TARGET, news
from duilian.evaluation import main_score
from duilian.models import CoupledTagger, load
from duilian.recipes import Recipe, Run, train

RECIPES = Path(__file__).parent.parent / "recipes"
WAYS = {
    "no teacher": ["rounds=0"],
    "confidence .95": ["rounds=1", "confidence=0.95"],
    "confidence .99": ["rounds=1", "confidence=0.99"],
    "confidence .95, words that zx has stay open": ["rounds=1", "confidence=0.95", "known_from=1"],
    "confidence .90, words that zx has stay open": ["rounds=1", "confidence=0.9", "known_from=1"],
    "confidence .95, complete mapping": ["rounds=1", "confidence=0.95", "mapping=complete"],
    "confidence .95, two rounds": ["rounds=2", "confidence=0.95"],
}


def measure(model: CoupledTagger, first: int | None) -> list[float]:
    """Score on the news: tagged, converted under the complete and the strict mapping."""
    pairs = list(zip(news(SOURCE), news(TARGET), strict=True))[:first]
    is_cut = model.level == "char"
    if not is_cut:
        pairs = [(a, b) for a, b in pairs if a.words == b.words]
    given, gold = [a for a, _ in pairs], [b for _, b in pairs]
    answers = [model.predict_layers(given, TARGET)]
    answers += [model.convert(given, SOURCE, TARGET, mapping=name) for name in ("complete", "strict")]
    return [main_score(gold, answer, is_cut=is_cut) for answer in answers]


def main() -> None:
    """Train a recipe in several ways and print a row for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--recipe", default="zx-pd")
    parser.add_argument("--ways", nargs="*", choices=list(WAYS), default=list(WAYS), metavar="WAY")
    parser.add_argument("--limit", type=int, help="only the first sentences of pd, drawn as often as zx")
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--first", type=int, metavar="N", help="only the first N sentences of the news")
    arguments = parser.parse_args()
    overrides = []
    if arguments.limit:
        overrides += [f"side.2.limit={arguments.limit}", f"side.2.sample={min(arguments.limit, 2373)}"]
    if arguments.iterations:
        overrides.append(f"learning.iterations={arguments.iterations}")
    columns = ["self-training", "zx dev", "news tagged", "complete", "strict", "CPU s"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    with tempfile.TemporaryDirectory() as folder:
        for way in arguments.ways:
            chosen = [*overrides, *(f"self_training.{each}" for each in WAYS[way])]
            recipe = Recipe.load(RECIPES / f"{arguments.recipe}.toml", arguments.data, chosen)
            path, start = Path(folder) / "a.model", time.process_time()
            train(recipe, Run(output=path))
            seconds, model = time.process_time() - start, load(path)
            assert isinstance(model, CoupledTagger)
            dev = recipe.corpus(recipe.sides[0], "dev")
            assert dev is not None
            scores = [100 * model.score(dev, standard=TARGET), *measure(model, arguments.first)]
            cells = [way, *(f"{score:.2f}" for score in scores), f"{seconds:.0f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
