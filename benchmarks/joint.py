"""Joint tagging and parsing compared with a pipeline: Tables IV and VI to VIII of Li et al. (2014).

benchmarks/parsing.py prints Table V (gold tags).

    python benchmarks/joint.py --data DIR --models FOLDER [--orders 1 2 3] [--part dev]

Models are trained from recipes/udc-joint{1,2,3}.toml and kept in FOLDER, as are the parsers that they are
compared with: recipes/udc-parser{1,2,3}.toml on tags of the same plain tagger, also jack-knifed in 10 folds.
Speed is that of tagging and parsing given words, single-threaded, in sentences per CPU second, the best of
several rounds that take turns.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from duilian import Corpus, Layer, read
from duilian.evaluation import accuracy, attachment_counts, p_value, tag_counts, tree_score
from duilian.models.joint_parser.model import JointParser
from duilian.models.joint_parser.tag_candidates import candidates, marginals_of, tag_numbers
from duilian.models.parser.model import Parser
from duilian.recipes import Recipe, Run, train
from measure import facts

HERE = Path(__file__).resolve().parent
ROUNDS = 3
FOLDS = 10
THRESHOLDS = (0.03, 0.05, 0.1, 0.3)
PATTERNS_SHOWN = 14
Parse = Callable[[], list[Layer]]


def main() -> None:
    """Train missing models, then measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--models", type=Path, required=True)
    arguments.add_argument("--orders", type=int, nargs="+", default=[1, 2, 3])
    arguments.add_argument("--part", default="dev", choices=["dev", "test"])
    arguments.add_argument("--threads", type=int, default=2, help="for training")
    chosen = arguments.parse_args()
    chosen.models.mkdir(parents=True, exist_ok=True)
    gold = [sentence["gsd"] for sentence in _read(chosen, chosen.part)]
    joint = {order: _joint(order, chosen) for order in chosen.orders}
    plain = {order: _plain(order, chosen) for order in chosen.orders}
    _compare(joint, plain, gold, chosen.part)
    if 2 in joint:
        _thresholds(joint[2], gold)
        _patterns(joint[2].predict_layers(gold), _in_turn(joint[2], plain[2], gold), gold)


def _read(chosen: argparse.Namespace, part: str) -> Corpus:
    return read(chosen.data / "udc" / f"{part}.conll", standard="gsd", format="conllx", column="xpos")


def _joint(order: int, chosen: argparse.Namespace) -> JointParser:
    path = chosen.models / f"udc-joint{order}.model"
    if not path.exists():
        recipe = Recipe.load(HERE.parent / "recipes" / f"udc-joint{order}.toml", chosen.data)
        start = time.process_time()
        train(recipe, Run(output=path, threads=chosen.threads))
        print(f"joint, order {order}: {time.process_time() - start:.0f} s CPU for training")
    return JointParser.load(path)


def _plain(order: int, chosen: argparse.Namespace) -> Parser:
    path = chosen.models / f"udc-pipeline{order}.model"
    if not path.exists():
        recipe = HERE.parent / "recipes" / f"udc-parser{order}.toml"
        overrides = [f"model.tag_folds={FOLDS}"]
        train(Recipe.load(recipe, chosen.data, overrides), Run(output=path, threads=chosen.threads))
    return Parser.load(path)


def _with_tags(layers: list[Layer], tagged: list[Layer]) -> list[Layer]:
    return [dataclasses.replace(layer, tags=guess.tags) for layer, guess in zip(layers, tagged, strict=True)]


def _in_turn(joint: JointParser, plain: Parser, gold: list[Layer]) -> list[Layer]:
    """Tag, then parse."""
    return plain.predict_layers(_with_tags(gold, joint.predictor_.tagger.predict_layers(gold)))


def _compare(joint: dict[int, JointParser], plain: dict[int, Parser], gold: list[Layer], part: str) -> None:
    table = _table(
        f"udc {part}, tags found, without punctuation (Tables VI and VII)", "model", *_HEADS, "p UAS", "p TA"
    )
    for order in joint:
        ways: dict[str, Parse] = {
            f"order {order}": lambda order=order: _in_turn(joint[order], plain[order], gold),  # type: ignore[misc]
            f"joint, order {order}": lambda order=order: joint[order].predict_layers(gold),  # type: ignore[misc]
        }
        speed, found = _race(ways, len(gold))
        for name, guess in found.items():
            table.add_row(
                name, *_figures(gold, guess), f"{speed[name]:.0f}", *_chances(gold, list(found.values()))
            )
    Console().print(table)


_HEADS = ("UAS", "LAS", "RA", "CM", "TA", "sentences/s")


