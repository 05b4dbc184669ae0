"""Everything that the golden answers are asked: commands and calls, each a form with a name."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from typing import Any

from duilian.document import Doc
from duilian.lexicon import Lexicon
from golden.golden_models import RECIPES
from golden.lines import MARK
from golden.place import BLOCKS, DIGITS, FEW, Place, cut, rounded

Ask = Callable[[Place], str]


@dataclasses.dataclass(frozen=True)
class Form:
    """A question about at most this many blocks of lines; a form that is not cut has one answer for all."""

    ask: Ask
    blocks: int = BLOCKS
    is_cut: bool = True

    def answers(self, place: Place) -> list[str]:
        """The answer for each block, and what follows the last mark."""
        text = rounded(self.ask(place))
        return cut(text, min(self.blocks, place.blocks)) if self.is_cut else [text]


def command(text: str) -> Form:
    """What a command prints about all lines."""
    return Form(lambda place: place.run(text))


def slow(text: str) -> Form:
    """What a command prints about the first lines."""
    return Form(lambda place: place.few.run(text), FEW)


def whole(text: str) -> Form:
    """What a command that reorders its input prints about the first lines; not cut into blocks."""
    return Form(lambda place: place.few.run(text), FEW, is_cut=False)


def _rows(rows: Iterable[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _said(doc: Doc) -> dict[str, Any]:
    """All that a Doc says, as plain data; the names here are ours, not those of the library."""
    found: dict[str, Any] = {"text": doc.text, "is_traditional": doc.is_traditional}
    if doc.probability is not None:
        found["probability"] = round(doc.probability, DIGITS)
    for name in doc.standards:
        found[name] = [
            [
                *(token.text, token.start, token.end, token.tag, token.head, token.relation),
                None if token.confidence is None else round(token.confidence, 4),
                token.marginals and {tag: round(p, 4) for tag, p in sorted(token.marginals.items())},
            ]
            for token in doc.tokens(name)
        ]
        found[f"{name}: words of each sentence"] = [len(sentence) for sentence in doc.sentences(name)]
    return found


def _called(place: Place) -> str:
    return _rows(_said(place.zh(text)) for text in place.few.texts())


def _piped(place: Place) -> str:
    return _rows(map(_said, place.zh.pipe(place.texts())))


def _piped_with_marginals(place: Place) -> str:
    return _rows(map(_said, place.zh.pipe(place.few.texts(), marginals=True, threads=2)))


def _nbest(standard: str) -> Ask:
    return lambda place: _rows(
        [_said(doc) for doc in place.zh.nbest(text, 5, standard)] for text in place.few.texts()
    )


def _segmented(standard: str | None, threads: int = 1) -> Ask:
    return lambda place: _rows(place.zh.segment(place.texts(), standard, threads=threads))


def _explained(mode: str) -> Ask:
    """What became of the lexicon's words; the reasons are left out, for they are prose."""

    def ask(place: Place) -> str:
        lexicon = Lexicon.read(place.folder / "lexicon.tsv", mode=mode)  # type: ignore[arg-type]
        zh = place.zh.with_lexicon(lexicon)
        docs = zh.pipe(place.few.texts())
        found = ((doc.text, [(f.word, f.start, f.end, f.standards) for f in zh.explain(doc)]) for doc in docs)
        return _rows(found)

    return ask


def _review(place: Place) -> str:
    """The words that a conversion leaves for review."""
    place.few.run("convert zh.model pku.jsonl --from pku --to ud --review 5% --review-to review -o converted")
    return place.few.read("review")


def _filled(made: str, command: str, columns: slice, every: int) -> Ask:
    """Rows of CoNLL-U with these columns open in one row of `every`, and what a command makes of them."""

    def ask(place: Place) -> str:
        rows = [row.split("\t") for row in place.read(made).split("\n")]
        for number, cells in enumerate(rows):
            if len(cells) == 10 and cells[1] != MARK and number % every == 0:
                cells[columns] = ["_"] * len(cells[columns])
        place.write("gaps.conllu", "\n".join("\t".join(cells) for cells in rows))
        return place.run(command)

    return ask


def _asked_of_small(name: str) -> tuple[str, ...]:
    """The commands for a small model of that name; with %s for the model."""
    kind, _, rest = name.partition("-")
    if kind == "joint":  # slow, and it has no k best trees
        return ("parse %s brief.ctb.conllu", "parse %s trees-dev.conllu --to jsonl")
    if kind == "parser":
        return ("parse %s sample.ctb.conllu", "parse %s brief.ctb.conllu --nbest 3 --to jsonl")
    if name == "analyzer":
        return ("analyze --model %s sample.txt --to json", "analyze --model %s sample.txt --to words")
    if rest == "segment":
        return ("segment -m %s sample.txt",)
    if kind == "two":
        tagging = ("tag -m %s sample.txt --to jsonl", "tag -m %s ctb-dev.txt --mode tag")
        return (tagging[0], "segment -m %s sample.txt", tagging[1])
    given = "sample.words.txt" if "word" in rest else "sample.txt"
    commands: tuple[str, ...] = (f"tag -m %s {given} --to jsonl --marginals", f"tag -m %s {given} --nbest 3")
    if kind in ("multitask", "dynamic"):  # they have no probabilities
        commands = (f"tag -m %s {given} --to jsonl", f"segment -m %s {given}")
    if kind in ("coupled", "multitask"):
        commands = (*commands, f"tag -m %s {given} --standard pku")
    if kind == "coupled":
        commands = (*commands, "convert %s pku-dev.txt --from pku --to ctb --confidence")
    return commands


