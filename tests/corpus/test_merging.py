"""Reviewed sentences come back into their corpus."""

from duilian.corpus import Layer, Sentence
from duilian.corpus.merging import MergeReport, merge


def sentence(words, tags=None, **more):
    return Sentence({"ctb": Layer(tuple(words.split()), None if tags is None else tuple(tags), **more)})


def merged(corpus, reviewed):
    report = MergeReport()
    return [each["ctb"] for each in merge(corpus, reviewed, "ctb", report)], report


def test_decided_tags_replace_those_of_the_corpus():
    corpus = [sentence("我 去 了", ["PN", "VV", "SP"], heads=(2, 0, 2), relations=("a", "root", "b"))]
    (layer,), report = merged(corpus, [sentence("我 去 了", [None, frozenset(("VV", "VC")), "AS"])])
    assert layer.tags == ("PN", "VV", "AS")
    assert layer.heads == (2, 0, 2)
    assert (report.sentences, report.tags, report.words, report.lost) == (1, 1, 0, [])


def test_words_that_were_cut_anew_hold_and_keep_known_tags():
    corpus = [sentence("街上 很 热闹", ["NN", "AD", "VA"], heads=(3, 3, 0))]
    (layer,), report = merged(corpus, [sentence("街 上 很 热闹", ["NN", None, None, "VV"])])
    assert layer == Layer(("街", "上", "很", "热闹"), ("NN", None, "AD", "VV"))
    assert (report.words, report.untagged, report.tags) == (2, 1, 1)


def test_the_same_text_twice_is_taken_in_order():
    corpus = [sentence("好", ["VA"]), sentence("对", ["VA"]), sentence("好", ["VA"])]
    layers, report = merged(corpus, [sentence("好", ["AD"]), sentence("好", ["JJ"]), sentence("不", ["AD"])])
    assert [layer.tags for layer in layers] == [("AD",), ("VA",), ("JJ",)]
    assert report.lost == ["不"]
