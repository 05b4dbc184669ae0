"""Parsers that choose among the tags that a coupled tagger leaves: the analysis has what they chose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from duilian import Ask, Tagger, demo, evaluate
from duilian.corpus import Corpus, Layer, Sentence
from duilian.engine import Analyzer
from duilian.lexicon import Entry, Lexicon
from duilian.models import CoupledTagger
from duilian.models.roles import Ability, TaggedWords, Trees

TEXT = "我们明天去北京工作。他们研究经济发展的问题。"


class Contrary:
    """Gives every word the least probable of its likely tags, and attaches all words to the first."""

    kind = "contrary"
    standard = "ctb"
    abilities = frozenset({Ability.TAGS, Ability.TREES})

    def __init__(self) -> None:
        self.asked: list[TaggedWords] = []

    def annotate(self, sentences: TaggedWords, given: Sequence[Layer], threads: int = 1) -> Trees:
        self.asked.append(sentences)
        heads = [int(k > 0) for words in sentences.words for k in range(len(words))]
        chosen = None
        if sentences.likely is not None:
            word, tag, p = sentences.likely
            chosen = np.array(sentences.tag, np.int32)
            order = np.lexsort((-p, word))
            chosen[word[order]] = tag[order]
        return Trees(np.array(heads, np.int32), None, (), chosen)


@pytest.fixture(scope="module")
def tagger() -> CoupledTagger:
    found = CoupledTagger(("ctb", "pku"), level="char").set_params(learning__iterations=1)
    return found.fit([demo.load("ctb", "ctb"), demo.load("pku", "pku")])


def test_the_tags_of_an_analysis_are_those_of_its_tree(tagger: CoupledTagger) -> None:
    parser = Contrary()
    zh, plain = Analyzer(tagger, parser), Analyzer(tagger)
    doc, usual = zh(TEXT), plain(TEXT)
    (asked,) = parser.asked
    assert asked.likely is not None
    chosen = [asked.names[k] for k in parser.annotate(asked, ()).tag.tolist()]  # type: ignore[union-attr]
    assert doc.tags("ctb") == chosen != usual.tags("ctb")
    assert doc.words("ctb") == usual.words("ctb")
    assert doc.tags("pku") == usual.tags("pku")  # which has no trees


def test_the_tags_are_the_same_without_trees(tagger: CoupledTagger) -> None:
    zh = Analyzer(tagger, Contrary())
    doc = zh(TEXT)
    for ask in (Ask(trees=False), Ask(("ctb",), trees=False), Ask(trees=False, confidence=True)):
        bare = zh(TEXT, ask=ask)
        assert bare.tree_standard is None
        assert bare.tags("ctb") == doc.tags("ctb")
        assert [each.confidence for each in bare.tokens("ctb")] == [
            each.confidence for each in doc.tokens("ctb")
        ]
    assert zh.nbest(TEXT, 3, "ctb")[0].tags("ctb") == doc.tags("ctb")


def test_words_and_other_standards_do_not_wait_for_the_parser(tagger: CoupledTagger) -> None:
    parser = Contrary()
    zh = Analyzer(tagger, parser)
    list(zh.segment([TEXT]))
    zh(TEXT, ask=Ask(tags=False, trees=False))
    zh(TEXT, ask=Ask(("pku",)))
    zh.nbest(TEXT, 2, "pku")
    assert parser.asked == []


def test_a_tag_that_changes_has_its_own_confidence(tagger: CoupledTagger) -> None:
    parser = Contrary()
    doc, usual = Analyzer(tagger, parser)(TEXT), Analyzer(tagger)(TEXT)
    likely = parser.asked[0].likely
    assert likely is not None
    changed = 0
    for k, (new, old) in enumerate(zip(doc.tokens("ctb"), usual.tokens("ctb"), strict=True)):
        if new.tag == old.tag:
            assert new.confidence == old.confidence
        else:
            own = likely.p[(likely.word == k) & (likely.tag == parser.asked[0].names.index(new.tag))]
            assert new.confidence == pytest.approx(own[0], abs=1e-4)
            changed += 1
    assert changed > 0


def test_probabilities_of_all_tags_have_that_of_the_tree(tagger: CoupledTagger) -> None:
    doc = Analyzer(tagger, Contrary())(TEXT, marginals=True)
    for token in doc.tokens("ctb"):
        assert token.marginals is not None
        assert token.marginals[token.tag] == pytest.approx(token.confidence, abs=1e-4)


def test_given_tags_and_those_of_a_lexicon_stay(tagger: CoupledTagger) -> None:
    given = Sentence({"ctb": Layer(("他们", "研究", "问题"), (None, "NN", None))})
    (doc,) = Analyzer(tagger, Contrary()).fill([given], "ctb")
    assert doc.tags("ctb")[1] == "NN"
    lexicon = Lexicon([Entry("研究", ("NN",))])
    doc = Analyzer(tagger, Contrary(), lexicon=lexicon)(TEXT)
    assert doc.tags("ctb")[doc.words("ctb").index("研究")] == "NN"


def test_other_parsers_are_told_the_best_tags_alone(tagger: CoupledTagger) -> None:
    parser = Contrary()
    parser.abilities = frozenset({Ability.TREES})  # type: ignore[misc]
    doc = Analyzer(tagger, parser)(TEXT)
    assert parser.asked[0].likely is None
    assert doc.tags("ctb") == Analyzer(tagger)(TEXT).tags("ctb")


def test_the_same_tags_are_scored(tagger: CoupledTagger) -> None:
    words = CoupledTagger(("ctb", "pku")).set_params(learning__iterations=1)
    words.fit([demo.load("ctb", "ctb"), demo.load("pku", "pku")])
    gold = demo.load("ctb-dev", "ctb")
    for own in (tagger, words):
        plain, contrary = Analyzer(own), Analyzer(own, Contrary())
        scores = [evaluate(each, gold) for each in (contrary, plain)]
        worse, usual = (each.accuracy or each.word_tag.f1 for each in scores)  # type: ignore[union-attr]
        assert worse < usual - 10


def test_a_lexicon_counts_when_given_words_are_scored() -> None:
    tagger = Tagger("ctb").fit(demo.load("ctb", "ctb"))
    gold = Corpus([Sentence({"ctb": Layer(("他们", "研究"), ("PN", "NN"))})], standard="ctb")
    zh = Analyzer(tagger, lexicon=Lexicon([Entry("研究", ("NN",))]))
    assert evaluate(zh, gold).accuracy == 100.0
    assert evaluate(Analyzer(tagger), gold).accuracy == evaluate(tagger, gold).accuracy
