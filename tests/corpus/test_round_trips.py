"""Every format reads back what it wrote."""

from __future__ import annotations

import dataclasses

import pytest
from corpus_samples import CONLLU, SAMPLES, SENTENCES, numbered
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from duilian.corpus import FORMATS, Layer, Sentence
from duilian.corpus.formats.conllu import read_conllu, write_conllu
from duilian.corpus.formats.lookup import FormatOptions
from duilian.errors import ConfigError

ANY = FormatOptions()
X = FormatOptions(standard="x")


def without_spaces(sentence: Sentence) -> Sentence:
    """CoNLL-U derives the spaces from another column: they carry no information of their own."""
    layers = {name: dataclasses.replace(layer, spaces=None) for name, layer in sentence.layers.items()}
    return dataclasses.replace(sentence, layers=layers)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_canonical_file_is_written_back_byte_for_byte(name):
    form = FORMATS[name]
    sentences = list(form.read(numbered(SAMPLES[name]), "f", ANY))
    assert sentences
    assert "".join(form.write(sentences, ANY)) == SAMPLES[name]


@pytest.mark.parametrize("name", SAMPLES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_written_is_read_back(name, data):
    form, options = FORMATS[name], ANY if name == "jsonl" else X
    sentences = data.draw(st.lists(SENTENCES[name], min_size=1, max_size=3))
    try:
        text = "".join(form.write(sentences, options))
    except ConfigError:
        reject()  # the format cannot represent it, and says so
    again = list(form.read(numbered(text), "f", options))
    if name == "conllu":
        again = list(map(without_spaces, again))
    assert again == sentences
    assert "".join(form.write(again, options)) == text


@pytest.mark.parametrize("source", SAMPLES)
def test_jsonl_keeps_what_any_format_says(source):
    sentences = list(FORMATS[source].read(numbered(SAMPLES[source]), "f", ANY))
    text = "".join(FORMATS["jsonl"].write(sentences, ANY))
    assert list(FORMATS["jsonl"].read(numbered(text), "f", ANY)) == sentences


@pytest.mark.parametrize("source", SAMPLES)
@pytest.mark.parametrize("target", [name for name, form in FORMATS.items() if form.write])
def test_words_and_tags_survive_any_conversion(source, target):
    sentences = list(FORMATS[source].read(numbered(SAMPLES[source]), "f", ANY))
    text = "".join(FORMATS[target].write(sentences, ANY))
    again = list(FORMATS[target].read(numbered(text), "f", ANY))
    first = [next(iter(sentence.layers.values())) for sentence in sentences]
    second = [next(iter(sentence.layers.values())) for sentence in again]
    assert [layer.words for layer in second] == [layer.words for layer in first]
    if target != "segmented":
        assert [layer.tags for layer in second] == [layer.tags for layer in first]


def test_either_tag_column_of_conllu_goes_back_to_its_place():
    for column in ("upos", "xpos"):
        sentences = list(read_conllu(numbered(CONLLU), path="f", standard="x", column=column))
        assert "".join(write_conllu(sentences)) == CONLLU


def test_a_new_id_replaces_the_old_one_in_the_comments():
    sentence = next(read_conllu(numbered(CONLLU), path="f", standard="x"))
    renamed = "".join(write_conllu([dataclasses.replace(sentence, id="new")]))
    assert "# sent_id = new\n# text" in renamed
    assert "s1" not in renamed


def test_a_foreign_sentence_gets_id_text_and_spaces_in_conllu():
    layer = Layer(("a", "b"), ("X", None), spaces=(" ", ""))
    assert "".join(write_conllu([Sentence({"ud": layer}, "7")])) == (
        "# sent_id = 7\n# text = a b\n"
        "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n\n"
    )


UNWRITABLE = [
    ("slash", Layer(("a b",), ("n",)), "word 'a b'"),
    ("slash", Layer(("",), ("n",)), "word ''"),
    ("slash", Layer(("、", "/", "a/"), ("/", "/", "/")), None),
    ("slash", Layer(("、",), ("a/",)), "tag 'a/'"),
    ("slash", Layer(("a",), ("_",)), "partial annotation"),
    ("slash", Layer(("a",), ("?",)), "partial annotation"),
    ("slash", Layer(("a",), ("{n}",)), "partial annotation"),
    ("slash", Layer(("a",), (frozenset(["n|v"]),)), "set of tags"),
    ("slash", Layer(("a",), (frozenset(),)), "set of tags"),
    ("slash", Layer(("20260101-01-001-001",), ("m",)), "first word"),
    ("underscore", Layer(("a",), ("N_N",)), "tag 'N_N'"),
    ("underscore", Layer(("<DOC>",), None), None),
    ("segmented", Layer(("a\u3000b",)), "word"),
    ("conllu", Layer(("a\tb",)), "field"),
    ("conllu", Layer(("a",), ("_",)), "partial annotation"),
    ("conllx", Layer(("a",), relations=("_",)), "relation"),
    ("columns", Layer(("a b",), ("n",)), "field"),
    ("conllu", Layer(()), "without words"),
]


@pytest.mark.parametrize(("name", "layer", "phrase"), UNWRITABLE)
def test_what_a_format_cannot_say_is_refused(name, layer, phrase):
    sentences = [Sentence({"x": layer})]
    if phrase is None:
        text = "".join(FORMATS[name].write(sentences, X))
        assert list(FORMATS[name].read(numbered(text), "f", X)) == sentences
        return
    with pytest.raises(ConfigError, match=phrase):
        "".join(FORMATS[name].write(sentences, X))
