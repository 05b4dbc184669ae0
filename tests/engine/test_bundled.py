"""The model that comes with the package."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_bad_input import random_string

import duilian
from analysed import check
from cli.running import run_here
from duilian.corpus import Corpus, Layer, Sentence
from duilian.engine import BUNDLED, Analyzer
from duilian.errors import ConfigError, ModelFileError
from duilian.lexicon import Lexicon
from duilian.models.roles import Ask
from duilian.reports.inspection import SCORES_SUFFIX, ModelCard

RECIPE = Path(__file__).parents[2] / "recipes" / "bundled.toml"


@pytest.fixture(scope="module")
def zh() -> Analyzer:
    return duilian.load()


def test_it_is_small_and_says_where_it_comes_from() -> None:
    card = ModelCard.read(BUNDLED)
    assert card.bytes <= 16e6
    assert card.notes["recipe"] == RECIPE.read_text(encoding="utf-8")
    assert set(card.texts) >= {"title", "data", "licence", "limits"}


def test_its_scores_are_those_of_this_very_file_and_on_its_page() -> None:
    """If the model has changed: `python tools/scores.py src/duilian/bundled/zh.model --data DIR`."""
    scores = ModelCard.read(BUNDLED).scores
    assert list(scores) == ["pku", "ud"]
    page = (RECIPE.parent.parent / "docs" / "model-card.md").read_text(encoding="utf-8")
    for standard, sets in scores.items():
        for part, found in sets.items():
            trees = f"{found['uas']:.2f} / {found['las']:.2f} |" if "uas" in found else "|"
            row = f"| `{standard}` {part} | {found['word']:.2f} | {found['word_tag']:.2f} | {trees}"
            assert row in page


@pytest.mark.parametrize(
    "text", ["他&nbsp;你好<br>吃饭了", "<div>你好</div>", "价格：&yen;5", "第一行<br/>第二行"]
)
def test_left_overs_of_web_pages_are_no_words(zh: Analyzer, text: str) -> None:
    doc = zh(text)
    for standard, wanted in (("pku", {"x"}), ("ud", {"X"})):
        tags = dict(zip(doc.words(standard), doc.tags(standard), strict=True))
        assert {tags[found] for found in re.findall(r"&\w+;|</?\w+/?>", text)} == wanted


def test_scores_of_another_file_are_not_shown(tmp_path: Path) -> None:
    scores = BUNDLED.with_suffix(SCORES_SUFFIX).read_text(encoding="utf-8")
    model = tmp_path / "other.model"
    model.symlink_to(BUNDLED)
    assert ModelCard.read(model).scores == {}
    model.with_suffix(SCORES_SUFFIX).write_text(scores, encoding="utf-8")
    assert ModelCard.read(model).scores != {}
    model.with_suffix(SCORES_SUFFIX).write_text(
        scores.replace('"checksum": "', '"checksum": "0'), encoding="utf-8"
    )
    assert ModelCard.read(model).scores == {}
    model.with_suffix(SCORES_SUFFIX).write_text("[]", encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"other\.scores\.json: this is not a file of scores"):
        ModelCard.read(model)


def test_the_card_has_lines_as_long_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pipe, paths are not wrapped, and the recipe can be saved and used."""
    monkeypatch.delenv("COLUMNS", raising=False)
    status, out, _ = run_here(monkeypatch, "inspect")
    assert status == 0
    lines = out.splitlines()
    assert any(line.startswith("file ") and f" {BUNDLED}, " in line for line in lines)
    assert out.endswith("\nrecipe\n" + RECIPE.read_text(encoding="utf-8"))
    assert not any(line != line.rstrip() for line in lines)
    assert any(
        re.fullmatch(r"  dev +F1 of words [\d.]+, .*, raw-text UAS [\d.]+, LAS [\d.]+", x) for x in lines
    )


