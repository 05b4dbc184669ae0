"""Pairs of a universal and a specific tag, from the corpus through a model to the answer and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from duilian import Analyzer, Tagger, evaluate, explain, read
from duilian.corpus import Layer, Sentence, write
from duilian.document import Doc, Names, WordTable
from duilian.errors import StandardError
from duilian.labels.encoding import Encoding
from duilian.lexicon import Entry, Lexicon
from duilian.standards import (
    Mapping,
    are_pairs,
    pairs_with,
    split_names,
    split_pair,
    universal_features,
    universal_under,
)

TREEBANK = """\
# sent_id = 1
# text = 他也看书。
1	他	他	PRON	PRP	Person=3	3	nsubj	_	SpaceAfter=No
2	也	也	SCONJ	RB	_	3	mark	_	SpaceAfter=No
3	看	看	VERB	VV	_	0	root	_	SpaceAfter=No
4	书	书	NOUN	NN	_	3	obj	_	SpaceAfter=No
5	。	。	PUNCT	.	_	3	punct	_	SpaceAfter=No

# sent_id = 2
# text = 他很好。
1	他	他	PRON	PRP	Person=3	3	nsubj	_	SpaceAfter=No
2	很	很	ADV	RB	_	3	advmod	_	SpaceAfter=No
3	好	好	ADJ	JJ	_	0	root	_	SpaceAfter=No
4	。	。	PUNCT	.	_	3	punct	_	SpaceAfter=No

