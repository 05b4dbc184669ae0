"""Runs a cell: trains its recipe as `duilian train` does, measures the model, and keeps the answers.

A cell's folder has the recipe, the training log, a file for each measurement, gold, answers and, until the
study is done, the model. No file is ever incomplete; an interrupted training resumes from its checkpoint with
the same result.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from duilian.atomic_files import replacing
from duilian.conversion import convert
from duilian.corpus import Corpus, Layer, Sentence
from duilian.corpus.counts import vocabulary
from duilian.corpus.formats.jsonlines import write_jsonlines
from duilian.corpus.sentence import Tag
from duilian.engine import evaluate, load
from duilian.engine.parsing import measure_parser
from duilian.errors import ConfigError
from duilian.evaluation import Evaluation
from duilian.evaluation.letters import letter_scores
from duilian.experiments.plan import TAGGED, TWO_CHAINS, Cell, Measurement
from duilian.experiments.udpipe import UDPipe, train_udpipe
from duilian.learning.run_log import LOG_SUFFIX, peak_memory, read_log
from duilian.models import is_parser, load_parser, tagger_for
from duilian.models.offers import conversions_of
from duilian.recipes import Recipe, Run, Side, train
from duilian.reports.label_ranks import LabelRanks, measure_label_ranks

MODEL, RECIPE, TRAINED = "model", "recipe.toml", "trained.json"
TEST_LOG = "test-sets.jsonl"


@dataclasses.dataclass(frozen=True)
class CellFolder:
    path: Path

    @property
    def model(self) -> Path:
        return self.path / MODEL

    @property
    def log(self) -> Path:
        return self.path / f"{MODEL}{LOG_SUFFIX}"

    @property
    def trained(self) -> dict[str, Any] | None:
        """Score, time and other figures of the training; None if it is not finished."""
        return read_json(self.path / TRAINED)

    def found(self, cell: Cell, asked: Measurement) -> dict[str, Any] | None:
        """A finished measurement; None if there is none, or if it was made on other gold sentences."""
        found = read_json(self.path / f"{asked.name}.json")
        return None if found is None or found["gold_files"] != gold_files(cell, asked) else found

    def corpus_file(self, asked: Measurement, what: str) -> Path:
        """Where gold (`gold`) or the answers (`answer`) of a measurement are."""
        return self.path / f"{asked.name}.{what}.jsonl"


def gold_files(cell: Cell, asked: Measurement) -> dict[str, Any]:
    """The files, with fingerprints, of the gold sentences of a measurement."""
    limit = cell.gold[asked.place].get(f"{asked.part}_limit")
    found = {"files": list(cell.prints[asked.place][asked.part]), "limit": limit}
    if asked.mode == TAGGED and cell.tagger is not None:
        found["tagger"] = cell.tagger.key
    return found


def read_json(path: Path) -> dict[str, Any] | None:
    """The content of a file; None if it does not exist."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def write_json(path: Path, found: Mapping[str, Any]) -> None:
    """Write a file completely or not at all."""
    with replacing(path) as file:
        file.write(json.dumps(found, ensure_ascii=False, indent=1).encode())


def left_to_do(cell: Cell, folder: CellFolder, parts: Sequence[str]) -> list[Measurement]:
    """The measurements on these parts that are not finished."""
    return [each for each in cell.measurements if each.part in parts and folder.found(cell, each) is None]


def run_cell(cell: Cell, cells: Path, data: Path, parts: Sequence[str]) -> float:
    """Train and measure what is not finished, and return the time in seconds."""
    begin = time.monotonic()
    folder = CellFolder(cells / cell.folder)
    asked = left_to_do(cell, folder, parts)
    if asked or folder.trained is None:
        recipe = _trained(cell, folder, data)
        for each in asked:
            tagger = _tagger(cell, cells, data) if each.mode == TAGGED else None
            _measure(cell, folder, recipe, each, tagger)
    return time.monotonic() - begin


