"""Score an analyser on the dev and test sets of its recipe, and write the scores next to its file.

    python tools/scores.py src/duilian/bundled/zh.model --data DIR

`duilian inspect` shows them, and a test compares the table in docs/model-card.md with them.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

import duilian
from duilian.engine.measuring import read_gold
from duilian.modelfile import checksum_of
from duilian.models import tagger_for
from duilian.reports.inspection import SCORES_SUFFIX, ModelCard


def scores(model: Path, data: Path) -> dict[str, Any]:
    """Return F1 of words and of words with tags, UAS and LAS on raw text, for each standard and set."""
    analyzer = duilian.load(model)
    sides = tomllib.loads(ModelCard.read(model).notes["recipe"])["side"]
    found: dict[str, Any] = {}
    for side in sides:
        tagger = tagger_for(analyzer.model, side["standard"])
        for part in ("dev", "test"):
            gold = read_gold(str(data / side[part]), tagger, format=side["format"])
            rows = duilian.evaluate(analyzer, gold).as_json()
            known = {name: rows[name]["f1"] for name in ("word", "word_tag")} | rows.get("raw_text", {})
            known = {name: round(value, 2) for name, value in known.items()}
            found.setdefault(side["standard"], {})[part] = known
    return found


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
