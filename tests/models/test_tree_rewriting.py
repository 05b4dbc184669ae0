"""Rewriting rules, punctuation, and files of rules that are wrong."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from duilian.corpus import Layer
from duilian.corpus.trees import find_fault, is_projective
from duilian.errors import ConfigError
from duilian.models.tree_converter.marks import attach_marks
from duilian.models.tree_converter.rewriting import TreeRules
from models.two_treebanks import DEV, TRAIN, small
from oracle.trees import projective_trees

THREE_BOOKS = Layer(
    ("买", "三", "本", "书"), ("VV", "CD", "M", "NN"), (0, 3, 4, 1), ("root", "nummod", "nmod", "dobj")
)


def rewritten(rules: str, layer: Layer = THREE_BOOKS) -> tuple[object, object]:
    found = TreeRules.parsed(rules, "rules.toml").rewritten(layer)
    return found.heads, found.relations


def test_swap() -> None:
    rule = """
        [[rule]]
        word = { relation = "nummod", tag = "CD", side = "left" }
        head = { relation = ["nmod", "det"], tag = "M" }
        above = { tag = "NN" }
        action = "swap"
        relation = "nummod"
        head_relation = "clf"
    """
    assert rewritten(rule) == ((0, 4, 2, 1), ("root", "nummod", "clf", "dobj"))


def test_a_rule_whose_conditions_fail_does_nothing() -> None:
    for wrong in ('word = { form = "四" }', 'head = { tag = "X" }', 'above = { tag = "X" }',
                  'child = { tag = "X" }', 'word = { side = "right", tag = "CD" }'):  # fmt: skip
        rule = f'[[rule]]\naction = "swap"\n{wrong}'
        assert rewritten(rule) == (THREE_BOOKS.heads, THREE_BOOKS.relations)


def test_lift_rename_and_children() -> None:
    rules = """
        [[rule]]
        word = { tag = "CD" }
        action = "lift"
        [[rule]]
        word = { tag = "NN" }
        child = { tag = "CD" }
        action = "rename"
        relation = "obj"
    """
    assert rewritten(rules) == ((0, 4, 4, 1), ("root", "nummod", "nmod", "obj"))


def test_first_of_several_clauses() -> None:
    layer = Layer(
        ("来", "看", "走", "了"), ("VV",) * 3 + ("AS",), (3, 3, 0, 3), ("dep", "dep", "root", "aux")
    )
    rule = """
        [[rule]]
        word = { relation = "dep", side = "left" }
        head = { relation = "root" }
        action = "first"
        head_relation = "parataxis"
    """
    assert rewritten(rule, layer) == ((0, 1, 1, 3), ("root", "parataxis", "parataxis", "aux"))


def test_next_sibling_and_what_moves_along() -> None:
    layer = Layer(
        ("猫", "和", "狗", "的"), ("NN", "CC", "NN", "DEG"), (0, 1, 1, 1), ("root", "cc", "conj", "case")
    )
    rule = '[[rule]]\nword = { relation = "cc" }\naction = "next"\nmoves = { relation = "conj" }'
    assert rewritten(rule, layer) == ((0, 3, 1, 1), ("root", "cc", "conj", "case"))
    swap = '[[rule]]\nword = { relation = "conj" }\naction = "swap"\nmoves = { relation = "case" }'
    assert rewritten(swap, layer) == ((3, 1, 0, 3), ("conj", "cc", "root", "case"))


@pytest.mark.parametrize("action", ["swap", "lift", "first"])
def test_whatever_a_rule_does_a_tree_stays_a_tree(action: str) -> None:
    rules = TreeRules.parsed(f'[[rule]]\naction = "{action}"\nmoves = {{ side = "left" }}', "any")
    for heads in projective_trees(4, single_root=True):
        layer = Layer(tuple("abcd"), ("X",) * 4, heads, tuple("rstu"))
        assert find_fault(rules.rewritten(layer).heads or ()) is None


def test_words_and_features_are_written_as_the_target_does() -> None:
    rules = TreeRules.parsed(
        'lemma = "form"\n[forms]\n"," = "，"\n"著/AS" = "着"\n[feats]\n"Case=Rel" = "_"', "rules.toml"
    )
    columns = {"xpos": ("VV", "AS", "NN", ","), "feats": ("_", "Case=Rel", "A=B", "_"), "deps": ("x",) * 4}
    given = Layer(
        tuple("看著著,"), ("VERB", "PART", "NOUN", "PUNCT"), (0, 1, 1, 1), tuple("abcd"), columns=columns
    )
    found = rules.respelled(given, Layer(given.words, ("V",) * 4))
    assert found.words == ("看", "着", "著", "，")
    assert found.columns["lemma"] == found.words
    assert found.columns["feats"] == ("_", "_", "A=B", "_")
    assert "deps" not in found.columns


def test_rules_run_before_the_learned_step(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('[[rule]]\nword = { relation = "case" }\naction = "swap"\nhead_relation = "dep:de"')
    alone = small(rules=str(path), is_learned=False).fit(*TRAIN)
    without = small(is_learned=False).fit(*TRAIN)
    both = small(rules=str(path)).fit(*TRAIN)
    assert without.score(*DEV) < alone.score(*DEV) < both.score(*DEV)
    both.save(tmp_path / "a.model")
    path.unlink()  # the model has its own copy
    assert type(both).load(tmp_path / "a.model").convert(DEV[0]) == both.convert(DEV[0])
    assert str(tmp_path).encode() not in (tmp_path / "a.model").read_bytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[rule]\n", "rules.toml: "),
        ("[rules]\n", r"no table \[rules\]"),
        ("rule = 3", "list of tables"),
        ("[[rule]]\n", "rule 1: action None does not exist"),
        ('[[rule]]\naction = "swop"', "'swop' does not exist"),
        ('[[rule]]\naction = "rename"', "needs the key 'relation'"),
        ('[[rule]]\naction = "next"', "needs the key 'moves'"),
        ('[[rule]]\naction = "lift"\nwrod = {}', "no key 'wrod'"),
        ('[[rule]]\naction = "lift"\nword = 3', "must be a table"),
        ('[[rule]]\naction = "lift"\nword = { tags = "X" }', "no key 'tags'"),
        ('[[rule]]\naction = "lift"\nword = { tag = 3 }', "a string or a list of strings"),
        ('[[rule]]\naction = "lift"\nword = { side = "up" }', "left or right"),
        ('[[rule]]\naction = "lift"\nname = 3', "name must be a string"),
        ("[forms]\na = 3", r"\[forms\] must map strings"),
        ('lemma = "x"', "lemma must be 'form'"),
    ],
)
def test_wrong_rules(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TreeRules.parsed(text, "rules.toml")


def test_rules_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        TreeRules.load(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="at most"):
        TreeRules.parsed("#" * 2_000_000, "long.toml")


def test_marks_never_cross_and_words_keep_their_heads() -> None:
    """For all trees of five words and all choices of marks among them, brackets too."""
    for heads in projective_trees(5, single_root=True):
        for marks in itertools.chain.from_iterable(itertools.combinations(range(1, 6), k) for k in (1, 2, 3)):
            root = heads.index(0) + 1
            if root in marks:
                continue
            words = ["，"] * 5
            words[marks[0] - 1], words[marks[-1] - 1] = "（", "）"
            for forms in ("abcde", words):  # marks alone, and a pair of brackets
                found = attach_marks(forms, set(marks), heads)
                assert find_fault(found) is None
                assert is_projective(found)
                assert not set(found) & set(marks)
                for word in set(range(1, 6)) - set(marks):
                    assert found[word - 1] == heads[word - 1] or heads[word - 1] in marks


def test_brackets_hang_on_what_they_enclose() -> None:
    words = ["城市", "（", "北京", "市", "）", "大"]
    assert attach_marks(words, {2, 5}, [6, 6, 4, 1, 6, 0]) == [6, 4, 4, 1, 4, 0]


def test_nothing_but_marks_stays() -> None:
    assert attach_marks(["。", "！"], {1, 2}, [0, 1]) == [0, 1]
