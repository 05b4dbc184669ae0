"""The template oracle against lists written by hand; it also settles what the language leaves open."""

from __future__ import annotations

import pytest

from duilian.errors import TemplateError
from oracle.templates import Templates, extract, parse

TABLE_1 = """
# Li et al. (2017), Table I, 02-15; 01 is the tag bigram
t[-1]
w[0]
w[-1]
w[1]
w[0] c[-1,-1]
w[0] c[1,0]
c[0,0]
c[0,-1]
c[0,*]
c[0,0] c[0,*]
c[0,-1] c[0,*]
w[0] c[-1,-1] c[1,0] if single[0]
repeat[0]
prefix[0,1..4]
suffix[0,1..4]
"""


def type_of(character: str) -> str:
    """Enough types for these tests."""
    if character in "0123456789０１":
        return "digit"
    if character.isascii() and character.isalpha():
        return "letter"
    if character in "。，!":
        return "punct"
    if character == "😀":
        return "emoji"
    return "other" if character == "\u0301" else "han"


def features(units: list[str], template_text: str, **columns: list[str]) -> list[list[str]]:
    return extract(units, columns, template_text, type_of)


class TestTableOne:
    """Every feature at every word of a sentence whose words have one to five characters."""

    units = ("他", "今天", "去书店", "高高兴兴", "电子计算机")

    def at(self, t: int) -> list[str]:
        return features(list(self.units), TABLE_1)[t]

    def test_one_character_at_the_start(self) -> None:
        assert self.at(0) == [
            "w[0]=他",
            "w[-1]=<s>",
            "w[1]=今天",
            "w[0] c[-1,-1]=他 <s>",
            "w[0] c[1,0]=他 今",
            "c[0,0]=他",
            "c[0,-1]=他",
            "w[0] c[-1,-1] c[1,0] if single[0]=他 <s> 今",
            "prefix[0,1..4]=他",
            "suffix[0,1..4]=他",
        ]

    def test_two_characters(self) -> None:
        assert self.at(1) == [
            "w[0]=今天",
            "w[-1]=他",
            "w[1]=去书店",
            "w[0] c[-1,-1]=今天 他",
            "w[0] c[1,0]=今天 去",
            "c[0,0]=今",
            "c[0,-1]=天",
            "prefix[0,1..4]=今",
            "prefix[0,1..4]=今天",
            "suffix[0,1..4]=天",
            "suffix[0,1..4]=今天",
        ]

    def test_three_characters(self) -> None:
        assert self.at(2) == [
            "w[0]=去书店",
            "w[-1]=今天",
            "w[1]=高高兴兴",
            "w[0] c[-1,-1]=去书店 天",
            "w[0] c[1,0]=去书店 高",
            "c[0,0]=去",
            "c[0,-1]=店",
            "c[0,*]=书",
            "c[0,0] c[0,*]=去 书",
            "c[0,-1] c[0,*]=店 书",
            "prefix[0,1..4]=去",
            "prefix[0,1..4]=去书",
            "prefix[0,1..4]=去书店",
            "suffix[0,1..4]=店",
            "suffix[0,1..4]=书店",
            "suffix[0,1..4]=去书店",
        ]

    def test_repeated_characters(self) -> None:
        assert self.at(3) == [
            "w[0]=高高兴兴",
            "w[-1]=去书店",
            "w[1]=电子计算机",
            "w[0] c[-1,-1]=高高兴兴 店",
            "w[0] c[1,0]=高高兴兴 电",
            "c[0,0]=高",
            "c[0,-1]=兴",
            "c[0,*]=高",
            "c[0,*]=兴",
            "c[0,0] c[0,*]=高 高",
            "c[0,0] c[0,*]=高 兴",
            "c[0,-1] c[0,*]=兴 高",
            "c[0,-1] c[0,*]=兴 兴",
            "repeat[0]=高",
            "repeat[0]=兴",
            "prefix[0,1..4]=高",
            "prefix[0,1..4]=高高",
            "prefix[0,1..4]=高高兴",
            "prefix[0,1..4]=高高兴兴",
            "suffix[0,1..4]=兴",
            "suffix[0,1..4]=兴兴",
            "suffix[0,1..4]=高兴兴",
            "suffix[0,1..4]=高高兴兴",
        ]

    def test_five_characters_at_the_end(self) -> None:
        assert self.at(4) == [
            "w[0]=电子计算机",
            "w[-1]=高高兴兴",
            "w[1]=</s>",
            "w[0] c[-1,-1]=电子计算机 兴",
            "w[0] c[1,0]=电子计算机 </s>",
            "c[0,0]=电",
            "c[0,-1]=机",
            "c[0,*]=子",
            "c[0,*]=计",
            "c[0,*]=算",
            "c[0,0] c[0,*]=电 子",
            "c[0,0] c[0,*]=电 计",
            "c[0,0] c[0,*]=电 算",
            "c[0,-1] c[0,*]=机 子",
            "c[0,-1] c[0,*]=机 计",
            "c[0,-1] c[0,*]=机 算",
            "prefix[0,1..4]=电",
            "prefix[0,1..4]=电子",
            "prefix[0,1..4]=电子计",
            "prefix[0,1..4]=电子计算",
            "suffix[0,1..4]=机",
            "suffix[0,1..4]=算机",
            "suffix[0,1..4]=计算机",
            "suffix[0,1..4]=子计算机",
        ]


