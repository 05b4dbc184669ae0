"""`duilian evaluate` with files, `compare` and `report`: output, errors, exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Call, in_demo_folder

from duilian import Layer, Sentence, Tagger, compare, demo, evaluate, read, write
from duilian.cli.compare import show_comparison
from duilian.evaluation import compare_layers
from duilian.learning import AdaGrad
from duilian.reports.sections import comparison_sections


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for name, iterations in (("short", 1), ("long", 4)):
        tagger = Tagger("ctb", level="char", learning=AdaGrad(iterations=iterations))
        tagger.fit(demo.load("ctb", "ctb")[:60]).save(folder / name)
    return folder


@pytest.fixture
def duilian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models: Path) -> Call:
    return in_demo_folder(monkeypatch, tmp_path, models, {})


def test_a_file_has_the_scores_of_the_model_that_wrote_it(duilian: Call) -> None:
    assert duilian("tag", "-m", "long", "both-ctb.txt", "--format", "underscore", "-o", "a.txt")[0] == 0
    status, out, err = duilian("evaluate", "a.txt", "both-ctb.txt", "--json")
    assert (status, err) == (0, "")
    by_file = json.loads(out)
    by_model = json.loads(duilian("evaluate", "long", "both-ctb.txt", "--json")[1])
    for name in ("tokens", "word", "word_tag", "character", "by_tag", "by_length", "confusions"):
        assert by_file[name] == by_model[name], name
    assert "seconds" not in by_file
    answer, gold = (read(name, standard="ctb") for name in ("a.txt", "both-ctb.txt"))
    assert evaluate(answer, gold).to_dict()["word_tag"] == by_file["word_tag"]


def test_another_format_and_other_sentences(duilian: Call, tmp_path: Path) -> None:
    sentences = [each["ctb"] for each in demo.load("both-ctb", "ctb")]
    joined = Layer(
        *(tuple(x for layer in sentences for x in getattr(layer, name)) for name in ("words", "tags"))
    )
    write([Sentence({"ctb": joined})], tmp_path / "one.conllu", standard="ctb")
    found = json.loads(duilian("evaluate", "one.conllu", "both-ctb.txt", "--json")[1])
    assert (found["sentences"], found["accuracy"]) == (25, 100.0)


def test_details_and_three_kinds_of_words(duilian: Call) -> None:
    arguments = ("--against", "ctb.txt", "--against", "pku.txt")
    status, out, _ = duilian("evaluate", "long", "both-ctb.txt", "--details", *arguments)
    assert status == 0
    for title in ("tag", "words in the sentence", "known from the other corpus", "for example"):
        assert title in out
    assert duilian("evaluate", "long", "both-ctb.txt", *arguments, "--against", "x")[0] == 2


def test_swapped_files_are_recognized(duilian: Call) -> None:
    status, _, err = duilian("evaluate", "both-ctb.txt", "long")
    assert status == 1
    assert "long: this is a model, not a corpus of gold sentences" in err
    assert "the order is: duilian evaluate MODEL GOLD" in err


def test_different_text_is_refused_with_both_lines(duilian: Call, tmp_path: Path) -> None:
    gold = (tmp_path / "both-ctb.txt").read_text(encoding="utf-8").splitlines()
    changed = [*gold[:2], gold[2].replace("。", "！"), *gold[3:]]
    (tmp_path / "b.txt").write_text("\n".join(changed) + "\n", encoding="utf-8")
    (tmp_path / "c.txt").write_text("\n".join(gold[:20]) + "\n", encoding="utf-8")
    for command in (
        ("evaluate", "b.txt", "both-ctb.txt"),
        ("compare", "both-ctb.txt", "both-ctb.txt", "b.txt"),
    ):
        status, _, err = duilian(*command)
        assert status == 1
        assert err.startswith("duilian: b.txt:3: the text differs from gold: '！")
        assert "in both-ctb.txt:3" in err
    assert (
        "c.txt:20: the text ends here, but gold continues: both-ctb.txt:21"
        in duilian("evaluate", "c.txt", "both-ctb.txt")[2]
    )


def test_tags_that_gold_does_not_have_are_counted(duilian: Call, tmp_path: Path) -> None:
    gold = (tmp_path / "both-ctb.txt").read_text(encoding="utf-8")
    (tmp_path / "b.txt").write_text(gold.replace("_PN", "_XX"), encoding="utf-8")
    err = duilian("evaluate", "b.txt", "both-ctb.txt")[2]
    assert f"words have tags that gold does not have (XX {gold.count('_PN')})" in err


def test_compare_models_files_and_runs(duilian: Call) -> None:
    duilian("tag", "-m", "long", "both-ctb.txt", "--format", "underscore", "-o", "a.txt")
    arguments = ("both-ctb.txt", "short", "long", "runs=a.txt,both-ctb.txt", "--trials", "500")
    status, out, err = duilian("compare", *arguments, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert [each["name"] for each in found["systems"]] == ["short", "long", "runs"]
    assert [each["runs"] for each in found["systems"]] == [1, 1, 2]
    scores = [each["scores"]["word_tag"] for each in found["systems"]]
    assert scores[2]["runs"][0] == scores[1]["mean"]
    assert scores[2]["runs"][1] == 100.0
    assert scores[2]["spread"] > 0
    first = found["contrasts"][0]["differences"][1]
    assert first["difference"] == pytest.approx(scores[1]["mean"] - scores[0]["mean"])
    status, out, _ = duilian("compare", *arguments)
    assert status == 0
    assert "F1 of words with tags" in out
    assert "short versus runs" in out
    out = duilian("compare", *arguments, "--examples", "0")[1]
    assert "short versus long" in out, "McNemar's test is shown"
    assert "short versus runs" not in out, "nothing is shown of it"
    corpora = {name: read(f"{name}.txt", standard="ctb") for name in ("a", "both-ctb")}
    assert compare(corpora["both-ctb"], corpora, trials=50).systems[1].mean("word") == 100.0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("both-ctb.txt", "short"), 2, "name at least two systems"),
        (("short", "both-ctb.txt", "long"), 1, "short: this is a model, not a corpus of gold sentences"),
        (("both-ctb.txt", "short", "nothing"), 1, "nothing: there is no such file"),
        (("both-ctb.txt", "x=short", "x=long"), 2, "two systems have the name 'x'"),
        (("none.txt", "short", "long"), 1, "none.txt: no such file"),
        (("both-ctb.txt", "short", "long", "--trials", "0"), 2, "0 is not in the range"),
    ],
)
def test_wrong_comparisons(duilian: Call, arguments: tuple[str, ...], status: int, message: str) -> None:
    found, _, err = duilian("compare", *arguments)
    assert found == status
    assert message in err.replace("\n", " ")


def test_reports_of_everything(duilian: Call, tmp_path: Path) -> None:
    out = duilian("compare", "both-ctb.txt", "short", "long", "--json", "--trials", "50")[1]
    (tmp_path / "ab.json").write_text(out, encoding="utf-8")
    out = duilian("evaluate", "long", "both-ctb.txt", "--json")[1]
    (tmp_path / "e.json").write_text(out, encoding="utf-8")
    status, out, _ = duilian("report", "ab.json", "e.json", "long", "--gold", "both-ctb.txt", "-o", "r.html")
    assert status == 0
    assert out.startswith("r.html: ")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    for title in ("short and long", "Sentences worth reading", "ctb: confusions", "Calibration", "Model"):
        assert title in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "a report cannot show this file"),
        ("{}", "a report cannot show this file"),
        ('{"contrasts": 1, "systems": []}', "a report cannot show this file"),
        ('{"standard": "x", "tokens": 1, "by_tag": {"NN": 1}}', "a report cannot show this file"),
        ('{"tables": [{"columns": ["F1"], "rows": [{"paper": []}]}]}', "a report cannot show this file"),
        ("no json", "a report cannot show this file"),
    ],
)
def test_a_report_of_something_else(duilian: Call, tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    status, _, err = duilian("report", "x.json", "-o", "r.html")
    assert status == 1
    assert message in err
    assert not (tmp_path / "r.html").exists()
    assert "there is no such file" in duilian("report", "gone.json", "-o", "r.html")[2]


def test_no_p_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    gold, bad = [Layer(("我们", "去"), ("PN", "VV"))] * 40, [Layer(("我们", "去"), ("PN", "NN"))] * 40
    found = compare_layers(gold, {"bad": [bad], "good": [gold]}, standard="ctb", trials=100)
    show_comparison(found, examples=0)
    assert "McNemar's p < .0001" in capsys.readouterr().out
    _, changes = comparison_sections(found.to_dict())
    assert "McNemar&#x27;s p &lt; .0001." in changes.parts[0]
