"""An analysis as people and other programs see it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from duilian.corpus import read_sentences, write
from duilian.corpus.formats.brat import brat_name
from duilian.document import Doc, Token, WordTable
from duilian.engine import Analyzer
from duilian.views import FORMS, brat, couplet, span_line, tree_lines
from duilian.views.forms import PrettyForm

TEXT = "  他去办公室。 好！"
TREE_TAGS = ["PRP", "VV", "VV", "SFN", ".", "JJ", "."]


def words(spans: list[tuple[int, int]], sentences: list[int], **rest: object) -> WordTable:
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    return WordTable(start, end, np.array(sentences, np.int64), **rest)  # type: ignore[arg-type]


@pytest.fixture
def doc() -> Doc:
    """Two sentences in two standards that segment 办公室 differently, the first with a tree."""
    gsd = words(
        [(2, 3), (3, 4), (4, 6), (6, 7), (7, 8), (9, 10), (10, 11)],
        [0, 5, 7],
        tags=TREE_TAGS,
        confidence=np.array([1, 1, 0.5, 0.5, 1, 1, 1]),
        heads=[2, 0, 4, 2, 2, 0, 1],
        relations=["nsubj", "root", "case:suff", "dobj", "punct", "root", "punct"],
    )
    pku = words([(2, 3), (3, 4), (4, 7), (7, 8), (9, 10), (10, 11)], [0, 4, 6], tags=list("rvnwaw"))
    return Doc(TEXT, {"gsd": gsd, "pku": pku})


SHOWN = """\
gsd  他   去  办公  室   。
     PRP  VV  VV    SFN  .
              ╌╌╌╌╌╌╌╌╌
pku  他   去  办公室     。
     r    v   n          w
gsd  去          VV   root
     ├─ 他       PRP  nsubj
     ├─ 室       SFN  dobj
     │  └─ 办公  VV   case:suff
     └─ 。       .    punct

gsd  好  ！
     JJ  .
pku  好  ！
     a   w
gsd  好     JJ  root
     └─ ！  .   punct
