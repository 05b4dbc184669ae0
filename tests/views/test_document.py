"""`Doc` as Python users meet it: a sequence of tokens, in columns, with clear answers to wrong questions."""

from __future__ import annotations

import copy
import doctest
import itertools
import json
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import duilian as dl
import duilian.document.doc
from duilian import Doc, Token
from duilian.corpus import Layer, Sentence
from duilian.document import Group, Names, WordTable
from duilian.errors import ConfigError
from duilian.models.roles import chosen_standard
from duilian.views import FORMS

TEXT = "他去办公室。 好！"


def table(ends: list[int], sentences: list[int], **rest: object) -> WordTable:
    """Words of a text without spaces that end there."""
    return WordTable([0, *ends[:-1]] if ends else [], ends, sentences, **rest)  # type: ignore[arg-type]


@pytest.fixture
def doc() -> Doc:
    gsd = WordTable(
        [0, 1, 2, 4, 5, 7, 8],
        [1, 2, 4, 5, 6, 8, 9],
        [0, 5, 7],
        tags=["PRP", "VV", "VV", "SFN", ".", "JJ", "."],
        confidence=[1.0, 1.0, 0.5, 0.5, 1.0, 1.0, 0.25],
        heads=[2, 0, 4, 2, None, 0, 1],
        relations=["nsubj", "root", "case:suff", "dobj", None, "root", "punct"],
    )
    pku = WordTable([0, 1, 2, 5, 7, 8], [1, 2, 5, 6, 8, 9], [0, 4, 6], tags=list("rvnwaw"))
    return Doc(TEXT, {"gsd": gsd, "pku": pku})


def test_the_examples_of_the_docstrings_run() -> None:
    result = doctest.testmod(duilian.document.doc)
    assert result.failed == 0
    assert result.attempted > 5


def test_a_doc_is_a_sequence_of_tokens(doc: Doc) -> None:
    tokens = doc.tokens()
    assert (len(doc), list(doc)) == (7, tokens)
    assert [doc[k] for k in range(-7, 7)] == 2 * tokens
    for part in (slice(2, 5), slice(None, None, -2), slice(5, 99), slice(3, 3)):
        assert doc[part] == tokens[part]
    for wrong in (7, -8):
        with pytest.raises(IndexError):
            doc[wrong]
    assert doc[2] == Token("办公", 2, 4, "VV", 0.5, 4, "case:suff")
    assert doc[4] == Token("。", 5, 6, ".", 1.0, None, None)
    assert doc.sentences() == [tokens[:5], tokens[5:]]
    assert doc.tokens("pku")[2] == Token("办公室", 2, 5, "n")
    values = [value for token in tokens for value in token]
    assert {type(value) for value in values} == {str, int, float, type(None)}, "no NumPy scalars"


def test_columns_are_lists_of_plain_values(doc: Doc) -> None:
    assert doc.words("pku") == ["他", "去", "办公室", "。", "好", "！"]
    assert (doc.tags("pku"), doc.heads) == (list("rvnwaw"), [2, 0, 4, 2, None, 0, 1])
    assert doc.relations == ["nsubj", "root", "case:suff", "dobj", None, "root", "punct"]


def test_standards_are_found_in_capitals_too(doc: Doc) -> None:
    assert doc.words("PKU") == doc.words("pku")
    assert doc.only("Pku").standards == ("pku",)
    assert doc.align("GSD", "PKU") == doc.align("gsd", "pku")
    assert doc.to_conllu("PKU") == doc.to_conllu("pku")
    assert chosen_standard("MINE", ["pku", "Mine"]) == "Mine"
    assert chosen_standard(None, ["pku", "Mine"]) == "pku"
    with pytest.raises(ConfigError, match=r"there is no standard 'PKUU'\n.*did you mean 'pku'\?"):
        doc.words("PKUU")
    with pytest.raises(ConfigError, match=r"there is no standard 'ud'\n.*choose one of: gsd, pku"):
        doc.words("ud")


def test_what_was_not_computed_is_one_clear_error() -> None:
    bare = Doc("他", {"pku": table([1], [0, 1])})
    for ask, message in (
        (lambda: bare.heads, "the analyser has no parser"),
        (lambda: bare.relations, "the analyser has no parser"),
        (bare.tags, "the analyser was trained without tags"),
        (Doc("他", {}).words, "the text has not been analysed"),
        (lambda: Doc("他", {"x": table([1], [0, 1], heads=[0])}).relations, "the trees have no relations"),
    ):
        with pytest.raises(ConfigError) as caught:
            ask()
        assert str(caught.value) == message
    some = Doc("他", {"pku": table([1], [0, 1])}, unasked=("tags", "trees", "gsd"))
    for ask, message, hint in (
        (lambda: some.heads, "trees were not asked for", "Ask(trees=True)"),
        (lambda: some.only("pku").heads, "trees were not asked for", "Ask(trees=True)"),
        (some.tags, "tags were not asked for", "Ask(tags=True)"),
        (lambda: some.words("GSD"), "the standard 'gsd' was not asked for", "Ask(standards=['gsd'])"),
    ):
        with pytest.raises(ConfigError) as caught:
            ask()
        assert caught.value.message == message
        assert hint in caught.value.hint


