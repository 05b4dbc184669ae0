"""Attack the loading of model files with mutants that have a correct checksum, or none.

    TMPDIR=/dev/shm python fuzz/hostile_models.py --runs 24000 --seed 1

A folder in memory, as above, saves a thousand fsyncs a minute.

Small models of every kind are trained first. Each mutant is loaded, and asked if it loads, by a worker with a
time limit; its peak memory is measured. A mutant may be refused with a ModelFileError, or answer. Everything
else is a finding: another exception, a crash, no answer in time, too much memory.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import itertools
import multiprocessing
import multiprocessing.connection
import os
import random
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from duilian import engine
from duilian.corpus import Layer, Sentence, write
from duilian.errors import ModelFileError
from duilian.modelfile import read_model, write_model
from duilian.models import registry
from duilian.models.roles import Ability, Ask
from duilian.recipes import Recipe, Run, train
from duilian.reports.inspection import ModelCard
from golden.golden_models import HALF, RECIPES, SMALL_PARSER, lay_out, recipe
from models.two_treebanks import TRAIN
from mutations import mutant, spoil_contents

TIME_LIMIT = 5.0  # seconds of a mutant, of the processor: the machine may be busy
PATIENCE = 60.0  # times as long by the clock
MEMORY_FACTOR, MEMORY_ROOM = 2.0, 64 * 2**20  # over a clean load
TEXT = "他把iPhone借给了国务院新闻办公室。我们明天去北京参观新的图书馆。"
WORDS = ("我们", "明天", "去", "北京", "。")
HEADS, RELATIONS = (3, 3, 0, 3, 3), ("nsubj", "advmod", "root", "dobj", "punct")
REFUSED, ANSWERED = "refused", "answered"
WORD_LIST, ENGLISH_LIST = "list.txt", "english.txt"
DICTIONARY = f'[dictionary]\nfile = "{WORD_LIST}"\n'
MIXING = f'[mixing]\nshare = 0.5\nfile = "{ENGLISH_LIST}"\n'
GUIDELINES = ("new", "old")  # of the two treebanks that a converter learns from


def _in_four_bits(text: str) -> str:
    changed = re.sub('precision = "(float16|int8)"', 'precision = "int4"', text)
    assert changed != text
    return changed


FURTHER = {
    "crf-dictionary": f"{RECIPES['crf-char']}\n{DICTIONARY}",
    "analyzer-lists": f"{RECIPES['analyzer']}\n{DICTIONARY}\n{MIXING}",
    **{f"{name}-int4": _in_four_bits(RECIPES[name]) for name in ("crf-char", "two-chain", "analyzer")},
    "tree-converter": recipe(
        "tree-converter",
        SMALL_PARSER | {"conversion": {"tag_bits": 14, "rules": "rules.toml"}},
        [{"standard": name, "column": "upos", "train": f"{name}.conllu"} for name in GUIDELINES],
        {"iterations": 2},
        HALF,
    ),
}
"""What the frozen answers do not need: models with lists of words, weights in four bits, a converter."""
ALL = RECIPES | FURTHER


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a mutant: refused, answered, or a finding in a few words."""

    what: str
    detail: str = ""
    memory: int = 0  # peak, in bytes above the state before

    @property
    def is_finding(self) -> bool:
        return self.what not in (REFUSED, ANSWERED)


def ask(path: Path) -> None:
    """Load a model of any kind and ask it what it can answer."""
    header, arrays = read_model(path)
    kind, config = header.get("kind"), header.get("config")
    if kind == registry.SUITE or (isinstance(config, dict) and config.get("level") == "char"):
        return ask_analyzer(engine.load(path))
    model = registry.restored(path, header, arrays)
    if kind in registry.PARSERS:
        known = itertools.cycle(model.tags_)  # others it would refuse to parse
        model.predict_layers([Layer(WORDS, tuple(itertools.islice(known, len(WORDS))))])
    elif kind == "tree-converter":
        model.convert([Layer(WORDS, ("NN", "NN", "VV", "NN", "PU"), HEADS, RELATIONS)])
    elif getattr(model, "level", "char") == "word":
        for standard in registry.standards_of(model):
            registry.tagger_for(model, standard).predict_layers([Layer(WORDS)])
    else:
        ask_analyzer(engine.load(path))


def ask_analyzer(analyzer: engine.Analyzer) -> None:
    """Ask for all that it can."""
    analyzer(TEXT)
    list(analyzer.segment([TEXT]))
    abilities = analyzer.model.abilities
    if Ability.NBEST in abilities:
        analyzer.nbest(TEXT, 2)
    if Ability.CONSTRAINTS in abilities:
        given = Sentence({analyzer.standards[0]: Layer(WORDS)})
        list(analyzer.fill([given], ask=Ask(confidence=Ability.MARGINALS in abilities)))
    if analyzer.segmenter is not None:
        list(analyzer.segment([TEXT], fast=True))


def judge(path: Path) -> Outcome:
    """Ask a model and say what became of it."""
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    what, detail = ANSWERED, ""
    for question in (ask, lambda of: ModelCard.read(of).as_json()):
        try:
            question(path)
        except ModelFileError as error:
            what, detail = REFUSED, str(error)
        except Exception as error:
            what, detail = type(error).__name__, str(error)
            break
    return Outcome(what, detail[:300], max(0, _memory("VmHWM") - before))