def _race(ways: dict[str, Parse], sentences: int) -> tuple[dict[str, float], dict[str, list[Layer]]]:
    """Return sentences per CPU second and the answers of each method."""
    best = dict.fromkeys(ways, float("inf"))
    found = {}
    for _ in range(ROUNDS):
        for name, parse in ways.items():
            start = time.process_time()
            found[name] = parse()
            best[name] = min(best[name], time.process_time() - start)
    return {name: sentences / seconds for name, seconds in best.items()}, found


def _figures(gold: list[Layer], guess: list[Layer]) -> list[str]:
    trees = tree_score(gold, guess)
    assert trees is not None
    tags = accuracy([layer.tags or () for layer in gold], [layer.tags or () for layer in guess])
    shown = (trees.uas, trees.las or 0.0, trees.root, trees.complete, tags)
    return [f"{value:.2f}" for value in shown]


def _chances(gold: list[Layer], guesses: list[list[Layer]]) -> list[str]:
    """Test the significance of both differences."""
    a, b = (attachment_counts(gold, guess) for guess in guesses)
    rows = [[layer.tags or () for layer in side] for side in (gold, *guesses)]
    c, d = (tag_counts(rows[0], guess) for guess in rows[1:])
    return [f"{p_value(a, b, 'accuracy'):.4f}", f"{p_value(c, d, 'accuracy'):.4f}"]


def _thresholds(parser: JointParser, gold: list[Layer]) -> None:
    """Table of candidates and accuracy by threshold, for a model trained with one of them."""
    trained_with = parser.tagging.threshold
    table = _table(
        f"joint, order 2, trained with {trained_with} (Table IV)",
        "threshold",
        "tags per word",
        "oracle",
        *_HEADS,
    )
    marginals = marginals_of(parser.predictor_.tagger, gold, parser.tags_)
    for threshold in (each for each in THRESHOLDS if each >= trained_with):
        found = candidates(marginals, threshold)
        parser.set_params(tagging__threshold=threshold)
        speed, guess = _race({"": lambda: parser.predict_layers(gold)}, len(gold))
        oracle = found.share_with(tag_numbers(gold, parser.tags_))
        table.add_row(
            str(threshold),
            f"{found.per_word:.2f}",
            f"{oracle:.2f}",
            *_figures(gold, guess[""]),
            f"{speed['']:.0f}",
        )
    parser.set_params(tagging__threshold=trained_with)
    Console().print(table)


def _patterns(joint: list[Layer], in_turn: list[Layer], gold: list[Layer]) -> None:
    """Table of tag confusions, and of how often such words get a wrong head."""
    counts = [_count_patterns(gold, guess) for guess in (in_turn, joint)]
    whole = Counter(tag for layer in gold for tag in layer.tags or ())
    table = _table(
        "tags and heads, order 2, then the joint model's difference (Table VIII)",
        *("pattern", "percent", "error rate", "percent ±", "error rate ±"),
    )
    right = [pattern for pattern, _ in counts[0].most_common() if pattern[0] == pattern[1]][
        : PATTERNS_SHOWN // 2
    ]
    wrong = [pattern for pattern, _ in counts[0].most_common() if pattern[0] != pattern[1]][
        : PATTERNS_SHOWN // 2
    ]
    for pattern in right + wrong:
        (percent, rate), (joint_percent, joint_rate) = (_shares(each, pattern, whole) for each in counts)
        changes = (f"{joint_percent - percent:+.1f}", f"{joint_rate - rate:+.1f}")
        table.add_row(" → ".join(pattern), f"{percent:.1f}", f"{rate:.1f}", *changes)
    Console().print(table)


class _Patterns(Counter[tuple[str, str]]):
    """Count pairs of gold and guessed tags; `wrong` counts those with a wrong head."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: Counter[tuple[str, str]] = Counter()


def _count_patterns(gold: list[Layer], guess: list[Layer]) -> _Patterns:
    found = _Patterns()
    for left, right in zip(gold, guess, strict=True):
        rows = zip(left.tags or (), right.tags or (), left.heads or (), right.heads or (), strict=True)
        for tag, guessed, head, guessed_head in rows:
            pattern = (str(tag), str(guessed))
            found[pattern] += 1
            found.wrong[pattern] += head != guessed_head
    return found


def _shares(found: _Patterns, pattern: tuple[str, str], whole: Counter[object]) -> tuple[float, float]:
    return 100 * found[pattern] / max(whole[pattern[0]], 1), 100 * found.wrong[pattern] / max(
        found[pattern], 1
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", caption=facts(), caption_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place else "left")
    return table


if __name__ == "__main__":
    main()
