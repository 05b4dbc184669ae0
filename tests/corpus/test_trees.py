"""Trees in a corpus: errors with their line, projectivity, lifting."""

from __future__ import annotations

import itertools
import re

import pytest

from duilian.corpus import Layer, TreeCheck, projectivise_layer, read, statistics, write
from duilian.corpus.trees import crossing, find_fault, is_projective, projectivise
from duilian.errors import CorpusError
from oracle.trees import ancestors, is_tree
from oracle.trees import is_projective as is_projective_by_definition


def rows(heads: list[str], first_line: str = "# a comment\n") -> str:
    lines = [f"{n}\t字\t_\tNN\tNN\t_\t{head}\t_\t_\t_" for n, head in enumerate(heads, 1)]
    return first_line + "\n".join(lines) + "\n\n"


@pytest.mark.parametrize(
    ("heads", "trees", "message"),
    [
        (["2", "0", "0"], "partial", ":4: word 3 is a second root, after word 2"),
        (["2", "0", "0"], "whole", ":4: word 3 is a second root, after word 2"),
        (["2", "_", "0"], "whole", ":3: word 2 has no head"),
        (["_", "_"], "whole", ":2: word 1 has no head"),
        (["2", "1", "0"], "any", ":2: word 1 depends on itself: its heads form a cycle"),
        (["0", "9"], "any", ":3: head 9 is outside the sentence (2 words)"),
        (["1"], "any", ":2: word 1 is its own head"),
    ],
)
def test_a_wrong_tree_is_refused_with_its_line(tmp_path, heads: list[str], trees: TreeCheck, message: str):
    file = tmp_path / "trees.conllu"
    file.write_text(rows(heads))
    with pytest.raises(CorpusError, match=re.escape(f"{file}{message}")):
        read(file, trees=trees)


def test_an_empty_form_is_refused_with_its_line(tmp_path):
    file = tmp_path / "trees.conllu"
    file.write_text(rows(["0"]).replace("字", ""))
    with pytest.raises(CorpusError, match=":2: the column form is empty"):
        read(file)


@pytest.mark.parametrize("heads", [["2", "_", "0"], ["_", "_"], ["2", "0"]])
def test_what_is_not_known_may_be_missing(tmp_path, heads: list[str]):
    file, copy = tmp_path / "trees.conllu", tmp_path / "copy.conllu"
    file.write_text(rows(heads))
    corpus = read(file, trees="partial")
    expected = tuple(None if head == "_" else int(head) for head in heads)
    assert corpus[0]["ud"].heads == (None if set(expected) == {None} else expected)
    write(corpus, copy)
    assert copy.read_text() == file.read_text()


def test_trees_of_json_lines_are_checked_too(tmp_path):
    file = tmp_path / "trees.jsonl"
    file.write_text('\n{"layers":{"a":{"words":["字","字"],"heads":[0,0]},"b":{"words":["字字"]}}}\n')
    assert len(read(file)) == 1
    with pytest.raises(CorpusError, match=":2: word 2 is a second root"):
        read(file, standard="a", trees="partial")
    assert len(read(file, standard="b", trees="partial")) == 1
    with pytest.raises(CorpusError, match=":2: word 1 has no head"):
        read(file, standard="b", trees="whole")


def test_a_fault_is_found_exactly_where_there_is_no_tree():
    for heads in itertools.product(range(5), repeat=4):
        assert (find_fault(heads, "any") is None) == is_tree(heads)
        assert (find_fault(heads, "whole") is None) == (is_tree(heads) and heads.count(0) == 1)


def test_projective_is_what_the_definition_says():
    for heads in filter(is_tree, itertools.product(range(6), repeat=5)):
        assert is_projective(heads) == is_projective_by_definition(heads)


def test_arcs_of_a_partial_tree_may_cross():
    assert crossing([3, None, 0, 2]) == [1, 3, 4]
    assert crossing([3, None, 0, None]) == []
    assert crossing([]) == []


def test_lifting_by_hand():
    """Word 2 depends on 4 across the root 3: it is lifted to the head of 4, which is 3."""
    found = projectivise((3, 4, 0, 3))
    assert found.heads == (3, 3, 0, 3)
    assert found.lifted == (2,)


def test_lifting_makes_a_projective_tree_and_touches_no_other():
    for heads in filter(is_tree, itertools.product(range(6), repeat=5)):
        found = projectivise(heads)
        assert is_tree(found.heads)
        assert is_projective_by_definition(found.heads)
        assert bool(found.lifted) == (not is_projective_by_definition(heads))
        for word, (before, after) in enumerate(zip(heads, found.heads, strict=True), 1):
            assert (before != after) == (word in found.lifted)
            assert after in ancestors(heads, word)


def test_a_lifted_word_keeps_its_relation():
    layer = Layer(("的", "书", "看", "人"), None, (3, 4, 0, 3), ("a", "b", "root", "d"))
    lifted, count = projectivise_layer(layer)
    assert count == 1
    assert lifted.heads == (3, 3, 0, 3)
    assert lifted.relations == layer.relations


def test_statistics_count_the_trees_that_cross(tmp_path):
    file = tmp_path / "trees.conllu"
    file.write_text(rows(["3", "4", "0", "3"]) + rows(["2", "0"]) + rows(["_"]))
    found = statistics(read(file)).as_json()["trees"]
    assert found == {"sentences": 2, "crossing_sentences": 1, "crossing_arcs": 3}
    file.write_text(rows(["_"]))
    assert "trees" not in statistics(read(file)).as_json()
