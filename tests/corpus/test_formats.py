"""What the formats mean, and what they say about malformed input."""

from __future__ import annotations

import pytest
from corpus_samples import COLUMNS, CONLLU, CONLLX, JSONLINES, SAMPLES, SLASH, UNDERSCORE, numbered

from duilian.corpus import FORMATS, Entity, Layer, Sentence
from duilian.corpus.formats.columns import read_columns, write_columns
from duilian.corpus.formats.conllu import read_conllu, write_conllu
from duilian.corpus.formats.conllx import read_conllx
from duilian.corpus.formats.jsonlines import read_jsonlines
from duilian.corpus.formats.lookup import FormatOptions, guess_by_content
from duilian.corpus.formats.slash import plain_line, read_slash, write_slash
from duilian.corpus.formats.underscore import read_underscore
from duilian.errors import ConfigError, CorpusError


def test_slash_keeps_id_name_and_reading():
    first, second, third = read_slash(numbered(SLASH), path="f", standard="pku")
    assert first.id == "20260101-01-001-001"
    assert first["pku"].words == ("北湖", "电台", "的", "早", "新闻", "。")
    assert first["pku"].entities == (Entity(0, 2, "nt"),)
    assert first["pku"].columns == {"pinyin": ("", "", "de5", "", "", "")}
    assert second["pku"].tags[-2:] == (frozenset(["v", "vn"]), None)
    assert third["pku"].words == ("1/2", "/", "／", "[", "]")
    assert third["pku"].tags == ("m", "w", "w", "w", "w")


@pytest.mark.parametrize(
    ("line", "words", "names"),
    [
        ("[a/n]nz", ("a",), [Entity(0, 1, "nz")]),
        ("[a/n  b/n]/nt  c/n", ("a", "b", "c"), [Entity(0, 2, "nt")]),
        ("[[/w  ]/w]x", ("[", "]"), [Entity(0, 2, "x")]),
        (r"\[a/n", ("[a",), []),
        (r"[\[a/n]x", ("[a",), [Entity(0, 1, "x")]),
        ("\\/w  {/w  }/w  {}/w", ("\\", "{", "}", "{}"), []),
        ("a{b}{}/n", ("a{b}",), []),
        ("　/w a\u00a0b/n", ("　", "a\u00a0b"), []),
        ("a/n\tb/v ", ("a", "b"), []),
    ],
)
def test_slash_corner_cases(line, words, names):
    (sentence,) = read_slash([(1, line)], path="f", standard="x")
    assert sentence["x"].words == words
    assert list(sentence["x"].entities) == names


def test_plain_and_marked_up_lines_are_read_alike():
    plain = "a/n  b/v  c/?"
    (quick,) = read_slash([(1, plain)], path="f", standard="x")
    (slow,) = read_slash([(1, plain + "  [/w")], path="f", standard="x")
    assert slow["x"].words[:3] == quick["x"].words
    assert slow["x"].tags[:3] == quick["x"].tags


def test_underscore_drops_sgml_and_keeps_the_sentence_id():
    head = "<DOC>\n<DOCID> a 1 </DOCID>\n<BODY>\n"
    text = head + "<S ID=12>\n他_PN\n</S>\n<S ID=13> 来_VV </S>\n<_PU >_PU\n</BODY>"
    found = list(read_underscore(numbered(text), path="f", standard="ctb"))
    assert [(sentence.id, sentence["ctb"].words) for sentence in found] == [
        ("12", ("他",)),
        ("13", ("来",)),
        ("", ("<", ">")),
    ]
    assert len(list(read_underscore(numbered(UNDERSCORE), path="f", standard="ctb"))) == 2


def test_conllu_gives_tree_spaces_and_extra_rows():
    first, second = read_conllu(numbered(CONLLU), path="f", standard="ud")
    layer = first["ud"]
    assert (first.id, first.comments) == ("s1", ("# sent_id = s1", "# text = 他来 了"))
    assert (layer.heads, layer.relations) == ((2, 0, 2), ("nsubj", "root", "aux"))
    assert layer.text == "他来 了"
    assert [before for before, _ in layer.extra_rows] == [1, 2]
    assert second["ud"].text == "好"


def test_the_tag_column_follows_the_standard():
    def tags(standard, column=None):
        (sentence, _) = read_conllu(numbered(CONLLU), path="f", standard=standard, column=column)
        return sentence[standard].tags

    assert tags("ud") == ("PRON", "VERB", "AUX") == tags("gsd", "upos")
    assert tags("gsd") == ("PN", "VV", "AS") == tags("ud", "xpos")
    with pytest.raises(ConfigError, match="'lemma'"):
        tags("ud", "lemma")


