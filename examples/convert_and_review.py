"""Convert a corpus, list the 5 % of its words that the model is least sure of, and take corrections back.

    python examples/convert_and_review.py convert convert.model pku.txt ctb.txt review.tsv
    python examples/convert_and_review.py merge ctb.txt review.tsv final.txt

The first command converts from pku to ctb and writes review.tsv, a table for a person, who corrects the
column `tag` in an editor or a spreadsheet. The second command puts the corrections into the corpus.
"""

from __future__ import annotations

import csv
import dataclasses
import sys

import duilian as dl
from duilian.conversion import Converter

SHARE = 0.05
COLUMNS = ["line", "number", "word", "tag", "confidence", "sentence"]


def convert(model: str, source: str, target: str, review: str) -> str:
    """Write the converted corpus, and the least certain words as a table."""
    converter = Converter(dl.load(model), "pku", "ctb")
    _, sentences = converter.open(source)
    answers = [answer for _, answer in converter.run(sentences)]
    dl.write([sentence for answer in answers for sentence in answer.to_sentences()], target, format="slash")
    rows = []
    for line, answer in enumerate(answers, start=1):
        for number, token in enumerate(answer, start=1):
            rows.append([line, number, token.text, token.tag, round(token.confidence, 4), answer.text])
    chosen = sorted(rows, key=lambda row: row[4])[: max(1, round(SHARE * len(rows)))]
    with open(review, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, "excel-tab").writerows([COLUMNS, *sorted(chosen)])
    return f"{len(chosen)} of {len(rows)} words to review"


def merge(source: str, review: str, target: str) -> str:
    """Write the corpus with the tags of the table."""
    with open(review, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab"))
    tags = {(int(row["line"]), int(row["number"])): row["tag"] for row in rows}
    merged, changed = [], 0
    for line, sentence in enumerate(dl.read(source, standard="ctb"), start=1):
        layer = sentence["ctb"]
        new = tuple(tags.get((line, number), tag) for number, tag in enumerate(layer.tags or (), start=1))
        changed += sum(a != b for a, b in zip(new, layer.tags or (), strict=True))
        merged.append(dl.Sentence({"ctb": dataclasses.replace(layer, tags=new)}))
    dl.write(merged, target, format="slash")
    return f"{changed} tags changed"


if __name__ == "__main__":
    command, *files = sys.argv[1:]
    print(convert(*files) if command == "convert" else merge(*files))