def test_docs_are_equal_by_content(doc: Doc) -> None:
    layers = {name: doc.layer(name) for name in doc.standards}
    for same in (pickle.loads(pickle.dumps(doc)), copy.copy(doc), copy.deepcopy(doc), Doc(TEXT, layers)):
        assert same == doc
        assert same is not doc
    assert pickle.loads(pickle.dumps(doc)).to_json() == doc.to_json()
    others = [
        Doc(TEXT + " ", layers),
        Doc(TEXT, layers, probability=0.5),
        Doc(TEXT, dict(reversed(layers.items()))),
        doc.only("gsd"),
        *(Doc(TEXT, {**layers, "gsd": changed}) for changed in one_change_each(doc.layer("gsd"))),
    ]
    assert [each for each in others if each == doc] == []
    assert doc != TEXT
    with pytest.raises(TypeError, match="unhashable"):
        hash(doc)


def one_change_each(words: WordTable) -> list[WordTable]:
    """The same words, with one value changed or a column left out."""
    columns = {name: getattr(words, name) for name in vars(words) if name != "xpos"}
    found = [words.with_xpos(Names.of(["x"] * len(words)))]
    for name, column in columns.items():
        if column is not None:
            found.append(
                WordTable(**{**columns, name: [*column[:-1], "x" if isinstance(column, Names) else 99]})
            )
        if name not in ("start", "end", "sentence") and column is not None:
            found.append(WordTable(**{**columns, name: None}))
    return found


def test_a_repr_tells_and_stays_short(doc: Doc) -> None:
    assert repr(doc.only("pku")) == "Doc(pku='他/r 去/v 办公室/n 。/w 好/a ！/w')"
    assert repr(Doc("他", {"x": table([1], [0, 1])}, probability=0.25)) == "Doc(x='他', probability=0.25)"
    many = Doc("啊" * 1234, {"x": table(list(range(1, 1235)), [0, 1234])})
    assert repr(many) == f"Doc(x='{' '.join('啊' * 12)} … (1,234 words)')"
    assert len(repr(Doc("a" * 9999, {"x": table([9999], [0, 1])}))) < 120
    assert repr(Doc("他", {})) == "Doc('他')"


# What JSON escapes, what it does not, and characters of one to four bytes.
CHARACTERS = st.sampled_from('他去"\\/\x00\b\t\n\x0b\f\r\x1f\x7f\x85é\u2028\ufeff😀a ')


@st.composite
def documents(draw: st.DrawFn) -> Doc:
    """Documents with any columns: words may leave gaps, names repeat or are missing."""
    text = draw(st.text(CHARACTERS, max_size=12))
    layers = {}
    for standard in draw(st.lists(st.sampled_from(["pku", "ud", '他"']), unique=True)):
        ends = sorted(draw(st.sets(st.integers(0, len(text)))))
        pairs = list(itertools.pairwise(ends))
        words = [pair for pair in pairs if draw(st.booleans())]

        def column(values: st.SearchStrategy[object], size: int = len(words)) -> list[object] | None:
            return draw(st.none() | st.lists(values, min_size=size, max_size=size))

        names = st.sampled_from(["n", 'v"', "名", "", *(f"tag{k}" for k in range(300))])
        layers[standard] = WordTable(
            [a for a, _ in words],
            [b for _, b in words],
            [0, len(words)],
            column(names),  # type: ignore[arg-type]
            column(st.floats(0, 1) | st.integers(0, 10_001).map(lambda k: k / 10_001 + 5e-5)),  # type: ignore[arg-type]
            column(st.none() | st.integers(0, 2**31 - 1)),  # type: ignore[arg-type]
            column(st.none() | names),  # type: ignore[arg-type]
        ).with_xpos(draw(st.sampled_from([None, Names.of(["x", None] * len(words))[: len(words)]])))
    return Doc(text, layers, probability=draw(st.sampled_from([None, None, 0.125])))


@given(documents())
def test_json_has_the_bytes_of_pythons_own_module(doc: Doc) -> None:
    written = json.dumps(doc.to_dict(), ensure_ascii=False)
    assert doc.to_json() == written
    assert doc.to_json_bytes() == written.encode()


