"""Analyse every .txt file of a folder and write the answers to another, as CoNLL-U or in another form.

    python examples/analyse_folder.py texts/ trees/ --threads 2

Files that are done are skipped, so you can stop the script and start it again. A file gets its name only when
it is complete.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duilian as dl
from duilian.corpus import open_writer
from duilian.views.forms import find_form


def analyse(zh: dl.Analyzer, source: Path, target: Path, form_name: str, threads: int) -> None:
    """Write the analysis of one file; each of its lines is a text."""
    form = find_form(form_name)(zh.standards[0])
    with source.open(encoding="utf-8") as texts, open_writer(target) as write:
        write(form.begin(source.name))
        for doc in zh.pipe(texts, threads=threads):
            write(form.text(doc))
        write(form.end())


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Analyse every .txt file of a folder.")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--form", default="conllu", help="conllu, json, slash, words …")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args(arguments)
    zh = dl.load()
    for source in sorted(asked.source.rglob("*.txt")):
        target = asked.target / source.relative_to(asked.source).with_suffix(f".{asked.form}")
        if target.exists():
            print(f"{source}: done already")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        analyse(zh, source, target, asked.form, asked.threads)
        print(f"{source} -> {target}")


if __name__ == "__main__":
    main()
