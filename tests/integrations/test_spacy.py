"""Duilian in a real spaCy: tokens, tags, trees, other standards, processes and files."""

from __future__ import annotations

from pathlib import Path

import pytest

import duilian as dl
from integrations.packages import needs

pytestmark = needs("spacy")
TEXT = " 他把iPhone 15借给了办公室。\n我们去北京大学。  "
TOKENIZER = {"nlp": {"tokenizer": {"@tokenizers": "duilian.Tokenizer.v1"}}}


@pytest.fixture(scope="module")
def nlp():
    import spacy

    found = spacy.blank("zh", config=TOKENIZER)
    found.add_pipe("duilian")
    return found


@pytest.fixture(scope="module")
def zh() -> dl.Analyzer:
    return dl.load()


def test_tokens_tags_and_trees_are_those_of_the_analyser(nlp, zh) -> None:
    doc, own = nlp(TEXT), zh(TEXT)
    assert doc.text == TEXT
    words = [token for token in doc if not token.is_space]
    standard = own.tree_standard
    assert [token.text for token in words] == own.words(standard)
    assert [token.tag_ for token in words] == [token.xpos or token.tag for token in own.tokens(standard)]
    assert all(token.pos_ for token in doc)
    at = 0
    for sentence in own.sentences(standard):
        for k, token in enumerate(sentence):
            place = words[at + k]
            assert place.dep_ == ("ROOT" if token.head == 0 else token.relation)
            assert place.head.text == (sentence[token.head - 1] if token.head else token).text
        at += len(sentence)
    assert len(list(doc.sents)) == len(own.sentences())


def test_a_token_knows_the_words_of_every_standard(nlp, zh) -> None:
    doc, own = nlp("我们去北京大学。"), zh("我们去北京大学。")
    for name in own.standards:
        pairs = list(dict.fromkeys(pair for token in doc for pair in token._.duilian[name]))
        assert pairs == list(dict.fromkeys(zip(own.words(name), own.tags(name), strict=True)))


def test_another_standard_can_be_chosen(zh) -> None:
    import spacy

    nlp = spacy.blank(
        "zh", config={"nlp": {"tokenizer": {"@tokenizers": "duilian.Tokenizer.v1", "standard": "pku"}}}
    )
    nlp.add_pipe("duilian", config={"standard": "pku"})
    doc = nlp(TEXT)
    assert [token.tag_ for token in doc if not token.is_space] == zh(TEXT).tags("pku")
    assert len(list(doc.sents)) == 2


def test_tokens_of_another_tokenizer_stay(zh) -> None:
    import spacy

    nlp = spacy.blank("zh")  # a token for each character
    nlp.add_pipe("duilian")
    doc = nlp("我们去。他来了。")
    assert [token.text for token in doc] == list("我们去。他来了。")
    assert all(token.tag_ and token.dep_ for token in doc)
    assert [sentence.text for sentence in doc.sents] == ["我们去。", "他来了。"]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "a", "😀", "去\u200b北京", "\u200b", "。" * 50, "\r\n 去"])
def test_any_text_passes(nlp, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    assert "".join(sentence.text_with_ws for sentence in doc.sents) == text


def test_two_processes_give_the_same(nlp) -> None:
    texts = [TEXT, "我们去北京。", "", "他来了。"]
    alone, shared = list(nlp.pipe(texts)), list(nlp.pipe(texts, n_process=2, batch_size=2))
    for a, b in zip(alone, shared, strict=True):
        assert [(t.text, t.tag_, t.pos_, t.dep_, t.head.i, t._.duilian) for t in a] == [
            (t.text, t.tag_, t.pos_, t.dep_, t.head.i, t._.duilian) for t in b
        ]


def test_a_pipeline_is_saved_and_loaded(nlp, tmp_path: Path) -> None:
    import spacy

    nlp.to_disk(tmp_path / "p")
    again = spacy.load(tmp_path / "p")
    assert again.to_bytes() == nlp.to_bytes()
    assert [t.dep_ for t in again(TEXT)] == [t.dep_ for t in nlp(TEXT)]


def test_a_saved_pipeline_keeps_its_own_model(tmp_path: Path) -> None:
    import spacy

    from duilian import demo

    own = tmp_path / "own.model"
    dl.Tagger("pku", level="char").set_params(learning__iterations=1).fit(demo.load("pku", "pku")).save(own)
    config = {"nlp": {"tokenizer": {"@tokenizers": "duilian.Tokenizer.v1", "model": str(own)}}}
    nlp = spacy.blank("zh", config=config)
    nlp.add_pipe("duilian", config={"model": str(own)})
    before = [(token.text, token.tag_) for token in nlp("我们去北京。")]
    nlp.to_disk(tmp_path / "p")
    own.unlink()
    again = spacy.load(tmp_path / "p")
    assert [(token.text, token.tag_) for token in again("我们去北京。")] == before


def test_displacy_draws_the_tree(nlp) -> None:
    from spacy import displacy

    drawn = displacy.render(nlp("我们去北京。"), style="dep", jupyter=False)
    assert drawn.count("displacy-arrow") >= 3
    assert "我们" in drawn
