"""An analyser with trees in its second standard, which has pairs of tags, learned from two treebanks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import duilian
from cli.running import run_here
from duilian import Analyzer, demo
from duilian.corpus import Sentence
from duilian.errors import ConfigError
from duilian.modelfile import read_model
from duilian.recipes import Recipe, Run, train
from duilian.recipes.steps import corpora_of
from duilian.standards import universal_of

RECIPE = """
[model]
kind = "analyzer"

[features]
joint_count = 1

[pruning]
max_candidates = 3
max_candidates_tagging = 3

[start]
baseline_iterations = 2

[parser]
standard = "ud"
order = 1
bits = 14
relation_bits = 12
pruning_bits = 10
tag_folds = 2
folds_by = "coupled"
treebanks = ["more.conllu"]
treebank_relations = false
sees = "xpos"
iterations = 2

[[side]]
standard = "pku"
train = "pku.txt"
limit = 24

[[side]]
standard = "ud"
column = "upos+xpos"
min_pairs = 2
train = "trees.conllu"
dev = "trees.conllu"

[learning]
iterations = 1
keep = "average"
"""


def universal(tag: str) -> str:
    """Return a universal tag for a tag of CTB; all that matters is that there are several."""
    return {"N": "NOUN", "V": "VERB", "P": "PUNCT"}.get(tag[0], "X")


def block(sentence: Sentence, *, has_xpos: bool) -> str:
    """Return a sentence in which every word depends on the previous one."""
    layer = sentence["ctb"]
    rows = []
    for k, (word, tag) in enumerate(zip(layer.words, layer.tags or (), strict=True), start=1):
        xpos, relation = str(tag) if has_xpos else "_", "dep" if k > 1 else "root"
        rows.append(f"{k}\t{word}\t_\t{universal(str(tag))}\t{xpos}\t_\t{k - 1}\t{relation}\t_\t_")
    return "\n".join(rows) + "\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("universal")
    shutil.copy(Path(demo.__file__).parent / "pku.txt", folder)
    sentences = list(demo.load("ctb", "ctb"))
    for name, part, has_xpos in (("trees", sentences[:24], True), ("more", sentences[24:30], False)):
        text = "".join(block(each, has_xpos=has_xpos) for each in part)
        (folder / f"{name}.conllu").write_text(text, encoding="utf-8")
    (folder / "r.toml").write_text(RECIPE, encoding="utf-8")
    train(Recipe.load(folder / "r.toml"), Run(output=folder / "zh.model"))
    return folder


@pytest.fixture(scope="module")
def zh(folder: Path) -> Analyzer:
    return duilian.load(folder / "zh.model")


def test_the_first_standard_is_shown_and_the_second_has_trees(zh: Analyzer) -> None:
    doc = zh("他们明天去北京。")
    assert (doc.standards, doc.tree_standard) == (("pku", "ud"), "ud")
    assert set(doc.tags("ud")) <= {"NOUN", "VERB", "PUNCT", "X"}
    assert doc.layer("pku").xpos is None
    assert None not in [token.xpos for token in doc.tokens("ud")]


def test_conllu_is_a_tree_with_both_tags_and_the_text(zh: Analyzer) -> None:
    lines = zh("他们 明天去北京。很好。").to_conllu("ud").splitlines()
    assert "# text = 他们 明天去北京。" in lines
    rows = [line.split("\t") for line in lines if line[:1].isdigit()]
    assert all(row[1] == row[2] and row[3] == universal(row[4]) for row in rows)
    assert all((row[6] == "0") == (row[7] == "root") for row in rows)
    assert [row[6] for row in rows].count("0") == 2
    assert "SpaceAfter=No" not in rows[0][9]


def test_conllu_is_in_the_standard_that_has_trees(
    zh: Analyzer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doc = zh("他们去北京。")
    assert doc.to_conllu() == doc.to_conllu("ud") != doc.to_conllu("pku")
    model = str(folder / "zh.model")
    status, out, err = run_here(monkeypatch, "analyze", "-m", model, "他们去北京。", "--to", "conllu")
    assert (status, err) == (0, "")
    assert out == doc.to_conllu()
    status, out, _ = run_here(monkeypatch, "analyze", "-m", model, "他们去北京。", "--to", "words")
    assert out == " ".join(doc.words("pku")) + "\n"


@pytest.mark.parametrize(
    "command",
    [
        "convert MODEL FILE --from ud --to pku",
        "evaluate MODEL FILE --standard ud",
        "evaluate MODEL FILE --standard ud --column upos",
        "evaluate MODEL FILE --standard ud --column xpos",
        "parse MODEL FILE",
    ],
)
def test_commands_take_treebanks(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    names = {"MODEL": str(folder / "zh.model"), "FILE": str(folder / "trees.conllu")}
    status, out, err = run_here(monkeypatch, *(names.get(word, word) for word in command.split()))
    assert status == 0, err
    assert out
    assert command[:5] != "parse" or out.count("\troot\t") == 24


def test_notes_name_the_further_treebank(folder: Path) -> None:
    notes = read_model(folder / "zh.model")[0]["notes"]
    assert notes["parser"]["treebanks"]["sentences"] == 6
    assert notes["sides"]["ud"]["reading"]["column"] == "upos+xpos"


def test_the_same_recipe_gives_the_same_bytes_with_any_number_of_threads(
    folder: Path, tmp_path: Path
) -> None:
    train(Recipe.load(folder / "r.toml"), Run(output=tmp_path / "zh.model", threads=2))
    assert (tmp_path / "zh.model").read_bytes() == (folder / "zh.model").read_bytes()


def test_a_rare_pair_counts_as_its_specific_tag(folder: Path, tmp_path: Path) -> None:
    text = (folder / "trees.conllu").read_text(encoding="utf-8")
    (tmp_path / "trees.conllu").write_text(text.replace("\tNOUN\tNN\t", "\tX\tNN\t", 1), encoding="utf-8")
    recipe = Recipe.load(folder / "r.toml", tmp_path)
    seen = {}
    for least in (1, 2):
        side = Recipe.load(folder / "r.toml", tmp_path, [f"side.2.min_pairs={least}"]).sides[1]
        corpus, _ = corpora_of(recipe, side)
        seen[least] = [tag for sentence in corpus for tag in sentence["ud"].tags or ()]
    changed = [(a, b) for a, b in zip(seen[1], seen[2], strict=True) if a != b]
    assert ("X+NN", "NN") in changed
    assert all(b == str(a).partition("+")[2] and seen[1].count(a) == 1 for a, b in changed)
    assert {universal_of(str(tag)) for tag in seen[2]} > {"NOUN", "VERB"}


def test_a_parser_of_no_side_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="the parser's standard 'gsd' is not one of pku, ud"):
        Recipe.load(folder / "r.toml", None, ["parser.standard=gsd"])


def test_hints_come_from_another_side(folder: Path, tmp_path: Path) -> None:
    recipe = Recipe.load(
        folder / "r.toml", None, ["parser.hints.standard=pku", "parser.hints.min_weight=0.01"]
    )
    train(recipe, Run(output=tmp_path / "zh.model"))
    header, _ = read_model(tmp_path / "zh.model")
    assert header["parser"]["hinter"]["config"]["standard"] == "pku"
    assert "hinter" not in read_model(folder / "zh.model")[0]["parser"]
    text = "他喜欢研究中国历史。"
    zh, other = (duilian.load(each / "zh.model") for each in (tmp_path, folder))
    assert zh(text).layer("pku").words(text) == other(text).layer("pku").words(text)
    for standard, why in (("ud", "hints come from another one"), ("gsd", "the hints' standard 'gsd'")):
        with pytest.raises(ConfigError, match=why):
            Recipe.load(folder / "r.toml", None, [f"parser.hints.standard={standard}"])
