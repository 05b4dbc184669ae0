"""The analyser: words are spans of the text, for any text, threads and batches."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duilian
import duilian.engine.loading
from analysed import NASTY, check, is_tree
from duilian import demo, engine
from duilian.document import Doc
from duilian.engine import Analyzer
from duilian.engine import analyzer as analyzer_module
from duilian.errors import ConfigError, TextError
from duilian.labels.units import units_of_texts
from duilian.lexicon import Entry
from duilian.lexicon.constraint_builder import ConstraintBuilder
from duilian.models import CoupledTagger, Parser, Suite, Tagger, load_parser
from duilian.models import load as load_model
from duilian.models.roles import Ask
from duilian.text import WHOLE_KINDS
from duilian.views import couplet

TEXT = "我们明天去北京参观新的图书馆。她 很 喜欢iPhone！\n第二行"
texts = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(NASTY), max_size=30).map("".join))


def content(doc: Doc) -> list[object]:
    return [doc.text, *(doc.tokens(standard) for standard in doc.standards)]


@given(texts)
def test_every_text_comes_back_whole(coupled: Analyzer, text: str) -> None:
    try:
        doc = coupled(text)
    except TextError:
        assert any("\ud800" <= c <= "\udfff" for c in text)
        return
    assert doc.text == text
    check(doc)


@given(st.lists(texts.filter(lambda text: text.isprintable()), max_size=6), st.integers(1, 3))
def test_batches_and_threads_do_not_show(coupled: Analyzer, several: list[str], threads: int) -> None:
    together = list(coupled.pipe(several, threads=threads))
    assert [content(doc) for doc in together] == [content(coupled(text)) for text in several]


def test_a_stream_is_answered_in_order_and_piece_by_piece(
    analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyzer_module, "BATCH_CHARACTERS", 20)
    asked = []

    def lines() -> Iterator[str]:
        for k in itertools.count():
            asked.append(k)
            yield f"第{k}个句子。"

    answers = analyzer.pipe(lines(), threads=2)
    assert [next(answers).text for _ in range(10)] == [f"第{k}个句子。" for k in range(10)]
    assert len(asked) < 20


def test_white_space_ends_a_word(analyzer: Analyzer) -> None:
    doc = analyzer("图 书 馆")
    for standard in doc.standards:
        assert doc.words(standard) == ["图", "书", "馆"]
    check(analyzer(TEXT))


def test_all_of_a_document(coupled: Analyzer) -> None:
    doc = coupled(TEXT)
    assert doc.standards == demo.STANDARDS
    assert len(list(doc.sentences("pku"))) == 3
    assert len(doc.tags("pku")) == len(doc.words("pku"))
    assert all(0.0 < token.confidence <= 1.0 + 1e-6 for token in doc.tokens("ctb") if token.confidence)
    assert doc.words() == doc.words("ctb")
    first = doc.to_sentences()[0]
    assert first.text == "我们明天去北京参观新的图书馆。"
    assert list(first["pku"].words) == [token.text for token in doc.sentences("pku")[0]]


def test_empty_and_blank_texts_have_no_words(analyzer: Analyzer) -> None:
    for text in ("", "  \n", "\u200b"):
        doc = analyzer(text)
        assert doc.words() == []
        assert list(doc.sentences()) == []
        assert doc.to_sentences() == []
        assert couplet(doc).plain == ""
    assert list(analyzer.pipe([])) == []


def test_wrong_questions_are_answered_clearly(coupled: Analyzer) -> None:
    doc = coupled("我们")
    with pytest.raises(ConfigError, match="there is no standard 'ud'"):
        doc.words("ud")
    with pytest.raises(ConfigError, match="no parser"):
        _ = doc.heads
    with pytest.raises(ConfigError, match="threads must be a whole number, at least 1"):
        list(coupled.pipe(["我"], threads=0))
    with pytest.raises(ConfigError, match="at least 1 and at most 256, got 1000000"):
        list(coupled.pipe(["我"], threads=1_000_000))
    with pytest.raises(ConfigError, match="str cannot find words"):
        Analyzer("ctb")


def test_an_analyser_from_a_file_says_the_same(coupled: Analyzer, tmp_path: Path) -> None:
    path = tmp_path / "both.model"
    assert isinstance(coupled.model, CoupledTagger)
    coupled.model.save(path)
    again = engine.load(path)
    assert again(TEXT).words("pku") == coupled(TEXT).words("pku")


def test_the_parser_gives_every_sentence_a_tree(parsed: Analyzer) -> None:
    doc = parsed(TEXT)
    assert doc.tree_standard == "pku"
    assert doc.words() == Analyzer(parsed.model)(TEXT).words()
    for tokens in doc.sentences():
        assert is_tree([token.head for token in tokens])
    assert set(doc.relations) <= {"root", "next"}
    assert doc.to_sentences()[0]["pku"].heads is not None
    for text in ("", "\n", "我"):
        check(parsed(text))


def test_the_parser_says_what_it_says_alone(parsed: Analyzer) -> None:
    doc = parsed("我们明天去北京参观新的图书馆。")
    (sentence,) = doc.to_sentences()
    assert parsed.parser is not None
    (alone,) = parsed.parser.predict_layers([sentence["pku"]])
    assert (alone.heads, alone.relations) == (sentence["pku"].heads, sentence["pku"].relations)


def test_sentences_that_are_too_long_for_one_tree_get_one_all_the_same(parsed: Analyzer) -> None:
    text = "我们明天去北京，" * 40
    doc = parsed(text)
    assert len(doc.heads) > 100
    assert is_tree(doc.heads)
    assert is_tree(parsed("我" * 200).heads)


def test_a_parser_must_know_one_of_the_standards(parsed: Analyzer) -> None:
    with pytest.raises(ConfigError, match="'ud' is not one of pku"):
        Analyzer(parsed.model, Parser("ud"))
    with pytest.raises(ConfigError, match="'ud' is not one of pku"):
        Suite(parsed.model, Parser("ud"))


def test_tagger_and_parser_in_one_file(parsed: Analyzer, tmp_path: Path) -> None:
    assert parsed.parser is not None
    path = tmp_path / "zh.model"
    Suite(parsed.model, parsed.parser).save(path, notes={"card": {"title": "a test"}})
    again = duilian.load(path)
    assert content(again(TEXT)) == content(parsed(TEXT))
    assert again.model.notes_ == {"card": {"title": "a test"}}
    other = tmp_path / "again.model"
    assert again.parser is not None
    Suite(again.model, again.parser).save(other, notes=again.model.notes_)
    assert other.read_bytes() == path.read_bytes()
    assert isinstance(load_model(path), Tagger)
    assert load_parser(path).tags_ == parsed.parser.tags_
    small = tmp_path / "small.model"
    Suite(parsed.model, parsed.parser).save(small, precision="int8")
    assert duilian.load(small)(TEXT).words() == parsed(TEXT).words()


def test_the_bundled_model_is_what_load_gives_without_a_path(
    parsed: Analyzer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.loading, "BUNDLED", tmp_path / "zh.model")
    with pytest.raises(ConfigError, match="does not include the model"):
        duilian.load()
    assert parsed.parser is not None
    Suite(parsed.model, parsed.parser).save(tmp_path / "zh.model")
    assert duilian.load()(TEXT).words() == parsed(TEXT).words()


def test_a_missing_model_file_is_said_to_be_missing() -> None:
    with pytest.raises(ConfigError, match=r"no\.model: there is no such file") as caught:
        duilian.load("no.model")
    assert caught.value.hint == "give a model from `duilian train`, or `bundled`"


def test_each_text_is_answered_before_the_next_is_asked_for(analyzer: Analyzer) -> None:
    asked: list[int] = []
    lines = (asked.append(k) or f"第{k}个句子。" for k in range(9))  # type: ignore[func-returns-value]
    for k, doc in enumerate(analyzer.pipe(lines, batch=1)):
        assert doc.text == f"第{k}个句子。"
        assert asked == list(range(k + 1))


def test_the_best_analyses_of_sentences_are_put_together(analyzer: Analyzer) -> None:
    parts = ["我们去北京。", "明天 去iPhone图书馆！", "很大"]
    found = analyzer.nbest("".join(parts), 6)
    each = [analyzer.nbest(part, 6) for part in parts]
    whole = [
        (math.prod(doc.probability or 0.0 for doc in row), [tag for doc in row for tag in doc.tags()])
        for row in itertools.product(*each)
    ]
    best = sorted(whole, key=lambda pair: -pair[0])[:6]
    assert [doc.probability for doc in found] == pytest.approx([p for p, _ in best])
    assert found[0].tags() == best[0][1]
    assert len(list(found[0].sentences())) == 3
    for doc in found:
        check(doc)


def test_the_best_analyses_of_a_text(analyzer: Analyzer) -> None:
    text = "我们明天去北京图书馆"
    standard = analyzer.standards[-1]
    found = analyzer.nbest(text, 5, standard)
    assert len({tuple(zip(doc.words(), doc.tags(), strict=True)) for doc in found}) == 5
    assert all(doc.standards == (standard,) and "".join(doc.words()) == text for doc in found)
    p = [doc.probability or 0.0 for doc in found]
    assert p == sorted(p, reverse=True)
    assert 0.0 < sum(p) <= 1.0 + 1e-6
    for empty in ("", "  "):
        (only,) = analyzer.nbest(empty, 3, standard)
        assert (only.text, only.words(), only.tags(), only.probability) == (empty, [], [], 1.0)
    assert all("明天" not in doc.words() for doc in analyzer.nbest("明 天", 9))
    with pytest.raises(ConfigError, match="at least 1"):
        analyzer.nbest(text, 0)


@given(texts)
def test_marginals_are_about_the_same_words(coupled: Analyzer, plain: Analyzer, text: str) -> None:
    for analyzer in (coupled, plain):
        try:
            doc, usual = analyzer(text, marginals=True), analyzer(text)
        except TextError:
            continue
        for name in doc.standards:
            assert (doc.words(name), doc.tags(name)) == (usual.words(name), usual.tags(name))
            assert all(token.marginals is None for token in usual.tokens(name))
            for token in doc.tokens(name):
                marginals = token.marginals or {}
                assert token.confidence == marginals[token.tag or ""]
                assert sum(marginals.values()) <= 1.0 + 1e-6
                assert list(marginals.values()) == sorted(marginals.values(), reverse=True)


def test_marginals_of_a_plain_tagger_are_exact(plain: Analyzer) -> None:
    labeler, text = plain.labeler, "我们明天去北京参观新的图书馆。"
    encoding = labeler.encoding("pku")
    units = units_of_texts([text], encoding, WHOLE_KINDS)
    limits = ConstraintBuilder({"pku": encoding}).constraints(units)  # what is punctuation, and what is not
    side = labeler.label(units, Ask(marginals=True), limits, 1).of["pku"]
    table, number = side.table(encoding.label_count), encoding.number
    (doc,) = plain.pipe([text], marginals=True)
    for token in doc.tokens():
        letters = encoding.letters_of(token.end - token.start)
        expected = {
            tag: min(table[token.start + k, number[f"{letter}@{tag}"]] for k, letter in enumerate(letters))
            for tag in encoding.tags or ()
        }
        assert token.marginals == pytest.approx({tag: p for tag, p in expected.items() if p >= 1e-4})


def test_marginals_obey_the_lexicon(coupled: Analyzer) -> None:
    own = coupled.with_lexicon(duilian.Lexicon([Entry("京图", ("NN", "VV"))]))
    tokens = {token.text: token for token in own("去北京图书馆", marginals=True).tokens("ctb")}
    marginals = tokens["京图"].marginals or {}
    assert set(marginals) <= {"NN", "VV"}
    assert sum(marginals.values()) == pytest.approx(1.0, abs=1e-3)


def test_another_process_has_the_same_analyser(coupled: Analyzer) -> None:
    own = coupled.with_lexicon(duilian.Lexicon(["去北", Entry("云计算", ("NN",), 3.0)]))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(own, [TEXT, "她喜欢云计算"])
    assert [content(doc) for doc in found] == [content(own(doc.text)) for doc in found]
    assert "去北" in found[0].words()


def test_a_copy_of_an_analyser_has_its_parser_and_its_notes(coupled: Analyzer, tmp_path: Path) -> None:
    coupled.model.save(tmp_path / "model", notes={"made": "here"})
    again = pickle.loads(pickle.dumps(duilian.load(tmp_path / "model")))
    assert again.model.notes_ == {"made": "here"}
    assert content(again(TEXT)) == content(coupled(TEXT))
    assert pickle.loads(pickle.dumps(Analyzer(coupled.model, whole=()))).whole == ()