def _trained(cell: Cell, folder: CellFolder, data: Path) -> Recipe:
    """Train the cell's model unless it exists."""
    folder.path.mkdir(parents=True, exist_ok=True)
    place = folder.path / RECIPE
    if not place.exists():
        with replacing(place) as file:
            file.write(cell.recipe.encode())
    recipe = Recipe.load(place, data)
    if folder.model.exists() and folder.trained is not None:
        return recipe
    begin, cpu = time.monotonic(), time.process_time()
    score = (_train_rival if cell.rival else _train)(cell, folder, recipe)
    found = {
        "score": score,
        "seconds": time.monotonic() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "bytes": folder.model.stat().st_size,
        "memory": peak_memory(),
    }
    write_json(folder.path / TRAINED, found | _last_of_log(folder.log))
    return recipe


def _train(_: Cell, folder: CellFolder, recipe: Recipe) -> float | None:
    return train(recipe, Run(output=folder.model, log=folder.log, resume=True))


def _train_rival(cell: Cell, folder: CellFolder, recipe: Recipe) -> None:
    corpus, dev = (recipe.corpus(recipe.sides[0], part) for part in ("train", "dev"))
    assert corpus is not None
    iterations = recipe.config.learning.iterations  # type: ignore[attr-defined]
    made = train_udpipe(corpus, dev, iterations, has_tagger=cell.rival == "udpipe")
    with replacing(folder.model) as file:
        file.write(made)


def _last_of_log(path: Path) -> dict[str, Any]:
    """The figures of the last iteration: candidates and oracles of pruning, number of iterations."""
    curves = read_log(path) if path.exists() else []
    if not curves:
        return {}
    last = {name: row[-1] for name, row in curves[-1].values.items() if " " in name}
    return {"iterations": curves[-1].iterations[-1]} | last


def _tagger(cell: Cell, cells: Path, data: Path) -> Any:
    if cell.tagger is None:
        return None
    folder = CellFolder(cells / cell.tagger.folder)
    _trained(cell.tagger, folder, data)
    if cell.tagger.rival:
        return UDPipe(folder.model).tagger
    model = load(folder.model).model
    return model.of("tag") if cell.tagger.kind == TWO_CHAINS else tagger_for(model)


def _measure(cell: Cell, folder: CellFolder, recipe: Recipe, asked: Measurement, tagger: Any) -> None:
    side = Side().updated(cell.gold[asked.place])
    if asked.part == "test":
        _note_test(folder, cell, asked)
    gold = recipe.corpus(side, "dev" if asked.part == "dev" else "test")
    assert gold is not None
    begin = time.process_time()
    found = _evaluation(cell, folder, recipe, asked, gold, tagger)
    seconds = time.process_time() - begin
    figures = found.to_dict() | {"gold_files": gold_files(cell, asked), "cpu_seconds": seconds}
    ranks = None if cell.rival else _label_ranks(folder, gold, asked)
    figures |= {} if ranks is None else {"label_ranks": ranks.to_dict()}
    judged = found.judged
    if judged is not None:
        if judged.is_tagged:
            figures["letters"] = {name: score.with_counts() for name, score in letter_scores(judged).items()}
        _write_corpus(folder.corpus_file(asked, "gold"), judged.gold, gold.standard)
        _write_corpus(folder.corpus_file(asked, "answer"), judged.guess, gold.standard)
    write_json(folder.path / f"{asked.name}.json", figures)


def _evaluation(
    cell: Cell, folder: CellFolder, recipe: Recipe, asked: Measurement, gold: Corpus, tagger: Any
) -> Evaluation:
    known = list(_vocabularies(cell, recipe, asked)) if asked.vocabulary else []
    words = dict(zip(("vocabulary", "other_vocabulary"), known, strict=False))
    if cell.rival:
        return measure_parser(UDPipe(folder.model), gold, tagger=tagger, **words)
    if is_parser(folder.model):
        return measure_parser(load_parser(folder.model), gold, tagger=tagger, **words)
    model = load(folder.model)
    if tagger is not None:
        return evaluate(_pipeline(model.model, tagger, gold), gold, **words)
    if asked.mode == "convert":
        return evaluate(_converted(cell, recipe, model, gold), gold, **words)
    if asked.mode:
        return evaluate(model.model.of(asked.mode), gold, standard=gold.standard, **words)
    return evaluate(model, gold, standard=gold.standard, **words)


