"""`duilian convert` with a tree converter: from two treebanks and a recipe to a converted file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import Call, in_demo_folder

from duilian.corpus import Layer, Sentence, read, write
from duilian.corpus.trees import find_fault
from models.two_treebanks import DEV, TRAIN

RECIPE = """
[model]
kind = "tree-converter"
[[side]]
standard = "new"
column = "upos"
train = "new.conllu"
[[side]]
standard = "old"
column = "upos"
train = "old.conllu"
[trees]
bits = 16
[relations]
bits = 14
[conversion]
tag_bits = 14
rules = "rules.toml"
punctuation = "projective"
[pruning]
bits = 14
[learning]
iterations = 4
"""
RULES = '[forms]\n"。" = "."\n'
TO_NEW = ("--from", "old", "--to", "new")


def treebank(layers: list[Layer], standard: str, path: Path) -> None:
    sentences = [Sentence({standard: layer}, f"t{k}") for k, layer in enumerate(layers)]
    write(sentences, path, format="conllu", standard=standard, column="upos")


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def duilian(monkeypatch, tmp_path, models) -> Call:
    call = in_demo_folder(monkeypatch, tmp_path, models, {"trees.toml": RECIPE, "rules.toml": RULES})
    treebank(TRAIN[0], "old", tmp_path / "old.conllu")
    treebank(TRAIN[1], "new", tmp_path / "new.conllu")
    treebank(DEV[0], "old", tmp_path / "dev.conllu")
    if not (models / "trees.model").exists():
        status, _, err = call("train", "trees.toml", "-o", "trees.model")
        assert status == 0, err
        (models / "trees.model").write_bytes((tmp_path / "trees.model").read_bytes())
    return call


def test_a_treebank_is_converted(duilian, tmp_path):
    status, _, err = duilian(
        "convert", "trees.model", "dev.conllu", *TO_NEW, "-o", "out.conllu", "--confidence", "--review", "5%"
    )
    assert status == 0
    assert re.fullmatch(r"duilian: out\.conllu\.review: \d+ words in \d+ sentences to review\n", err)
    found = [each["new"] for each in read(tmp_path / "out.conllu", standard="new", column="upos")]
    right = same = 0
    for layer, gold in zip(found, DEV[1], strict=True):
        assert find_fault(layer.heads or ()) is None
        assert layer.words[-1] == "."
        assert all("Conf=" in field for field in layer.columns["misc"])
        right += sum(a == b for a, b in zip(layer.heads or (), gold.heads or (), strict=True))
        same += sum(a == b for a, b in zip(layer.tags or (), gold.tags or (), strict=True))
    words = sum(map(len, DEV[1]))
    assert right / words > 0.98
    assert same / words > 0.98
    text = (tmp_path / "out.conllu").read_text(encoding="utf-8")
    assert text.count("# sent_id = ") == text.count("# text = ") == len(DEV[0])
    review = (tmp_path / "out.conllu.review").read_text(encoding="utf-8")
    assert 0 < review.count("_{") <= 0.06 * words + 1


def test_the_same_recipe_gives_the_same_bytes(duilian, tmp_path):
    assert duilian("train", "trees.toml", "-o", "again.model", "--threads", "2")[0] == 0
    assert (tmp_path / "again.model").read_bytes() == (tmp_path / "trees.model").read_bytes()


def test_threads_do_not_show(duilian):
    one = duilian("convert", "trees.model", "dev.conllu", *TO_NEW)
    assert one == duilian("convert", "trees.model", "dev.conllu", *TO_NEW, "--threads", "2")


def row(number: int, word: str, head: object, relation: str, deps: str = "_") -> str:
    return f"{number}\t{word}\t_\tNN\t_\t_\t{head}\t{relation}\t{deps}\t_\n"


GOOD = row(1, "书", 0, "root") + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (row(1, "书", 2, "nmod") + row(2, "河流", 1, "nmod"), "bad.conllu:3: word 1 depends on itself"),
        (row(1, "书", 0, "root") + row(2, "河流", 0, "root"), "bad.conllu:4: word 2 is a second root"),
        (row(1, "书", 0, "root") + row(2, "河流", "_", "nmod"), "bad.conllu:4: word 2 has no head"),
        (row(1, "书", 0, "root") + row(2, "河流", 1, "_"), "bad.conllu:4: word 2 has no relation"),
        (row(1, "书", 0, "root") + row(2, "河流", 9, "nmod"), "bad.conllu:4: head 9 is outside"),
    ],
)
def test_bad_trees_name_their_line(duilian, tmp_path, text, message):
    (tmp_path / "bad.conllu").write_text(GOOD + text + "\n" + GOOD, encoding="utf-8")
    status, _, err = duilian("convert", "trees.model", "bad.conllu", *TO_NEW)
    assert status == 1
    assert message in err
    status, out, err = duilian("convert", "trees.model", "bad.conllu", *TO_NEW, "--lenient")
    assert status == 0
    assert "skipped 1 sentence" in err
    assert message in err
    assert out.count("\troot\t") == 2


def test_unknown_relations(duilian, tmp_path):
    (tmp_path / "bad.conllu").write_text(GOOD + row(1, "书", 0, "wurzel") + "\n", encoding="utf-8")
    status, _, err = duilian("convert", "trees.model", "bad.conllu", *TO_NEW)
    assert status == 1
    assert "bad.conllu:3: the model has never seen the relation 'wurzel' of 'old'" in err
    status, out, err = duilian("convert", "trees.model", "bad.conllu", *TO_NEW, "--lenient")
    assert status == 0
    assert "ignored 1 unknown relation that the model has never seen" in err
    assert out.count("\troot\t") == 2


def test_extra_rows_and_enhanced_dependencies(duilian, tmp_path):
    token, node = "1-2\t旧书\t" + "\t".join("_" * 8) + "\n", "2.1\t_\t" + "\t".join("_" * 6) + "\t0:root\t_\n"
    words = row(1, "旧", 2, "amod", "2:amod") + row(2, "书", 0, "root", "0:root")
    (tmp_path / "extra.conllu").write_text(token + words + node + "\n", encoding="utf-8")
    status, out, err = duilian("convert", "trees.model", "extra.conllu", *TO_NEW)
    assert status == 0
    assert "1-2\t旧书" in out
    assert "2.1" not in out
    assert "dropped 2 enhanced dependencies" in err
    assert "dropped 1 empty node, valid only" in err
    assert "2:amod" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dev.conllu", "--from", "new", "--to", "old"), "cannot convert from 'new' to 'old'"),
        (("dev.conllu", "--from", "old", "--to", "pku"), "there is no standard 'pku'"),
        (("pku.txt", *TO_NEW), "has no trees"),
        (("dev.conllu", *TO_NEW, "--to-format", "slash"), "the format slash has no trees"),
    ],
)
def test_what_cannot_be_converted(duilian, arguments, message):
    status, _, err = duilian("convert", "trees.model", *arguments)
    assert status == 1
    assert message in err


def test_pairs_that_do_not_align_are_told(duilian, tmp_path):
    changed = [Layer(("别", "的"), ("X", "X"), (2, 0), ("a", "root")), *TRAIN[1][1:20]]
    treebank(changed, "new", tmp_path / "new.conllu")
    treebank(TRAIN[0][:20], "old", tmp_path / "old.conllu")
    status, _, err = duilian("train", "trees.toml", "-o", "other.model")
    assert status == 0
    assert "1 of 20 pairs of sentences do not align" in err
    assert "number 1: " in err
    assert "'别的'" in err
    treebank(TRAIN[0][:19], "old", tmp_path / "old.conllu")
    status, _, err = duilian("train", "trees.toml", "-o", "other.model")
    assert status == 1
    assert "the source has 19 sentences and the target 20" in err
