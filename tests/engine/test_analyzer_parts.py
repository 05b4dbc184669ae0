"""Analysers of any tagger and any parser: from recipes, in files, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duilian import demo
from duilian.errors import ConfigError, ModelFileError
from duilian.learning import AdaGrad
from duilian.modelfile import read_model, write_model
from duilian.models import JointParser, JointTagging, Parser, Suite, Tagger
from duilian.models.roles import TaggedWords, TreeAnnotator
from duilian.recipes import Recipe, Run, train
from models.small_parsers import SMALL, TRAIN

SIDES = {
    "ctb": 'standard = "ctb"\ncolumn = "xpos"\ntrain = "trees.conllu"\ndev = "trees.conllu"\n',
    "pku": 'standard = "pku"\ntrain = "pku.txt"\nlimit = 24\n',
}
PARSER = """order = 1
bits = 14
relation_bits = 12
pruning_bits = 10
threshold = 0.3
iterations = 1
tag_folds = 2
"""


def recipe(tagger: str, parser: str, *sides: str) -> str:
    tables = [f'[model]\nkind = "analyzer"\n[tagger]\nkind = "{tagger}"\n[tagger.learning]\niterations = 1\n']
    tables += [f'[parser]\nkind = "{parser}"\n{PARSER}', *(f"[[side]]\n{SIDES[side]}" for side in sides)]
    return "\n".join(tables)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora in which every word depends on the previous one."""
    found = tmp_path_factory.mktemp("parts")
    shutil.copy(Path(demo.__file__).parent / "pku.txt", found)
    blocks = []
    for sentence in list(demo.load("ctb", "ctb"))[:10]:
        pairs = zip(sentence["ctb"].words, sentence["ctb"].tags or (), strict=True)
        rows = [
            f"{k}\t{word}\t_\t_\t{tag}\t_\t{k - 1}\t{'next' if k > 1 else 'root'}\t_\t_\n"
            for k, (word, tag) in enumerate(pairs, start=1)
        ]
        blocks.append("".join(rows) + "\n")
    (found / "trees.conllu").write_text("".join(blocks), encoding="utf-8")
    return found


def trained(folder: Path, text: str, *overrides: str) -> Path:
    (folder / "r.toml").write_text(text, encoding="utf-8")
    train(Recipe.load(folder / "r.toml", overrides=overrides), Run(output=folder / "zh.model"))
    return folder / "zh.model"


@pytest.mark.parametrize(
    ("tagger", "sides"),
    [
        ("crf", ("ctb",)),
        ("dynamic", ("ctb",)),
        ("two-chain", ("ctb",)),
        ("guided", ("ctb", "pku")),
        ("multitask", ("ctb", "pku")),
        ("coupled", ("ctb", "pku")),
    ],
)
def test_any_tagger_that_cuts_text_stands_beside_any_parser(
    folder: Path, tagger: str, sides: tuple[str, ...]
) -> None:
    suite = Suite.load(trained(folder, recipe(tagger, "joint-parser", *sides)))
    assert (suite.tagger.kind, suite.parser.kind, suite.segmenter) == (tagger, "joint-parser", None)
    assert suite.tagger.level == "char"
    assert isinstance(suite.parser, TreeAnnotator)
    assert suite.tagger.notes_["parser"]["dev_score"] is not None
    assert not (folder / "zh.model.tagger").exists()
    copy = folder / "copy.model"
    suite.save(copy, notes=suite.notes_)
    assert copy.read_bytes() == (folder / "zh.model").read_bytes()


def test_a_joint_parser_has_settings_for_tags(folder: Path) -> None:
    settings = ("parser.tagging.threshold=0.05", "parser.tag_threshold=0.3", "parser.head_cost=20.0")
    suite = Suite.load(trained(folder, recipe("crf", "joint-parser", "ctb"), *settings))
    assert suite.parser.model_.trained_threshold == 0.05
    assert suite.parser.tagging.threshold == 0.3
    assert suite.parser.tagging.folds == 2  # tag_folds
    assert suite.parser.trees.head_cost == 20.0


def test_a_parser_is_scored_with_the_tags_of_its_tagger(folder: Path) -> None:
    suite = Suite.load(trained(folder, recipe("crf", "parser", "ctb"), "learning.seed=3"))
    assert (suite.tagger.kind, suite.parser.kind) == ("crf", "parser")
    assert suite.tagger.learning.seed == suite.parser.learning.seed == 3


@pytest.mark.parametrize(
    ("tagger", "sides", "override", "message"),
    [
        ("crf", ("ctb", "pku"), "parser.order=1", "tagger of kind crf cannot have 2 sides"),
        ("crf", ("ctb",), "features.min_count=2", "the settings of the tagger belong there"),
        ("parser", ("ctb",), "parser.order=1", "kind must be one of"),
        ("crf", ("ctb",), "parser.kind=crf", "must be 'parser' or 'joint-parser', got 'crf'"),
        ("crf", ("ctb",), "tagger.mapping=tight", "has no key 'mapping'"),
    ],
)
def test_recipes_that_cannot_be(
    folder: Path, tagger: str, sides: tuple[str, ...], override: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        trained(folder, recipe(tagger, "parser", *sides), override)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger("ctb", level="char", learning=AdaGrad(iterations=1)).fit(TRAIN[:20])


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser("ctb", order=1, **SMALL).fit(TRAIN[:20])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda header: header["tagger"].update(kind="toy"), "of kind 'toy', which this version"),
        (lambda header: header["parser"].pop("kind"), "do not fit together"),
        (lambda header: header["parser"].update(kind="crf"), "parser cannot be a model of kind 'crf'"),
        (lambda header: header["tagger"].update(kind="analyzer"), "tagger cannot be a model of kind"),
        (lambda header: header["parser"].update(parameters={}), "written by an older version"),
    ],
)
def test_headers_inside_are_checked_like_those_of_files(
    tagger: Tagger, parser: Parser, tmp_path: Path, damage: Callable[[dict[str, Any]], object], message: str
) -> None:
    Suite(tagger, parser).save(tmp_path / "zh.model")
    header, arrays = read_model(tmp_path / "zh.model")
    damage(header)
    write_model(tmp_path / "bad.model", header, arrays)
    with pytest.raises(ModelFileError, match=message):
        Suite.load(tmp_path / "bad.model")


def test_a_parser_needs_tags_unless_it_finds_them(parser: Parser) -> None:
    cutter = Tagger("ctb", level="char", segment_only=True, learning=AdaGrad(iterations=1)).fit(TRAIN[:5])
    with pytest.raises(ConfigError, match="only segments text, but a parser needs tags"):
        Suite(cutter, parser)
    tagging = JointTagging(bits=14, folds=2, iterations=1)
    joint = JointParser("ctb", order=1, tagging=tagging, **SMALL).fit(TRAIN[:20])
    assert Suite(cutter, joint).parser is joint
    words = TaggedWords([["学生", "讲", "故事"]], np.zeros(3, np.int32), ("?",))
    assert joint.annotate(words, ()).heads.tolist().count(0) == 1