"""
PAIRS = ("ADJ+JJ", "ADV+RB", "NOUN+NN", "PRON+PRP", "PUNCT+.", "SCONJ+RB", "VERB+VV")


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "two.conllu"
    path.write_text(TREEBANK, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def zh(treebank: Path) -> Analyzer:
    corpus = read(treebank, standard="ud", column="upos+xpos")
    return Analyzer(Tagger("ud", level="char").fit([*corpus] * 5))


def test_a_tag_that_is_no_pair_has_one_part() -> None:
    assert [split_pair(tag) for tag in ("SCONJ+RB", "INTJ", "NN", "NN+VV", "PUNCT+'+'")] == [
        ("SCONJ", "RB"),
        ("INTJ", None),
        (None, "NN"),
        (None, "NN+VV"),
        ("PUNCT", "'+'"),
    ]


def test_tags_of_another_kind_with_the_sign_are_no_pairs() -> None:
    assert not are_pairs(("NN+VV", "NN"))
    assert split_names(("n", "v")) is None
    assert split_names(("ADV+RB", "INTJ", None)) == (("ADV", "INTJ", None), ("RB", None, None))


def test_reading_both_columns_and_writing_them_is_the_identity(treebank: Path, tmp_path: Path) -> None:
    corpus = read(treebank, standard="ud", column="upos+xpos")
    assert corpus[0]["ud"].tags == ("PRON+PRP", "SCONJ+RB", "VERB+VV", "NOUN+NN", "PUNCT+.")
    assert not {"upos", "xpos"} & set(corpus[0]["ud"].columns)
    write(corpus, tmp_path / "again.conllu")
    assert (tmp_path / "again.conllu").read_text(encoding="utf-8") == TREEBANK


def test_an_unknown_column_leaves_the_other_part(tmp_path: Path) -> None:
    path = tmp_path / "partial.conllu"
    rows = ["1\t他\t_\tPRON\t_", "2\t也\t_\t_\tRB", "3\t看\t_\t_\t_", "4\t书\t_\t{NOUN|VERB}\tNN"]
    text = "".join(f"{row}\t_\t_\t_\t_\tSpaceAfter=No\n" for row in rows) + "\n"
    path.write_text(text, encoding="utf-8")
    (sentence,) = read(path, standard="ud", column="upos+xpos", check_tags=False)
    assert sentence["ud"].tags == ("PRON", "RB", None, frozenset({"NOUN+NN", "VERB+NN"}))


def test_a_part_stands_for_its_pairs_in_training_and_limits() -> None:
    assert pairs_with("RB", PAIRS) == ("ADV+RB", "SCONJ+RB")
    limits = Encoding("word", PAIRS).limits([Layer(("也", "很", "好"), ("RB", "ADV", "ADJ+JJ"))])
    assert limits.first.tolist() == [0, 2, 3, 4]
    assert [PAIRS[k] for k in limits.tags] == ["ADV+RB", "SCONJ+RB", "ADV+RB", "ADJ+JJ"]
    with pytest.raises(StandardError, match="'XYZ' is not among the model's tags"):
        Encoding("word", PAIRS).limits([Layer(("也",), ("XYZ",))])


def test_a_treebank_without_specific_tags_teaches_universal_ones(treebank: Path) -> None:
    pairs = [sentence["ud"] for sentence in read(treebank, standard="ud", column="upos+xpos")]
    coarse = Layer(("他", "也", "好", "哦"), ("PRON", "SCONJ", "ADJ", "INTJ"))
    tagger = Tagger("ud", level="char").fit([*pairs, coarse] * 5)
    assert tagger.encoding_.tags == tuple(sorted([*PAIRS, "INTJ"]))
    assert tagger.predict_layers([coarse])[0].tags == ("PRON+PRP", "SCONJ+RB", "ADJ+JJ", "INTJ")


def test_an_analysis_has_universal_tags_and_specific_ones_beside_them(zh: Analyzer) -> None:
    doc = zh("他也看书。")
    assert doc.tags("ud") == ["PRON", "SCONJ", "VERB", "NOUN", "PUNCT"]
    assert [token.xpos for token in doc] == ["PRP", "RB", "VV", "NN", "."]
    assert doc.to_dict()["standards"]["ud"]["xpos"] == ["PRP", "RB", "VV", "NN", "."]
    assert doc[1:3][0].xpos == "RB"
    assert [token.xpos for piece in zh("他也看书。他很好。").pieces(words=2) for token in piece][6] == "RB"


def test_a_long_text_has_them_too(zh: Analyzer) -> None:
    doc = zh("他也看书。" * 50_000)
    assert doc.layer().xpos == ["PRP", "RB", "VV", "NN", "."] * 50_000


def test_probabilities_are_those_of_universal_tags(zh: Analyzer) -> None:
    for token in zh("他也好。", marginals=True):
        assert token.marginals is not None
        assert token.tag in token.marginals
        assert not any("+" in tag for tag in token.marginals)
        assert token.confidence == pytest.approx(token.marginals[token.tag])


def test_conllu_has_both_columns_lemmas_and_features(zh: Analyzer) -> None:
    rows = [line.split("\t") for line in zh("他也看书。").to_conllu().splitlines() if line[:1].isdigit()]
    assert [row[1:6] for row in rows[:2]] == [
        ["他", "他", "PRON", "PRP", "Person=3"],
        ["也", "也", "SCONJ", "RB", "_"],
    ]


def test_a_lexicon_names_either_part(zh: Analyzer) -> None:
    for tag, expected in (("NOUN", "NOUN"), ("NN", "NOUN"), ("ADV+RB", "ADV")):
        lexicon = Lexicon([Entry("看书", (tag,))])
        doc = zh.with_lexicon(lexicon)("他看书。")
        assert doc.words() == ["他", "看书", "。"]
        assert doc.tags()[1] == expected
        assert not zh.with_lexicon(lexicon).explain(doc)[0].why_not


def test_completion_keeps_what_is_given_of_a_pair(zh: Analyzer) -> None:
    columns = {"xpos": ("_", "RB", "_", "_", "_"), "misc": ("SpaceAfter=No",) * 5}
    layer = Layer(tuple("他也看书。"), ("PRON", None, None, "VERB", None), columns=columns)
    (doc,) = zh.fill([Sentence({"ud": layer})])
    (sentence,) = doc.to_sentences()
    assert sentence["ud"].tags == ("PRON", "SCONJ", "VERB", "VERB", "PUNCT")
    assert sentence["ud"].columns["xpos"] == ("PRP", "RB", "VV", "VV", ".")


def test_completion_of_pairs_gives_both_columns(zh: Analyzer) -> None:
    layer = Layer(tuple("他很好。"), ("PRON+PRP", None, "ADJ+JJ", None))
    (doc,) = zh.fill([Sentence({"ud": layer})])
    (sentence,) = doc.to_sentences()
    assert sentence["ud"].tags == ("PRON", "ADV", "ADJ", "PUNCT")
    assert sentence["ud"].columns["xpos"] == ("PRP", "RB", "JJ", ".")


@pytest.mark.parametrize("column", ["upos", "xpos", "upos+xpos"])
def test_gold_of_either_column_or_both_can_be_compared_with(
    zh: Analyzer, treebank: Path, column: str
) -> None:
    gold = read(treebank, standard="ud", column=column, check_tags=False)
    assert evaluate(zh.model, gold).word_tag.f1 == 100


def test_both_parts_are_explained() -> None:
    found = [(each.standard, each.tag) for each in explain("SCONJ+RB", "ud")]
    assert found == [("ud", "SCONJ"), ("gsd", "RB")]
    with pytest.raises(StandardError, match="standard 'gsd' has no tag 'XYZ'"):
        explain("SCONJ+XYZ", "ud")


def test_tables_know_pairs_by_their_universal_tags() -> None:
    mapping = Mapping.from_table("ud-pku.tight", ["NOUN+NN", "NOUN+NNB", "VERB+VV"], ["n", "q", "v"])
    assert mapping.to("NOUN+NN") == mapping.to("NOUN+NNB") == ("n", "q")
    assert mapping.to("VERB+VV") == ("v",)


@pytest.mark.parametrize(
    ("word", "tags", "features"),
    [
        ("的", ("PART", "DEC"), "Case=Gen"),
        ("的", ("SCONJ", "DEC"), "_"),
        ("着", ("AUX", "AS"), "Aspect=Prog"),
        ("了", ("AUX", "AS"), "Aspect=Perf"),
        ("我们", ("PRON", "PRP"), "Number=Plur|Person=1"),
        ("首次", ("NUM", "CD"), "NumType=Ord"),
    ],
)
def test_features_follow_from_words_and_pairs(word: str, tags: tuple[str, str], features: str) -> None:
    assert universal_features(word, *tags) == features


@pytest.mark.parametrize(
    ("relation", "tags", "universal"),
    [
        ("mark:rel", ("PART", "DEC"), "SCONJ"),
        ("case", ("SCONJ", "DEC"), "PART"),
        ("cop", ("VERB", "VC"), "AUX"),
        ("root", ("AUX", "VC"), "VERB"),
        ("nsubj", ("ADV", "RB"), "ADV"),
        (None, ("AUX", "VC"), "AUX"),
    ],
)
def test_universal_tags_agree_with_relations(
    relation: str | None, tags: tuple[str, str], universal: str
) -> None:
    assert universal_under(relation, *tags) == universal


def test_conllu_has_universal_tags_that_agree_with_the_tree() -> None:
    table = WordTable([0, 1, 2, 3], [1, 2, 3, 4], [0, 4], ["VERB", "PART", "NOUN", "PUNCT"])
    table = table.with_trees([3, 1, 0, 3], ["acl:relcl", "mark:rel", "root", "punct"])
    doc = Doc("来的人。", {"ud": table.with_xpos(Names.of(["VV", "DEC", "NN", "."]))})
    assert doc.tags() == ["VERB", "PART", "NOUN", "PUNCT"]
    rows = [line.split("\t") for line in doc.to_conllu().splitlines() if line[:1].isdigit()]
    assert [row[3] for row in rows] == ["VERB", "SCONJ", "NOUN", "PUNCT"]
    assert rows[1][5] == "_"  # Case=Gen is a feature of PART
