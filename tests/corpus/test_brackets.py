"""Bracket files: what is kept, what is stripped, and the message for every mistake."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian.corpus.formats.brackets import Tree, bare_label, read_brackets, trees_with_ids
from duilian.errors import ConfigError, CorpusError

BUYS = "(IP (NP (PN 他)) (VP (VV 买) (AS 了) (NP (QP (CD 三) (CLP (M 本))) (NP (NN 书)))) (PU 。))"


def numbered(text):
    return enumerate(text.split("\n"), start=1)


def read_trees(lines, path):
    return (tree for _, tree in trees_with_ids(lines, path))


def brackets_of(text):
    return [tree.to_brackets() for tree in read_trees(numbered(text), "ctb.fid")]


def error_of(text):
    with pytest.raises(CorpusError) as caught:
        list(read_trees(numbered(text), "ctb.fid"))
    assert caught.value.hint, "the user can act on every mistake of a file"
    return caught.value


leaves = st.builds(
    lambda tag, word: Tree(tag, word=word),
    st.sampled_from(["NN", "VV", "PU", "NR-SHORT", "M"]),
    st.text(st.sampled_from("书（）〈<>*\u3000-=𠮷a"), min_size=1, max_size=3),
)
trees = st.recursive(
    leaves,
    lambda children: st.builds(
        lambda label, kids: Tree(label, tuple(kids)),
        st.sampled_from(["IP", "NP", "VP", "X"]),
        st.lists(children, min_size=1, max_size=3),
    ),
    max_leaves=12,
)
forests = st.builds(lambda kids: Tree("", tuple(kids)), st.lists(trees, min_size=2, max_size=3))


def test_a_file_with_sgml_lines_gives_sentences_with_ids():
    text = """<DOC>
<DOCID>our_0001 (draft)</DOCID>
<HEADER>
<DATE>2024</DATE>
a free line of the header
</HEADER>
<BODY>
<P>
<S ID=12>
( (IP (NP-SBJ (PN 我))
      (VP (VV 来))) )
