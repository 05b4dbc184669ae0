"""Corpora that a study prepares: mixed text, shares, and the same sentences in two standards."""

from __future__ import annotations

from pathlib import Path

import pytest

from duilian import Corpus, Layer, Sentence, demo, read, write
from duilian.errors import ConfigError
from duilian.experiments.named_corpora import CorpusShelf

DEMO = Path(demo.__file__).parent


def shelf(folder: Path, data: Path = DEMO) -> CorpusShelf:
    return CorpusShelf(data, folder, (None, None))


def sentences(found: CorpusShelf, name: str, part: str) -> Corpus:
    (path,) = found.files(found[name], part)
    return read(path, standard=found[name].side["standard"], check_tags=False)


def test_mixed_text_is_made_once(tmp_path: Path) -> None:
    step = {"name": "E", "step": "mix", "of": "demo-pku", "preset": "E", "limit": 50}
    found = shelf(tmp_path)
    found.prepare([step])
    train = sentences(found, "E", "train")
    assert len(train) == 50
    assert any("ENG" in sentence["pku"].words for sentence in train)
    (path,) = found.files(found["E"], "train")
    before = path.stat().st_mtime_ns
    shelf(tmp_path).prepare([step])
    assert path.stat().st_mtime_ns == before
    shelf(tmp_path).prepare([step | {"preset": "A"}])
    assert len(list((tmp_path / "data").glob("E-*.train.jsonl"))) == 2


def test_a_share_may_lose_its_tags(tmp_path: Path) -> None:
    step = {"name": "half", "step": "share", "of": "demo-ctb", "from": 0.0, "bare_from": 0.5, "to": 1.0}
    found, whole = shelf(tmp_path), shelf(tmp_path)
    found.prepare([step])
    whole.prepare([{key: value for key, value in step.items() if key != "bare_from"}])
    bare, full = (sentences(each, "half", "train") for each in (found, whole))
    half = round(len(full) / 2)
    assert [each["ctb"].words for each in bare] == [each["ctb"].words for each in full]
    assert [each["ctb"] for each in bare[:half]] == [each["ctb"] for each in full[:half]]
    assert all(each["ctb"].tags is None for each in bare[half:])


def test_two_shares_are_the_corpus(tmp_path: Path) -> None:
    found = shelf(tmp_path)
    found.prepare(
        [
            {"name": "first", "step": "share", "of": "demo-ctb", "from": 0.0, "to": 0.5},
            {"name": "second", "step": "share", "of": "demo-ctb", "from": 0.5, "to": 1.0},
        ]
    )
    halves = [sentences(found, name, "train") for name in ("first", "second")]
    whole = demo.load("ctb", "ctb")
    assert sorted(each.text for half in halves for each in half) == sorted(each.text for each in whole)
    assert sentences(found, "first", "dev") == read(DEMO / "ctb-dev.txt", standard="ctb")


def test_aligned_sentences_have_the_words_of_the_source(tmp_path: Path) -> None:
    words = [("我们", "去"), ("他", "来"), ("好", "吧"), ("天气", "好")]
    source = [
        Sentence({"gsd": Layer(row, ("PRP", "VV"), heads=(2, 0), relations=("nsubj", "root"))})
        for row in words
    ]
    others = [*words[:2], ("好吧",), ("天氣", "好")]
    target = [Sentence({"ud": Layer(row, ("X",) * len(row))}) for row in others]
    for part in ("train", "dev", "test"):
        (tmp_path / "udc").mkdir(exist_ok=True)
        write(
            Corpus(source, standard="gsd"), tmp_path / "udc" / f"{part}.conll", format="conllx", column="xpos"
        )
    write(Corpus(target, standard="ud"), tmp_path / "v2.conllu", format="conllu", column="upos")
    step = {"name": "v2", "step": "align", "of": "udc", "file": "v2.conllu", "standard": "ud"}
    found = shelf(tmp_path / "out", tmp_path)
    found.prepare([step | {"first": 1, "column": "upos"}])
    assert [each.text for each in sentences(found, "v2", "train")] == ["我们去"]
    assert [each["ud"].words for each in sentences(found, "v2", "test")] == [("他", "来"), ("天气", "好")]
    given = found["v2"].given
    assert given is not None
    assert given["standard"] == "gsd"


def test_an_unknown_step_or_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no step 'mixx'"):
        shelf(tmp_path).prepare([{"name": "x", "step": "mixx", "of": "demo-ctb"}])
    with pytest.raises(ConfigError, match="there is no corpus 'demo-cbt'"):
        shelf(tmp_path)["demo-cbt"]
