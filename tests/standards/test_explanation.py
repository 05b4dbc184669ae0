"""Explanations: every tag has one, its example has the word, and an unknown tag suggests a known one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import duilian
from cli.running import run_here
from duilian.errors import StandardError
from duilian.standards import BoundaryScheme, Explanation, Standard, standard_names
from duilian.standards.explanation import _built_in, _parse_table, explain, explained_standards, explanations

ALL = _built_in()
UNIVERSAL_RELATIONS = """
  acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl
  fixed flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative
  xcomp
"""
RELATIONS_OF_VERSION_1 = """
  acl acl:relcl advcl advmod amod appos aux aux:caus auxpass case case:aspect case:dec case:pref case:suff cc
  ccomp compound conj cop csubj csubjpass dep det discourse dislocated dobj expl foreign goeswith iobj list
  mark mwe name neg nmod nmod:tmod nsubj nsubjpass nummod parataxis punct remnant reparandum root vocative
  xcomp
"""


def is_han(text: str) -> bool:
    return any("\u4e00" <= c <= "\u9fff" for c in text)


@pytest.mark.parametrize("name", standard_names())
def test_every_tag_of_every_shipped_standard_is_explained(name: str) -> None:
    for tag in Standard.load(name).tags or ():
        (found,) = explain(tag, name)
        assert (found.standard, found.tag, found.kind) == (name, tag, "tag")


def test_every_relation_and_boundary_letter_is_explained() -> None:
    for relation in UNIVERSAL_RELATIONS.split():
        assert explain(relation, "ud")[0].kind == "relation"
    for relation in RELATIONS_OF_VERSION_1.split():
        assert explain(relation, "ud1")[0].kind == "relation"
    for scheme in (BoundaryScheme.BIES, BoundaryScheme.BMES, BoundaryScheme.BI, BoundaryScheme.IE):
        for letter in scheme.letters:
            assert explain(letter, "boundaries")[0].kind == "boundary"


def test_no_tag_is_explained_twice_in_a_standard() -> None:
    keys = [(each.standard, each.tag, each.kind) for each in ALL]
    assert len(keys) == len(set(keys))
    assert {each.standard for each in ALL} == set(explained_standards())


@pytest.mark.parametrize("each", ALL, ids=lambda each: f"{each.standard} {each.tag}")
def test_an_explanation_is_whole(each: Explanation) -> None:
    assert is_han(each.chinese)
    assert each.english
    assert not any(field != field.strip() for field in (each.english, each.chinese, each.example))
    assert each.words
    assert all(word and word in each.sentence for word in each.words)
    assert each.example.count("【") == each.example.count("】") == len(each.words)
    assert is_han(each.sentence)
    assert each.translation
    assert not is_han(each.translation)
    if each.kind == "relation" and each.tag != "root":
        assert each.head
        assert each.head in each.sentence
        assert each.example.count("〔") == each.example.count("〕") == 1
    else:
        assert each.head == ""


def test_no_two_tags_of_a_standard_have_the_same_definition() -> None:
    for name in explained_standards():
        for language in ("english", "chinese"):
            said = [
                (each.kind, getattr(each, language))
                for each in ALL
                if each.standard == name and each.kind != "relation"
            ]
            assert len(said) == len(set(said))


def test_without_a_standard_all_that_have_the_tag_answer() -> None:
    assert [each.standard for each in duilian.explain("NN")] == ["ctb", "gsd"]
    assert [each.standard for each in explain("nsubj")] == ["ud", "ud1"]
    assert [each.kind for each in explain("X")] == ["tag", "tag", "tag"]


def test_both_parts_of_a_label_are_explained() -> None:
    assert [(each.standard, each.tag) for each in explain("B@NN", "ctb")] == [
        ("boundaries", "B"),
        ("ctb", "NN"),
    ]
    with pytest.raises(StandardError, match="standard 'ctb' has no tag 'NNN'"):
        explain("B@NNN", "ctb")
    with pytest.raises(StandardError, match="no standard has the tag 'Q@NN'"):
        explain("Q@NN")


@pytest.mark.parametrize(
    ("tag", "standard", "message", "hint"),
    [
        ("NNN", "ctb", "standard 'ctb' has no tag 'NNN'", "did you mean NN"),
        ("nn", "ctb", "standard 'ctb' has no tag 'nn'", "did you mean NN?"),
        ("nsub", None, "no standard has the tag 'nsub'", "did you mean nsubj"),
        ("nsubj", "ctb", "standard 'ctb' has no tag 'nsubj'", "nsubj belongs to ud, ud1"),
        ("VERB", "pku", "standard 'pku' has no tag 'VERB'", "VERB belongs to gsd, ud"),
        (
            "",
            None,
            "no standard has the tag ''",
            "duilian explain --standard NAME shows",
        ),
        ("xyz", None, "no standard has the tag 'xyz'", "duilian explain --standard NAME"),
        ("xyz", "ud1", "standard 'ud1' has no tag 'xyz'", "its tags are ADJ ADP"),
        ("NN", "CTB", "there is no standard 'CTB'", "did you mean 'ctb'?"),
    ],
)
def test_an_unknown_tag_leads_to_a_known_one(tag: str, standard: str | None, message: str, hint: str) -> None:
    with pytest.raises(StandardError) as caught:
        explain(tag, standard)
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)


def test_a_relation_leads_from_head_to_dependent_as_its_corpus_has_it() -> None:
    """The suffix is the head of its stem; in version 1 the first conjunct is that of the conjunction."""
    assert [(each.words, each.head) for each in explain("case:suff")] == [(("体育",), "馆")]
    assert [(each.standard, each.head) for each in explain("cc")] == [("ud", "梨"), ("ud1", "苹果")]


def test_ones_own_standard_explains_itself(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('[tags]\nN = { english = "noun", chinese = "名词", example = "灯笼" }\n', "utf-8")
    (found,) = explain("N", str(path))
    assert (found.standard, found.english, found.example) == ("house", "noun", "灯笼")
    with pytest.raises(StandardError, match="standard 'house' has no tag 'n'"):
        explain("n", str(path))


def test_a_row_with_a_missing_column_is_named() -> None:
    with pytest.raises(StandardError, match=r"x\.tsv:2: expected 6 columns, found 2"):
        list(_parse_table("x.tsv", ["# head", "ctb\tNN"]))


def test_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = run_here(monkeypatch, "explain", "vn", "nsubj", "--standard", "pku")
    assert status == 1
    status, out, _ = run_here(monkeypatch, "explain", "vn")
    assert status == 0
    assert out.splitlines()[0] == "vn  pku tag"
    assert "名动词" in out
    assert "经济【发展】" in out
    status, out, _ = run_here(monkeypatch, "explain", "nsubj", "--standard", "ud", "--json")
    row = json.loads(out)
    assert (status, row["tag"], row["words"]) == (0, "nsubj", ["小鸟"])
    status, out, err = run_here(monkeypatch, "explain", "vn", "VV1", "nsub", "--standard", "pku")
    assert (status, out.splitlines()[0]) == (1, "vn  pku tag"), "what is known is explained"
    assert err.startswith("duilian: standard 'pku' has no tag 'VV1'; standard 'pku' has no tag 'nsub'\n")
    status, _, err = run_here(monkeypatch, "explain", "nsub")
    assert status == 1
    assert err.startswith("duilian: no standard has the tag 'nsub'\n  hint: did you mean nsubj")
    status, out, _ = run_here(monkeypatch, "explain", "nsubj")
    assert out.splitlines()[0] == "nsubj  ud, ud1 relation", "what is the same is said once"
    assert len(out.splitlines()) == 4
    status, out, _ = run_here(monkeypatch, "explain", "--standard", "gsd")
    assert status == 0
    assert out.count(" tag\n") == len(explanations("gsd")) == 42
    assert run_here(monkeypatch, "explain")[0] == 2
