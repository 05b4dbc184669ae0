"""`duilian train`, `parse` and `evaluate` with a parser: output and exit status."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from running import Call, in_demo_folder

from duilian import Sentence, Tagger, read, write
from duilian.learning import AdaGrad, Perceptron
from duilian.models import Parser
from duilian.models.parser.config import ArcPruning, RelationSearch, TreeSearch
from tree.treebank import treebank

RECIPE = """
[model]
kind = "parser"
order = 2

[trees]
bits = 16
head_cost = 5.0

[relations]
bits = 14

[pruning]
bits = 14
iterations = 2

[[side]]
standard = "ctb"
train = "train.conllu"
dev = "dev.conllu"
test = "dev.conllu"

[learning]
iterations = 2
"""
PARTIAL = (
    "1\t学生\t_\tNN\t_\t_\t_\t_\t_\t_\n2\t讲\t_\tVV\t_\t_\t1\t_\t_\t_\n3\t故事\t_\tNN\t_\t_\t_\t_\t_\t_\n\n"
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name, seed in (("train", 1), ("dev", 2)):
        trees = [Sentence({"ctb": layer}) for layer in treebank(40, seed)]
        write(trees, folder / f"{name}.conllu", standard="ctb")
    small = Parser(
        "ctb",
        trees=TreeSearch(bits=16, head_cost=5.0),
        relations=RelationSearch(bits=14),
        pruning=ArcPruning(bits=14, iterations=2),
        learning=Perceptron(iterations=3),
    )
    small.fit(treebank(40, 1)).save(folder / "parser")
    Tagger("ctb", learning=AdaGrad(iterations=2)).fit(treebank(40, 1)).save(folder / "tagger")
    return folder


@pytest.fixture
def duilian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models: Path) -> Call:
    return in_demo_folder(monkeypatch, tmp_path, models, {"recipe.toml": RECIPE})


def test_train_test_and_evaluate(duilian: Call) -> None:
    status, out, err = duilian("train", "recipe.toml", "-o", "m", "--test")
    assert status == 0, err
    assert "uas" in out.lower()
    assert "iteration 2" in err
    status, out, _ = duilian("evaluate", "m", "dev.conllu", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["uas"] > 90
    assert found["las"] > 80
    assert found["accuracy"] == 100
    assert found["with_punctuation"]["uas"] > 90
    assert found["pruning"]["oracle"] >= found["with_punctuation"]["uas"]
    assert 1 <= found["pruning"]["heads"] < 10


def test_the_same_recipe_gives_the_same_bytes(duilian: Call) -> None:
    for name, threads in (("a", "1"), ("b", "2")):
        assert duilian("train", "recipe.toml", "-o", name, "--threads", threads)[0] == 0
    assert Path("a").read_bytes() == Path("b").read_bytes()


def test_training_on_predicted_tags(duilian: Call) -> None:
    status, _, err = duilian("train", "recipe.toml", "-o", "m", "--set", "model.tag_folds=2")
    assert status == 0, err
    assert "tagging in 2 folds" in err
    status, out, _ = duilian("evaluate", "m", "dev.conllu", "--json", "--tagger", "tagger")
    found = json.loads(out)
    assert status == 0
    assert found["uas"] > 80
    assert found["accuracy"] > 90


def test_parse_a_corpus(duilian: Call) -> None:
    status, out, _ = duilian("parse", "parser", "dev.conllu", "-o", "parsed.conllu")
    assert (status, out) == (0, "")
    gold, guess = (read(name, standard="ctb") for name in ("dev.conllu", "parsed.conllu"))
    assert [each["ctb"].words for each in gold] == [each["ctb"].words for each in guess]
    assert all(each["ctb"].heads and each["ctb"].relations for each in guess)


def test_parse_leads_from_text_to_what_fits(duilian: Call, tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("我们明天去北京。\n", encoding="utf-8")
    status, _, err = duilian("parse", "few.txt")
    assert status == 1
    assert err.splitlines()[1:] == ["  hint: the first argument is a model; 'bundled' is the bundled one"]
    status, _, err = duilian("parse", "parser", "few.txt")
    assert status == 1
    assert "few.txt:1: cannot tell the format" in err
    assert "hint: for text, use `duilian analyze` or --tagger bundled; for a corpus, name the format" in err


def test_parse_words_with_a_tagger(duilian: Call) -> None:
    status, out, _ = duilian("parse", "parser", "--tagger", "tagger", stdin="学生 讲 故事 。\n".encode())
    assert status == 0
    rows = [line.split("\t") for line in out.splitlines() if line and line[0] != "#"]
    assert [row[1] for row in rows] == ["学生", "讲", "故事", "。"]
    assert [row[6] for row in rows] == ["2", "0", "2", "2"]
    assert [row[7] for row in rows] == ["nsubj", "root", "dobj", "punct"]


def test_the_best_trees_keep_what_is_given(duilian: Call) -> None:
    command = ("parse", "parser", "--keep", "--nbest", "9", "--to", "conllx")
    status, out, err = duilian(*command, stdin=PARTIAL.encode())
    assert status == 0, err
    trees = [[row.split("\t")[6] for row in block.splitlines()[2:]] for block in out.rstrip().split("\n\n")]
    assert len({tuple(heads) for heads in trees}) == len(trees) > 1
    assert {heads[1] for heads in trees} == {"1"}


def test_the_best_trees_name_the_sentence_that_has_none(duilian: Call) -> None:
    command = ("parse", "parser", "--keep", "--nbest", "2", "--to", "conllx")
    crossing = PARTIAL.replace("VV\t_\t_\t1", "VV\t_\t_\t0").replace(
        "故事\t_\tNN\t_\t_\t_", "故事\t_\tNN\t_\t_\t1"
    )
    status, _, err = duilian(*command, stdin=(PARTIAL + crossing).encode())
    assert status == 1
    assert "<stdin>:5: the given heads fit into no projective tree with one root" in err
    status, out, err = duilian("parse", "parser", "--keep", "--to", "conllx", stdin=crossing.encode())
    assert status == 0, err
    assert [row.split("\t")[6] for row in out.rstrip().split("\n")][1:] == ["0", "1"]
    status, _, err = duilian(*command, stdin=(PARTIAL + PARTIAL.replace("VV", "_")).encode())
    assert status == 1
    assert "<stdin>:6: the word '讲' has no tag, and a parser needs tags\n  hint: tag them first" in err
    rare = "1\t好\t_\tZZ\t_\t_\t_\t_\t_\t_\n\n"
    status, out, err = duilian(*command, stdin=(PARTIAL + rare).encode())
    assert status == 0, err
    assert "ZZ\t_\t_\t0\t" in out


def test_gaps_are_filled(duilian: Call) -> None:
    status, out, _ = duilian("parse", "parser", "--keep", "--to", "conllx", stdin=PARTIAL.encode())
    assert status == 0
    assert out.splitlines()[1].split("\t")[6] == "1"
    status, out, _ = duilian("parse", "parser", "--to", "conllx", stdin=PARTIAL.encode())
    assert out.splitlines()[1].split("\t")[6] == "0"


def test_whole_trees_are_kept_with_their_crossing_arcs(duilian: Call) -> None:
    heads = ("3", "4", "0", "1")
    rows = [f"{k}\t书\t_\tNN\t_\t_\t{head}\tr{k}\t_\t_\n" for k, head in enumerate(heads, start=1)]
    text = "".join(rows) + "\n"
    status, out, err = duilian("parse", "parser", "--keep", "--to", "conllx", stdin=(PARTIAL + text).encode())
    assert status == 0, err
    assert out.endswith("\n\n" + text)


def test_errors_name_the_file_and_the_line(duilian: Call) -> None:
    Path("a.conllx").write_text(PARTIAL + PARTIAL.replace("NN", "_"), encoding="utf-8")
    status, _, err = duilian("parse", "parser", "dev.conllu", "a.conllx", "-o", "x")
    assert status == 1
    assert "a.conllx:5: the word '学生' has no tag" in err


def test_a_sentence_of_a_thousand_words_takes_no_time(duilian: Call) -> None:
    words = " ".join(["学生", "讲", "故事", "，"] * 300)
    start = time.process_time()
    status, out, err = duilian(
        "parse", "parser", "--tagger", "tagger", "--to", "conllx", stdin=words.encode()
    )
    assert (status, out.count("\t0\troot\t")) == (0, 1), err
    assert time.process_time() - start < 5  # parsed as a whole it would take a minute


@pytest.mark.parametrize("format", ["conllu", "conllx", "jsonl"])
def test_the_best_trees_have_rank_and_score(duilian: Call, format: str) -> None:
    status, out, err = duilian(
        "parse", "parser", "dev.conllu", "--nbest", "3", "--to", format, "-o", "ranked"
    )
    assert (status, out) == (0, ""), err
    assert duilian("parse", "parser", "dev.conllu", "-o", "best.conllu")[0] == 0
    ranked = list(read("ranked", standard="ctb", format=format))
    best = list(read("best.conllu", standard="ctb"))
    told = [dict(comment[2:].split(" = ") for comment in each.comments[-2:]) for each in ranked]
    starts = [place for place, each in enumerate(told) if each["rank"] == "1"]
    assert len(starts) == len(best) < len(ranked)
    for one, start, end in zip(best, starts, [*starts[1:], len(told)], strict=True):
        group = [each["ctb"] for each in ranked[start:end]]
        assert [each["rank"] for each in told[start:end]] == ["1", "2", "3"][: end - start]
        assert (group[0].heads, group[0].relations) == (one["ctb"].heads, one["ctb"].relations)
        assert {layer.words for layer in group} == {one["ctb"].words}
        assert len({layer.heads for layer in group}) == len(group)
        scores = [float(each["score"]) for each in told[start:end]]
        assert scores == sorted(scores, reverse=True)


def test_given_tags_stay_beside_those_of_a_tagger(duilian: Call) -> None:
    rows = [line.split("\t") for line in PARTIAL.rstrip().split("\n")]
    given = rows[0][3]
    other = "CD" if given != "CD" else "NN"
    for row in rows:
        row[3] = "_"
    rows[0][3] = other
    text = "".join("\t".join(row) + "\n" for row in rows) + "\n"
    command = ("parse", "parser", "--tagger", "tagger", "--to", "conllx", "--format", "conllx")
    status, out, err = duilian(*command, "--keep", stdin=text.encode())
    assert status == 0, err
    found = [line.split("\t") for line in out.rstrip().split("\n")]
    assert found[0][3] == other
    assert "_" not in [row[3] for row in found]
    assert found[1][6] == "1"
    _, out, _ = duilian(*command, stdin=text.encode())
    assert out.split("\t")[3] != other


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("model.longest=9", "[model] has no key 'longest'\n  hint: it is now [trees] max_length"),
        ("model.margin=9", "[model] has no key 'margin'\n  hint: it is now"),
        ("model.pruning_bits=9", "hint: it is now [pruning] bits"),
        ("model.folds=9", "tag_folds (parser), [tagging] folds (joint-parser)"),
        ("model.tag_folds=1", "[model] tag_folds must be 0 or at least 2, got 1"),
        ("trees.bits=40", "[trees] bits must be at most 28, got 40"),
    ],
)
def test_old_and_wrong_keys_of_a_recipe(duilian: Call, setting: str, message: str) -> None:
    status, _, err = duilian("train", "recipe.toml", "-o", "m", "--set", setting)
    assert status == 1
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("parse", "tagger", "dev.conllu"), "kind 'crf', not 'parser'"),
        (("parse", "parser", "--tagger", "parser", "dev.conllu"), "'parser' cannot find words"),
        (("tag", "-m", "parser", "dev.conllu"), "'parser' cannot find words"),
        (("parse", "parser", "ctb-dev.txt", "--format", "segmented"), "ctb-dev.txt:1: the word"),
        (("evaluate", "parser", "ctb-dev.txt"), "no trees to compare with"),
    ],
)
def test_wrong_models_and_files(duilian: Call, arguments: tuple[str, ...], message: str) -> None:
    status, _, err = duilian(*arguments)
    assert status == 1
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\t书\t_\tNN\t_\t_\t7\t_\t_\t_\n\n", "<stdin>:1: head 7 is outside"),
        (
            "1\t书\t_\tNN\t_\t_\t0\t_\t_\t_\n2\t看\t_\tVV\t_\t_\t0\t_\t_\t_\n\n",
            "<stdin>:2: word 2 is a second root",
        ),
        (
            "1\t书\t_\tNN\t_\t_\t2\t_\t_\t_\n2\t看\t_\tVV\t_\t_\t1\t_\t_\t_\n\n",
            "depends on itself: its heads form a cycle",
        ),
        ("1\t\t_\tNN\t_\t_\t_\t_\t_\t_\n\n", "<stdin>:1: the column form is empty"),
        ("1\t书\t_\tn\t_\t_\t_\t_\t_\t_\n\n", "<stdin>:1: the parser knows none of the tags"),
    ],
)
def test_bad_trees(duilian: Call, text: str, message: str) -> None:
    status, _, err = duilian("parse", "parser", stdin=text.encode())
    assert status == 1
    assert message in err


def test_unknown_output_format(duilian: Call) -> None:
    assert duilian("parse", "parser", "dev.conllu", "--nbest", "0")[0] == 2
    assert duilian("parse", "parser", "dev.conllu", "--to", "slash")[0] == 2