</S>
<S ID="13a">
( (FRAG (NN 完)) )
</S>
( (NP (NN 书)) )
</P>
</BODY>
</DOC>"""
    sentences = list(read_brackets(numbered(text), path="ctb.fid"))
    assert [sentence.id for sentence in sentences] == ["12", "13a", ""]
    layer = sentences[0]["ctb"]
    assert layer.words == ("我", "来")
    assert layer.tags == ("PN", "VV")
    assert layer.heads == (2, 0)
    assert layer.relations is None


@pytest.mark.parametrize("tag", ["<seg id='7'>", "<s id = 7 >", '<su speaker="a" id="7">'])
def test_other_spellings_of_the_sentence_tag(tag):
    (sentence,) = read_brackets(numbered(f"{tag}\n(NN 书)"), path="ctb.fid")
    assert sentence.id == "7"


def test_an_id_belongs_to_no_other_tag():
    (sentence,) = read_brackets(numbered("<S ID=1>\n</S>\n<segment id=9>\n<P id=3>\n(NN 书)"), path="ctb.fid")
    assert sentence.id == ""


def test_standard_and_dependencies_are_the_callers_choice():
    (sentence,) = read_brackets(numbered(BUYS), path="x", standard="mine", dependencies=False)
    assert list(sentence) == ["mine"]
    assert sentence["mine"].heads is None
    assert sentence.text == "他买了三本书。"


@pytest.mark.parametrize(
    "text", [f"( {BUYS} )", f"({BUYS})", BUYS, BUYS.replace(" ", "\n\t"), f"\n\n{BUYS}\n\n"]
)
def test_the_outer_bracket_and_line_breaks_do_not_matter(text):
    assert brackets_of(text) == [BUYS]


def test_a_labelled_outer_bracket_and_unary_chains_are_kept():
    text = "(TOP (IP (VP (VP (VV 来)))))"
    assert brackets_of(text) == [text]


def test_an_outer_bracket_around_several_trees_is_one_sentence():
    text = "( (IP (VV 来)) (PU 。))"
    assert brackets_of(text) == [text]
    (sentence,) = read_brackets(numbered(text), path="x")
    assert sentence["ctb"].heads == (2, 0)  # by the default rule


def test_several_trees_on_a_line_are_several_sentences():
    assert brackets_of("(NN 书) ( (NN 花) )(NN 人)") == ["(NN 书)", "(NN 花)", "(NN 人)"]


def test_functional_tags_leave_labels_and_not_tags():
    text = "(IP-HLN (NP-PN-SBJ-1 (NR-SHORT 中)) (VP=2 (VV 来)))"
    assert brackets_of(text) == ["(IP (NP (NR-SHORT 中)) (VP (VV 来)))"]
    (sentence,) = read_brackets(numbered(text), path="x")
    assert sentence["ctb"].tags == ("NR-SHORT", "VV")
    assert bare_label("-NONE-") == "-NONE-"


@pytest.mark.parametrize(
    "word", ["（", "）", "《", "<", ">", "<b>", "*", "-", "-LRB-", "𠮷", "a\u3000b", "１．５％", "\u00a0"]
)
def test_a_word_is_kept_exactly(word):
    (sentence,) = read_brackets(numbered(f"( (NP (PU {word})) )"), path="x")
    assert sentence["ctb"].words == (word,)


def test_traces_and_what_they_leave_empty_go():
    text = """( (IP (NP-SBJ (-NONE- *pro*))
      (VP (VV 买)
          (NP-OBJ (CP (WHNP-1 (-NONE- *OP*)) (CP (IP (NP (-NONE- *T*-1)) (VP (VA 新))) (DEC 的)))
                  (NP (NN 书)))
          (IP (NP (-NONE- *PRO*)) (VP (NP (-NONE- *)))))) )"""
    assert brackets_of(text) == ["(IP (VP (VV 买) (NP (CP (CP (IP (VP (VA 新))) (DEC 的))) (NP (NN 书)))))"]


def test_a_star_that_is_not_a_trace_stays():
    assert brackets_of("(NP (PU *T*-1))") == ["(NP (PU *T*-1))"]


def test_a_tree_of_traces_alone_is_no_sentence():
    assert brackets_of("( (IP (NP (-NONE- *pro*)) (VP (-NONE- *))) )\n(NN 书)\n(-NONE- *)") == ["(NN 书)"]


def test_an_outer_bracket_is_dropped_when_traces_leave_it_one_tree():
    assert brackets_of("( (NP (-NONE- *)) (IP (VV 来)) )") == ["(IP (VV 来))"]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            "(NN 书)\n(IP (NP (NN 书)\n(VP (VV 来))",
            2,
            "not closed before the end of the file: 2 brackets are still",
        ),
        ("(IP", 1, "one bracket is still open"),
        ("\n( (IP (VV 来)\n</S>\n(NN 书)", 2, "not closed before '</S>' on line 3"),
        ("( (IP (VV 来)\n( (IP (VV 去)) )", 1, "not closed before the next one on line 2: 2 brackets are"),
        ("( ( (IP (VV 来)) ) )", 1, "not closed before the next one on line 1: one bracket is"),
        ("(NN 书)\n\n)", 3, "closes no bracket"),
        ("(NN 书))", 1, "closes no bracket"),
        ("(IP (NP (PN 他))\n来)", 2, "'来' has no tag"),
        ("(IP 他\n(VV 来))", 2, "'他' has no tag"),
        ("( (IP (VV 来))\n。)", 2, "'。' has no tag"),
        ("(IP (NP (-NONE- *))\n来)", 2, "'来' has no tag"),
        ("(IP\n(NN 北京 大学))", 2, "'NN' has two words, '北京' and '大学'"),
        ("(IP (NN 书)\n(来))", 2, "'来' is alone in its bracket"),
        ("(IP\n(NP ) (VV 来))", 2, "'NP' is alone in its bracket"),
        ("(-NONE-)", 1, "'-NONE-' is alone"),
        ("\n()", 2, "these brackets are empty"),
        ("\n(\n)", 2, "these brackets are empty"),
        ("(IP (VV 来) ())", 1, "these brackets are empty"),
        ("(NN 书)\n他 来", 2, "'他' is outside any tree"),
        ("他_PN 来_VV", 1, "'他_PN' is outside any tree"),
        ("<S ID=1> ( (NN 书) ) </S>", 1, "'<S' is outside any tree"),
        ("<P> ( (NN 书) ) </P>", 1, "'<P>' is outside any tree"),
        ("<DOC>\n<HEADER>\n(NN 书)", 2, "header is never closed"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, line, said):
    error = error_of(text)
    assert said in error.message
    assert error.message.startswith(f"ctb.fid:{line}: ")


def test_the_trees_before_a_mistake_are_given():
    found = read_trees(numbered("(NN 书)\n)"), "ctb.fid")
    assert next(found) == Tree("NN", word="书")
    with pytest.raises(CorpusError):
        next(found)


@given(st.text(st.sampled_from("((()))  \n书N-=<S>/")))
def test_any_text_is_read_or_refused_with_a_place(text):
    line = 1
    try:
        for tree in read_trees(numbered(text), "ctb.fid"):
            assert list(tree.leaves())
    except CorpusError as error:
        line = error.line
    assert 1 <= line <= text.count("\n") + 1


@given(st.lists(trees | forests, max_size=4))
def test_reading_what_was_written_gives_the_same_trees(written):
    lines = [f"( {tree.to_brackets()} )" if tree.label else tree.to_brackets() for tree in written]
    assert len(lines) == len(written)
    assert list(read_trees(enumerate(lines, start=1), "x")) == written


@given(trees)
def test_leaves_are_the_words_in_order(tree):
    def naive(node):
        return (
            [(node.label, node.word)]
            if node.word is not None
            else [x for c in node.children for x in naive(c)]
        )

    assert [(leaf.label, leaf.word) for leaf in tree.leaves()] == naive(tree)


def test_trees_with_the_same_brackets_are_equal():
    one, same = read_trees(numbered(f"{BUYS}\n({BUYS})"), "x")
    assert one == same
    assert hash(one) == hash(same)
    assert one != Tree("NN", word="书")
    assert one != BUYS
    assert repr(one) == f"<Tree {BUYS}>"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tree("NP"),
        lambda: Tree("NP", (Tree("NN", word="书"),), word="书"),
        lambda: Tree("NN", word=""),
        lambda: Tree("NN", word="北京 大学"),
        lambda: Tree("NN", word="("),
        lambda: Tree("N N", word="书"),
        lambda: Tree("", word="书"),
        lambda: Tree("", (Tree("NN", word="书"),)),
        lambda: Tree("NP", (Tree("", (Tree("NN", word="书"), Tree("NN", word="花"))),)),
    ],
)
def test_a_tree_that_cannot_be_written_cannot_be_made(make):
    with pytest.raises(ConfigError):
        make()


def test_ten_thousand_levels_need_no_recursion():
    depth = 10_000
    text = "(NP (PU 、) " * depth + "(NN 书)" + ")" * depth
    (tree,) = read_trees(numbered(text), "x")
    assert tree.to_brackets() == text
    (again,) = read_trees([(1, tree.to_brackets())], "x")
    assert again == tree
    assert len({again, tree}) == 1
    assert repr(tree).startswith("<Tree (NP ")
    (sentence,) = read_brackets(numbered(text), path="x")
    assert sentence["ctb"].heads == (depth + 1,) * depth + (0,)


def test_reading_is_streaming():
    endless = ((number, BUYS) for number in itertools.count(1))
    assert len(list(itertools.islice(read_trees(endless, "x"), 3))) == 3
    assert next(endless)[0] == 4, "no line is taken before it is needed"


def test_a_hundred_thousand_words_are_read_in_reasonable_time():
    broken_over_lines = BUYS.replace(" (", "\n  (").split("\n")
    sentences = 100_000 // 7 + 1
    lines = enumerate((line for _ in range(sentences) for line in broken_over_lines), start=1)
    start = time.perf_counter()
    words = sum(len(sentence["ctb"]) for sentence in read_brackets(lines, path="x"))
    assert words == sentences * 7
    assert time.perf_counter() - start < 15  # a tenth of this on an idle machine