ONE_UNIT = [  # template, the unit, its features
    ("w[0]", "中华", ["w[0]=中华"]),
    ("x[0]", "中", ["x[0]=中"]),
    ("c[0,1]", "中华", ["c[0,1]=华"]),
    ("c[0,-2]", "中华", ["c[0,-2]=中"]),
    ("c[0,2]", "中华", []),
    ("c[0,-3]", "中华", []),
    ("w[0] c[0,2]", "中华", []),
    ("c[0,*]", "中华", []),
    ("c[0,*]", "一二三", ["c[0,*]=二"]),
    (
        "c[0,*] w[0] c[0,0]",
        "一二三四",
        ["c[0,*] w[0] c[0,0]=二 一二三四 一", "c[0,*] w[0] c[0,0]=三 一二三四 一"],
    ),
    ("repeat[0]", "哈哈哈", ["repeat[0]=哈", "repeat[0]=哈"]),
    ("repeat[0]", "天天", ["repeat[0]=天"]),
    ("repeat[0]", "甲乙甲", []),
    ("prefix[0,2]", "中", []),
    ("prefix[0,2]", "中华", ["prefix[0,2]=中华"]),
    ("prefix[0,2..3]", "中华民", ["prefix[0,2..3]=中华", "prefix[0,2..3]=中华民"]),
    ("prefix[0,2..3]", "中", []),
    ("suffix[0,2]", "中华民", ["suffix[0,2]=华民"]),
    ("suffix[0,3..9]", "中华民", ["suffix[0,3..9]=中华民"]),
    ("type[0]", "中华", ["type[0]=han"]),
    ("type[0]", "AB", ["type[0]=letter"]),
    ("type[0]", "A1", ["type[0]=mixed"]),
    ("type[0]", "😀", ["type[0]=emoji"]),
    ("type[0,1]", "A1", ["type[0,1]=digit"]),
    ("type[0,-1]", "1A", ["type[0,-1]=letter"]),
    ("type[0,2]", "A1", []),
    ("len[0]", "一", ["len[0]=1"]),
    ("len[0]", "一二三四", ["len[0]=4"]),
    ("len[0]", "一二三四五", ["len[0]=5+"]),
    ("len[0]", "一二三四五六七", ["len[0]=5+"]),
    ("same[0,0]", "一", ["same[0,0]=yes"]),
    ("bias", "一", ["bias"]),
    ("bias w[0]", "一", ["bias w[0]=一"]),
    ("bias if single[0]", "一", ["bias if single[0]"]),
    ("bias if single[0]", "一二", []),
    ("t[-1]", "一", []),
    # Characters are code points: 𠮷 is beyond U+FFFF, and a combining accent is a character of its own.
    ("c[0,1]", "𠮷野", ["c[0,1]=野"]),
    ("len[0]", "𠮷野", ["len[0]=2"]),
    ("len[0]", "e\u0301", ["len[0]=2"]),
    # A unit that looks like an edge is not one: it has three characters.
    ("c[0,1] len[0]", "<s>", ["c[0,1] len[0]=s 3"]),
]