def test_a_file_of_no_named_standard_has_its_tags_where_they_are():
    layer = Layer(("他", "来"), ("r", "v"))
    text = "".join(write_conllu([Sentence({"pku": layer})]))
    assert text.splitlines()[1].split("\t")[3:5] == ["_", "r"], "XPOS, for they are no universal tags"
    for standard in (None, "pku"):
        (sentence,) = read_conllu(numbered(text), path="f", standard=standard)
        assert sentence[standard or "ud"].tags == layer.tags
    for standard in ("ud", "x"):
        (sentence,) = read_conllu(numbered(text), path="f", standard=standard)
        assert sentence[standard].tags is None


@pytest.mark.parametrize(
    ("comment", "text"),
    [("# text = 他来", "他来"), ("# text = 他 来", "他 来"), ("# nothing", "他来")],
)
def test_without_any_space_after_the_text_comment_decides(comment, text):
    rows = "1\t他\t_\tX\t_\t_\t_\t_\t_\t_\n2\t来\t_\tX\t_\t_\t_\t_\t_\t_"
    (sentence,) = read_conllu(numbered(f"{comment}\n{rows}"), path="f", standard="ud")
    assert sentence.text == text


def test_conllx_knows_unknown_heads_and_relations():
    first, second = read_conllx(numbered(CONLLX), path="f", standard="ud")
    assert (first["ud"].heads, first["ud"].relations) == ((2, 0), None)
    assert (second["ud"].heads, second["ud"].tags) == (None, ("VV", None))


def test_columns_by_name():
    (sentence, _) = read_columns(numbered(COLUMNS), path="f", standard="x")
    assert sentence["x"].tags == ("B-NP", "B-VP", frozenset(["I-VP", "O"]))
    assert sentence["x"].columns == {"pos": ("PN", "VV", "AS")}
    names = ["word", "a", "b", "tag"]
    four = list(read_columns(numbered("x  1\t2 T"), path="f", standard="x", names=names))
    assert "".join(write_columns(four, names=names)) == "x 1 2 T\n\n"
    with pytest.raises(ConfigError, match="different"):
        list(read_columns([], path="f", standard="x", names=["a", "a"]))


def test_jsonl_requires_the_layer_asked_for():
    (sentence,) = read_jsonlines(numbered(JSONLINES), path="f", standard="ctb")
    assert sentence["ctb"].tags == ("PN", None, "SP")
    with pytest.raises(CorpusError, match="f:1: the sentence has no layer 'ud' \\(it has: pku, ctb\\)"):
        list(read_jsonlines(numbered(JSONLINES), path="f", standard="ud"))


@pytest.mark.parametrize("name", SAMPLES)
def test_content_tells_the_format(name):
    lines = [line for line in SAMPLES[name].split("\n") if line]
    assert guess_by_content(lines, "f") == name


def test_raw_text_is_no_corpus():
    with pytest.raises(CorpusError, match="f:1: cannot tell the format"):
        guess_by_content(["没有空格的一行"], "f")
    assert guess_by_content(["( (IP (NP (PN 他)) (VP (VV 来))) )"], "f") == "ctb-brackets"


def row(**fields: str) -> str:
    values = {"id": "1", "form": "a", "head": "0", **fields}
    names = ("id", "form", "l", "u", "x", "f", "head", "rel", "d", "m")
    return "\t".join(values.get(name, "_") for name in names)


