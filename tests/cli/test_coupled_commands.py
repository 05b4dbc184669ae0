"""Coupled models on the command line: training, each standard's answers, conversion, inspection."""

from __future__ import annotations

import functools
import itertools
import json
import re
from pathlib import Path

import pytest
from running import Call, in_demo_folder

from demo_recipes import both_sides
from duilian import demo, read
from duilian.conversion import Converter
from duilian.corpus import Layer, Sentence
from duilian.corpus.batches import batches
from duilian.corpus.places import PlacedSentence
from duilian.document.text_lines import line_layer
from duilian.engine import load as load_analyzer
from duilian.learning import AdaGrad
from duilian.models import CoupledTagger, Tagger, load
from duilian.models.coupled.config import CoupledFeatures, CoupledPruning, Start
from duilian.models.roles import Ask

RECIPE = both_sides(
    "coupled",
    'mapping = "tight"\n\n[features]\njoint_count = 1\n\n[start]\nshares = [0.3, 0.3]',
    tested=["ctb", "pku"],
    iterations=3,
)


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """A folder with coupled models (of words, of characters, with guide features) and one that is not
    coupled.
    """
    folder = tmp_path_factory.mktemp("models")
    corpora = [demo.load(name, name) for name in demo.STANDARDS]
    start = Start(baseline_iterations=3, shares=(0.3, 0.3))
    notes = {"sides": {"pku": {"reading": {"cut": "sentence"}}, "ctb": {"reading": {"column": "xpos"}}}}
    word = CoupledTagger(
        demo.STANDARDS, mapping="tight", features=CoupledFeatures(joint_count=1), start=start
    )
    word.set_params(learning__iterations=3).fit(corpora).save(folder / "word", notes=notes)
    few = [corpus[:120] for corpus in corpora]
    char = CoupledTagger(
        demo.STANDARDS,
        level="char",
        features=CoupledFeatures(joint_count=1, join_letters=True, join_digits=True),
        pruning=CoupledPruning(max_candidates=4),
        start=start,
    )
    char.set_params(learning__iterations=1).fit(few).save(folder / "char")
    guided = CoupledTagger(
        demo.STANDARDS,
        level="char",
        features=CoupledFeatures(joint_count=1, guide="pku"),
        pruning=CoupledPruning(max_candidates=3),
        start=start,
    )
    guided.set_params(learning__iterations=1).fit([corpus[:40] for corpus in corpora])
    guided.save(folder / "guided")
    Tagger("ctb", learning=AdaGrad(iterations=1)).fit(corpora[0]).save(folder / "plain")
    return folder


@pytest.fixture
def duilian(monkeypatch, tmp_path, models) -> Call:
    """Run a command in a folder with the demonstration corpora, a recipe and the models."""
    return in_demo_folder(monkeypatch, tmp_path, models, {"both.toml": RECIPE})


def test_train_shows_every_side(duilian, tmp_path):
    status, out, err = duilian("train", "both.toml", "-o", "m", "--test", "--threads", "2")
    assert status == 0
    first, tables = out.split("\n", 1)
    number = r"\d\d\.\d\d"
    assert re.fullmatch(rf"m: [\d,]+ bytes, dev {number} on average; best ctb {number}, pku {number}", first)
    assert re.findall(r"standard +(\w+)", tables) == ["ctb", "pku"], "both have a test set"
    side = rf"{number} \(\d+\.\d candidates, oracle \d+\.\d\d\)"
    line = (
        rf"iteration (\d): loss \d+\.\d{{4}}, dev {number}(?: \(best\))?, ctb {side}, pku {side}, \d+\.\d s"
    )
    stages, lines = err.splitlines()[:-3], err.splitlines()[-3:]
    assert [re.fullmatch(line, each)[1] for each in lines] == ["1", "2", "3"]
    assert stages[0] == "features …"
    assert "joint features …" in stages
    assert not (tmp_path / ".duilian-cache").exists(), "only pruning offline needs it"