def small_answers(name: str, place: Place) -> str:
    """All that a small model is asked, on a few lines."""
    commands = [command % f"{name}.model" for command in _asked_of_small(name)]
    return rounded("".join(f"$ {command}\n{place.run(command)}" for command in commands))


USUAL = {"conllu": "ud"}  # the standard of trees; other forms have the first
ANALYZE = {
    f"analyze --to {to}{standard}": command(f"analyze lines.txt --to {to}{standard}")
    for to in ("conllu", "json", "slash", "spans", "label-studio", "words")
    for standard in ("", " --standard pku", " --standard ud")
    if to in ("json", "words") or standard != f" --standard {USUAL.get(to, 'pku')}"
}
FORMS: dict[str, Form] = {
    **ANALYZE,
    "analyze --to pretty": command("analyze lines.txt --to pretty"),
    **{
        f"analyze {options}": slow(f"analyze lines.txt {options}")
        for options in (
            "--to pretty --standard ud",
            "--to pretty --standard pku",
            "--to brat",
            "--to brat --standard ud",
            "--nbest 3",
            "--nbest 3 --to json --standard pku",
            "--to slash --lexicon lexicon.tsv",
            "--to json --lexicon lexicon.tsv",
            "--to json --lexicon lexicon.tsv --lexicon-mode prefer",
            "--to words --lexicon lexicon.tsv --standard pku",
            "--to json --threads 2",
        )
    },
    "analyze of a corpus with gaps": Form(
        _filled("ud.conllu", "analyze gaps.conllu --standard ud --to conllu", slice(3, 5), 2)
    ),
    "zh(text)": Form(_called, FEW),
    "zh.pipe": Form(_piped),
    "zh.pipe, marginals": Form(_piped_with_marginals, FEW),
    "zh.nbest ud": Form(_nbest("ud"), FEW),
    "zh.nbest pku": Form(_nbest("pku"), FEW),
    "zh.segment": Form(_segmented(None)),
    "zh.segment ud": Form(_segmented("ud", threads=2)),
    "zh.explain, force": Form(_explained("force"), FEW),
    "zh.explain, prefer": Form(_explained("prefer"), FEW),
    "tag --standard ud": command("tag -m zh.model lines.txt --standard ud"),
    "tag --standard pku --to jsonl": command("tag -m zh.model lines.txt --standard pku --to jsonl"),
    "tag --standard ud --marginals --to jsonl": command(
        "tag -m zh.model lines.txt --standard ud --marginals --to jsonl"
    ),
    **{
        f"tag {options}": slow(f"tag -m zh.model lines.txt {options}")
        for options in (
            "--standard pku --to slash",
            "--standard pku --to segmented",
            "--standard pku --to conllu",
            "--standard pku --to columns",
            "--standard pku --marginals",
            "--standard ud --marginals --to conllu",
            "--standard ud --nbest 3",
            "--standard pku --nbest 3 --to slash",
            "--standard pku --lexicon lexicon.tsv",
            "--standard pku --lexicon lexicon.tsv --lexicon-mode prefer",
        )
    },
    "segment --standard ud": command("segment -m zh.model lines.txt --standard ud"),
    "segment --standard pku": command("segment -m zh.model lines.txt --standard pku"),
    "segment --lexicon": slow("segment -m zh.model lines.txt --standard pku --lexicon lexicon.tsv"),
    "convert --from pku --to ud": command("convert zh.model pku.jsonl --from pku --to ud --confidence"),
    "convert --from ud --to pku": command("convert zh.model ud.jsonl --from ud --to pku --confidence"),
    **{
        f"convert {options}": slow(f"convert zh.model {options}")
        for options in (
            "pku.conllu --from pku --to ud",
            "pku.jsonl --from pku --to ud --to-format slash",
            "ud.conllu --from ud --to pku --confidence",
            "pku.jsonl --from pku --to ud --mapping complete",
            "pku.jsonl --from pku --to ud --mapping relaxed --to-format underscore",
        )
    },
    "convert --review": Form(_review, FEW, is_cut=False),
    "parse": command("parse zh.model ud.conllu"),
    "parse --keep": Form(_filled("trees.ud.conllu", "parse zh.model gaps.conllu --keep", slice(6, 8), 3)),
    **{
        f"parse {options}": slow(f"parse zh.model {options}")
        for options in (
            "ud.jsonl --to jsonl",
            "ud.conllu --to conllx",
            "ud.conllu --nbest 3",
            "short.txt --tagger zh.model",
        )
    },
    "select": command("select crf-word.model words.txt"),
    "select of a coupled model": command(
        "select coupled-word-mixed.model words.txt --standard pku --tokens 10%"
    ),
    **{
        f"select {options}": slow(f"select crf-word.model words.txt {options}")
        for options in ("--to slash", "--to conllu", "--to columns", "--to jsonl")
    },
    "select --sentences": whole("select crf-word.model words.txt --tokens 50% --sentences 30"),
}
"""All forms by name, in the order in which they are asked."""
SMALL = tuple(RECIPES)