MALFORMED = [
    ("slash", "a/n\nb", 2, "the word 'b' has no tag"),
    ("slash", "a/n  /w", 1, "empty word"),
    ("slash", "a/n  b/", 1, "empty tag"),
    ("slash", "[a/n  [b/n]x]y", 1, "inside another"),
    ("slash", "[[a/n]x]y", 1, "inside another"),
    ("slash", "[a/n  b/n", 1, "the bracket before 'a' is never closed"),
    ("slash", "a/n]nt", 1, "closes nothing"),
    ("slash", "[a/n]", 1, "no valid label"),
    ("slash", "[a/n]x]y", 1, "no valid label"),
    ("slash", "a/{}", 1, "empty member"),
    ("slash", "a/n\n\nb/{n|}", 3, "empty member"),
    ("slash", "20260101-01-001-001/m", 1, "no word follows the paragraph id"),
    ("slash", "20260101-01-001-001/m\t", 1, "no word follows the paragraph id"),
    ("underscore", "a_NN b", 1, "the word 'b' has no tag"),
    ("underscore", "<S ID=1>\n_NN", 2, "empty word"),
    ("underscore", "a_{|x}", 1, "empty member"),
    ("conllu", "1\ta", 1, "expected 10 columns, found 2"),
    ("conllu", "1 a b", 1, "expected 10 columns, found 1"),
    ("conllu", row() + "\n# late", 2, "a comment must come before"),
    ("conllu", row(form=""), 1, "the column form is empty"),
    ("conllu", row(id="2"), 1, "expected the id 1, found '2'"),
    ("conllu", row() + "\n" + row(), 2, "expected the id 2, found '1'"),
    ("conllu", row(id="2-3"), 1, "expected the id 1, found '2-3'"),
    ("conllu", row(id="1-2") + "\n" + row(), 1, "a token range ends at word 2 of a sentence of 1 word"),
    ("conllu", row(id="1.1"), 1, "expected the id 1, found '1.1'"),
    ("conllu", row(head="x"), 1, "the head 'x' is not a number"),
    ("conllu", row(head="１"), 1, "the head '１' is not a number"),
    ("conllu", row(head="-1"), 1, "is not a number"),
    ("conllu", row(head="9" * 5000), 1, "is not a number"),
    ("conllu", "\n\n" + row(head="2"), 3, "head 2 is outside the sentence (1 word)"),
    ("conllu", row(head="1"), 1, "word 1 is its own head"),
    ("conllu", row(head="2") + "\n" + row(id="2", head="1"), 1, "word 1 depends on itself"),
    (
        "conllu",
        row(head="2") + "\n" + row(id="2", head="3") + "\n" + row(id="3", head="2"),
        2,
        "word 2 depends",
    ),
    ("conllu", row(u="{}"), 1, "empty member"),
    ("conllu", "# only\n# comments", 1, "this sentence has no words"),
    ("conllx", row(id="1-2") + "\n" + row(), 1, "expected the id 1, found '1-2'"),
    ("columns", "a b c\nd e", 2, "expected 3 columns (word pos chunk), found 2"),
    ("columns", "a b c d", 1, "expected the columns word pos chunk, found 4"),
    ("columns", "a b {}", 1, "empty member"),
    ("jsonl", "{", 1, "not JSON"),
    ("jsonl", "[" * 100_000, 1, "nesting too deep"),
    (
        "jsonl",
        '{"layers": {"x": {"words": ["a"], "heads": [' + "9" * 5000 + "]}}}",
        1,
        "a number is too long",
    ),
    ("jsonl", "[]", 1, "expected an object"),
    ("jsonl", '{"layers": {}}', 1, "at least one layer"),
    ("jsonl", '{"layers": {"x": {"words": ["a"]}}, "more": 1}', 1, "unknown key ['more']"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "tag": ["n"]}}}', 1, "unknown key ['tag']"),
    ("jsonl", '{"layers": {"x": {"words": ["a", 1]}}}', 1, "expected text in words, found 1"),
    ("jsonl", '{"layers": {"x": {"words": [""]}}}', 1, "a word is empty"),
    ("jsonl", '{"layers": {"x": {"words": "ab"}}}', 1, "words must be a list"),
    ("jsonl", '{"layers": {"x": {"tags": []}}}', 1, "with the key words"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "tags": []}}}', 1, "tags has 0 entries for 1 word"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "tags": [[]]}}}', 1, "allows nothing"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "tags": [1]}}}', 1, "expected text in tags"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "heads": [2]}}}', 1, "head 2 is outside"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "heads": [true]}}}', 1, "the head True is not a number"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "entities": [[0, 2, "n"]]}}}', 1, "is outside the sentence"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "entities": [[0, 1]]}}}', 1, "[start, end, label]"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "columns": {"p": []}}}}', 1, "the column p has 0 entries"),
    ("jsonl", '{"layers": {"x": {"words": ["a"], "extra_rows": [[2, ""]]}}}', 1, "[words before, row]"),
    ("jsonl", '{"layers": {"x": {"words": ["a"]}, "y": {"words": ["b"]}}}', 1, "the same characters"),
    ("jsonl", '{"layers": {"x": {"words": ["\\ud800"]}}}', 1, "a lone surrogate in words"),
]


@pytest.mark.parametrize(("name", "text", "line", "phrase"), MALFORMED)
def test_malformed_input_is_reported_with_its_place(name, text, line, phrase):
    with pytest.raises(CorpusError) as caught:
        list(FORMATS[name].read(numbered(text), "my file", FormatOptions()))
    assert caught.value.message.startswith(f"my file:{line}: ")
    assert phrase in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("character", ["\0", " ", "\t", "　", "[", "]", "{", "}", "\\", "/", "?", "_", "-"])
def test_a_plain_slash_line_has_nothing_to_escape_or_refuse(character):
    words, tags = ("我们", "去", "北京。"), ("r", "v", "ns")
    line = "".join(write_slash([Sentence({"pku": Layer(words, tags)})]))
    assert plain_line(words, tags) == line == "我们/r  去/v  北京。/ns\n"
    assert plain_line((*words, f"a{character}"), (*tags, "n")) is None
    assert plain_line((*words, "a"), (*tags, f"{character}n")) is None
    assert plain_line(("",), ("n",)) is plain_line(("a",), ("",)) is None