@pytest.mark.parametrize(("template", "unit", "expected"), ONE_UNIT)
def test_one_template_on_one_unit(template: str, unit: str, expected: list[str]) -> None:
    assert features([unit], template) == [expected]


EDGE = [  # template, its features at the only unit of a sentence
    ("w[-1] w[1]", ["w[-1] w[1]=<s> </s>"]),
    ("w[-7] x[9]", ["w[-7] x[9]=<s> </s>"]),
    ("c[-1,0]", ["c[-1,0]=<s>"]),
    ("c[-1,-1]", ["c[-1,-1]=<s>"]),
    ("c[1,0]", ["c[1,0]=</s>"]),
    ("c[1,1]", []),
    ("c[1,-2]", []),
    ("c[-1,*]", []),
    ("repeat[-1]", []),
    ("prefix[-1,1]", ["prefix[-1,1]=<s>"]),
    ("prefix[-1,2]", []),
    ("suffix[1,1..4]", ["suffix[1,1..4]=</s>"]),
    ("type[-1] type[1]", ["type[-1] type[1]=edge edge"]),
    ("type[1,0]", ["type[1,0]=edge"]),
    ("type[1,1]", []),
    ("len[-1]", ["len[-1]=1"]),
    ("same[-1,-2]", ["same[-1,-2]=yes"]),
    ("same[-1,1]", ["same[-1,1]=no"]),
    ("@pos[-1] @pos[1]", ["@pos[-1] @pos[1]=<s> </s>"]),
    ("w[0] if single[-1]", ["w[0] if single[-1]=中华"]),
    ("w[0] if type[1]=edge", ["w[0] if type[1]=edge=中华"]),
    ("w[0] if same[-1,1]", []),
]


@pytest.mark.parametrize(("template", "expected"), EDGE)
def test_beyond_the_ends(template: str, expected: list[str]) -> None:
    assert features(["中华"], template, pos=["n"]) == [expected]


CONDITION = [  # condition, the positions of 我 2 我 好人 where it holds
    ("single[0]", [0, 1, 2]),
    ("not single[0]", [3]),
    ("single[1]", [0, 1, 3]),  # the end counts as one character
    ("same[-1,1]", [1]),
    ("not same[-1,1]", [0, 2, 3]),
    ("type[0]=digit", [1]),
    ("type[0]=han", [0, 2, 3]),
    ("not type[0]=digit", [0, 2, 3]),
    ("type[-1]=edge", [0]),
    ("single[0] and not type[0]=digit", [0, 2]),
    ("not single[0] and single[0]", []),
    ("single[0] and type[0]=han and type[1]=digit", [0]),
]


@pytest.mark.parametrize(("condition", "expected"), CONDITION)
def test_conditions(condition: str, expected: list[int]) -> None:
    found = features(["我", "2", "我", "好人"], f"bias if {condition}")
    assert [t for t, row in enumerate(found) if row] == expected
    assert all(row in ([], [f"bias if {condition}"]) for row in found)


def test_columns_are_read_at_their_offset() -> None:
    rows = features(["他", "来"], "@guide-ctb[0] @ner[1]", ner=["O", "B"], **{"guide-ctb": ["PN", "VV"]})
    assert rows == [["@guide-ctb[0] @ner[1]=PN B"], ["@guide-ctb[0] @ner[1]=VV </s>"]]


