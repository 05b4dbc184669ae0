"""Holding the latent side of a coupled tagger: zx dev, and the newspaper sentences of tests/data/news.

python benchmarks/latent.py --data DIR                                # words: zx-pd in all ways
python benchmarks/latent.py --data DIR --recipe zx-pd-char-held       # characters
python benchmarks/latent.py --data DIR --limit 3000 --iterations 3    # quick, with 3,000 sentences of pd
python benchmarks/latent.py --data DIR --recipe zx-pd-char-held --models a.model b.model

Prints for each way of self-training, or for each model, the score on the recipe's first dev set and on the
news: tagged with nothing given, and converted under three mappings. At word level, the accuracy of tags; at
character level, F1 of words and of words with tags.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from conversion import SOURCE, TARGET, news
from duilian.corpus import Layer
from duilian.evaluation import main_score, word_score
from duilian.models import CoupledTagger, load
from duilian.recipes import Recipe, Run, train

RECIPES = Path(__file__).parent.parent / "recipes"
MAPPINGS = ("complete", "tight", "strict")
AS_IS = "as in the recipe"
WAYS = {
    AS_IS: [],
    "no teacher": ["rounds=0"],
    "confidence .95": ["rounds=1", "confidence=0.95"],
    "confidence .99": ["rounds=1", "confidence=0.99"],
    "confidence .95, words that zx has stay open": ["rounds=1", "confidence=0.95", "known_from=1"],
    "confidence .90, words that zx has stay open": ["rounds=1", "confidence=0.9", "known_from=1"],
    "confidence .95, complete mapping": ["rounds=1", "confidence=0.95", "mapping=complete"],
    "confidence .95, two rounds": ["rounds=2", "confidence=0.95"],
}


def scores(model: CoupledTagger, recipe: Recipe, first: int | None) -> Iterator[str]:
    """Scores on zx dev, and on the news: tagged, then converted under each mapping."""
    dev = recipe.corpus(recipe.sides[0], "dev")
    assert dev is not None
    judged = [sentence[TARGET] for sentence in dev]
    yield score(judged, model.predict_layers(judged, TARGET), model.level)
    pairs = list(zip(news(SOURCE), news(TARGET), strict=True))[:first]
    if model.level == "word":
        pairs = [(a, b) for a, b in pairs if a.words == b.words]
    given, gold = [a for a, _ in pairs], [b for _, b in pairs]
    yield score(gold, model.predict_layers(given, TARGET), model.level)
    for mapping in MAPPINGS:
        yield score(gold, model.convert(given, SOURCE, TARGET, mapping=mapping), model.level)


def score(gold: Sequence[Layer], guess: Sequence[Layer], level: str) -> str:
    """Accuracy of tags; at character level, F1 of words and of words with tags."""
    is_cut = level == "char"
    tags = f"{main_score(gold, guess, is_cut=is_cut):.2f}"
    if not is_cut:
        return tags
    return f"{word_score([a.words for a in gold], [b.words for b in guess]).f1:.2f} / {tags}"


def tagger(path: Path) -> CoupledTagger:
    """Load a coupled tagger."""
    model = load(path)
    assert isinstance(model, CoupledTagger), f"{path} is not a coupled tagger"
    return model


def main() -> None:
    """Train a recipe in several ways, or take models, and print a row for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--recipe", default="zx-pd")
    parser.add_argument("--ways", nargs="*", choices=list(WAYS), default=list(WAYS), metavar="WAY")
    parser.add_argument("--limit", type=int, help="only the first sentences of pd, drawn as often as zx")
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--first", type=int, metavar="N", help="only the first N sentences of the news")
    parser.add_argument("--models", nargs="+", type=Path, metavar="MODEL", help="measure these; train none")
    arguments = parser.parse_args()
    recipe_file, overrides = RECIPES / f"{arguments.recipe}.toml", list[str]()
    if arguments.limit:
        overrides += [f"side.2.limit={arguments.limit}", f"side.2.sample={min(arguments.limit, 2373)}"]
    if arguments.iterations:
        overrides.append(f"learning.iterations={arguments.iterations}")
    columns = ["self-training", "zx dev", "news tagged", *MAPPINGS, "CPU s"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for path in arguments.models or ():
        recipe = Recipe.load(recipe_file, arguments.data)
        print(f"| {' | '.join([path.stem, *scores(tagger(path), recipe, arguments.first), '–'])} |")
    with tempfile.TemporaryDirectory() as folder:
        for way in () if arguments.models else arguments.ways:
            chosen = [*overrides, *(f"self_training.{each}" for each in WAYS[way])]
            recipe = Recipe.load(recipe_file, arguments.data, chosen)
            path, start = Path(folder) / "a.model", time.process_time()
            train(recipe, Run(output=path))
            seconds = time.process_time() - start
            cells = [way, *scores(tagger(path), recipe, arguments.first), f"{seconds:.0f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
