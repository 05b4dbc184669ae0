"""Details of an evaluation, counted by hand."""

from __future__ import annotations

import pytest

from duilian.corpus import Layer
from duilian.evaluation import Score, evaluate_layers

GOLD = [
    Layer(("他", "来", "北京"), ("PN", "VV", "NR"), (2, 0, 2), ("nsubj", "root", "obj")),
    Layer(("好", "。"), ("VA", "PU"), (0, 1), ("root", "punct")),
]
GUESS = [
    Layer(("他", "来", "北京"), ("PN", "VV", "NN"), (2, 0, 1), ("nsubj", "root", "obj")),
    Layer(("好", "。"), ("AD", "PU"), (0, 1), ("root", "dep")),
]
CUT = [Layer(("他", "来北", "京"), ("PN", "VV", "NR")), Layer(("好", "。"), ("AD", "PU"))]


def test_tags_and_confusions_of_given_words() -> None:
    found = evaluate_layers(GOLD, GUESS, standard="x").details
    assert found.by_tag["NR"] == Score(1, 0, 0)
    assert found.by_tag["NN"] == Score(0, 1, 0)
    assert found.by_tag["PN"] == Score(1, 1, 1)
    assert [(each.gold, each.guess, each.count) for each in found.confusions] == [
        ("NR", "NN", 1),
        ("VA", "AD", 1),
    ]
    assert found.confusions[0].examples == ("他 来 [北京]",)
    assert found.unknown_tags == {"AD": 1, "NN": 1}


def test_tags_of_words_that_were_cut_elsewhere() -> None:
    found = evaluate_layers(GOLD, CUT, standard="x").details
    assert found.by_tag["VV"] == Score(1, 1, 0)
    assert found.by_tag["NR"] == Score(1, 1, 0)
    assert [(each.gold, each.guess) for each in found.confusions] == [("VA", "AD")]


def test_partial_gold_counts_only_what_it_says() -> None:
    gold = [Layer(("a", "b", "c"), (None, frozenset({"NN", "VV"}), "P"))]
    found = evaluate_layers(gold, [Layer(("a", "b", "c"), ("P", "VV", "P"))], standard="x").details
    assert dict(found.by_tag) == {"P": Score(1, 1, 1), "VV": Score(1, 1, 1)}
    gold = [Layer(("a", "b"), None, (0, None), ("root", None))]
    found = evaluate_layers(gold, [Layer(("a", "b"), None, (0, 1), ("root", "x"))], standard="x").details
    assert dict(found.by_relation) == {"root": Score(1, 1, 1)}


def test_arcs_by_relation_and_distance() -> None:
    found = evaluate_layers(GOLD, GUESS, standard="x").details
    assert found.by_relation["obj"] == Score(1, 1, 0)  # the head is wrong
    assert found.by_relation["punct"] == Score(1, 0, 0)
    assert found.by_distance == {"root": Score(2, 2, 2), "1": Score(3, 2, 2), "2": Score(0, 1, 0)}


def test_arcs_between_words_that_were_cut_elsewhere() -> None:
    guess = [
        Layer(
            ("他", "来", "北", "京"), ("PN", "VV", "NR", "NR"), (2, 0, 4, 2), ("nsubj", "root", "x", "obj")
        ),
        Layer(("好", "。"), ("VA", "PU"), (0, 1), ("root:x", "dep")),
    ]
    found = evaluate_layers(GOLD, guess, standard="x", vocabulary={"他", "。"})
    assert found.raw_trees is not None
    assert found.raw_trees.las is not None
    details = found.details
    # Punctuation counts, subtypes do not; the two words of the answer for one of gold are two mistakes.
    assert details.by_relation["root"] == Score(2, 2, 2)
    assert details.by_relation["obj"] == Score(1, 1, 0)
    assert details.by_relation["x"] == Score(0, 1, 0)
    assert details.by_distance == {"root": Score(2, 2, 2), "1": Score(3, 3, 2), "2": Score(0, 1, 0)}
    right = sum(score.correct for score in details.by_relation.values())
    assert right == found.raw_trees.las.correct == 3
    known, unknown = details.by_vocabulary.values()
    assert (known.uas, known.las) == (100.0, 50.0)
    assert (unknown.uas, unknown.las) == (pytest.approx(200 / 3), pytest.approx(200 / 3))