def test_the_test_set_of_one_side_is_enough(duilian, tmp_path):
    text = RECIPE.replace('test = "both-ctb.txt"\n', "").replace("iterations = 3", "iterations = 1")
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    status, out, _ = duilian("train", "one.toml", "-o", "m", "--test")
    assert status == 0
    assert re.findall(r"standard +(\w+)", out) == ["pku"]


def test_train_ends_with_a_sentence_when_sides_do_not_fit(duilian):
    status, _, err = duilian("train", "both.toml", "-o", "m", "--set", "side.2.standard=ctb")
    assert status == 1
    *warnings, problem, hint = err.splitlines()
    assert [each.split(":")[2] for each in warnings] == [" pku.txt", " pku-dev.txt"], (
        "tags of pku are not ctb's"
    )
    assert problem.startswith("duilian: two corpora declared as 'ctb' have no tag in common (")
    assert hint == "  hint: give one of them another standard name"


def test_every_standard_answers(duilian):
    words = "我们 去 北京 。\n".encode()
    assert duilian("tag", "-m", "word", "--standard", "pku", stdin=words) == (
        0,
        "我们_r 去_v 北京_ns 。_w\n",
        "",
    )
    status, out, err = duilian("tag", "-m", "word", stdin=words)
    assert (status, out) == (0, "我们_PN 去_VV 北京_NR 。_PU\n")
    assert err == "duilian: answering in 'ctb'; choose with --standard (also: pku)\n"
    assert duilian("tag", "-m", "plain", "--standard", "ctb", stdin=words)[0] == 0
    for model, names in (("word", "ctb, pku"), ("plain", "ctb")):
        status, out, err = duilian("tag", "-m", model, "--standard", "ud", stdin=words)
        assert (status, out) == (1, "")
        assert err == f"duilian: there is no standard 'ud'\n  hint: choose one of: {names}\n"


@pytest.mark.parametrize("model", ["char", "guided"])
@pytest.mark.parametrize("standard", demo.STANDARDS)
def test_text_through_a_coupled_model(duilian, tmp_path, model, standard):
    line = " 我们去北京。他来 了！iPhone１５"
    status, out, _ = duilian("segment", "-m", model, "--standard", standard, stdin=line.encode())
    assert status == 0
    assert "".join(out.split()) == "".join(line.split())
    tagger = load(tmp_path / model).of(standard)
    zh = load_analyzer(tmp_path / model)
    doc = zh(line, ask=Ask((standard,), confidence=True))
    lead, layer = line_layer(doc, standard)
    assert (lead + layer.text, line_layer(zh(line), standard)[1]) == (line, layer)
    confidence = doc.layer(standard).confidence
    assert confidence is not None
    assert len(confidence) == len(layer)
    assert all(0 < each <= 1 + 1e-6 for each in confidence)
    parts = tagger.predict_layers([("我们去北京。",), ("他来了！",)])
    words = [word for part in parts for word in part.words]
    assert list(layer.words[: len(words)]) == words, "a line is cut into sentences"


def test_marginals_and_selection(duilian):
    out = duilian("tag", "-m", "word", "--standard", "pku", "--marginals", stdin="我们 去 。".encode())[1]
    assert re.fullmatch(r"我们_r:[01]\.\d{4} 去_v:[01]\.\d{4} 。_w:[01]\.\d{4}\n", out)
    status, out, _ = duilian("select", "word", "both-pku.txt", "--standard", "pku", "--sentences", "2")
    assert status == 0
    assert len(out.splitlines()) == 2
    assert re.search(r"_\{[a-z]+(\|[a-z]+)+\}", out)


@pytest.mark.parametrize("model", ["word", "char"])
def test_the_best_analyses_in_one_standard(duilian, model):
    text = "我们 去 北京 。\n" if model == "word" else "我们去北京。\n"
    for standard in ("ctb", "pku"):
        status, out, err = duilian(
            "tag", "-m", model, "--standard", standard, "--nbest", "3", stdin=text.encode()
        )
        assert (status, err) == (0, "")
        rows = [line.split("\t") for line in out.splitlines()]
        assert [row[0] for row in rows] == ["1", "2", "3"]
        shares = [float(row[1]) for row in rows]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1
        assert len({row[2] for row in rows}) == 3