def test_documents_that_the_native_core_refuses_are_json_too() -> None:
    marginals = WordTable([0], [1], [0, 1], ["r"], marginals=[{"r": 0.87654}])
    for text, words in (
        ("\ud800他", table([1], [0, 1])),  # a lone surrogate
        ("他去", WordTable([1, 0], [2, 1], [0, 2])),  # out of order
        ("他", table([2], [0, 1])),  # beyond the end
        ("他", table([1], [0, 1], confidence=[7.0])),
        ("他", table([1], [0, 1], confidence=[float("nan")])),
        ("他", marginals),
    ):
        doc = Doc(text, {"pku": words})
        assert doc.to_json() == json.dumps(doc.to_dict(), ensure_ascii=False)


def test_dictionaries_and_json_say_the_same(doc: Doc) -> None:
    assert json.loads(doc.to_json()) == doc.to_dict()
    assert FORMS["json"]("gsd").text(doc) == doc.to_json() + "\n"
    gsd, pku = doc.to_dict()["standards"].values()
    assert (gsd["heads"], gsd["confidence"]) == (doc.heads, [1.0, 1.0, 0.5, 0.5, 1.0, 1.0, 0.25])
    assert list(pku) == ["words", "spans", "sentences", "tags"]
    assert list(Doc("", {}, probability=0.5).to_dict()) == ["text", "probability", "standards"]


def test_conllu_is_what_the_form_writes(doc: Doc) -> None:
    for standard in doc.standards:
        assert doc.to_conllu(standard) == FORMS["conllu"](standard).text(doc)
    assert doc.to_conllu().splitlines()[:4] == [
        "# newpar id = 1",
        "# sent_id = 1",
        "# text = 他去办公室。",
        "1\t他\t_\tPRON\tPRP\t_\t2\tnsubj\t_\tSpaceAfter=No|TokenRange=0:1|Conf=1.0000",
    ]
    assert doc.to_conllu().splitlines()[7].split("\t")[6:] == ["_", "_", "_", "TokenRange=5:6|Conf=1.0000"]


def test_a_given_sentence_keeps_its_annotation() -> None:
    given = Sentence({"pku": Layer(("他", "去"), ("r", None))}, "7")
    doc = Doc("他去", {"pku": table([1, 2], [0, 2], tags=["n", "v"])}, given=given)
    (sentence,) = doc.to_sentences()
    assert (sentence.id, sentence["pku"].tags) == ("7", ("r", "v"))
    assert doc.only("pku").to_sentences() == [sentence]
    assert "# sent_id = 7" in doc.to_conllu()


def long_doc(words: int) -> Doc:
    """Sentences of 1 to 40 words of 1 to 3 characters; the other standard has words of one character."""
    random_ = random.Random(words)
    ends = list(itertools.accumulate(random_.choices((1, 2, 3), k=words)))
    edges = [0]
    while edges[-1] < words:
        edges.append(min(words, edges[-1] + random_.randint(1, 40)))
    tags = random_.choices(["n", "v", "w"], k=words)
    characters = [0, *ends]
    cut = table(list(range(1, ends[-1] + 1)), [characters[edge] for edge in edges])
    return Doc("字" * ends[-1], {"pku": table(ends, edges, tags=tags), "x": cut})