def test_a_right_arc_over_words_cut_elsewhere_has_gold_s_distance() -> None:
    gold = Layer(("天", "地人", "和"), None, (3, 1, 0), ("a", "b", "root"))
    guess = Layer(("天", "地", "人", "和"), None, (4, 1, 1, 0), ("a", "b", "b", "root"))
    found = evaluate_layers([gold], [guess], standard="x").details
    assert found.by_distance == {"root": Score(1, 1, 1), "1": Score(1, 1, 0), "2": Score(1, 2, 1)}


def test_known_words_of_trees_are_scored_without_punctuation() -> None:
    found = evaluate_layers(GOLD, GUESS, standard="x", vocabulary={"他", "。"})
    known, unknown = found.details.by_vocabulary.values()
    assert (known.tokens, known.uas, known.las) == (2, 100.0, 100.0)
    assert (unknown.uas, unknown.las) == (pytest.approx(200 / 3), pytest.approx(200 / 3))


def test_wrong_heads_by_tags() -> None:
    found = evaluate_layers(GOLD, GUESS, standard="x").details.tag_patterns
    assert {name: (each.tokens, each.share, each.head_error) for name, each in found.items()} == {
        "NR → NN": (1, 100.0, 100.0),
        "PN → PN": (1, 100.0, 0.0),
        "PU → PU": (1, 100.0, None),
        "VA → AD": (1, 100.0, 0.0),
        "VV → VV": (1, 100.0, 0.0),
    }


def test_a_subtype_is_part_of_a_relation() -> None:
    gold = Layer(("a", "b"), None, (0, 1), ("root", "nmod:poss"))
    found = evaluate_layers([gold], [Layer(("a", "b"), None, (0, 1), ("root", "nmod"))], standard="x").details
    assert found.by_relation["nmod:poss"] == Score(1, 0, 0)
    assert found.by_relation["nmod"] == Score(0, 1, 0)


def test_sentences_by_length() -> None:
    gold = [Layer(("a",) * size, ("X",) * size) for size in (1, 10, 11, 41, 60)]
    found = evaluate_layers(gold, gold, standard="x").details.by_length
    assert {name: scores["accuracy"].gold for name, scores in found.items()} == {
        "1-10": 11,
        "11-20": 11,
        "41+": 101,
    }


def test_words_in_three_groups() -> None:
    found = evaluate_layers(
        GOLD, CUT, standard="x", vocabulary={"他", "来"}, other_vocabulary={"他", "好"}
    ).details.by_vocabulary
    assert list(found) == ["known", "known there", "unknown"]
    assert [each.tokens for each in found.values()] == [2, 1, 2]
    assert [each.recall for each in found.values()] == [50.0, 100.0, 50.0]
    assert [each.tag_recall for each in found.values()] == [50.0, 0.0, 50.0]
    two = evaluate_layers(GOLD, CUT, standard="x", vocabulary={"他", "来"}).details.by_vocabulary
    assert [(name, each.tokens) for name, each in two.items()] == [("known", 2), ("unknown", 3)]


def test_characters_need_the_right_place_and_tag() -> None:
    # 他: right; 来: only, not first; 北: first, not last; 京: last, not only; 好: wrong tag; 。: right.
    assert evaluate_layers(GOLD, CUT, standard="x").character == pytest.approx(100 * 2 / 6)
    assert evaluate_layers(GOLD, GUESS, standard="x").character is None


def test_relations_without_subtypes() -> None:
    gold = [Layer(("a", "b"), None, (0, 1), ("root", "acl:relcl"))]
    found = evaluate_layers(gold, [Layer(("a", "b"), None, (0, 1), ("root", "acl"))], standard="x").trees
    assert found is not None
    assert (found.las, found.las_without_subtypes, found.las_of_all_without_subtypes) == (50.0, 100.0, 100.0)
    assert found.as_json()["las_without_subtypes"] == 100.0


def test_objects_for_notebooks() -> None:
    found = evaluate_layers(GOLD, GUESS, standard="<x>")
    assert found.to_dict()["confusions"][0]["gold"] == "NR"
    shown = found._repr_html_()
    assert shown.startswith("<table>")
    assert "<x>" not in shown
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: pip install pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert dict(zip(frame["metric"], frame["value"], strict=True))["accuracy"] == 60.0


def test_a_frame_needs_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from duilian.errors import ConfigError

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="a data frame needs pandas"):
        evaluate_layers(GOLD, GUESS, standard="x").to_frame()
