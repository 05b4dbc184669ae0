"""`[dictionary]` in recipes, `--dictionary` of commands that analyse text, and what `inspect` says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import Call, in_demo_folder

from duilian import AdaGrad, Features, Lexicon, Tagger, demo
from duilian.features.dictionary import parse_line
from duilian.models import DictionarySettings
from scripts import load_script

NEW = "魑魅魍"
RECIPE = """
[model]
kind = "crf"
level = "char"

[dictionary]
file = "words.txt"
name = "demo words"
licence = "our own"
hide = 0.0

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"

[learning]
iterations = 2
"""
WORDS = "我们 900 r\n北京 300 ns\n大学 500 n\n经济 200 n\n发展 80 v\n图书馆 9 n\n公司 70 n\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that has a dictionary, one that has none, and lists of words."""
    folder = tmp_path_factory.mktemp("models")
    for name, text in {"words.txt": WORDS, "mine.txt": f"{NEW} 50 n\n", "empty.txt": "\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    words = DictionarySettings(file=str(folder / "words.txt"), hide=0.0, name="demo words", licence="our own")
    for name, known in {"one.model": words, "plain.model": DictionarySettings()}.items():
        tagger = Tagger(
            "ctb", level="char", features=Features(dictionary=known), learning=AdaGrad(iterations=2)
        )
        tagger.fit(demo.load("ctb", "ctb")).save(folder / name)
    return folder


@pytest.fixture
def duilian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models: Path) -> Call:
    """Run a command in a folder with all of these."""
    return in_demo_folder(monkeypatch, tmp_path, models, {"words.toml": RECIPE})


def test_words_are_given_at_load(duilian: Call) -> None:
    text, given = f"我们去{NEW}。", ("--dictionary", "mine.txt")
    assert NEW not in duilian("segment", "-m", "one.model", text)[1].split()
    assert NEW in duilian("segment", "-m", "one.model", *given, text)[1].split()
    assert f"{NEW}_" in duilian("tag", "-m", "one.model", *given, text)[1]
    assert f"{NEW}/" in duilian("analyze", "-m", "one.model", "--to", "slash", *given, text)[1]
    Path("cut.txt").write_text(f"{NEW[:1]}\n{NEW[1:]}\n", encoding="utf-8")
    assert NEW[1:] in duilian("segment", "-m", "one.model", *given, "--lexicon", "cut.txt", text)[1].split()


def test_inspect_shows_the_dictionary(duilian: Call) -> None:
    shown = duilian("inspect", "one.model")[1]
    assert "demo words" in shown
    assert "7 words" in shown
    assert "our own" in shown
    found = json.loads(duilian("inspect", "one.model", "--json")[1])["dictionary"]
    assert (found["words"], found["licence"], found["replaces"]) == (7, "our own", "")
    assert "dictionary" not in json.loads(duilian("inspect", "plain.model", "--json")[1])


def test_a_recipe_names_a_dictionary_beside_the_corpora(duilian: Call) -> None:
    assert duilian("train", "words.toml", "-o", "made.model")[0] == 0
    found = json.loads(duilian("inspect", "made.model", "--json")[1])
    assert found["dictionary"]["name"] == "demo words"
    assert found["settings"]["features"]["dictionary"]["file"] == "words.txt"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dictionary", "empty.txt"], "empty.txt: contains no words"),
        (["--dictionary", "none.txt"], "none.txt"),
        (["--dictionary", "mine.txt", "--dictionary-mode", "add"], "'extend' or 'replace', got 'add'"),
    ],
)
def test_mistakes_are_one_sentence(duilian: Call, options: list[str], message: str) -> None:
    status, _, err = duilian("segment", "-m", "one.model", *options, "好")
    assert status == 1
    assert message in err


def test_a_model_without_a_dictionary_says_so(duilian: Call) -> None:
    status, _, err = duilian("segment", "-m", "plain.model", "--dictionary", "mine.txt", "好")
    assert status == 1
    assert "was trained without a dictionary" in err


def test_a_missing_list_is_named(duilian: Call) -> None:
    status, _, err = duilian("train", "words.toml", "-o", "m", "--set", "dictionary.file=nowhere.txt")
    assert status == 1
    assert "nowhere.txt" in err


def test_a_whole_dictionary_as_a_lexicon_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "many.txt"
    path.write_text("".join(f"词{k}\n" for k in range(20_000)), encoding="utf-8")
    Lexicon.read(path, mode="prefer")
    assert "many.txt: a whole dictionary (20000 words) makes a poor lexicon" in caplog.text


def test_the_list_of_cedict_has_frequencies_and_tags_and_words_with_letters() -> None:
    tool = load_script("tools/cedict_list.py")
    entries = [
        ("去", "qu", ["to go", "to leave"]),
        ("北京", "Bei jing", ["Beijing, capital of China"]),
        ("书", "shu", ["book", "CL:本[ben3]"]),
        ("也", "Ye", ["surname Ye"]),
        ("也", "ye", ["also"]),
        ("一定", "yi ding", ["surely", "certainly"]),
        ("一箭双雕", "yi jian shuang diao", ["killing two birds with one stone (idiom)"]),
    ]
    entries += [(word, "", ["x"]) for word in ("一不做，二不休", "%", "○")]  # no single words in any corpus
    entries.append(("T恤", "T xu", ["T-shirt (loanword)", "CL:件[jian4]"]))
    lines = list(tool.lines(entries, {"t恤": 2e-7, "去": 0.002, "书": 3e-5}))
    assert lines == [
        "T恤 20 n\n", "一定 1 d\n", "一箭双雕 1 i\n",
        "也 1 x\n", "书 3000 n\n", "北京 1 N\n", "去 200000 v\n",
    ]  # fmt: skip
    assert [parse_line(line).frequency for line in lines][-1] == 200_000