"""


def test_each_sentence_is_shown_with_its_tree(doc: Doc) -> None:
    assert couplet(doc).plain == SHOWN.rstrip("\n")
    form = PrettyForm("gsd", console=Console(color_system=None, width=80))
    assert form.begin("") + form.text(doc) + form.text(doc) == SHOWN + "\n" + SHOWN
    assert form.text(Doc("", {"gsd": words([], [0])})) == ""


def test_words_are_bright_and_only_the_names_dim(doc: Doc) -> None:
    drawn = couplet(doc)
    styles = {drawn.plain[span.start : span.end]: str(span.style) for span in drawn.spans}
    assert [styles[each] for each in ("gsd", "他", "PRP")] == ["dim", "bold", "cyan"]
    assert [styles[each] for each in ("办公室", "case:suff", "│  └─ ")] == ["bold yellow", "green", "dim"]
    assert str(drawn.style) == ""


def test_the_couplet_puts_same_characters_above_each_other(coupled: Analyzer) -> None:
    doc = coupled("我们明天去北京参观新的图书馆。iPhone很贵！")
    for width in (24, 40, 200):
        shown = couplet(doc, width).plain
        rows = [line for line in shown.split("\n") if line[:5].strip() == "ctb"]
        assert "".join("".join(row.split()[1:]) for row in rows) == "".join(doc.words("ctb"))
    narrow, wide = couplet(doc, 24).plain.split("\n"), couplet(doc, 200).plain.split("\n")
    assert len(narrow) > len(wide)
    assert max(cell_len(line) for line in couplet(doc, 40).plain.split("\n")) <= 40


def test_relations_are_aligned_behind_tags() -> None:
    tokens = [
        Token("他", 0, 1, "PRP", head=2, relation="nsubj"),
        Token("喜欢", 1, 3, "VV", head=0, relation="root"),
        Token("新", 3, 4, "JJ", head=4, relation="amod"),
        Token("书", 4, 5, "NN", head=2, relation="obj"),
    ]
    assert [line.plain for line in tree_lines(tokens)] == [
        "喜欢      VV   root",
        "├─ 他     PRP  nsubj",
        "└─ 书     NN   obj",
        "   └─ 新  JJ   amod",
    ]


def test_json_has_every_standard_with_places(doc: Doc) -> None:
    read = json.loads(doc.to_json())
    assert (read["text"], list(read["standards"])) == (TEXT, ["gsd", "pku"])
    assert [TEXT[a:b] for a, b in read["standards"]["pku"]["spans"]] == doc.words("pku")
    assert read["standards"]["gsd"]["sentences"] == [0, 5, 7]
    assert list(doc.only("pku").to_dict()["standards"]) == ["pku"]
    spans = json.loads(span_line(doc, "pku"))
    assert [TEXT[a:b] for a, b, _ in spans["label"]] == doc.words("pku")


def test_label_studio_gets_tasks_with_regions_and_relations(doc: Doc) -> None:
    form = FORMS["label-studio"]("gsd")
    empty = Doc("", {"gsd": words([], [0])})
    tasks = json.loads(form.begin("") + "".join(form.text(each) for each in (empty, doc, doc)) + form.end())
    assert len(tasks) == 2
    (prediction,) = tasks[0]["predictions"]
    regions = {each["id"]: each for each in prediction["result"] if each["type"] == "labels"}
    assert tasks[0]["data"] == {"text": TEXT}
    assert [each["value"]["labels"] for each in regions.values()] == [[tag] for tag in TREE_TAGS]
    for each in regions.values():
        assert TEXT[each["value"]["start"] : each["value"]["end"]] == each["value"]["text"]
    arcs = [
        (regions[each["from_id"]]["value"]["text"], each["labels"], regions[each["to_id"]]["value"]["text"])
        for each in prediction["result"]
        if each["type"] == "relation"
    ]
    assert ("室", ["case:suff"], "办公") in arcs
    assert ("好", ["punct"], "！") in arcs, "heads are counted by sentence, regions by text"
    assert len(arcs) == 5
    assert json.loads(FORMS["label-studio"]("gsd").end()) == []


def test_brat_has_relations_and_names_it_takes(doc: Doc) -> None:
    lines = list(brat(doc, "gsd", first=3, offset=7))
    texts = {line.split("\t")[0]: line.split("\t")[2] for line in lines if line[0] == "T"}
    for line in lines[: len(texts)]:
        label, start, end = line.split("\t")[1].split(" ")
        assert re.fullmatch(r"[A-Za-z0-9_-]+", label)
        assert TEXT[int(start) - 7 : int(end) - 7] == line.split("\t")[2]
    arcs = [
        re.fullmatch(r"R\d+\t([A-Za-z0-9_-]+) Arg1:(T\d+) Arg2:(T\d+)", line) for line in lines[len(texts) :]
    ]
    assert [(texts[arc[2]], arc[1], texts[arc[3]]) for arc in arcs if arc] == [
        ("去", "nsubj", "他"),
        ("室", "case-suff", "办公"),
        ("去", "dobj", "室"),
        ("去", "punct", "。"),
        ("好", "punct", "！"),
    ]
    assert len({line.split("\t")[0] for line in lines}) == len(lines), "no number twice"


def test_no_two_tags_have_one_name_in_brat() -> None:
    from duilian.standards import Standard, standard_names

    for standard in standard_names():
        tags = Standard.load(standard).tags or ()
        assert len({brat_name(tag) for tag in tags}) == len(tags)


def test_conllu_tells_sentences_lines_and_files_apart(doc: Doc) -> None:
    form = FORMS["conllu"]("gsd")
    empty = Doc("", {"gsd": words([], [0])})
    out = form.begin("a.txt") + "".join(form.text(each) for each in (doc, empty, doc)) + form.begin("b.txt")
    out += form.text(doc) + form.end()
    comments = [line for line in out.splitlines() if line.startswith("#") and "text" not in line]
    assert comments[:5] == [
        "# newdoc id = a.txt",
        "# newpar id = 1",
        "# sent_id = 1",
        "# sent_id = 2",
        "# newpar id = 3",
    ]
    assert comments[-4:] == ["# newdoc id = b.txt", "# newpar id = 1", "# sent_id = 5", "# sent_id = 6"]
    assert ["SpaceAfter=No" in row for row in out.splitlines() if "TokenRange" in row] == 3 * [
        not (TEXT + " ")[token.end].isspace() for token in doc
    ]


@pytest.mark.parametrize(
    ("standard", "upos", "xpos"),
    [("gsd", "PRON", "PRP"), ("pku", "_", "r"), ("ud", "PRON", "_"), ("x", "r", "_")],
)
def test_only_universal_tags_are_upos(standard: str, upos: str, xpos: str, tmp_path) -> None:
    tag = next(each for each in (xpos, upos) if each != "_")
    doc = Doc("他", {standard: words([(0, 1)], [0, 1], tags=[tag])})
    out = FORMS["conllu"](standard).text(doc)
    assert out.splitlines()[3].split("\t")[3:5] == [upos, xpos]
    (tmp_path / "a.conllu").write_text(out, "utf-8")
    (again,) = read_sentences(tmp_path / "a.conllu", standard=standard)
    assert again[standard].tags == (tag,), "it is found again where it stands"
    write([again], tmp_path / "b.conllu")
    assert (tmp_path / "b.conllu").read_text("utf-8") == out


def test_a_line_stays_a_line(doc: Doc) -> None:
    empty = Doc("", {"pku": words([], [0], tags=[])})
    for name in ("slash", "words", "json", "spans"):
        form = FORMS[name]("pku")
        assert [form.text(each).count("\n") for each in (doc, empty, doc)] == [1, 1, 1]
    assert FORMS["slash"]("pku").text(doc) == "他/r  去/v  办公室/n  。/w  好/a  ！/w\n"
