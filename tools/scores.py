"""Score an analyser's answers to the raw text of its recipe's dev and test sets; write them next to its file.

    python tools/scores.py src/duilian/bundled/zh.model --data DIR

`duilian inspect` shows them, and a test compares the table in docs/model-card.md with them. They equal those
of the analyser that users load, and of `duilian evaluate`.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

import duilian
from duilian import Ask
from duilian.corpus import Layer
from duilian.engine import Analyzer
from duilian.engine.measuring import read_gold
from duilian.evaluation import evaluate_layers, raw_tree_score
from duilian.modelfile import checksum_of
from duilian.models import tagger_for
from duilian.reports.inspection import SCORES_SUFFIX, ModelCard


def scores(model: Path, data: Path) -> dict[str, Any]:
    """Return F1 of words and of words with tags, UAS and LAS on raw text, for each standard and set."""
    analyzer = duilian.load(model)
    sides = tomllib.loads(ModelCard.read(model).notes["recipe"])["side"]
    found: dict[str, Any] = {}
    for side in sides:
        standard = side["standard"]
        tagger = tagger_for(analyzer.model, standard)
        # An analysis has universal tags, and specific ones beside them.
        column = {"column": "upos"} if side.get("column") == "upos+xpos" else {}
        for part in ("dev", "test"):
            if part not in side:
                continue
            gold = read_gold(str(data / side[part]), tagger, format=side.get("format"), **column)
            known = scores_on(analyzer, standard, [sentence[standard] for sentence in gold])
            found.setdefault(standard, {})[part] = {name: round(value, 2) for name, value in known.items()}
    return found


def scores_on(analyzer: Analyzer, standard: str, gold: list[Layer]) -> dict[str, float]:
    """Return the scores of one set, whose sentences are texts without annotation for the analyser."""
    has_trees = analyzer.parser is not None and analyzer.parser.standard == standard
    docs = list(analyzer.pipe((each.text for each in gold), ask=Ask((standard,), trees=has_trees)))
    found = evaluate_layers(
        gold,
        [Layer(tuple(doc.words(standard)), tuple(doc.tags(standard))) for doc in docs],
        standard=standard,
    )
    assert found.word is not None
    assert found.word_tag is not None
    known = {"word": found.word.f1, "word_tag": found.word_tag.f1}
    if has_trees:
        trees = raw_tree_score(gold, (each[standard] for doc in docs for each in doc.to_sentences()))
        known |= {"uas": trees.uas.f1, "las": trees.las.f1}
    return known


def main() -> None:
    """Write the scores of the model named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    content = {"checksum": checksum_of(options.model), "scores": scores(options.model, options.data)}
    text = json.dumps(content, indent=2) + "\n"
    options.model.with_suffix(SCORES_SUFFIX).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