def test_a_long_text_in_pieces_says_the_same() -> None:
    doc = long_doc(23_456)
    for size in (100, 10_000, 23_456):
        pieces = list(doc.pieces(size))
        assert len(pieces) == -(-len(doc) // size)
        for name in doc.standards:
            assert [token for piece in pieces for token in piece.tokens(name)] == doc.tokens(name)
            assert [part for piece in pieces for part in piece.sentences(name)] == doc.sentences(name)
            assert [each for piece in pieces for each in piece.to_sentences()] == doc.to_sentences()
    assert list(doc) == doc.tokens()


@pytest.mark.parametrize("name", ["conllu", "slash"])
def test_parts_of_a_form_are_its_text(name: str) -> None:
    doc = long_doc(12_345)
    parts = list(FORMS[name]("pku").parts(doc))
    assert "".join(parts) == FORMS[name]("pku").text(doc)
    assert max(map(len, parts)) < 4_000
    if name == "slash":
        expected = "  ".join(f"{token.text}/{token.tag}" for token in doc) + "\n"
    else:
        expected = naive_conllu(doc)
    assert "".join(parts) == expected


def naive_conllu(doc: Doc) -> str:
    lines = ["# newpar id = 1"]
    for number, tokens in enumerate(doc.sentences("pku"), start=1):
        lines += [f"# sent_id = {number}", f"# text = {''.join(token.text for token in tokens)}"]
        for k, token in enumerate(tokens, start=1):
            apart = "" if token.end == len(doc.text) else "SpaceAfter=No|"
            misc = f"{apart}TokenRange={token.start}:{token.end}"
            cells = [str(k), token.text, "_", "_", str(token.tag), *"____", misc]
            lines.append("\t".join(cells))
        lines.append("")
    return "\n".join(lines) + "\n"


@given(st.integers(1, 12), st.data())
def test_groups_are_the_smallest_that_cover_the_same_characters(length: int, data: st.DataObject) -> None:
    inner = st.sets(st.integers(1, length)).map(lambda cuts: sorted({*cuts, length}))
    a, b = data.draw(inner), data.draw(inner)
    doc = Doc("字" * length, {"a": table(a, [0, len(a)]), "b": table(b, [0, len(b)])})
    expected, begin = [], 0
    for end in sorted({*a} & {*b}):
        inside = [[k for k, stop in enumerate(stops) if begin < stop <= end] for stops in (a, b)]
        expected.append(Group(*(range(each[0], each[-1] + 1) for each in inside)))
        begin = end
    assert doc.align("a", "b") == expected


@given(st.lists(st.sampled_from(["n", "v", "w", None])), st.slices(6), st.integers(-6, 5))
def test_names_are_like_a_list(values: list[str | None], part: slice, place: int) -> None:
    names = Names.of(values)
    assert names == values
    assert values == names
    assert names == tuple(values)
    assert (names[part].tolist(), list(names), len(names)) == (values[part], values, len(values))
    assert pickle.loads(pickle.dumps(names)) == names
    assert names != [*values, "n"]
    if -len(values) <= place < len(values):
        assert names[place] == values[place]
    else:
        with pytest.raises(IndexError):
            names[place]


def test_names_of_other_numbers_are_equal_by_content() -> None:
    assert Names([0, 1], ["a", "b"]) == Names([1, 0], ["b", "a"])
    assert Names([0, 1], ["a", "a"]) == ["a", "a"], "labels with the same tag"
    assert Names([0, 1], ["a", "b"]) != "ab"
    many = [str(k) for k in range(70_000)]
    for count, size in ((256, 1), (257, 2), (65_536, 2), (65_537, 4)):
        names = Names.of(many[:count])
        assert names.codes.itemsize == size
        assert names.tolist() == many[:count]


def test_a_word_takes_few_bytes() -> None:
    count = 1000
    ends, labels = np.arange(1, count + 1), np.arange(count) % 40
    words = WordTable(
        ends - 1,
        ends,
        [0, count],
        Names(labels, map(str, range(40))),
        [0.5] * count,
        [0] * count,
        Names(labels, map(str, range(40))),
    )
    columns = [getattr(each, "codes", each) for each in vars(words).values() if each is not None]
    assert sum(column.nbytes for column in columns if column is not words.sentence) == 18 * count


def test_trees_can_be_put_on_words(doc: Doc) -> None:
    words = doc.layer("pku").with_trees([2, 0, 2, 2, None, 1], None)
    assert Doc(TEXT, {"pku": words}).heads == [2, 0, 2, 2, None, 1]
    assert words.with_trees(None, None) == doc.layer("pku")


def test_parts_of_a_table_are_its_sentences() -> None:
    words, edges = 12, [0, 3, 3, 7, 12]
    table = WordTable(
        range(words),
        range(1, words + 1),
        edges,
        tags=[f"t{k % 3}" for k in range(words)],
        confidence=[k / words for k in range(words)],
        heads=list(range(words)),
        relations=[None if k % 4 else "r" for k in range(words)],
        marginals=[{"t": k / words} for k in range(words)],
    )
    for cuts in ([0, 4], [0, 1, 4], [1, 3], [0, 2, 2, 4]):
        for (first, stop), part in zip(itertools.pairwise(cuts), table.parts(cuts), strict=True):
            wanted = table[edges[first] : edges[stop]]
            wanted.sentence = np.array([each - edges[first] for each in edges[first : stop + 1]], np.int32)
            assert part == wanted == table.part(first, stop)


class TestNotebooks:
    """What a notebook shows of an analysis."""

    def test_it_is_the_couplet_and_the_tree(self) -> None:
        shown = dl.load()("我们去<北京>。")._repr_html_()
        assert shown.startswith('<div style="overflow-x:auto"><svg')
        assert "&lt;" in shown
        assert 'class="arc"' in shown
        assert "<script" not in shown

    def test_of_a_long_text_only_the_beginning(self) -> None:
        doc = dl.load()("我们去北京。" * 500, ask=dl.Ask(["pku"]))
        assert "… and 1,800 more words" in doc._repr_html_()

    def test_a_frame_has_a_row_for_each_word(self) -> None:
        doc = dl.load()("我们去北京。好！")
        frame = doc.to_frame()
        assert list(frame.columns[:6]) == ["standard", "sentence", "text", "start", "end", "tag"]
        assert len(frame) == sum(len(doc.tokens(name)) for name in doc.standards)
        one = doc.to_frame("PKU")
        assert one["text"].tolist() == doc.words("pku")
        assert one["sentence"].tolist()[-2:] == [1, 1]
        assert one["tag"].tolist() == doc.tags("pku")