def test_file_order_blanks_and_comments() -> None:
    text = "# all of it\r\n\r\n  w[0]\t \t c[0,0]   if   single[0]  # why\r\n\t\r\nbias#end\r\nw[0]"
    assert features(["他"], text) == [["w[0] c[0,0] if single[0]=他 他", "bias", "w[0]=他"]]


def test_no_units_and_no_templates() -> None:
    assert features([], "w[0]") == []
    assert features(["他", "来"], "# nothing\n") == [[], []]
    assert parse("") == Templates((), False)


def test_only_the_tag_bigram_sets_transitions() -> None:
    assert parse("w[0]\n t[-1]  # bigram\nbias").has_transitions
    assert [template.text for template in parse("w[0]\nt[-1]\nbias").templates] == ["w[0]", "bias"]
    assert not parse("w[0]\n# t[-1]").has_transitions


WRONG = [  # text, line, column
    ("w", 1, 1),
    ("w[0", 1, 1),
    ("w[]", 1, 1),
    ("w[+1]", 1, 1),
    ("w[0,1]", 1, 1),
    ("w[0]c[0,0]", 1, 1),
    ("W[0]", 1, 1),
    ("bias\n\nw[0] word[0]", 3, 6),
    ("c[0]", 1, 1),
    ("c[0, 1]", 1, 1),
    ("c[0,1..2]", 1, 1),
    ("prefix[0]", 1, 1),
    ("prefix[0,0]", 1, 1),
    ("prefix[0,-1]", 1, 1),
    ("prefix[0,3..2]", 1, 1),
    ("suffix[0,0..2]", 1, 1),
    ("suffix[0,1..]", 1, 1),
    ("type[0]=digit", 1, 1),
    ("same[0]", 1, 1),
    ("@[0]", 1, 1),
    ("@pos", 1, 1),
    ("bias[0]", 1, 1),
    ("single[0]", 1, 1),
    ("t[0]", 1, 1),
    ("t[-1] w[0]", 1, 1),
    ("w[0] t[-1]", 1, 1),
    ("t[-1] if single[0]", 1, 1),
    ("c[0,*] repeat[0]", 1, 8),
    ("prefix[0,1..2] w[0] suffix[0,1..2]", 1, 21),
    ("c[0,*] c[1,*]", 1, 8),
    ("c[0,*] prefix[0,2..2]", 1, 8),  # a range of one is still a range
    ("if single[0]", 1, 1),
    ("w[0] if", 1, 6),
    ("w[0] if not", 1, 6),
    ("w[0] if not not single[0]", 1, 13),
    ("w[0] if single[0] and", 1, 19),
    ("w[0] if single[0] type[0]=han", 1, 19),
    ("w[0] if single[0] if single[1]", 1, 19),
    ("w[0] if w[0]", 1, 9),
    ("w[0] if type[0]=chinese", 1, 9),
    ("w[0] if type[0]", 1, 9),
    ("w[0] if type[0,0]=han", 1, 9),
    ("w[0] if same[0,1]=yes", 1, 9),
    ("w[0] and w[1]", 1, 6),
    ("w[0]　w[1]", 1, 1),  # a full-width blank is not a blank
]


@pytest.mark.parametrize(("text", "line", "column"), WRONG)
def test_mistakes_are_found_where_they_are(text: str, line: int, column: int) -> None:
    with pytest.raises(TemplateError, match=rf"^templates:{line}:{column}: "):
        parse(text)


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(TemplateError, match="no column 'ner' \\(it has: pos\\)"):
        features(["他"], "@ner[0]", pos=["r"])


def test_rows_must_fit_the_units() -> None:
    with pytest.raises(ValueError, match="column 'pos' has 1 values for 2 units"):
        features(["他", "来"], "bias", pos=["r"])
    with pytest.raises(ValueError, match="unit 1 is empty"):
        features(["他", ""], "bias")