COMMANDS = {
    "tag -m bundled 他来了。 --standard pku": "他_r 来_v 了_y 。_w",
    "segment --model bundled 他来了。 --standard pku": "他  来  了  。",
    "analyze -m bundled 他来了。 --standard pku --to slash": "他/r  来/v  了/y  。/w",
    "convert bundled pku.txt --from PKU --to ud": "他/PRON  来/VERB  了/PART  。/PUNCT",
    "evaluate bundled pku.txt --standard pku": "word tag f1",
    "parse bundled text.txt --tagger bundled": "root",
    "inspect bundled": "Duilian's bundled analyser",
    "inspect bundled pku.txt --from pku --to ud": "PRON",
}


@pytest.mark.parametrize("arguments", COMMANDS)
def test_it_has_a_name_wherever_a_model_is_expected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pku.txt").write_text("他/r  来/v  了/y  。/w\n", encoding="utf-8")
    Path("text.txt").write_text("他来了。\n", encoding="utf-8")
    status, out, err = run_here(monkeypatch, *arguments.split())
    assert (status, COMMANDS[arguments] in out) == (0, True), (out, err)


@pytest.mark.parametrize(
    "arguments", ["evaluate", "convert --from pku --to ud", "parse", "select", "inspect", "tag -m"]
)
def test_a_model_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, arguments: str) -> None:
    status, _, err = run_here(monkeypatch, *arguments.split(), "zh.modle", "x.txt")
    assert status == 1
    assert err == (
        "duilian: zh.modle: there is no such file\n  hint: give a model from `duilian train`, or `bundled`\n"
    )


def test_it_converts_and_is_measured_in_python(zh: Analyzer) -> None:
    pku = Corpus([Sentence({"pku": Layer(("他", "来", "了", "。"), ("r", "v", "y", "w"))})], standard="pku")
    (found,) = duilian.convert(zh, pku, "ud")
    assert found["ud"].words == ("他", "来", "了", "。")
    assert found["ud"].tags == ("PRON", "VERB", "PART", "PUNCT")
    assert duilian.evaluate(zh, pku).word_tag is not None
    with pytest.raises(ConfigError, match=r"no standard 'gsd'\n.*pku, ud"):
        duilian.convert(zh, pku, "gsd")


def test_what_learning_needs_is_not_loaded_to_analyse() -> None:
    """The first answer takes half a second; these modules would take a fifth of that."""
    names = loaded_by("duilian.load()('好。')")
    assert {"duilian.models.coupled.model", "duilian.models.neural_parser.model"} <= names
    heavy = ("duilian.evaluation.", "duilian.recipes", "pydantic", "typer", "matplotlib")
    training = ("duilian.learning.trainer", "duilian.learning.rules", "duilian.learning.jackknife")
    found = [name for name in sorted(names) if name.startswith(heavy) or name.endswith(".training")]
    assert found == []
    assert names.isdisjoint(training)


def test_the_command_loads_no_model_but_its_own() -> None:
    names = loaded_by("import duilian.cli.analyze; duilian.load()('好。')")
    assert names.isdisjoint(
        {"duilian.engine.streams", "duilian.models.two_chain.model", "duilian.views.couplets"}
    )


def test_analysing_imports_no_formats_of_corpora() -> None:
    names = loaded_by("duilian.load()('好。').words('pku')")
    assert names.isdisjoint(
        {"duilian.corpus.formats.lookup", "duilian.corpus.storage", "duilian.standards.explanation"}
        | {"difflib", "gzip", "hashlib", "html", "importlib.resources", "random", "tempfile"}
    )


def loaded_by(program: str) -> set[str]:
    program = f"import sys, duilian; {program}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(ran.stdout.split())


def test_it_reads_mixed_text(zh: Analyzer) -> None:
    text = "他把iPhone15借给了国务院新闻办公室，见https://duilian.cn/a?b=1，#好天气#3.5%😀 a.b@c.cn"
    doc = zh(text)
    for standard in zh.standards:
        assert {"iPhone15", "https://duilian.cn/a?b=1", "#好天气#", "3.5%", "😀", "a.b@c.cn"} <= set(
            doc.words(standard)
        )
    pku = dict(zip(doc.words("pku"), doc.tags("pku"), strict=True))
    assert (pku["他"], pku["国务院"], pku["3.5%"]) == ("r", "nt", "m")
    assert doc.heads.count(0) == len(list(doc.sentences("ud")))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("￥100，$5.99，1,234.56元", "￥ 100 ， $ 5.99 ， 1,234.56 元"),
        ("+86-138-0013-8000，010-62345678", "+86-138-0013-8000 ， 010-62345678"),
        ("-5℃", "-5℃"),
        ("½", "½"),
        ("100km/h", "100km/h"),
        ("H₂O", "H₂O"),
        ("U.S.A.", "U.S.A."),
        ("Node.js", "Node.js"),
        (":-)", ":-)"),
    ],
)
def test_parts_of_mixed_text_are_words(zh: Analyzer, part: str, words: str) -> None:
    doc = zh(f"我看{part}了。")
    for standard in zh.standards:
        assert doc.words(standard) == ["我", "看", *words.split(), "了", "。"]


