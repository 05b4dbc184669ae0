"""Answers of a coupled tagger: tags in each standard, conversion, lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duilian import demo
from duilian.corpus import Layer
from duilian.errors import ConfigError, StandardError
from duilian.labels.units import units_of_layers
from duilian.models import CoupledTagger
from duilian.models.coupled.label_pairs import table_mapping
from duilian.models.roles import Ask
from models.coupled_corpora import CTB, DEV, FEW, PKU, SMALL, SOME_DEV, VARIANTS, layers, quick, side, small


def test_every_character_is_kept(characters: CoupledTagger) -> None:
    for number, standard in enumerate(demo.STANDARDS):
        assert characters.score(DEV[number], standard=standard) > 0.7
        found = characters.predict_layers(DEV[number], standard)
        for gold, guess in zip(DEV[number], found, strict=True):
            assert "".join(guess.words) == "".join(gold.words)


@pytest.mark.parametrize(("source", "target"), [(CTB, PKU), (PKU, CTB)])
def test_conversion_is_better_than_tagging(words: CoupledTagger, source: str, target: str) -> None:
    gold = layers(f"both-{target}", target)
    converted = words.convert(layers(f"both-{source}", source), source, target)
    guess = words.predict(gold, target)

    def right(answers: list[Any]) -> int:
        pairs = zip(gold, answers, strict=True)
        return sum(a == b for layer, tags in pairs for a, b in zip(layer.tags or (), tags, strict=True))

    assert right([each.tags for each in converted]) >= right(guess)
    assert right([each.tags for each in converted]) > 0.97 * sum(map(len, gold))
    assert [each.words for each in converted] == [layer.words for layer in gold]


@pytest.mark.parametrize("kind", sorted(VARIANTS))
def test_what_is_given_is_obeyed(taggers: dict[str, CoupledTagger], kind: str) -> None:
    """Converted to its own standard, a sentence stays as it is."""
    tagger = taggers[kind]
    for number, standard in enumerate(demo.STANDARDS):
        known = set(tagger.encodings_[number].tags or ())
        given = [layer for layer in DEV[number] if set(layer.tags or ()) <= known]
        assert given
        for layer, back in zip(given, tagger.convert(given, standard, standard), strict=True):
            assert (back.words, back.tags) == (layer.words, layer.tags)
        plan = tagger.conversion(standard, standard)
        sure = plan.label(units_of_layers(given, plan.encodings[0]), Ask()).p
        np.testing.assert_allclose(sure, 1.0, atol=1e-5)


def test_character_conversion_keeps_every_character(characters: CoupledTagger) -> None:
    for source, target in ((CTB, PKU), (PKU, CTB)):
        given = layers(f"both-{source}", source)
        converted = characters.convert(given, source, target, unknown_tags=True)
        for before, after in zip(given, converted, strict=True):
            assert "".join(after.words) == "".join(before.words)
            assert len(after) == len(after.tags or ())
    assert characters.convert([Layer((), ())], CTB, PKU) == [Layer((), ())]


@pytest.mark.parametrize("level", ["word", "char"])
def test_a_tag_unseen_in_training_is_named_or_left_open(level: Any) -> None:
    tagger = small(level=level).fit(SMALL)
    given = side("他/P 走/V", "他/P 走/ZZ 看书/N")
    assert tagger.conversion("a", "b").unknown_tags(given) == [(1, 1, "ZZ")]
    with pytest.raises(StandardError, match="sentence 2: the model has never seen the tag 'ZZ' of 'a'"):
        tagger.convert(given, "a", "b")
    back = tagger.convert(given, "a", "a", unknown_tags=True)[1]
    assert back.words == ("他", "走", "看书")
    assert (back.tags or ())[0::2] == ("P", "N")
    assert (back.tags or ())[1] in {"N", "P", "V"}


def test_sentences_without_tags_can_be_converted_too() -> None:
    """Nothing is given at word level, the boundaries at character level."""
    for level in ("word", "char"):
        tagger = small(level=level).fit(SMALL)
        bare = [Layer(("他", "看书"))]
        (found,) = tagger.convert(bare, "a", "a")
        assert found.words == ("他", "看书")
        if level == "word":
            assert found == tagger.predict_layers(bare, "a")[0]


def test_unknown_standards_are_refused(words: CoupledTagger) -> None:
    for act in (
        lambda: words.convert(DEV[0], CTB, "ud"),
        lambda: words.convert(DEV[0], "ud", CTB),
        lambda: words.predict(DEV[0], "ud"),
        lambda: words.of("ud"),
        lambda: words.learned_mapping(DEV[0], CTB, "ud"),
        lambda: words.score(DEV[0], standard="ud"),
    ):
        with pytest.raises(ConfigError, match="no standard 'ud', only ctb, pku"):
            act()


def test_the_learned_mapping_counts_words(words: CoupledTagger, characters: CoupledTagger) -> None:
    for tagger, units in ((words, len), (characters, lambda layer: len("".join(layer.words)))):
        counts = tagger.learned_mapping(DEV[0], CTB, PKU)
        tags = [len(encoding.tags or ()) for encoding in tagger.encodings_]
        assert counts.shape == (tags[0], tags[1])
        assert counts.min() >= 0.0
        assert counts.sum() == pytest.approx(sum(map(units, DEV[0])), rel=1e-5)
        np.testing.assert_allclose(tagger.learned_mapping(DEV[0], PKU, CTB), counts.T, atol=1e-4)
    known = words.learned_mapping(DEV[0], CTB, PKU, given=True)
    names = words.encodings_[0].tags or ()
    gold = [str(tag) for layer in DEV[0] for tag in layer.tags or ()]
    np.testing.assert_allclose(known.sum(axis=1), [gold.count(tag) for tag in names], atol=1e-3)


def test_a_mapping_limits_the_learned_one_as_it_limits_conversion(characters: CoupledTagger) -> None:
    free = characters.learned_mapping(DEV[0], CTB, PKU, given=True)
    tight = characters.learned_mapping(DEV[0], CTB, PKU, given=True, mapping="tight")
    np.testing.assert_allclose(tight.sum(axis=1), free.sum(axis=1), rtol=1e-4)
    allowed = table_mapping("tight", (CTB, PKU), *(each.tags or () for each in characters.encodings_)).matrix
    allowed = allowed | ~allowed.any(axis=1, keepdims=True)  # tags that the table does not know
    assert tight[~allowed].max() == 0.0
    assert free[~allowed].max() > 0.0


@pytest.mark.parametrize("kind", sorted(VARIANTS))
def test_marginals_sum_to_one(taggers: dict[str, CoupledTagger], kind: str) -> None:
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        one = taggers[kind].of(standard)
        found = one.marginals([*dev[:3], Layer(())])
        assert [len(p) for p in found] == [len(one.encoding_.split(x.words)[0]) for x in dev[:3]] + [0]
        for p in found:
            assert p.shape[1] == len(one.encoding_.labels)
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-5)
    assert taggers[kind].of(CTB).marginals([]) == []


@pytest.mark.parametrize("kind", sorted(VARIANTS))
def test_sentences_of_any_length(taggers: dict[str, CoupledTagger], kind: str) -> None:
    tagger = taggers[kind]
    assert tagger.predict([]) == []
    assert tagger.predict([[], ["好"], []], PKU)[::2] == [[], []]
    assert tagger.analyse([]) == []
    for length in (1, 200):
        for standard, layer in tagger.analyse([["好"] * length])[0].items():
            assert "".join(layer.words) == "好" * length, standard


def test_one_standard_of_the_tagger_answers_as_the_whole(words: CoupledTagger) -> None:
    for standard, dev in zip(demo.STANDARDS, DEV, strict=True):
        one = words.of(standard)
        assert one.predict_layers(dev) == words.predict_layers(dev, standard)
        likeliest = [[one.encoding_.labels[k] for k in p.argmax(axis=1)] for p in one.marginals(dev)]
        assert likeliest == words.predict(dev, standard)


def test_a_guide_is_for_conversion_from_it(taggers: dict[str, CoupledTagger]) -> None:
    guided, plain = taggers["guide"], quick().fit(FEW, dev=DEV)
    given, gold = layers(f"both-{PKU}", PKU), layers(f"both-{CTB}", CTB)

    def accuracy(tagger: CoupledTagger) -> float:
        answers = tagger.convert(given, PKU, CTB, unknown_tags=True)
        pairs = [
            (a, b)
            for layer, answer in zip(gold, answers, strict=True)
            for a, b in zip(layer.tags or (), answer.tags or (), strict=True)
        ]
        return float(np.mean([a == b for a, b in pairs]))

    assert accuracy(guided) > 0.9
    assert accuracy(guided) >= accuracy(plain) - 0.02


@pytest.mark.parametrize("kind", ["word", "char", "offline"])
def test_lines_give_what_layers_give(taggers: dict[str, CoupledTagger], kind: str) -> None:
    tagger = taggers[kind]
    for standard, dev in zip(demo.STANDARDS, SOME_DEV, strict=True):
        joint = " " if kind != "char" else ""
        text = "".join(joint.join(layer.words) + "\n" for layer in dev)
        expected = [
            " ".join(f"{word}_{tag}" for word, tag in zip(layer.words, layer.tags or (), strict=True))
            for layer in tagger.predict_layers(dev, standard)
        ]
        for threads in (1, 2):
            found = tagger.of(standard).tag_lines(text.encode(), threads=threads)
            assert found.decode().splitlines() == expected
        assert tagger.of(standard).tag_lines(b"") == b""
    with pytest.raises(ConfigError, match="guide"):
        taggers["guide"].of(CTB).tag_lines(b"")


def test_lines_keep_every_character_and_line_break(taggers: dict[str, CoupledTagger]) -> None:
    text = "他来了。\r\n\r\n  我 爱iPhone😀\n\u3000\n他走了。她呢？没有换行"
    out = taggers["char"].of(PKU).tag_lines(text.encode()).decode()
    assert [out.count(c) for c in "\r\n"] == [text.count(c) for c in "\r\n"]
    assert "".join(token.split("_")[0] for token in out.split()) == "".join(text.split())
    assert not any(token.startswith("我爱") for token in out.split())  # a blank always ends a word
    with pytest.raises(ValueError, match="2: byte 0 is not UTF-8"):
        taggers["char"].of(PKU).tag_lines(b"ok\n\xff\xfe")
