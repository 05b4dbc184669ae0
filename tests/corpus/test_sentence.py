"""Sentences: text, layers, pickling."""

from __future__ import annotations

import copy
import pickle

import pytest
from corpus_samples import free_sentences
from hypothesis import given, settings

from duilian.corpus import Layer, Sentence
from duilian.errors import ConfigError


def test_spans_point_into_the_text():
    layer = Layer(("a", "bc", "d"), spaces=(" ", "", ""))
    assert layer.text == "a bcd"
    assert [layer.text[start:end] for start, end in layer.spans()] == ["a", "bc", "d"]


def test_layers_must_spell_the_same():
    sentence = Sentence({"x": Layer(("ab", "c"))}, "7")
    both = sentence.with_layer("y", Layer(("a", "bc")))
    assert (list(both), both.id) == (["x", "y"], "7")
    with pytest.raises(ConfigError, match="'z' does not have the same"):
        both.with_layer("z", Layer(("ab",)))
    with pytest.raises(ConfigError, match=r"no layer 'z' \(it has: x, y\)"):
        both["z"]


@settings(max_examples=30, deadline=None)
@given(free_sentences())
def test_a_sentence_travels_between_processes(sentence):
    assert pickle.loads(pickle.dumps(sentence)) == sentence
    assert copy.deepcopy(sentence) == sentence


def test_a_layer_without_columns_travels_too():
    assert pickle.loads(pickle.dumps(Layer(("a",)))) == Layer(("a",))
