"""Reviewed sentences come back into their corpus."""

import pytest

from duilian.corpus import Layer, Sentence
from duilian.corpus.merging import MergeReport, given_cuts, merge
from duilian.errors import ConfigError


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
    assert layer == Layer(("街", "上", "很", "热闹"), ("NN", None, "AD", "VV"), (None, None, 4, 0))
    assert (report.words, report.untagged, report.tags, report.headless) == (2, 1, 1, 2)


def test_what_does_not_change_is_kept_where_words_are_joined():
    old = Layer(
        ("加速", "度", "很", "大"), ("NN", "SFN", "RB", "JJ"), (2, 4, 4, 0), ("a", "b", "c", "root"),
        ("", "", " ", ""), {"lemma": ("加速", "度", "很", "大"), "misc": ("x", "_", "y", "_")},
    )  # fmt: skip
    (layer,), report = merged([Sentence({"ctb": old})], [sentence("加速度 很 大", ["NN", None, None])])
    assert (layer.words, layer.tags) == (("加速度", "很", "大"), ("NN", "RB", "JJ"))
    assert (layer.heads, layer.relations) == ((None, 3, 0), (None, "c", "root"))
    assert (layer.spaces, layer.columns) == (("", " ", ""), {"lemma": ("_", "很", "大")})
    assert report.headless == 1


@pytest.mark.parametrize(
    ("tags", "fault"), [(["2:a", "1:b", None], "cycle"), (["0:root", None, None], "second root")]
)
def test_heads_that_are_no_tree_are_refused(tags, fault):
    corpus = [sentence("我 去 了", ["PN", "VV", "SP"], heads=(2, 0, 2), relations=("a", "root", "b"))]
    with pytest.raises(ConfigError, match=f"the review of '我去了': .*{fault}"):
        merged(corpus, [sentence("我 去 了", tags)])


def test_the_same_text_twice_is_taken_in_order():
    corpus = [sentence("好", ["VA"]), sentence("对", ["VA"]), sentence("好", ["VA"])]
    layers, report = merged(corpus, [sentence("好", ["AD"]), sentence("好", ["JJ"]), sentence("不", ["AD"])])
    assert [layer.tags for layer in layers] == [("AD",), ("VA",), ("JJ",)]
    assert report.lost == ["不"]


def test_given_words_are_told_where_they_are_cut_differently():
    assert given_cuts(["甲乙", "丙", "丁戊"], ["甲", "乙", "丙", "丁", "戊"]) == ["甲+乙", "", "丁+戊"]
    assert given_cuts(["甲", "乙丙", "丁"], ["甲乙", "丙", "丁"]) == ["甲乙+丙", "甲乙+丙", ""]
    assert given_cuts(["甲乙"], ["甲", "丙"]) == [""]  # another text
    assert given_cuts(["甲"], []) == [""]
    assert given_cuts(["1/2", "甲乙"], ["1", "/", "2", "甲", "乙"]) == ["", "甲+乙"]  # 1+/+2 is no tag


def test_a_cut_that_is_chosen_as_the_tag_is_made():
    corpus = [sentence("球迷们 在 街 上 哈哈 哈哈", ["NN", "P", "NN", "LC", "IJ", "IJ"])]
    tags = ["球迷+们", None, "街上", "街上", "哈+哈", "哈+哈"]
    (layer,), report = merged(corpus, [sentence("球迷们 在 街 上 哈哈 哈哈", tags)])
    assert layer.words == ("球迷", "们", "在", "街上", "哈", "哈", "哈", "哈")
    assert layer.tags == (None, None, "P", None, None, None, None, None)
    assert (report.words, report.untagged, report.tags) == (7, 7, 0)


def test_a_tag_that_is_its_own_word_cuts_nothing():
    corpus = [sentence("NN ， 好", ["FW", "，", "VA"])]
    (layer,), report = merged(corpus, [sentence("NN ， 好", ["NN", "，", None])])
    assert (layer.words, layer.tags) == (("NN", "，", "好"), ("NN", "，", "VA"))
    assert (report.words, report.tags) == (0, 1)


def test_half_of_a_chosen_cut_leaves_the_tag_as_it_was():
    (layer,), report = merged([sentence("街 上", ["NN", "LC"])], [sentence("街 上", ["街上", None])])
    assert (layer.words, layer.tags) == (("街", "上"), ("NN", "LC"))
    assert (report.words, report.doubtful) == (0, ["街_街上"])


def test_original_words_that_are_also_the_words_are_untagged():
    corpus = [sentence("街 上 热闹", ["NN", "LC", "VA"])]
    (layer,), report = merged(corpus, [sentence("街上 热闹", ["街上", None])])
    assert (layer.words, layer.tags) == (("街上", "热闹"), (None, "VA"))
    assert (report.untagged, report.doubtful) == (1, ["街上_街上"])


def test_several_tags_without_braces_leave_the_tag_as_it_was():
    (layer,), report = merged([sentence("今天 好", ["NT", "VA"])], [sentence("今天 好", ["NT|NN", "JJ"])])
    assert layer.tags == ("NT", "JJ")
    assert (report.tags, report.doubtful) == (1, ["今天_NT|NN"])


def test_a_head_that_is_chosen_as_the_tag_is_a_head():
    corpus = [sentence("我 去 了", ["PN", "VV", "SP"], heads=(2, 0, 2), relations=("a", "root", "b"))]
    (layer,), report = merged(corpus, [sentence("我 去 了", ["3:nsubj:pass", None, None])])
    assert (layer.tags, layer.heads) == (("PN", "VV", "SP"), (3, 0, 2))
    assert layer.relations == ("nsubj:pass", "root", "b")
    assert (report.tags, report.heads) == (0, 1)


def test_a_head_outside_the_sentence_is_refused():
    with pytest.raises(ConfigError, match="the head 4 is outside the sentence '我去了'"):
        merged([sentence("我 去 了")], [sentence("我 去 了", ["4:nsubj", None, None])])
