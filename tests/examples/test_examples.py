"""The examples run, and do what they say; `foreign_tagger.py` has its test in tests/engine."""

from __future__ import annotations

import ast
import contextlib
import csv
import importlib
import io
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

import duilian as dl
from duilian import demo
from duilian.models.coupled.config import CoupledFeatures
from integrations.packages import needs
from scripts import load_script

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MAX_LINES = 60


def example(name: str) -> ModuleType:
    return load_script(f"examples/{name}.py")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_short_and_says_how_to_run_it(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_LINES
    assert f"python examples/{script.name}" in (ast.get_docstring(ast.parse(text)) or "")


def test_the_list_of_examples_is_complete() -> None:
    listed = re.findall(r"\]\((\w+\.\w+)\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(path.name for path in [*SCRIPTS, *NOTEBOOKS])


def test_a_folder_is_analysed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, trees = tmp_path / "texts", tmp_path / "trees"
    (texts / "deep").mkdir(parents=True)
    (texts / "a.txt").write_text("我们去北京。你呢？\n\n他来了。\n", encoding="utf-8")
    (texts / "deep" / "b.txt").write_text("好。\n", encoding="utf-8")
    (texts / "c.md").write_text("不读。\n", encoding="utf-8")
    main = example("analyse_folder").main
    main([str(texts), str(trees)])
    assert sorted(path.name for path in trees.rglob("*.*")) == ["a.conllu", "b.conllu"]
    found = dl.read(trees / "a.conllu", standard="ud")
    assert ["".join(each["ud"].words) for each in found] == ["我们去北京。", "你呢？", "他来了。"]
    assert [each.id for each in found] == ["1", "2", "3"]
    capsys.readouterr()
    (trees / "deep" / "b.conllu").unlink()
    main([str(texts), str(trees)])
    done, again = capsys.readouterr().out.splitlines()
    assert (done.endswith("done already"), again.endswith("b.conllu")) == (True, True)


def test_learning_together_helps(capsys: pytest.CaptureFixture[str]) -> None:
    tagger = example("train_coupled").main([], iterations=2)
    out = capsys.readouterr().out
    scores = re.findall(r"(\w+): alone ([\d.]+), together ([\d.]+)", out)
    assert [name for name, _, _ in scores] == list(tagger.standards)
    assert all(float(together) > float(alone) for _, alone, together in scores)
    assert "北京/NR 大学/NN" in out
    assert "北京大学/nt" in out


def test_corpora_of_ones_own_are_split(tmp_path: Path) -> None:
    for name in demo.STANDARDS:
        dl.write(demo.load(name, name)[:50], tmp_path / f"{name}.txt", format="slash")
    paths = [str(tmp_path / f"{name}.txt") for name in demo.STANDARDS]
    found = example("train_coupled").corpora(paths)
    assert [(len(train), len(test), train.standard) for train, test in found] == [
        (45, 5, "ctb"),
        (45, 5, "pku"),
    ]


def test_corrections_reach_the_converted_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tagger = dl.CoupledTagger(("ctb", "pku"), mapping="tight", features=CoupledFeatures(guide="pku"))
    corpora = [demo.load(name, name) for name in demo.STANDARDS]
    tagger.set_params(learning__iterations=2).fit(corpora).save("convert.model")
    dl.write(demo.load("both-pku", "pku"), "pku.txt", format="slash")
    module = example("convert_and_review")
    assert module.convert("convert.model", "pku.txt", "ctb.txt", "review.tsv") == "12 of 244 words to review"
    gold = demo.load("both-ctb", "ctb")
    with open("review.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, dialect="excel-tab"))
    converted = dl.read("ctb.txt", standard="ctb")
    for row in rows:
        layer = converted[int(row["line"]) - 1]["ctb"]
        assert (layer.words[int(row["number"]) - 1], layer.text) == (row["word"], row["sentence"])
        row["tag"] = str(gold[int(row["line"]) - 1]["ctb"].tags[int(row["number"]) - 1])  # type: ignore[index]
    with open("review.tsv", "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, module.COLUMNS, dialect="excel-tab")
        table.writeheader()
        table.writerows(rows)
    before = errors(converted, gold)
    fixed = int(module.merge("ctb.txt", "review.tsv", "final.txt").split()[0])
    assert fixed > 0
    assert errors(dl.read("final.txt", standard="ctb"), gold) == before - fixed


def errors(found: dl.Corpus, gold: dl.Corpus) -> int:
    pairs = zip(found, gold, strict=True)
    return sum(a != b for x, y in pairs for a, b in zip(x["ctb"].tags, y["ctb"].tags, strict=True))  # type: ignore[arg-type]


def test_selected_words_teach_more_than_whole_sentences() -> None:
    curve = example("active_annotation").main(rounds=3)
    words, selected, whole = zip(*curve, strict=True)
    assert list(words) == sorted(set(words))
    assert selected[-1] > selected[0]
    assert selected[-1] > whole[-1]


def test_bm25_finds_words_and_parts_of_words() -> None:
    texts = ["他在北京大学学习。", "北京的冬天很冷。", "她去图书馆借书。", "今天下雨。"]
    index = example("bm25_search").Index(dl.load(), texts)
    assert [text for _, text in index.search("图书馆")] == [texts[2]]
    assert [text for _, text in index.search("大学")] == [texts[0]]
    scores = {text: score for score, text in index.search("北京大学")}
    assert scores[texts[0]] > scores[texts[1]] > 0
    assert index.search("飞机") == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_what_its_cells_print(notebook: Path) -> None:
    found = json.loads(notebook.read_text(encoding="utf-8"))
    assert (found["nbformat"], len({cell["id"] for cell in found["cells"]})) == (4, len(found["cells"]))
    names: dict[str, object] = {}
    for cell in found["cells"]:
        if cell["cell_type"] == "code":
            assert plain(run_cell("".join(cell["source"]), names)) == plain(shown(cell["outputs"]))


@needs("nbclient", "ipykernel")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_in_jupyter(notebook: Path, tmp_path: Path) -> None:
    """In a kernel of its own, which also draws what our shorter run above does not ask for."""
    nbformat, nbclient = (importlib.import_module(name) for name in ("nbformat", "nbclient"))
    read = nbformat.read(notebook, as_version=4)
    nbformat.validate(read)
    nbclient.NotebookClient(read, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [each for cell in read.cells if cell.cell_type == "code" for each in cell.outputs]
    assert not [each for each in outputs if each.output_type == "error"]
    assert any("<svg" in each.get("data", {}).get("text/html", "") for each in outputs)


def run_cell(source: str, names: dict[str, object]) -> str:
    """Run a cell as a notebook does: what it prints, then the value of its last line."""
    tree, out, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return out.getvalue() + ("" if value is None else repr(value))


def shown(outputs: list[dict[str, object]]) -> str:
    return "".join("".join(each.get("text") or each["data"]["text/plain"]) for each in outputs)  # type: ignore[index,call-overload]


def plain(text: str) -> str:
    """Leave out white space, and figures, which processors round differently."""
    return re.sub(r"\s+", "", re.sub(r"\d+\.\d+", "#", text))
