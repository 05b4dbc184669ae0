"""What a notebook shows of things that are not analyses."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import duilian as dl
from duilian import Layer, Sentence, demo
from duilian.corpus import Corpus


def cells(html: str) -> list[str]:
    """The texts of a table, which must be closed properly."""
    opened: list[str] = []
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

        def handle_data(self, data: str) -> None:
            found.append(data)

    Reader().feed(html)
    assert not opened
    return found


def test_a_corpus_shows_its_first_sentences() -> None:
    found = cells(demo.load("pku", "pku")._repr_html_())
    assert re.fullmatch(r"Corpus: 257 sentences, pku from .*pku\.txt, the first 5 of them", found[0])
    assert len([each for each in found if "。/w" in each]) == 5


def test_partial_and_hostile_annotation_is_shown_as_text() -> None:
    layer = Layer(("<b>", "好"), (None, frozenset({"a", "v"})))
    html = Corpus([Sentence({"pku": layer})], standard="pku")._repr_html_()
    assert "<b>/? 好/{a|v}" in "".join(cells(html))
    plain = Corpus([Sentence({"words": Layer(("好",) * 50)})], standard="words")._repr_html_()
    assert cells(plain)[-1] == " ".join(["好"] * 40 + ["…"])


def test_a_model_shows_its_settings() -> None:
    found = cells(dl.Tagger("ctb", level="char")._repr_html_())
    assert found[0] == "Tagger"
    assert found[found.index("level") + 1 :][:2] == ["'char'", "changed"]


def test_explanations_are_still_a_tuple() -> None:
    found = dl.explain("ns", "pku")
    assert isinstance(found, tuple)
    assert found == tuple(found)
    assert "地名" in cells(found._repr_html_())
