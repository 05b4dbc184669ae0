"""Replay a newcomer's path in a fresh virtual environment without a compiler, and time each step.

    python tools/newcomer.py --wheel dist/duilian-….whl               # on the demonstration corpora
    python tools/newcomer.py --wheel dist/duilian-….whl --data DIR    # on files of the same names in DIR

Every command is shown with its output, to be read as the newcomer reads it. Exit status 1 if a command fails,
if the first answer is wrong, or if coupling does not help on the demonstration corpora.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

OWN_TEXT = "今天天气很好，我们去公园玩吧。\n他在北京大学学习中文已经三年了。\n"
SIDE = """
[[side]]
standard = "{0}"
train = "{0}.txt"
dev = "{0}-dev.txt"
"""
CORPORA = ("ctb.txt", "ctb-dev.txt", "pku.txt", "pku-dev.txt")
RECIPES = {
    "alone.toml": '[model]\nkind = "crf"\n' + SIDE.format("ctb"),
    "both.toml": '[model]\nkind = "coupled"\nmapping = "tight"\n' + SIDE.format("ctb") + SIDE.format("pku"),
}


class Newcomer:
    """Someone with Python, a wheel and two corpora, in an empty folder."""

    def __init__(self, wheel: Path, data: Path | None, folder: Path) -> None:
        self.wheel, self.folder = wheel.resolve(), folder
        self.bin = folder / "venv" / "bin"
        self.data = data.resolve() if data else None
        ours = ("PYTHON", "VIRTUAL_ENV")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self.environment["PATH"] = str(self.bin)  # so there is no compiler

    def run(self, program: str, *arguments: str) -> str:
        """Show a command and its output; return its standard output."""
        print("$", program, *arguments, flush=True)
        command = [str(self.bin / program), *arguments]
        ran = subprocess.run(
            command, cwd=self.folder, env=self.environment, check=False, capture_output=True, encoding="utf-8"
        )
        print(ran.stderr, ran.stdout, sep="", end="", flush=True)
        if ran.returncode:
            sys.exit(f"newcomer: exit status {ran.returncode} of {program} {' '.join(arguments)}")
        return ran.stdout

    def install(self) -> None:
        """A virtual environment with the wheel and what it needs."""
        venv.create(self.folder / "venv", with_pip=True)
        self.run("pip", "install", "--quiet", "--disable-pip-version-check", str(self.wheel))

    def first_answer(self) -> None:
        """The first sentence."""
        answer = self.run("duilian", "segment", "我爱北京").split()
        if answer != ["我", "爱", "北京"]:
            sys.exit(f"newcomer: the first answer is {answer}")

    def own_text(self) -> None:
        """The user's own file: tags on the screen, trees in a file."""
        (self.folder / "mine.txt").write_text(OWN_TEXT, encoding="utf-8")
        self.run("duilian", "tag", "mine.txt", "--standard", "pku")
        self.run("duilian", "analyze", "mine.txt", "--to", "conllu", "-o", "mine.conllu")

    def train(self) -> None:
        """The user's own two corpora: the first alone, then both together."""
        for name in CORPORA:
            shutil.copy((self.data or self.demo()) / name, self.folder)
        for name, recipe in RECIPES.items():
            (self.folder / name).write_text(recipe, encoding="utf-8")
            self.run("duilian", "train", name, "-o", f"{Path(name).stem}.model")

    def demo(self) -> Path:
        """The folder of the demonstration corpora."""
        return Path(self.run("python", "-c", "import duilian.demo as d; print(d.__path__[0])").strip())

    def convert(self) -> None:
        """The second corpus in the standard of the first."""
        self.run(
            "duilian", "convert", "both.model", "pku-dev.txt", "--from", "pku", "--to", "ctb", "-o", "new.txt"
        )
        print((self.folder / "new.txt").read_text(encoding="utf-8").splitlines()[0])

    def compare(self) -> None:
        """Both models on held-out sentences of the first corpus."""
        alone, both = (self.accuracy(model) for model in ("alone.model", "both.model"))
        print(f"accuracy: alone {alone}, together {both}")
        if both <= alone and not self.data:
            sys.exit("newcomer: the coupled model is no better than the plain one")

    def accuracy(self, model: str) -> float:
        """The share of right tags in percent."""
        shown = self.run("duilian", "evaluate", model, "ctb-dev.txt", "--standard", "ctb")
        found = re.search(r"accuracy\s+([\d.]+)", shown)
        if found is None:
            sys.exit("newcomer: evaluate does not say the accuracy")
        return float(found[1])


def time_steps(newcomer: Newcomer) -> dict[str, float]:
    """Take every step, and return the seconds of each."""
    steps: dict[str, Callable[[], None]] = {
        "install the wheel": newcomer.install,
        "first answer": newcomer.first_answer,
        "own text": newcomer.own_text,
        "train on two corpora": newcomer.train,
        "convert": newcomer.convert,
        "compare": newcomer.compare,
    }
    seconds = {}
    for name, step in steps.items():
        print(f"\n-- {name}", flush=True)
        start = time.monotonic()
        step()
        seconds[name] = time.monotonic() - start
    return seconds


def minutes(seconds: float) -> str:
    """Minutes and seconds, 1:05."""
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def main() -> None:
    """Replay the path and print the times."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--data", type=Path, help=f"folder with {', '.join(CORPORA)}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seconds = time_steps(Newcomer(options.wheel, options.data, Path(folder)))
    print("\nminutes  step")
    for name, took in {**seconds, "in all": sum(seconds.values())}.items():
        print(f"{minutes(took):>7}  {name}")


if __name__ == "__main__":
    main()