def _pipeline(segmenter: Any, tagger: Any, gold: Corpus) -> Corpus:
    """Words of two chains' segmenter, with the tags that another model gives them."""
    found = segmenter.of("segment").predict_layers([sentence[gold.standard] for sentence in gold])
    return _corpus(tagger.predict_layers([Layer(layer.words) for layer in found]), gold.standard)


def _label_ranks(folder: CellFolder, gold: Corpus, asked: Measurement) -> LabelRanks | None:
    if asked.mode or is_parser(folder.model):
        return None
    return measure_label_ranks(load(folder.model).model, gold, gold.standard)


def _converted(cell: Cell, recipe: Recipe, model: Any, gold: Corpus) -> Corpus:
    """The given sentences in the standard of gold; a model that cannot convert tags their words instead."""
    if cell.given is None:
        raise ConfigError(f"{cell.name}: its data has no sentences to convert")
    given = recipe.corpus(Side().updated(cell.given), "test")
    assert given is not None
    if cell.table_from is not None:
        return _by_table(cell.table_from, recipe, tagger_for(model.model), given, gold.standard)
    if (given.standard, gold.standard) in conversions_of(model.model):
        return convert(model.model, given, gold.standard, unknown_tags=True)
    layers = [sentence[gold.standard] for sentence in gold]
    return _corpus(tagger_for(model.model).predict_layers(layers), gold.standard)


def _by_table(side: Mapping[str, Any], recipe: Recipe, tagger: Any, given: Corpus, standard: str) -> Corpus:
    """Each tag becomes the one that the tagger gives words with this tag most often in another corpus."""
    source = recipe.corpus(Side().updated(side), "train")
    assert source is not None
    layers = [sentence[source.standard] for sentence in source]
    seen: dict[Tag, Counter[Tag]] = defaultdict(Counter)
    for layer, guess in zip(layers, tagger.predict_layers(layers), strict=True):
        for old, new in zip(layer.tags or (), guess.tags or (), strict=True):
            seen[old][new] += 1
    commonest = sum(seen.values(), Counter()).most_common(1)[0][0]
    table = defaultdict(lambda: commonest, {old: new.most_common(1)[0][0] for old, new in seen.items()})
    found = [sentence[given.standard] for sentence in given]
    return _corpus(
        [dataclasses.replace(layer, tags=tuple(table[tag] for tag in layer.tags or ())) for layer in found],
        standard,
    )


def _vocabularies(cell: Cell, recipe: Recipe, asked: Measurement) -> Iterator[Any]:
    """The words of the training corpora, that of the judged corpus first."""
    own = cell.gold[asked.place]["standard"]
    for side in sorted(cell.words, key=lambda side: side["standard"] != own):
        corpus = recipe.corpus(Side().updated(side), "train")
        assert corpus is not None
        yield vocabulary(corpus)


def _note_test(folder: CellFolder, cell: Cell, asked: Measurement) -> None:
    """Log that a test set will be read."""
    entry = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "cell": cell.name,
        "corpus": cell.gold[asked.place]["standard"],
        "files": list(cell.prints[asked.place]["test"]),
    }
    with open(folder.path.parent.parent / TEST_LOG, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _corpus(layers: Sequence[Layer], standard: str) -> Corpus:
    return Corpus([Sentence({standard: layer}) for layer in layers], standard=standard)


def _write_corpus(path: Path, layers: Sequence[Layer], standard: str) -> None:
    with replacing(path) as file:
        file.writelines(line.encode() for line in write_jsonlines(_corpus(layers, standard)))
