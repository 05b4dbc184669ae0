"""The couplet as an SVG picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian import Doc
from duilian.document import WordTable
from duilian.engine import Analyzer
from duilian.errors import ConfigError
from duilian.views import FORMS, picture

SVG = "{http://www.w3.org/2000/svg}"


def doc_of(text: str, cuts: list[int], *, tags: list[str] | None = None) -> Doc:
    """A text as one word with a tree in one standard, and cut there in the other."""
    whole = WordTable([0], [len(text)], [0, 1], tags=["x"], heads=[0], relations=["root"])
    parts = WordTable([0, *cuts], [*cuts, len(text)], [0, len(cuts) + 1], tags=tags)
    return Doc(text, {"parts": parts, "whole": whole})


def drawn(*docs: Doc, theme: str = "auto") -> ElementTree.Element:
    return ElementTree.fromstring(picture(docs, theme))


def texts(root: ElementTree.Element, kind: str) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text") if each.get("class") == kind]


def boxes(root: ElementTree.Element) -> list[tuple[str, float, float, float]]:
    """Class, left and right edge, and top of every word."""
    found = []
    for each in root.iter(f"{SVG}rect"):
        kind, x = each.get("class", ""), float(each.get("x", 0))
        if kind != "ground":
            found.append((kind, x, x + float(each.get("width", 0)), float(each.get("y", 0))))
    return found


def test_all_words_tags_and_relations_are_there(coupled: Analyzer) -> None:
    doc = coupled("我们明天去北京参观新的图书馆。")
    root = drawn(doc)
    shown = texts(root, "word")
    assert sorted(shown) == sorted(doc.words("ctb") + doc.words("pku"))
    assert sorted(texts(root, "tag")) == sorted(doc.tags("ctb") + doc.tags("pku"))
    assert texts(root, "name") == ["ctb", "pku"]
    assert root.find(f"{SVG}title").text == doc.text  # type: ignore[union-attr]
    assert " ".join(doc.words("pku")) in root.find(f"{SVG}desc").text  # type: ignore[union-attr,operator]


def test_every_arc_of_the_tree_is_drawn_and_named(parsed: Analyzer) -> None:
    doc = parsed("我们去北京。")
    root = drawn(doc)
    assert sorted(texts(root, "relation")) == sorted(map(str, doc.relations))
    assert len(list(root.iter(f"{SVG}path"))) == len(doc)


def test_words_cut_differently_stand_out_and_share_their_edges() -> None:
    root = drawn(doc_of("北京大学", [2], tags=["ns", "n"]))
    (kind, left, right, top), first, second = boxes(root)
    assert {kind, first[0], second[0]} == {"different"}
    assert (first[1], second[2]) == pytest.approx((left, right), abs=0.2)
    assert first[2] < second[1]
    assert top < first[3] == second[3]
    assert texts(root, "name") == ["whole", "parts"], "the standard with the tree comes first"
    assert {kind for kind, *_ in boxes(drawn(doc_of("北京", [], tags=["ns"])))} == {"same"}


def test_longer_arcs_are_above_those_they_span() -> None:
    heads = [2, 0, 5, 5, 2]
    table = WordTable([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [0, 5], heads=heads, relations=list("abcde"))
    root = drawn(Doc("一二三四五", {"x": table}))
    y = {each.text: float(each.get("y", 0)) for each in root.iter(f"{SVG}text")}
    assert y["b"] < y["e"] < y["c"] < y["d"] == y["a"]


def test_texts_are_stacked_in_one_picture() -> None:
    one, two = doc_of("北京", [1]), doc_of("北京大学在北京", [2, 4, 5])
    height, both = (float(drawn(*docs).get("height", 0)) for docs in ([one], [one, two]))
    assert both > 1.5 * height
    form = FORMS["svg"]("whole")
    assert [form.begin(""), form.text(one), form.text(two)] == ["", "", ""]
    assert form.end() == picture([one, two])
    assert texts(drawn(), "word") == []


@given(st.text(st.characters(), min_size=2))
def test_any_text_gives_valid_xml(text: str) -> None:
    root = drawn(doc_of(text, [1]))
    assert len(texts(root, "word")) == 3


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a & b", "]]>", "\"'><svg onload=x>"])
def test_markup_in_a_text_stays_text(text: str) -> None:
    root = drawn(doc_of(text, [1], tags=["<b>", "&"]))
    assert texts(root, "word") == [text, text[0], text[1:]]
    assert texts(root, "tag") == ["x", "<b>", "&"]
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        "svg",
        "title",
        "desc",
        "style",
        "rect",
        "g",
        "text",
        "path",
    }


def test_themes_are_fixed_or_the_readers() -> None:
    styles = {theme: drawn(theme=theme).find(f"{SVG}style").text for theme in ("light", "dark", "auto")}  # type: ignore[union-attr]
    assert ["@media" in str(style) for style in styles.values()] == [False, False, True]
    assert styles["light"] != styles["dark"]
    with pytest.raises(ConfigError, match=r"unknown theme 'drak'\n.*did you mean 'dark'\?"):
        picture([], "drak")
