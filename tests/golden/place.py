"""Where the golden questions are asked: a folder with the lines, what commands make of them, and the models.

A mark follows every hundred lines, and answers are cut into blocks at the marks: whatever the form, block k
is the answer about lines 100 k + 1 to 100 k + 100, up to the words of the mark.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import duilian
from duilian import cli
from duilian.engine import BUNDLED, Analyzer
from golden.golden_models import RECIPES, lay_out, train_small
from golden.lines import COUNT, MARK, lines

BLOCK = 100
BLOCKS = COUNT // BLOCK
FEW = 2  # blocks for slow questions
SAMPLE = 50  # lines for the small models
LONGEST = 200  # characters of a line that is taken for one sentence: the tree of 1,000 words takes a minute
BRIEF = 20  # and of one for slow small models
DIGITS = 6
LEXICON = (
    "经济体制改革\tn\n新能源汽车\n球拍卖\nPhone\n圖書館裡面\n是因为\tc\t2.5\n的需求\n班主任说\n科技有限公司\n"
)
MADE = {
    "words.txt": "analyze short.txt --standard ud --to words",
    "ud.jsonl": "tag -m zh.model short.txt --standard ud --to jsonl",
    "ud.conllu": "tag -m zh.model short.txt --standard ud --to conllu",
    "trees.ud.conllu": "parse zh.model ud.conllu",
    "pku.jsonl": "tag -m zh.model short.txt --standard pku --to jsonl",
    "pku.conllu": "tag -m zh.model short.txt --standard pku --to conllu",
    "sample.pku.jsonl": "tag -m zh.model sample.txt --standard pku --to jsonl",
    "sample.words.txt": "analyze sample.txt --standard ud --to words",
    "sample.ctb.conllu": "tag -m crf-word.model sample.words.txt --to conllu",
    "brief.words.txt": "analyze brief.txt --standard ud --to words",
    "brief.ctb.conllu": "tag -m crf-word.model brief.words.txt --to conllu",
}
"""Files that commands make, for other commands to read."""
_FLOAT = re.compile(rf"\d\.\d{{{DIGITS + 1},}}(?:e-?\d+)?|\d(?:\.\d+)?e-\d+")


class Place:
    """A folder for the lines of the first blocks."""

    def __init__(self, folder: Path, blocks: int) -> None:
        self.folder, self.blocks = folder, blocks
        given = lines()[: blocks * BLOCK]
        short = [line[:LONGEST] for line in given]
        self.write("lines.txt", "".join(_marked(given)))
        self.write("short.txt", "".join(_marked(short)))
        self.write("sample.txt", "".join(f"{line}\n" for line in short[:SAMPLE]))
        self.write("brief.txt", "".join(f"{line[:BRIEF]}\n" for line in short[:SAMPLE]))
        self.write("lexicon.tsv", LEXICON)
        (folder / "zh.model").symlink_to(BUNDLED)
        lay_out(folder)

    @functools.cached_property
    def few(self) -> Place:
        """A place with few lines, for slow questions."""
        if self.blocks <= FEW:
            return self
        folder = self.folder / "few"
        folder.mkdir()
        return Place(folder, FEW)

    @functools.cached_property
    def zh(self) -> Analyzer:
        """The bundled model."""
        return duilian.load()

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.folder / name).write_text(text, encoding="utf-8", newline="")

    def read(self, name: str) -> str:
        """The text of a file, which is made if it is not there yet."""
        self._make(name)
        return (self.folder / name).read_bytes().decode()

    def texts(self) -> list[str]:
        """The lines with their marks, as texts."""
        return self.read("lines.txt").removesuffix("\n").split("\n")

    def run(self, command: str) -> str:
        """What `duilian COMMAND` prints here; files that it names are made if they are not there yet."""
        arguments = command.split()
        for word in arguments:
            self._make(word)
        with contextlib.chdir(self.folder):
            return run_here(arguments)

    def _make(self, name: str) -> None:
        if (self.folder / name).exists():
            return
        if name in MADE:
            made = self.run(MADE[name])
            self.write(name, with_cuts(made) if name.endswith("words.txt") else made)
        elif name.removesuffix(".model") in RECIPES:
            train_small(name.removesuffix(".model"), self.folder)


def with_cuts(text: str) -> str:
    """Cut lines of a single long word, which random characters may be: commands take them for uncut text."""
    return re.sub(r"^(\S{8,})$", lambda match: f"{match[1][:6]} {match[1][6:]}", text, flags=re.MULTILINE)


@contextlib.contextmanager
def place(blocks: int = BLOCKS) -> Iterator[Place]:
    """A temporary place."""
    with tempfile.TemporaryDirectory() as folder:
        yield Place(Path(folder), blocks)


def run_here(arguments: Sequence[str]) -> str:
    """Standard output of `duilian ARGUMENTS`, in this process."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = {"stdout": io.TextIOWrapper(out, "utf-8"), "stderr": io.TextIOWrapper(err, "utf-8")}
    with (
        mock.patch.multiple(sys, argv=["duilian", *arguments], **streams),
        mock.patch.dict("os.environ", {"COLUMNS": "100", "NO_COLOR": "1"}),
    ):
        status = cli.main()
    for stream in streams.values():
        stream.flush()
    if status:
        raise RuntimeError(f"duilian {' '.join(arguments)}: status {status}, {err.getvalue().decode()}")
    return out.getvalue().decode()


def cut(text: str, blocks: int) -> list[str]:
    """An answer as blocks, and what follows the last mark.

    A mark may be written several times, but every mark as often as any other; else the answer is one block.
    """
    parts = text.split(MARK)
    each, left = divmod(len(parts) - 1, blocks)
    if not each or left:
        return [text]
    edges = [each * block for block in range(blocks + 1)]
    found = [MARK.join(parts[a:b]) for a, b in itertools.pairwise(edges)]
    return [*found, MARK.join(parts[edges[-1] :])]


def rounded(text: str) -> str:
    """Shorten long numbers so that all processors agree: they differ by a relative 1e-12."""
    return _FLOAT.sub(lambda found: f"{float(found[0]):.{DIGITS}f}", text)


def _marked(rows: list[str]) -> Iterator[str]:
    for start in range(0, len(rows), BLOCK):
        yield from (f"{row}\n" for row in [*rows[start : start + BLOCK], MARK])
