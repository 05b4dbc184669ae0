"""Chunks: conlleval's reading of legal and illegal labels, the naive twin, and seqeval."""

from __future__ import annotations

import naive_scores
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duilian.corpus import Entity
from duilian.errors import ConfigError
from duilian.evaluation import Score, are_chunk_labels, chunk_counts, chunk_score, chunks


def label_rows(letters):
    labels = ["O", *[f"{letter}-{name}" for letter in letters for name in ("NP", "VP")]]
    token = st.tuples(st.sampled_from(labels), st.sampled_from(labels))
    # Mostly equal tokens, so that whole chunks agree often enough to be tested.
    same = st.sampled_from(labels).map(lambda label: (label, label))
    return st.lists(st.lists(st.one_of(token, same, same), max_size=7), max_size=4)


def sides(rows):
    return [[token[0] for token in row] for row in rows], [[token[1] for token in row] for row in rows]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("", []),
        ("O O", []),
        ("B-NP I-NP O B-VP", [(0, 2, "NP"), (3, 4, "VP")]),
        ("B-NP B-NP", [(0, 1, "NP"), (1, 2, "NP")]),
        ("I-NP I-NP", [(0, 2, "NP")]),
        ("O I-NP", [(1, 2, "NP")]),
        ("B-NP I-VP I-VP", [(0, 1, "NP"), (1, 3, "VP")]),
        ("I-NP B-NP", [(0, 1, "NP"), (1, 2, "NP")]),
        ("B-NP E-NP S-NP I-NP", [(0, 2, "NP"), (2, 3, "NP"), (3, 4, "NP")]),
        ("E-NP E-NP", [(0, 1, "NP"), (1, 2, "NP")]),
        ("B-NP S-NP", [(0, 1, "NP"), (1, 2, "NP")]),
        ("I-NP E-VP", [(0, 1, "NP"), (1, 2, "VP")]),
        ("B@NN M@NN E@NN S@PU", [(0, 3, "NN"), (3, 4, "PU")]),
        ("B I E S", [(0, 3, ""), (3, 4, "")]),
        ("B-NP . I-NP", [(0, 1, "NP"), (2, 3, "NP")]),
        ("B-NP-SBJ I-NP-SBJ", [(0, 2, "NP-SBJ")]),
        ("B-NP I-NP-SBJ", [(0, 1, "NP"), (1, 2, "NP-SBJ")]),
    ],
)
def test_chunks_by_hand(labels, expected):
    assert chunks(labels.split()) == [Entity(*chunk) for chunk in expected]


def test_scores_by_hand():
    gold = [["B-NP", "I-NP", "O", "B-VP", "I-VP", "B-NP"]]
    guess = [["B-NP", "I-NP", "O", "B-VP", "B-VP", "B-VP"]]
    score = chunk_score(gold, guess)
    # Only the first chunk agrees: VP is cut in two, and the last one has the wrong type.
    assert score.overall == Score(3, 4, 1)
    assert score.by_type == {"NP": Score(2, 1, 1), "VP": Score(1, 3, 0)}
    assert score.overall.f1 == pytest.approx(200 / 7)


def test_a_chunk_that_goes_on_too_long_is_wrong():
    assert chunk_score([["B-NP", "O"]], [["B-NP", "I-NP"]]).overall == Score(1, 1, 0)
    assert chunk_score([["O", "B-NP"]], [["B-NP", "I-NP"]]).overall == Score(1, 1, 0)


def test_no_chunk_crosses_sentences():
    assert chunk_counts([["B-NP"], ["I-NP"]], [["B-NP"], ["I-NP"]]).tolist() == [[1, 1, 1]] * 2


def test_the_same_chunks_in_two_schemes_agree():
    gold, guess = [["B-NP", "I-NP", "O", "B-NP"]], [["B-NP", "E-NP", "O", "S-NP"]]
    assert chunk_score(gold, guess).overall == Score(2, 2, 2)


@pytest.mark.parametrize("rows", [[], [[]], [["O"]]])
def test_nothing_is_zero_of_nothing(rows):
    assert chunk_score(rows, rows).overall == Score(0, 0, 0)
    assert chunk_score(rows, rows).by_type == {}
    assert chunk_counts(rows, rows).tolist() == [[0, 0, 0]] * len(rows)


@pytest.mark.parametrize("label", ["NN", "", "X-NP", "BNP", "-NP"])
def test_other_labels_are_refused(label):
    with pytest.raises(ConfigError, match=f"sentence 2: '{label}' is not a chunk label"):
        chunk_score([["O"], ["O"]], [["O"], [label]])


def test_lengths_must_agree():
    with pytest.raises(
        ConfigError, match="sentence 1: gold and guess must have the same number of labels, got 1 and 2"
    ):
        chunk_score([["O"]], [["O", "O"]])


def test_what_can_only_be_chunk_labels():
    assert are_chunk_labels(["O", "B-NP", "I-NP", "S@NN"])
    for labels in [[], ["O"], ["B", "I"], ["B-NP", "NN"], ["B-NP", None], ["B-"], [frozenset({"B-NP"})]]:
        assert not are_chunk_labels(labels)


@pytest.mark.parametrize("letters", ["BI", "BIES", "BMES", "IE"])
def test_counts_equal_the_twin(letters):
    @settings(max_examples=150, deadline=None)
    @given(label_rows(letters))
    def check(rows):
        gold, guess = sides(rows)
        expected = [naive_scores.chunk_counts(*pair) for pair in zip(gold, guess, strict=True)]
        sums = [[sum(counts[k] for counts in row.values()) for k in range(3)] for row in expected]
        assert chunk_counts(gold, guess).tolist() == sums
        by_type = chunk_score(gold, guess).by_type
        for name, score in by_type.items():
            rows_of_type = [row.get(name, [0, 0, 0]) for row in expected]
            assert score == Score(*[sum(row[k] for row in rows_of_type) for k in range(3)])
        assert set(by_type) == {name for row in expected for name in row}

    check()


def test_the_twin_by_hand():
    gold, guess = ["B-NP", "I-NP", "I-VP", "O", "I-NP"], ["B-NP", "I-NP", "I-VP", "I-VP", "I-NP"]
    assert naive_scores.chunk_counts(gold, guess) == {"NP": [2, 2, 2], "VP": [1, 1, 0]}


@settings(deadline=None)
@given(label_rows("BIES"))
def test_chunks_and_scores_tell_the_same(rows):
    gold, guess = sides(rows)
    pairs = [(set(chunks(a)), set(chunks(b))) for a, b in zip(gold, guess, strict=True)]
    assert chunk_counts(gold, guess).tolist() == [[len(a), len(b), len(a & b)] for a, b in pairs]


@pytest.mark.parametrize("letters", ["BI", "BIES"])
def test_scores_equal_those_of_seqeval(letters):
    measure = pytest.importorskip(
        "seqeval.metrics.sequence_labeling", reason="seqeval is not installed: pip install seqeval"
    )

    @settings(max_examples=100, deadline=None)
    @given(label_rows(letters).filter(lambda rows: any(rows)))
    def check(rows):
        gold, guess = sides(rows)
        for row in gold:
            theirs = [(start, end + 1, name) for name, start, end in measure.get_entities(row)]
            assert theirs == [(chunk.start, chunk.end, chunk.label) for chunk in chunks(row)]
        theirs = measure.precision_recall_fscore_support(gold, guess, average="micro", zero_division=0)
        ours = chunk_score(gold, guess).overall
        assert [100 * share for share in theirs[:3]] == pytest.approx([ours.precision, ours.recall, ours.f1])

    check()