@pytest.mark.parametrize("standard", ["ctb", "pku"])
def test_a_lexicon_for_one_standard(duilian, tmp_path, standard):
    tag = {"ctb": "NR", "pku": "ns"}[standard]
    (tmp_path / "words.tsv").write_text(f"京去北\t{tag}\n", encoding="utf-8")
    options = ("--standard", standard, "--lexicon", "words.tsv")
    text = "我们京去北。\n".encode()
    status, out, err = duilian("tag", "-m", "char", *options, stdin=text)
    assert (status, err) == (0, "")
    assert f"京去北_{tag}" in out
    assert all(
        f"京去北_{tag}" in line
        for line in duilian("tag", "-m", "char", *options, "--nbest", "2", stdin=text)[1].splitlines()
    )
    assert f"京去北_{tag}:" in duilian("tag", "-m", "char", *options, "--marginals", stdin=text)[1]
    status, out, _ = duilian("tag", "-m", "word", *options, stdin="我们 京去北 。\n".encode())
    assert status == 0
    assert f"京去北_{tag}" in out


def test_evaluate_each_standard(duilian, tmp_path):
    tagger = load(tmp_path / "word")
    scores = {
        name: 100 * tagger.score(demo.load(f"{name}-dev", name), standard=name) for name in demo.STANDARDS
    }
    for name, score in scores.items():
        status, out, err = duilian("evaluate", "word", f"{name}-dev.txt", "--standard", name, "--json")
        assert (status, err) == (0, "")
        assert json.loads(out)["accuracy"] == pytest.approx(score)
    status, _, err = duilian("evaluate", "word", "pku-dev.txt")
    assert status == 1
    assert "the model knows none of the tags" in err
    assert "choose with --standard" in err


