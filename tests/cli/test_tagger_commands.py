"""`duilian train`, `tag`, `segment`, `evaluate`, `select`: output and exit status."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from running import DEMO, Call, accept_control_c, in_demo_folder

from duilian import Tagger, demo, load, read
from duilian.corpus.formats.slash import read_slash, write_slash
from duilian.document.text_lines import line_layer, segmented_line
from duilian.engine import Analyzer
from duilian.learning import AdaGrad
from duilian.modelfile import read_model
from duilian.models.base.feature_settings import Features
from duilian.models.roles import Ask
from duilian.text import units

WORD = """
[model]
kind = "crf"

[[side]]
standard = "ctb"
train = "ctb.txt"
dev = "ctb-dev.txt"
test = "both-ctb.txt"

[learning]
iterations = 2
"""
CHAR = WORD.replace('"crf"', '"crf"\nlevel = "char"')


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """A folder with a word-level model, a character-level model and a segmenter."""
    folder = tmp_path_factory.mktemp("models")
    corpus = demo.load("ctb", "ctb")
    Tagger("ctb", learning=AdaGrad(iterations=2)).fit(corpus).save(folder / "word")
    Tagger("ctb", level="char", learning=AdaGrad(iterations=2)).fit(corpus).save(folder / "char")
    cuts = Tagger(
        "ctb",
        level="char",
        segment_only=True,
        features=Features(join_letters=True, join_digits=True),
        learning=AdaGrad(iterations=2),
    )
    cuts.fit(corpus).save(folder / "cuts")
    return folder


@pytest.fixture
def duilian(monkeypatch, tmp_path, models) -> Call:
    """Run a command in a folder with the demonstration corpora, two recipes and the models."""
    return in_demo_folder(monkeypatch, tmp_path, models, {"word.toml": WORD, "char.toml": CHAR})


def test_train_tells_and_writes(duilian, tmp_path):
    before = set(os.listdir(tmp_path))
    status, out, err = duilian("train", "word.toml", "-o", "m")
    assert status == 0
    assert re.fullmatch(r"m: [\d,]+ bytes, dev \d\d\.\d\d\n", out)
    line = r"iteration {}: loss \d+\.\d{{4}}, dev \d\d\.\d\d( \(best\))?, \d+\.\d s\n"
    assert re.fullmatch(line.format(1) + line.format(2), err)
    assert set(os.listdir(tmp_path)) - before == {"m", "m.log.jsonl"}


def test_train_obeys_its_options(duilian, tmp_path):
    def model(*options: str) -> bytes:
        assert duilian("train", "word.toml", "-o", "m", *options)[0] == 0
        return (tmp_path / "m").read_bytes()

    usual = model()
    assert model("--threads", "3") == usual
    assert model("--data", str(DEMO)) == usual
    assert model("--seed", "2") == model("--set", "learning.seed=2") != usual
    assert len(model("--set", "saving.precision=int8")) < len(usual)


def test_the_test_set_is_only_looked_at_when_asked(duilian, tmp_path):
    (tmp_path / "both-ctb.txt").unlink()
    assert duilian("train", "word.toml", "-o", "m")[0] == 0
    shutil.copy(DEMO / "both-ctb.txt", tmp_path)
    status, out, _ = duilian("train", "word.toml", "-o", "m", "--test")
    assert status == 0
    assert re.search(r"sentences +25\b", out)
    (tmp_path / "none.toml").write_text(WORD.replace("test =", "#"), encoding="utf-8")
    assert duilian("train", "none.toml", "-o", "m", "--test")[0] == 2


def test_train_warns_of_dev_sentences_it_has_seen(duilian):
    _, _, err = duilian("train", "word.toml", "-o", "m", "--set", "side.dev=ctb.txt")
    assert "warning: the dev set is the training corpus" in err
    _, _, err = duilian("train", "word.toml", "-o", "m", "--set", "side.limit=9", "--set", "side.dev=ctb.txt")
    assert "warning: 9 of 260 dev sentences also occur in the training corpus" in err
    _, _, err = duilian("train", "word.toml", "-o", "m", "--set", "side.limit=1", "--set", "side.dev=ctb.txt")
    assert "warning: 1 of 260 dev sentences also occurs in the training corpus" in err


def test_resume_without_a_checkpoint_begins_at_the_beginning(duilian):
    status, _, err = duilian("train", "word.toml", "-o", "m", "--resume")
    assert status == 0
    assert "there is no m.checkpoint to resume from" in err


def test_resuming_a_finished_model_leaves_it_alone(duilian, tmp_path):
    assert duilian("train", "word.toml", "-o", "m")[0] == 0
    finished = (tmp_path / "m").read_bytes()
    status, _, err = duilian("train", "word.toml", "-o", "m", "--resume")
    assert status == 0
    assert err == "duilian: m is finished, nothing to resume; omit --resume to train it again\n"
    status, _, err = duilian("train", "word.toml", "-o", "m", "--resume", "--seed", "5")
    assert status == 1
    assert "m: this model comes from another recipe or other settings" in err
    assert (tmp_path / "m").read_bytes() == finished


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(DEMO.parent.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "duilian.cli", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=accept_control_c,
    )


def stop_when_it_has_a_checkpoint(process: subprocess.Popen[bytes], path: Path, how: signal.Signals) -> bytes:
    end = time.monotonic() + 30
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.005)
    process.send_signal(how)
    return process.communicate(timeout=30)[1]


LONG = ("train", "word.toml", "-o", "m", "--set", "learning.iterations=40", "--set", "side.limit=60")


def test_killed_and_resumed_is_the_same_model(duilian, tmp_path):
    killed = start(tmp_path, *LONG)
    stop_when_it_has_a_checkpoint(killed, tmp_path / "m.checkpoint", signal.SIGKILL)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "m").exists()
    status, _, err = duilian(*LONG, "--resume", "--threads", "2")
    assert status == 0
    said = re.match(r"duilian: resuming after iteration (\d+) of 40 from m.checkpoint\niteration (\d+):", err)
    assert said is not None
    assert int(said[2]) == int(said[1]) + 1 > 1, "it went on, it did not start again"
    resumed = (tmp_path / "m").read_bytes()
    assert duilian(*LONG)[0] == 0
    assert (tmp_path / "m").read_bytes() == resumed


def test_control_c_says_how_to_go_on(duilian, tmp_path):
    process = start(tmp_path, *LONG)
    err = stop_when_it_has_a_checkpoint(process, tmp_path / "m.checkpoint", signal.SIGINT).decode()
    assert process.returncode == 130
    said = re.search(
        r"stopped; m.checkpoint has the state after iteration (\d+): continue with --resume\n$", err
    )
    assert said is not None
    assert int(said[1]) == read_model(tmp_path / "m.checkpoint")[0]["iteration"]
    assert "Traceback" not in err
    assert (tmp_path / "m.checkpoint").exists()


WORDS = "我们 去 北京 。\n\n他　来 了\n"


def test_tag_words_in_lines(duilian):
    status, out, err = duilian("tag", "-m", "word", stdin=WORDS.encode())
    assert (status, err) == (0, "")
    assert re.sub(r"_[A-Z]+", "", out) == "我们 去 北京 。\n\n他 来 了\n"
    assert out.startswith("我们_PN 去_VV ")


def test_tag_gives_what_the_library_gives(duilian, tmp_path):
    gold = read(tmp_path / "ctb-dev.txt", standard="ctb")
    for name in ("word", "char"):
        guess = Tagger.load(tmp_path / name).predict_layers(gold)
        assert duilian("tag", "-m", name, "ctb-dev.txt", "--format", "underscore", "-o", "out.pos")[0] == 0
        assert [each["ctb"].tags for each in read(tmp_path / "out.pos")] == [each.tags for each in guess]
        assert [each["ctb"].words for each in read(tmp_path / "out.pos")] == [each.words for each in guess]


def test_tag_knows_a_corpus_when_it_sees_one(duilian):
    status, out, _ = duilian("tag", "-m", "word", "ctb-dev.txt")
    assert status == 0
    assert out == duilian("tag", "-m", "word", "ctb-dev.txt", "--format", "underscore")[1]
    assert duilian("tag", "-m", "word", stdin=b"TCP/IP\n")[1].startswith("TCP/IP_"), "one word is no corpus"
    assert duilian("tag", "-m", "word", stdin=b"a b\nc d\n")[1].count("_") == 4, "nor are two columns"


def test_tag_in_every_format(duilian, tmp_path):
    for form in ("underscore", "slash", "conllu", "jsonl", "columns"):
        assert duilian("tag", "-m", "char", "-o", "out", "--to", form, stdin="他来了。\n好".encode())[0] == 0
        found = read(tmp_path / "out", format=form, standard="ctb")
        assert [each["ctb"].text for each in found] == ["他来了。", "好"], form
        assert all(each["ctb"].tags for each in found)
    assert duilian("tag", "-m", "char", "--to", "segmented", stdin="好".encode())[1] == "好\n"


def test_tag_keeps_the_rest_of_a_corpus(duilian, tmp_path):
    row = "1\t他\tLEMMA\tX\tAD\tA=b\t0\troot\t_\tGloss=he"
    (tmp_path / "a.conllu").write_text(f"# sent_id = s\n# a comment\n{row}\n\n", encoding="utf-8")
    out = duilian("tag", "-m", "word", "a.conllu", "--to", "conllu")[1]
    tag = out.split("\t")[4]
    assert out == f"# sent_id = s\n# a comment\n{row}\n\n".replace("\tAD\t", f"\t{tag}\t")
    assert tag != "AD"


def test_marginals(duilian, tmp_path):
    line = duilian("tag", "-m", "word", "--marginals", stdin=WORDS.encode())[1].splitlines()[0]
    assert re.fullmatch(r"我们_PN:0\.\d{4} 去_VV:0\.\d{4} 北京_\w+:0\.\d{4} 。_PU:0\.\d{4}", line)
    tagger = Tagger.load(tmp_path / "word")
    (marginals,) = tagger.marginals([["我们", "去", "北京", "。"]])
    assert [float(each) for each in re.findall(r":([\d.]+)", line)] == pytest.approx(
        marginals.max(1), abs=0.02
    )
    rows = duilian("tag", "-m", "char", "--marginals", "--to", "conllu", stdin="他 来了".encode())[
        1
    ].splitlines()
    assert rows[0] == "# text = 他 来了"
    assert re.search(r"\tConf=[01]\.\d{4}$", rows[1]), "a space stands behind"
    assert all(re.search(r"\tSpaceAfter=No\|Conf=[01]\.\d{4}$", row) for row in rows[2:-1])
    found = json.loads(
        duilian("tag", "-m", "char", "--marginals", "--to", "jsonl", stdin="他来了".encode())[1]
    )
    layer = found["layers"]["ctb"]
    assert len(layer["columns"]["confidence"]) == len(layer["words"])


@pytest.mark.parametrize("model", ["word", "char"])
def test_n_best(duilian, tmp_path, model):
    text = {"word": WORDS, "char": "我们去北京。\n\n他 来了\n"}[model]
    status, out, _ = duilian("tag", "-m", model, "--nbest", "3", stdin=text.encode())
    rows = [line.split("\t") for line in out.splitlines()]
    assert status == 0
    assert [row[0] for row in rows] == ["1", "2", "3", "1", "1", "2", "3"]
    for three in (rows[:3], rows[4:]):
        shares = [float(row[1]) for row in three]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1
        assert len({row[2] for row in three}) == 3
    if model == "word":
        assert rows[0][2] + "\n" == duilian("tag", "-m", model, stdin=text.encode())[1].splitlines(True)[0]
    assert duilian("tag", "-m", model, "--nbest", "2", "--to", "conllu")[0] == 2


def test_segment(duilian):
    status, out, err = duilian(
        "segment", "-m", "char", stdin="我们去北京。\n\n  他 来\u3000了\t\r\n最后".encode()
    )
    assert (status, err) == (0, "")
    lines = out.split("\n")
    assert lines[0] == "我们  去  北京  。"
    assert lines[1] == ""
    assert re.fullmatch("  他  来\u3000 了\t", lines[2]), "white space stays, two signs wide"
    assert lines[3].replace(" ", "") == "最后"
    assert lines[4:] == [""]


def test_segment_joins_the_words_of_a_corpus(duilian, tmp_path):
    (tmp_path / "a.seg").write_text("我 们  去北 京\n", encoding="utf-8")
    assert duilian("segment", "-m", "char", "a.seg")[1] == "我们  去  北京\n"
    status, out, _ = duilian("segment", "-m", "char", "ctb-dev.txt", "--format", "underscore")
    assert status == 0
    texts = [each["ctb"].text for each in demo.load("ctb-dev", "ctb")]
    assert out.replace("  ", "").splitlines() == texts


LINES = st.text(
    st.one_of(
        st.sampled_from("我们去北京他来了。！”a1 \t\u3000\u00a0\u200b\u200d\ufeff\u0301\U00020000👩👨\x1f"),
        st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0"),
    ),
    max_size=25,
)


@example(line="我们。\u0301去", model="char")  # the mark combines, but begins a sentence
@example(line="20 14", model="cuts")
@given(line=LINES, model=st.sampled_from(["char", "cuts"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
def test_every_character_comes_back(models, line, model):
    zh = _loaded(models / model)
    doc = zh(line, ask=Ask(confidence=True))
    lead, layer = line_layer(doc, "ctb")
    assert lead + layer.text == line
    assert not any(re.search(r"\S\s+\S", word) for word in layer.words)
    confidence = doc.layer().confidence
    assert confidence is not None
    assert len(confidence) == len(layer)
    assert all(0 <= each <= 1 + 1e-6 for each in confidence)
    assert line_layer(zh(line), "ctb") == (lead, layer), "confidence changes nothing"
    best = zh.nbest(line, 1)
    assert [line_layer(each, "ctb") for each in best] == [(lead, layer)]
    out = segmented_line(doc, "ctb")
    assert "".join(out.split()) == "".join(line.split())
    visible = [token for token in out.split() if len(units(token))]
    assert visible == list(layer.words), "words stand apart"


_models: dict[Path, Analyzer] = {}


def _loaded(path: Path) -> Analyzer:
    return _models.setdefault(path, load(path))


def test_many_batches_keep_their_order(duilian, monkeypatch):
    monkeypatch.setattr("duilian.engine.analyzer.BATCH_CHARACTERS", 30)
    lines = [f"我们去{number}号。他来了！" if number % 5 else "" for number in range(40)]
    out = duilian("segment", "-m", "cuts", stdin="\n".join(lines).encode())[1]
    assert [line.replace(" ", "") for line in out.split("\n")] == [*lines, ""]


def test_files_one_after_the_other(duilian, tmp_path):
    (tmp_path / "a.txt").write_text("我们\n", encoding="utf-8")
    (tmp_path / "b.txt").write_bytes("北京\n".encode("gb18030"))
    assert duilian("segment", "-m", "char", "a.txt", "a.txt", "-")[1] == "我们\n我们\n"
    assert duilian("segment", "-m", "char", "b.txt", "--encoding", "gb18030")[1] == "北京\n"


def test_evaluate_as_json(duilian, tmp_path):
    status, out, err = duilian(
        "evaluate", "word", "ctb-dev.txt", "both-ctb.txt", "--json", "--against", "ctb.txt"
    )
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert (found["standard"], found["sentences"]) == ("ctb", 65)
    gold = [*demo.load("ctb-dev", "ctb"), *demo.load("both-ctb", "ctb")]
    assert found["accuracy"] == pytest.approx(100 * Tagger.load(tmp_path / "word").score(gold))
    assert found["word"]["f1"] == 100
    assert found["oov"]["tokens"] > 0
    assert found["seconds"] > 0
    assert found["tokens_per_second"] == pytest.approx(found["tokens"] / found["seconds"])


def test_evaluate_for_people_and_by_character(duilian, tmp_path):
    status, out, _ = duilian("evaluate", "char", "ctb-dev.txt")
    score = 100 * Tagger.load(tmp_path / "char").score(demo.load("ctb-dev", "ctb"))
    assert status == 0
    assert re.search(rf"word tag f1 +{score:.2f}\b", out)
    assert "accuracy" not in out
    found = json.loads(duilian("evaluate", "cuts", "ctb-dev.txt", "--json")[1])
    assert "word_tag" not in found
    assert 50 < found["word"]["f1"] < 100


def test_gold_tags_that_a_model_does_not_know_are_errors_of_the_model(duilian, tmp_path):
    (tmp_path / "gold.pos").write_text("我们_PN 去_ZZ\n", encoding="utf-8")
    status, out, err = duilian("evaluate", "word", "gold.pos", "--json")
    assert status == 0
    assert json.loads(out)["accuracy"] == 50
    assert err == "duilian: warning: gold tags unknown to the model count as errors: 1 (ZZ)\n"


def test_gold_words_with_spaces_in_them(duilian, tmp_path):
    layer = '{"words":["iPhone 15","来\\u200b了"],"tags":["NN","VV"]}'
    (tmp_path / "gold.jsonl").write_text(f'{{"layers":{{"ctb":{layer}}}}}\n', encoding="utf-8")
    assert json.loads(duilian("evaluate", "char", "gold.jsonl", "--json")[1])["tokens"] == 2


def test_gold_is_read_as_the_training_corpus_was(duilian, tmp_path):
    corpus = "我们/r  来/v  。/w  他/r  去/v  。/w\n" * 3
    (tmp_path / "p.txt").write_text(corpus, encoding="utf-8")
    (tmp_path / "p.toml").write_text(
        '[model]\nkind = "crf"\n[[side]]\nstandard = "pku"\ncut = "sentence"\ntrain = "p.txt"\n',
        encoding="utf-8",
    )
    assert duilian("train", "p.toml", "-o", "m")[0] == 0
    assert json.loads(duilian("evaluate", "m", "p.txt", "--json")[1])["sentences"] == 6
    assert json.loads(duilian("evaluate", "m", "p.txt", "--json", "--cut", "line")[1])["sentences"] == 3
    assert duilian("corpus", "convert", "p.txt", "-o", "p.conllu")[0] == 0
    assert json.loads(duilian("evaluate", "m", "p.conllu", "--json")[1])["sentences"] == 3


def test_select(duilian, tmp_path):
    status, out, err = duilian("select", "word", "both-ctb.txt", "--tokens", "20%")
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == 25
    tokens = out.split()
    open_ones = [token for token in tokens if not token.endswith("_?")]
    assert 0.2 <= len(open_ones) / len(tokens) < 0.3
    assert all(re.fullmatch(r"[^_]+_\{[A-Z]+(\|[A-Z]+){1,3}\}", token) for token in open_ones)
    worst = duilian("select", "word", "both-ctb.txt", "--sentences", "3")[1].splitlines()
    assert len(worst) == 3
    assert set(worst) < set(out.splitlines())
    filled = re.sub(r"_\{([A-Z]+)\|[^}]*\}", r"_\1", out)
    (tmp_path / "filled.pos").write_text(filled, encoding="utf-8")
    assert duilian("train", "word.toml", "-o", "m", "--set", "side.train=['ctb.txt', 'filled.pos']")[0] == 0


def test_select_with_a_character_level_model(duilian):
    status, out, err = duilian("select", "char", "both-ctb.txt", "--tokens", "20%", "--sentences", "3")
    assert (status, err) == (0, "")
    tokens = out.split()
    corpus = demo.load("both-ctb", "ctb")
    lines = {" ".join(sentence["ctb"].words) for sentence in corpus}
    assert {re.sub(r"_\S+", "", line) for line in out.splitlines()} < lines
    assert 0.2 <= sum(not token.endswith("_?") for token in tokens) / len(tokens) < 0.3
    assert re.search(r"_\{[A-Z]+(\|[A-Z]+){1,3}\}", out)


BAD = [
    (("train", "missing.toml", "-o", "m"), "missing.toml: no such file or directory"),
    (("train", "word.toml", "-o", "no/m"), "no/m: there is no folder no"),
    (
        ("train", "word.toml", "-o", "m", "--set", "learning.raet=1"),
        "word.toml: [learning] has no key 'raet'",
    ),
    (("train", "word.toml", "-o", "m", "--set", "side.train=empty.pos"), "empty.pos:1: the file is empty"),
    (("train", "word.toml", "-o", "m", "--set", "side.train=words.seg"), "words.seg: the corpus has no tags"),
    (("train", "word.toml", "-o", "m", "--set", "features.templates=chunk"), "need the column 'pos'"),
    (("train", "word.toml", "-o", "m", "--data", "/nowhere"), "there is no file '/nowhere/ctb.txt'"),
    (("tag", "-m", "missing", "words.seg"), "missing: there is no such file"),
    (("tag", "-m", "cut-short", "words.seg"), "cut-short: "),
    (("tag", "-m", "words.seg"), "words.seg: "),
    (("tag", "-m", "cuts", "words.seg"), "cuts: the model only segments text"),
    (("tag", "-m", "word", "missing.txt"), "there is no file 'missing.txt'"),
    (("tag", "-m", "word", "words.seg", "-o", "no/out"), "no/"),
    (("tag", "-m", "word", "words.seg", "--format", "xml"), "unknown format 'xml'"),
    (("segment", "-m", "word", "words.seg"), "'crf' reads words and does not segment text"),
    (("segment", "-m", "char", "latin.txt"), "latin.txt:1: byte 0xe9"),
    (("evaluate", "word", "pku-dev.txt"), "pku-dev.txt: the model knows none of the tags, such as 'a'"),
    (("evaluate", "word", "words.seg"), "words.seg: there are no tags to compare with"),
    (("evaluate", "word", "empty.pos"), "empty.pos:1: the file is empty"),
    (("evaluate", "cut-short", "ctb.txt"), "cut-short: "),
    (("select", "cuts", "words.seg"), "cuts: the model only segments text"),
    (("select", "word", "raw.txt"), "raw.txt:2: the text is not segmented"),
    (("select", "char", "raw.txt"), "raw.txt:2: the text is not segmented"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda value: " ".join(value)[:50])
def test_mistakes_end_with_one_sentence(duilian, tmp_path, arguments, message):
    (tmp_path / "empty.pos").write_text("\n", encoding="utf-8")
    (tmp_path / "words.seg").write_text("我们  去\n", encoding="utf-8")
    (tmp_path / "raw.txt").write_text("我们 去\n我们明天去北京，他不去。\n", encoding="utf-8")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9 au lait\n")
    (tmp_path / "cut-short").write_bytes((tmp_path / "word").read_bytes()[:-1000])
    before = sorted(os.listdir(tmp_path))
    status, out, err = duilian(*arguments)
    assert (status, out) == (1, "")
    assert message in err
    first, *hints = err.splitlines()
    assert first.startswith("duilian: ")
    assert len(hints) <= 1
    assert all(hint.startswith("  hint: ") for hint in hints)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "word.toml"),
        ("tag", "-m", "word", "--to", "xml"),
        ("select", "word", "--tokens", "20"),
        ("select",),
    ],
    ids=" ".join,
)
def test_wrong_usage(duilian, arguments):
    assert duilian(*arguments)[0] == 2


@pytest.mark.parametrize("command", ["train", "tag", "segment", "evaluate", "select"])
def test_help_has_an_example(duilian, command):
    status, out, _ = duilian(command, "--help")
    assert status == 0
    assert "Example:" in out
    assert f"duilian {command}" in out


def test_a_tag_that_is_the_separator_has_a_probability_too() -> None:
    line = "$//:0.6100  9/CD:1.0000  :/::0.5000"
    (sentence,) = read_slash([(1, line)], path="", standard="gsd")
    assert sentence["gsd"].tags == ("/:0.6100", "CD:1.0000", "::0.5000")
    assert list(write_slash([sentence], standard="gsd")) == [line + "\n"]
