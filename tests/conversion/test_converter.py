"""Corpora converted with their sentences: what answers have, and what of the given annotation stays."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from duilian.conversion import Converter
from duilian.corpus import Layer, Sentence
from duilian.corpus.places import PlacedSentence
from duilian.models import CoupledTagger
from models.coupled_corpora import CTB, FEW, PKU, layers, quick

LINES = [
    Layer(("我们", "去", "北京", "。", "他", "来", "了", "！"), ("r", "v", "ns", "w", "r", "v", "y", "w")),
    Layer(("我们", "去", "北京"), ("r", "v", "ns"), spaces=(" ", "\u3000", "")),
    Layer(("我\u200b们", "来"), ("r", "v"), columns={"misc": ("a", "b")}),
    Layer((), ()),
]
GIVEN = [PlacedSentence(Sentence({PKU: layer}, str(k))) for k, layer in enumerate(LINES)]


@pytest.fixture(scope="module", params=["word", "char"])
def tagger(request: pytest.FixtureRequest) -> CoupledTagger:
    found = quick(level=request.param).fit(FEW)
    found.remember({"sides": {PKU: {"reading": {"cut": "sentence"}}}})
    return found


def converted(tagger: Any, **options: Any) -> list[Any]:
    converter = Converter(tagger, PKU, CTB, unknown_tags=True)
    return [(*pair, converter.layer(*pair)) for pair in converter.run(GIVEN, **options)]


def test_answers_have_the_given_text_and_its_sentences(tagger: CoupledTagger) -> None:
    found = converted(tagger)
    assert [sentence for sentence, _, _ in found] == [each.sentence for each in GIVEN]
    for (_, doc, layer), given in zip(found, LINES, strict=True):
        assert doc.text == layer.text == given.text
        assert doc.tags(CTB) == list(layer.tags or ())
        confidence = doc.layer().confidence
        assert len(confidence) == len(layer)
        assert ((confidence >= 0) & (confidence <= 1 + 1e-6)).all()
    assert [len(doc.sentences()) for _, doc, _ in found] == [2, 1, 1, 1]
    assert [sentence.text for sentence in found[0][1].to_sentences()] == ["我们去北京。", "他来了！"]
    assert found[0][1].to_conllu().count("# sent_id") == 2


def test_sentences_of_a_line_do_not_see_each_other(tagger: CoupledTagger) -> None:
    whole = converted(tagger)[0][2]
    parts = [Layer(LINES[0].words[a:b], (LINES[0].tags or ())[a:b]) for a, b in ((0, 4), (4, 8))]
    found = tagger.convert(parts, PKU, CTB, unknown_tags=True)
    assert whole.words == tuple(itertools.chain.from_iterable(each.words for each in found))
    assert whole.tags == tuple(itertools.chain.from_iterable(each.tags or () for each in found))


def test_words_that_stay_keep_their_annotation(tagger: CoupledTagger) -> None:
    for (_, _, layer), given in zip(converted(tagger), LINES, strict=True):
        if layer.words == given.words:
            assert (layer.columns, layer.spaces) == (given.columns, given.spaces)
    assert sum(
        layer.words == given.words for (*_, layer), given in zip(converted(tagger), LINES, strict=True)
    )


def test_words_end_at_white_space(tagger: CoupledTagger) -> None:
    _, doc, layer = converted(tagger)[1]
    assert not any(word.strip() != word or " " in word or "\u3000" in word for word in doc.words())
    assert layer.text == LINES[1].text


def test_candidates_are_the_likeliest_tags(tagger: CoupledTagger) -> None:
    tags = tagger.encodings_[0].tags or ()
    for _, doc, _ in converted(tagger, with_candidates=True):
        for token in doc:
            assert token.marginals is not None
            assert 2 <= len(token.marginals) <= 4
            assert set(token.marginals) <= set(tags)
            assert sum(token.marginals.values()) <= 1 + 1e-6
            assert max(token.marginals.values()) >= 1 / len(tags)


def test_batches_do_not_matter(tagger: CoupledTagger) -> None:
    converter = Converter(tagger, PKU, CTB, unknown_tags=True)
    given = [PlacedSentence(Sentence({PKU: layer})) for layer in layers(f"both-{PKU}", PKU)[:30]]
    alone = [next(converter.run([each]))[1] for each in given]
    for a, (_, b) in zip(alone, converter.run(given), strict=True):
        assert (a.words(), a.tags()) == (b.words(), b.tags())
        np.testing.assert_allclose(a.layer().confidence, b.layer().confidence, atol=1e-6)