def test_evaluate_several_standards_at_once(duilian, tmp_path):
    sides = {name: demo.load(f"both-{name}", name) for name in demo.STANDARDS}
    lines = []
    for one, two in zip(*sides.values(), strict=True):
        layers = {
            name: {"words": each.words, "tags": each.tags} for name, each in (one.layers | two.layers).items()
        }
        lines.append(json.dumps({"layers": layers}, ensure_ascii=False))
    (tmp_path / "both.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    named = itertools.chain.from_iterable(("--standard", name) for name in demo.STANDARDS)
    status, out, _ = duilian("evaluate", "word", "both.jsonl", "--json", *named)
    assert status == 0
    assert [each["standard"] for each in json.loads(out)] == list(demo.STANDARDS)


def layers_of(path: Path, standard: str) -> list[Layer]:
    return [sentence[standard] for sentence in read(path, standard=standard)]


def test_convert_keeps_the_words_and_the_format(duilian, tmp_path):
    status, out, err = duilian(
        "convert", "word", "both-pku.txt", "--from", "pku", "--to", "ctb", "-o", "out.txt"
    )
    assert (status, out, err) == (0, "", "")
    given, found = layers_of(tmp_path / "both-pku.txt", "pku"), layers_of(tmp_path / "out.txt", "ctb")
    assert [each.words for each in found] == [each.words for each in given]
    expected = load(tmp_path / "word").convert(given, "pku", "ctb")
    assert [each.tags for each in found] == [each.tags for each in expected]
    gold = [tag for layer in layers_of(tmp_path / "both-ctb.txt", "ctb") for tag in layer.tags or ()]
    right = sum(
        a == b for a, b in zip(gold, itertools.chain(*[each.tags or () for each in found]), strict=True)
    )
    assert right > 0.95 * len(gold)
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").startswith("我们/PN  "), "it was word/TAG"


def test_convert_keeps_to_a_mapping(duilian, tmp_path):
    (tmp_path / "own.txt").write_text("standards: pku ctb\nr DT\nv VV\nw PU\nns NN\n", encoding="utf-8")
    convert = ("convert", "word", "--from", "pku", "--to", "ctb")
    line = "我们/r  去/v  北京/ns  。/w\n".encode()
    assert duilian(*convert, "--mapping", "own.txt", stdin=line)[1] == "我们/DT  去/VV  北京/NN  。/PU\n"
    usual = [duilian(*convert, *option, stdin=line)[1] for option in ((), ("--mapping", "strict"))]
    assert usual == ["我们/PN  去/VV  北京/NR  。/PU\n"] * 2
    assert duilian(*convert, "--mapping", "complete", stdin=line)[0] == 0
    status, out, err = duilian(*convert, "--mapping", "tihgt", stdin=line)
    assert (status, out) == (1, "")
    assert err.startswith("duilian: there is no mapping table 'tihgt'\n  hint: choose ctb-pku.relaxed, ")
    (tmp_path / "bad.txt").write_text("standards: pku ctb\nr DT\nv XX\n", encoding="utf-8")
    assert "bad.txt:3: " in duilian(*convert, "--mapping", "bad.txt", stdin=line)[2]


def test_convert_cuts_paragraphs_as_the_model_learned_and_joins_them_again(duilian, tmp_path):
    pieces = ["我们/r  来/v  了/y  。/w", "他/r  去/v  北京/ns  。/w", "好/a"]
    (tmp_path / "one.txt").write_text("  ".join(pieces) + "\n", encoding="utf-8")
    (tmp_path / "three.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    one, three = (
        duilian("convert", "word", f"{name}.txt", "--from", "pku", "--to", "ctb")[1]
        for name in ("one", "three")
    )
    assert one.count("\n") == 1
    assert one.split() == three.split()


def test_converted_words_can_be_cut_anew(duilian, tmp_path):
    words = ("iPhone 15", "１", "月", "来\u200b了")
    layer = {"words": words, "tags": ["n", "m", "q", "v"], "spaces": ["", " ", "", ""]}
    (tmp_path / "a.jsonl").write_text(json.dumps({"layers": {"pku": layer}}) + "\n", encoding="utf-8")
    status, out, _ = duilian(
        "convert", "char", "a.jsonl", "--from", "pku", "--to", "ctb", "--confidence", "--review", "50%",
        "--review-to", "r.jsonl",
    )  # fmt: skip
    assert status == 0
    found = json.loads(out)["layers"]["ctb"]
    spaces = found.get("spaces", [""] * len(found["words"]))
    text = "".join(part for pair in zip(found["words"], spaces, strict=True) for part in pair)
    assert text == "iPhone 15１ 月来\u200b了"
    assert len(found["columns"]["confidence"]) == len(found["words"]) == len(found["tags"])
    (review,) = read(tmp_path / "r.jsonl", standard="ctb")
    assert list(review["ctb"].words) == found["words"]


def test_convert_shows_how_sure_it_is(duilian):
    arguments = ("convert", "word", "--from", "pku", "--to", "ctb", "--confidence")
    line = "我们/r 去/v 北京/ns 。/w\n".encode()
    out = duilian(*arguments, "--to-format", "underscore", stdin=line)[1]
    assert re.fullmatch(r"我们_PN:[01]\.\d{4} 去_VV:[01]\.\d{4} 北京_NR:[01]\.\d{4} 。_PU:[01]\.\d{4}\n", out)
    found = json.loads(duilian(*arguments, "--to-format", "jsonl", stdin=line)[1])["layers"]
    assert list(found) == ["pku", "ctb"], "both layers stay"
    assert found["pku"]["tags"] == ["r", "v", "ns", "w"]


def test_old_tags_stay_in_their_column(duilian, tmp_path):
    """Tags of ctb go to xpos. Tags read from a column are replaced in that column."""
    row = "1\t他\tL\tr\tX\tA=b\t2\tsubj\t_\tGloss=he\n2\t来\tL\tv\tX\t_\t0\troot\t_\t_"
    (tmp_path / "a.conllu").write_text(f"# sent_id = s\n{row}\n\n", encoding="utf-8")
    out = duilian("convert", "word", "a.conllu", "--from", "pku", "--to", "ctb")[1]
    assert out == f"# sent_id = s\n{row}\n\n".replace("r\tX", "r\tPN").replace("v\tX", "v\tVV")
    (tmp_path / "b.conllu").write_text(out, encoding="utf-8")
    back = duilian("convert", "word", "b.conllu", "--from", "ctb", "--to", "pku")[1]
    assert back == out.replace("PN", "r").replace("VV", "v")
    universal = back.replace("\tr\tr", "\tPRON\tr").replace("\tv\tv", "\tVERB\tv")
    (tmp_path / "c.conllu").write_text(universal, encoding="utf-8")
    again = duilian("convert", "word", "c.conllu", "--from", "pku", "--to", "ctb")[1]
    assert [line.split("\t")[3:5] for line in again.splitlines()[1:3]] == [["PRON", "PN"], ["VERB", "VV"]]


REST = "\t_" * 6
ROWS = f"# a\n1-2\t他来\t_\t_{REST}\n1\t他\t_\tr{REST}\n2\t来\t_\tZZ{REST}\n"
UNKNOWN = [
    ("slash", "我们/r  去/v\n\n他/r  来/ZZ\n", 3),
    ("underscore", "<S ID=1>\n我们_r 去_v\n</S>\n<S ID=2>\n他_r 来_ZZ\n</S>\n", 5),
    ("columns", "我们 r\n去 v\n\n他 r\n来 ZZ\n", 5),
    ("conllu", ROWS, 4),
    ("jsonl", '{"layers":{"pku":{"words":["他","来"],"tags":["r","ZZ"]}}}\n', 1),
]  # fmt: skip


@pytest.mark.parametrize(("form", "text", "line"), UNKNOWN, ids=lambda value: str(value)[:8])
def test_tags_never_seen_are_named_with_their_line(duilian, tmp_path, form, text, line):
    (tmp_path / "in").write_text(text, encoding="utf-8")
    arguments = ("convert", "word", "in", "--format", form, "--from", "pku", "--to", "ctb", "-o", "out")
    status, _, err = duilian(*arguments)
    assert status == 1
    assert err.startswith(
        f"duilian: in:{line}: the model has never seen the tag 'ZZ' of 'pku'\n  hint: --unknown-tags"
    )
    assert not (tmp_path / "out").exists()
    status, _, err = duilian(*arguments, "--unknown-tags")
    assert (status, err) == (0, "duilian: ignored 1 tag that the model has never seen\n")
    assert all(
        tag for each in read(tmp_path / "out", format=form, standard="ctb") for tag in each["ctb"].tags
    )


def test_lines_are_right_in_the_second_piece_of_a_file(duilian, tmp_path, monkeypatch):
    monkeypatch.setattr("duilian.conversion.converter.batches", functools.partial(batches, limit=2))
    (tmp_path / "in").write_text("我/r 来/v\n" * 5 + "我/r 来/ZZ\n", encoding="utf-8")
    err = duilian("convert", "word", "in", "--from", "pku", "--to", "ctb", "-o", "out")[2]
    assert err.startswith("duilian: in:6: ")
    given = [PlacedSentence(Sentence({"pku": Layer(("我",), ("r",))}, str(k))) for k in range(5)]
    found = list(Converter(load(tmp_path / "word"), "pku", "ctb").run(given))
    assert [sentence.id for sentence, _ in found] == ["0", "1", "2", "3", "4"]


def test_review_has_the_least_certain_words(duilian, tmp_path):
    arguments = ("convert", "word", "pku-dev.txt", "--from", "pku", "--to", "ctb", "--confidence")
    status, _, told = duilian(*arguments, "-o", "out", "--review", "5%")
    assert status == 0
    sure = [
        float(each) for each in re.findall(r":([01]\.\d{4})", (tmp_path / "out").read_text(encoding="utf-8"))
    ]
    review = (tmp_path / "out.review").read_text(encoding="utf-8")
    chosen = re.findall(r"/\{[A-Z]+(?:\|[A-Z]+)+\}", review)
    assert f"out.review: {len(chosen)} words in {len(review.splitlines())} sentences to review" in told
    assert len(chosen) == -(-len(sure) // 20)
    assert 0 < len(review.splitlines()) < 40, "sentences without such words are left out"
    whole = {layer.words: place for place, layer in enumerate(layers_of(tmp_path / "pku-dev.txt", "pku"))}
    found = read(tmp_path / "out.review", standard="ctb", format="slash")
    hard, at = [], [0, *itertools.accumulate(map(len, whole))]
    for sentence in found:
        first = at[whole[sentence["ctb"].words]]
        hard += [sure[first + k] for k, tag in enumerate(sentence["ctb"].tags or ()) if tag is not None]
    assert max(hard) <= sorted(sure)[len(hard)] + 1e-4
    filled = re.sub(r"/\{([A-Z]+)\|[^}]*\}", r"/\1", review)
    (tmp_path / "filled.txt").write_text(filled, encoding="utf-8")
    more = ("--set", "side.1.train=['ctb.txt', 'filled.txt']", "--set", "learning.iterations=1")
    assert duilian("train", "both.toml", "-o", "m", *more)[0] == 0, "filled in, it can be trained on"


def test_inspect_any_model(duilian, tmp_path):
    assert duilian("train", "both.toml", "-o", "m", "--set", "learning.iterations=1")[0] == 0
    status, out, _ = duilian("inspect", "m")
    assert status == 0
    pieces = (r"kind +coupled, word level", r"ctb +32 tags: AD AS", r"pku +31 tags", r"mapping tight")
    for piece in (*pieces, r"dev, in training +\d\d\.\d\d, accuracy of tags\n"):
        assert re.search(piece, out), piece
    assert RECIPE.strip() in out
    assert "overrides" in out
    found = json.loads(duilian("inspect", "m", "--json")[1])
    assert found["bytes"] == (tmp_path / "m").stat().st_size
    assert found["standards"]["pku"]["corpora"]["dev"]["sentences"] == 40
    assert found["standards"]["ctb"]["tags"][:2] == ["AD", "AS"]
    assert found["notes"]["overrides"] == ["learning.iterations=1"]
    plain = json.loads(duilian("inspect", "plain", "--json")[1])
    weights = Tagger.load(tmp_path / "plain").model_.weights
    assert plain["weights"] == weights.weight.size + weights.transition.size
    assert re.search(r"kind +crf, word level *\n", duilian("inspect", "plain")[1])
    assert "guided by" in duilian("inspect", "guided")[1]


def test_inspect_the_learned_mapping(duilian):
    status, out, _ = duilian("inspect", "word", "pku.txt", "--examples", "3")
    assert status == 0
    assert re.search(r"^pku +count +ctb", out), "the standard of the file is found by its tags"
    assert re.search(r"^w +\d+ +PU (100|9\d)\.\d", out, re.MULTILINE)
    assert re.search(r"^的 u\b.*\n(DEG|DEC) +\d+ +.*\[的\].*\n(DEG|DEC) +\d+ +.*\[的\]", out, re.MULTILINE)
    found = json.loads(duilian("inspect", "word", "pku.txt", "--json", "--examples", "3")[1])
    assert (found["from"], found["to"], len(found["words"])) == ("pku", "ctb", 3)
    words = sum(len(sentence["pku"]) for sentence in demo.load("pku", "pku"))
    assert sum(row["count"] for row in found["tags"].values()) == pytest.approx(words)
    assert all(90 < sum(row["to"].values()) <= 100 + 1e-6 for row in found["tags"].values())
    for word in found["words"]:
        counts = [each["count"] for each in word["to"]]
        assert len(counts) >= 2
        assert counts == sorted(counts, reverse=True)
    assert found["mapping"] == "strict", "as in convert"
    (row,) = [row for tag, row in found["tags"].items() if tag == "w"]
    assert list(row["to"]) == ["PU"]
    free = json.loads(duilian("inspect", "word", "pku.txt", "--json", "--mapping", "complete")[1])
    assert free["mapping"] == "complete"
    assert free["tags"] != found["tags"]
    assert duilian("inspect", "word", "--mapping", "tight")[0] == 2, "needs a corpus"
    assert duilian("inspect", "word", "ctb.txt", "--json")[1].startswith('{\n  "from": "ctb"')
    status, out, _ = duilian("inspect", "char", "both-pku.txt", "--from", "pku", "--to", "ctb")
    assert (status, out.split()[0]) == (0, "pku")


def test_inspect_skips_what_is_malformed_if_told(duilian, tmp_path):
    bad = (tmp_path / "both-pku.txt").read_text(encoding="utf-8") + "bad\n"
    (tmp_path / "bad.txt").write_text(bad, encoding="utf-8")
    command = ("inspect", "word", "bad.txt", "--format", "slash")
    assert duilian(*command)[0] == 1
    status, out, err = duilian(*command, "--lenient")
    assert (status, out) == (0, duilian("inspect", "word", "both-pku.txt")[1])
    assert "duilian: warning: skipped 1 line; first: bad.txt:" in err


def test_inspect_draws(duilian, tmp_path):
    assert duilian("inspect", "word", "both-pku.txt", "--plot", "map.png")[0] == 0
    assert (tmp_path / "map.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


BAD = [
    (("convert", "plain", "pku.txt", "--from", "pku", "--to", "ctb"), "kind 'crf' cannot convert annotation"),
    (("convert", "word", "pku.txt", "--from", "pku", "--to", "pku"), "there is nothing to convert"),
    (("convert", "word", "pku.txt", "--from", "pku", "--to", "ud"), "no standard 'ud'"),
    (("convert", "word", "words.seg", "--from", "pku", "--to", "ctb"), "words without tags"),
    (("convert", "word", "empty.txt", "--from", "pku", "--to", "ctb"), "empty.txt:1: the file is empty"),
    (("convert", "word", "gone.txt", "--from", "pku", "--to", "ctb"), "gone.txt: no such file"),
    (("convert", "word", "t.fid", "--from", "ctb", "--to", "pku"), "can only be read"),
    (("inspect", "gone"), "gone: there is no such file"),
    (("inspect", "pku.txt"), "pku.txt: "),
    (("inspect", "plain", "pku.txt"), "plain: a model of kind 'crf' learns no mapping"),
    (("inspect", "word", "odd.txt"), "odd.txt: its tags belong to none of the model's standards"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda value: " ".join(value)[:40])
def test_mistakes_end_with_one_sentence(duilian, tmp_path, arguments, message):
    (tmp_path / "words.seg").write_text("我们  去\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("\n", encoding="utf-8")
    (tmp_path / "odd.txt").write_text("我们/ZZ  去/YY\n", encoding="utf-8")
    (tmp_path / "t.fid").write_text("( (IP (NP (PN 他)) (VP (VV 来))) )\n", encoding="utf-8")
    status, out, err = duilian(*arguments)
    assert (status, out) == (1, "")
    assert message in err
    assert err.startswith("duilian: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("convert", "word", "pku.txt", "--to", "ctb"),
        ("convert", "word", "pku.txt", "--from", "pku", "--to", "ctb", "--review", "5%"),
        ("convert", "word", "pku.txt", "--from", "pku", "--to", "ctb", "--review", "5", "-o", "out"),
        ("convert", "word", "pku.txt", "--from", "pku", "--to", "ctb", "--review-to", "r"),
        ("inspect", "word", "--plot", "map.png"),
        ("inspect", "word", "-"),
    ],
    ids=" ".join,
)
def test_wrong_usage(duilian, arguments):
    assert duilian(*arguments)[0] == 2


@pytest.mark.parametrize("command", ["convert", "inspect"])
def test_help_has_an_example(duilian, command):
    status, out, _ = duilian(command, "--help")
    assert status == 0
    assert f"duilian {command}" in out
