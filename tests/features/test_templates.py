"""The template language: golden features, agreement with the naive reference, errors with their place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duilian import _native
from duilian.errors import ConfigError, TemplateError, TextError
from duilian.features import Templates, pack, presets
from duilian.text import Folding, char_types
from oracle import templates as naive

GOLDEN = Path(__file__).parent / "golden"

SENTENCES = {
    "pos-word": (["他", "高高兴兴", "地", "去", "国务院新闻办公室", "。"], {}),
    "segpos-char": (["我", "试", "试", "iPhone", "１５", "。"], {}),
    "segpos-char-plain": (["我", "试", "试", "iPhone", "１５", "。"], {}),
    "guide-word": (["他", "去", "国务院"], {"guide": ["r", "v", "nt"]}),
    "guide-own-word": (["他", "去"], {"guide": ["r", "v"], "own": ["PN", "VV"]}),
    "guide-char": (["他", "去"], {"guide": ["S@r", "S@v"]}),
    "guide-own-char": (["他", "去"], {"guide": ["S@r", "S@v"], "own": ["S@PN", "S@VV"]}),
    "mixed-static": (["他", "有", "iPhone"], {}),
    "mixed-words": (["他", "有", "iPhone"], {"pos": ["PN", "VE", "?"]}),
    "mixed-words-wide": (["他", "有", "iPhone"], {"pos": ["PN", "VE", "?"]}),
    "mixed-english": (["有", "iPhone"], {"english": ["-", "?"], "case": ["-", "miXed"]}),
    "multitask": (["他", "有", "车"], {}),
    "chunk": (["He", "sees", "old", "ships", "."], {"pos": ["PRP", "VBZ", "JJ", "NNS", "."]}),
}

ATOMS = [
    "w[0]", "x[-1]", "c[0,0]", "c[1,-1]", "c[0,2]", "c[0,*]", "repeat[0]", "repeat[-1]", "prefix[0,2]",
    "prefix[0,1..4]", "suffix[1,1..3]", "suffix[0,3]", "type[0]", "type[-1]", "type[0,-1]", "len[0]",
    "len[2]", "same[0,1]", "same[-2,0]", "@pos[0]", "@pos[-1]", "bias",
]  # fmt: skip
CONDITIONS = ["single[0]", "not single[1]", "same[-1,0]", "type[0]=han", "not type[1]=edge", "type[0]=mixed"]
SEVERAL = ("*", "repeat", "..")


def type_of(character: str) -> str:
    return char_types(character)[0]


def test_every_preset_has_a_golden_sentence() -> None:
    assert sorted(SENTENCES) == presets()


@pytest.mark.parametrize("preset", sorted(SENTENCES))
def test_the_features_of_one_sentence_are_exactly_these(preset: str) -> None:
    """tests/features/golden/*.txt lists every feature of every unit; make_golden.py rewrites them."""
    units, columns = SENTENCES[preset]
    features = Templates.load(preset).describe(units, columns, Folding(width=True))
    lines = [line for unit, found in zip(units, features, strict=True) for line in (f"// {unit}", *found)]
    assert lines == (GOLDEN / f"{preset}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("preset", sorted(SENTENCES))
def test_presets_match_the_naive_reference(preset: str) -> None:
    units, columns = SENTENCES[preset]
    templates = Templates.load(preset)
    assert templates.describe(units, columns) == naive.extract(units, columns, templates.text, type_of)
    assert templates.has_transitions != preset.startswith("mixed-words")  # words do not form a chain


def template_lines() -> st.SearchStrategy[str]:
    atoms = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4).filter(
        lambda chosen: sum(any(mark in atom for mark in SEVERAL) for atom in chosen) <= 1
    )
    conditions = st.lists(st.sampled_from(CONDITIONS), max_size=2)
    return st.builds(lambda a, c: " ".join(a) + (" if " + " and ".join(c) if c else ""), atoms, conditions)


words = st.text(st.sampled_from("高兴国务院的a1A。，é😀𠀀"), min_size=1, max_size=6)


@given(
    st.lists(words, min_size=1, max_size=5), st.lists(template_lines(), min_size=1, max_size=5, unique=True)
)
def test_any_templates_match_the_naive_reference(units: list[str], lines: list[str]) -> None:
    columns = {"pos": ["NN" if k % 2 else "VV" for k in range(len(units))]}
    text = "\n".join(lines)
    assert Templates(text).describe(units, columns) == naive.extract(units, columns, text, type_of)


@given(
    st.lists(words, min_size=1, max_size=5), st.lists(template_lines(), min_size=1, max_size=5, unique=True)
)
def test_equal_text_means_equal_key(units: list[str], lines: list[str]) -> None:
    """Keys are a function of the described feature, one to one on all features seen here."""
    columns = {"pos": ["N"] * len(units)}
    templates = Templates("\n".join(lines))
    described = [text for features in templates.describe(units, columns) for text in features]
    _, keys = _native.extract_keys(templates.native, pack([units], Folding(width=False), [columns]))
    assert (
        len(set(zip(described, keys.tolist(), strict=True))) == len(set(described)) == len(set(keys.tolist()))
    )


def test_keys_do_not_depend_on_the_other_templates() -> None:
    packed = pack([["中国", "人民"]], Folding())
    alone = _native.extract_keys(Templates("w[0]").native, packed)[1]
    among = _native.extract_keys(Templates("c[0,0]\nw[0]").native, packed)[1]
    assert set(alone.tolist()) <= set(among.tolist())


def test_width_is_folded_for_features_only() -> None:
    assert Templates("w[0]").describe(["ＡＢ１", "，"], folding=Folding(width=True)) == [
        ["w[0]=AB1"],
        ["w[0]=,"],
    ]
    assert Templates("w[0]").describe(["ＡＢ１"], folding=Folding(width=False)) == [["w[0]=ＡＢ１"]]


def test_index_knows_frequent_features_only() -> None:
    templates = Templates("w[0]")
    packed = pack([["a", "b", "a"], ["c", "a", "b"]], Folding())
    keys = _native.count_keys(templates.native, packed, 2)
    assert len(keys) == 2
    rows = _native.extract_rows(templates.native, packed, _native.FeatureIndex(keys), 1)
    assert rows.rows.tolist() == [0, 1, 0, 0, 1]
    assert rows.first.tolist() == [0, 1, 2, 3, 3, 4, 5]


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=300), st.lists(st.integers(0, 2**64 - 1)))
def test_index_finds_exactly_its_keys(keys: list[int], others: list[int]) -> None:
    index = _native.FeatureIndex(np.array(keys, np.uint64))
    assert len(index) == len(keys)
    assert index.keys.tolist() == keys
    assert [index.find(key) for key in keys] == list(range(len(keys)))
    assert all(index.find(key) is None for key in set(others) - set(keys))


def test_a_key_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        _native.FeatureIndex(np.array([3, 3], np.uint64))


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("w[0]\nq[0]", "2:1", "unknown atom 'q'"),
        ("w[0] w[", "1:8", "whole number"),
        ("w(0)", "1:2", "expected '['"),
        ("w[0", "1:4", "the end of the line"),
        ("w[99]", "1:3", "beyond ±32"),
        ("c[0]", "1:4", "expected ','"),
        ("c[0,*] repeat[0]", "1:8", "only one atom"),
        ("prefix[0,4..1]", "1:10", "must ascend"),
        ("prefix[0,0]", "1:10", "must ascend"),
        ("@[0]", "1:1", "needs a name"),
        ("w[0] if", "1:8", "expected a condition"),
        ("if single[0]", "1:1", "needs atoms"),
        ("w[0] if big[0]", "1:9", "expected a condition"),
        ("w[0] if type[0]=verb", "1:17", "unknown character type 'verb'"),
        ("w[0] if single[0] or single[1]", "1:19", "expected 'and'"),
        ("t[-1] w[0]", "1:3", "alone"),
        ("t[-2]", "1:3", "t[-1]"),
        ("w[0]\n\nw[0]  # again", "3:1", "twice"),
        ("，", "1:1", "expected an atom"),
        ("# nothing", "1:1", "at least one template"),
        ("t[-1]", "1:1", "at least one template"),
        (" ".join(["w[0]"] * 9), "1:41", "at most 8"),
        ("w[0] if single[0]" + " and single[0]" * 8, "1:117", "at most 8 conditions"),
        (
            "\n".join(f"w[{k % 60 - 30}] x[{k // 60}]" for k in range(1001)),
            "1001:1",
            "more than 1000 templates",
        ),
    ],
)
def test_errors_point_at_line_and_column(text: str, place: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Templates(text, name="my.txt")
    assert str(caught.value).startswith(f"my.txt:{place}: ")
    assert message in str(caught.value)


def test_unknown_presets_and_columns_have_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"one of: chunk, guide-char, .*pos-word, segpos-char"):
        Templates.load("pos-wrod")
    with pytest.raises(ValueError, match="column 'pos' that the sentences lack"):
        Templates.load("chunk").describe(["He"])
    with pytest.raises(ConfigError, match="columns"):
        pack([["a"], ["b"]], Folding(), [{"pos": ["N"]}, {"guide": ["N"]}])
    with pytest.raises(ValueError, match="1 values for 2 units"):
        pack([["a", "b"]], Folding(), [{"pos": ["N"]}])
    with pytest.raises(ValueError, match="empty"):
        pack([[""]], Folding())
    with pytest.raises(TextError, match="lone surrogate"):
        pack([["\ud800"]], Folding())
    mine = tmp_path / "mine.txt"
    mine.write_bytes("w[0]  # 词\n".encode("gb18030"))
    with pytest.raises(TemplateError, match="not UTF-8"):
        Templates.load(mine)
