"""Analyse every .txt file of a folder and write the answers to another, as CoNLL-U or in another form.

    python examples/analyse_folder.py texts/ trees/ --threads 2

Files that are done are skipped, so you can stop the script and start it again. A file gets its name only when
it is complete.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duilian as dl
from duilian.corpus import open_writer, read_lines
from duilian.views.forms import find_form


def analyse(zh: dl.Analyzer, source: Path, target: Path, asked: argparse.Namespace) -> None:
    """Write the analysis of one file; each of its lines is a text."""
    form = find_form(asked.form)(asked.standard or zh.standards[0])
    lines = (line for _, line in read_lines(source, encoding=asked.encoding))
    with open_writer(target) as write:
        write(form.begin(source.name))
        for doc in zh.pipe(lines, threads=asked.threads):
            write(form.text(doc))
        write(form.end())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Analyse every .txt file of a folder.")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--form", default="conllu", help="conllu, json, slash, words …")
    parser.add_argument("--standard", help="pku or ud (default: the model's first)")
    parser.add_argument("--encoding", default="utf-8")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args(arguments)
    sources = sorted(asked.source.rglob("*.txt"))
    if not sources:
        parser.error(f"{asked.source} has no .txt files")
    zh = dl.load()
    for source in sources:
        target = asked.target / source.relative_to(asked.source).with_suffix(f".{asked.form}")
        if target.exists():
            print(f"{source}: done already")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            analyse(zh, source, target, asked)
            print(f"{source} -> {target}")
        except dl.DuilianError as error:  # the others may be fine
            print(error)


if __name__ == "__main__":
    main()