def _memory(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def _seconds(process: int | None) -> float:
    """How long a process has worked."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Worker:
    """A process that judges models, one after another; a new one takes its place if it dies or hangs."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def judge(self, path: Path, limit: float = TIME_LIMIT) -> Outcome:
        self._pipe.send(path)
        try:
            if self._answers(limit):
                found = self._pipe.recv()
                assert isinstance(found, Outcome)
                return found
            what, detail = "hang", f"no answer in {limit} s of the processor"
        except EOFError:
            self._process.join()
            what, detail = "crash", f"exit code {self._process.exitcode}"
        self.stop()
        self._start()
        return Outcome(what, detail)

    def _answers(self, limit: float) -> bool:
        """Wait until it has answered, or has worked, or slept, for too long."""
        began, used = time.monotonic(), _seconds(self._process.pid)
        while not self._pipe.poll(limit):
            if _seconds(self._process.pid) - used > limit or time.monotonic() - began > PATIENCE * limit:
                return False
        return True

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _work(pipe: multiprocessing.connection.Connection) -> None:
    while True:
        pipe.send(judge(pipe.recv()))


def lay_out_all(folder: Path) -> None:
    """Put all that the recipes name there: corpora, treebanks, lists of words, rules."""
    lay_out(folder)
    (folder / WORD_LIST).write_text(
        "我们 90 r\n北京 30 ns\n图书馆 8 n\n新闻 3 n\n办公室 2\n", encoding="utf-8"
    )
    (folder / ENGLISH_LIST).write_text("phone 90 en\nbeijing 30 ep\nlike 8 evn\nnew 3 ea\n", encoding="utf-8")
    (folder / "rules.toml").write_text('[forms]\n"。" = "."\n', encoding="utf-8")
    for layers, name in zip(reversed(TRAIN), GUIDELINES, strict=True):
        trees = [Sentence({name: layer}, f"t{k}") for k, layer in enumerate(layers)]
        write(trees, folder / f"{name}.conllu", format="conllu", standard=name, column="upos")


def small_models(folder: Path, names: list[str]) -> list[Path]:
    """Train the small models, or take those that the folder has."""
    lay_out_all(folder)
    return [
        found if (found := folder / f"{name}.model").exists() else _trained(name, folder) for name in names
    ]


def _trained(name: str, folder: Path) -> Path:
    text, model = folder / f"{name}.toml", folder / f"{name}.model"
    text.write_text(ALL[name], encoding="utf-8")
    train(Recipe.load(text, folder), Run(output=model))
    return model


def attack(model: Path, runs: int, seed: int, worker: Worker, keep: Path | None = None) -> list[Outcome]:
    """Judge `runs` mutants of a model; the files of findings are kept in a folder."""
    header, arrays = read_model(model)
    clean = worker.judge(model, 60)
    clean = worker.judge(model, 60)  # the first one also imports modules
    assert clean.what == ANSWERED, clean
    most = MEMORY_FACTOR * clean.memory + MEMORY_ROOM
    outcomes = []
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "mutant.model"
        for run in range(runs):
            rng = random.Random(f"{model.stem} {seed} {run}")
            done = _write_mutant(rng, path, header, arrays)
            found = worker.judge(path)
            if not found.is_finding and found.memory > most:
                found = dataclasses.replace(found, what="memory", detail=f"{found.memory >> 20} MB")
            if found.is_finding:
                found = dataclasses.replace(
                    found, detail=f"{model.stem} {seed} {run}: {done}: {found.detail}"
                )
                if keep is not None:
                    shutil.move(path, keep / f"{model.stem}-{seed}-{run}.model")
            outcomes.append(found)
    return outcomes


def _write_mutant(rng: random.Random, path: Path, header: dict[str, Any], arrays: dict[str, Any]) -> str:
    """Write a mutant that a model file can hold, or that differs in the bytes that it stores."""
    if rng.random() < 0.15:
        write_model(path, header, arrays)
        done, raw = spoil_contents(rng, path.read_bytes())
        path.write_bytes(raw)
        return done
    while True:
        done, new_header, new_arrays = mutant(rng, header, arrays)
        try:
            write_model(path, new_header, new_arrays)
        except (TypeError, ValueError):
            continue
        return done


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000, help="Mutants in all.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=Path, help="A folder for the small models, trained if it has none.")
    parser.add_argument("--only", nargs="*", default=[*ALL], help="Names of small models.")
    parser.add_argument("--keep", type=Path, help="A folder for the mutants that found something.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.models or Path(name)
        folder.mkdir(exist_ok=True)
        models = small_models(folder, options.only)
        worker, began = Worker(), time.monotonic()
        counts: collections.Counter[str] = collections.Counter()
        for model in models:
            outcomes = attack(model, options.runs // len(models), options.seed, worker, options.keep)
            for found in filter(lambda each: each.is_finding, outcomes):
                print(f"{found.what}: {found.detail}")
            of_model = collections.Counter(found.what for found in outcomes)
            counts += of_model
            print(f"{model.stem}: {dict(of_model)}", flush=True)
        worker.stop()
    print(dict(counts), f"{time.monotonic() - began:.0f} s")
    sys.exit(any(what not in (REFUSED, ANSWERED) for what in counts))


if __name__ == "__main__":
    main()