def test_parts_stay_whole_on_every_way_through_a_text(zh: Analyzer) -> None:
    line = "我有5kg大米，见https://duilian.cn/a?b=1！#好天气！#@张三 I'm AT&T 花1,234.56元"
    parts = {"5kg", "https://duilian.cn/a?b=1", "#好天气！#", "@张三", "I'm", "AT&T", "1,234.56"}
    assert parts <= set(next(zh.segment([line])))
    for lexicon, sure in itertools.product((None, Lexicon(["大米"])), (False, True)):
        doc = zh.with_lexicon(lexicon)(line, ask=Ask(confidence=sure))
        for standard in zh.standards:
            assert parts <= set(doc.words(standard))
    for standard in zh.standards:
        assert parts <= set(zh.nbest(line, 2, standard)[0].words(standard))
    own = zh.with_lexicon(Lexicon(["Phone"]))("我用iPhone15打电话。")
    assert "iPhone15" in own.words("pku"), "nothing is stronger, not even a user's word"


def test_quantities_are_numbers_and_signs_are_marks(zh: Analyzer) -> None:
    doc = zh("他有5kg大米，卖$9")
    tags = {name: dict(zip(doc.words(name), doc.tags(name), strict=True)) for name in zh.standards}
    assert (tags["ud"]["5kg"], tags["pku"]["5kg"]) == ("NUM", "m")
    assert (tags["ud"]["$"], tags["pku"]["$"]) == ("SYM", "w")


def test_words_in_letters_are_no_numbers(zh: Analyzer) -> None:
    doc = zh("我看U.S.A.和e.g.了。")
    for standard, number in (("ud", "NUM"), ("pku", "m")):
        assert {"U.S.A.", "e.g."} <= set(doc.words(standard))
        assert number not in doc.tags(standard)


@pytest.mark.parametrize("text", ["你好", "早上好", "不", "制表符", "天气不错", "ok"])
def test_what_ends_a_text_without_a_full_stop_is_no_punctuation(zh: Analyzer, text: str) -> None:
    doc = zh(text)
    assert "PUNCT" not in doc.tags("ud")
    assert "w" not in doc.tags("pku")


def test_traditional_script_is_answered_in_its_own_characters(zh: Analyzer) -> None:
    traditional, simplified = zh("國務院新聞辦公室發表談話。"), zh("国务院新闻办公室发表谈话。")
    for standard in zh.standards:
        assert "".join(traditional.words(standard)) == traditional.text
        assert traditional.tags(standard) == simplified.tags(standard)
        assert [len(word) for word in traditional.words(standard)] == [
            len(word) for word in simplified.words(standard)
        ]


def test_random_strings_come_back_whole(zh: Analyzer) -> None:
    rng = random.Random(9)
    given = [random_string(rng) for _ in range(300)]
    for text, doc in zip(given, zh.pipe(given, threads=2), strict=True):
        assert doc.text == text
        check(doc)


@pytest.mark.parametrize("invisible", ["\0", "\x01", "\u200b", "\ufeff"])
def test_what_is_invisible_is_treated_alike_in_all_standards(zh: Analyzer, invisible: str) -> None:
    for text in ("a{}b", "用1{}2个", "用Wi-{}Fi上网", "我{}们去北京"):
        doc = zh(text.format(invisible))
        check(doc)
        assert doc.words("ud") == doc.words("pku")
        assert [word.replace(invisible, "") for word in doc.words()] == zh(text.format("")).words()
