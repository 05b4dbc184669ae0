"""Standards: the built-in ones are complete, users can declare their own, errors are clear."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from duilian.errors import StandardError
from duilian.lexicon.constraint_builder import WORD_KINDS
from duilian.standards import Standard, standard_names, tags_of_wholes

SIZES = {"ctb": 33, "gsd": 42, "pku": 44, "ud": 17, "ud1": 17}


def write(folder: Path, text: str, name: str = "house.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_names_are_the_shipped_standards() -> None:
    assert standard_names() == tuple(sorted(SIZES))


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_a_shipped_standard_has_all_its_tags(name: str, size: int) -> None:
    standard = Standard.load(name)
    assert standard.name == name
    assert standard.title
    assert standard.tags is not None
    assert len(standard.tags) == len(set(standard.tags)) == size
    assert list(standard.tags) == sorted(standard.tags), "a reader looks a tag up by the alphabet"


@pytest.mark.parametrize("name", SIZES)
def test_every_shipped_tag_is_described_in_both_languages(name: str) -> None:
    standard = Standard.load(name)
    assert tuple(standard.descriptions) == standard.tags
    for tag, about in standard.descriptions.items():
        assert about.english.isascii(), tag
        assert about.english, tag
        assert any("\u4e00" <= c <= "\u9fff" for c in about.chinese), tag
        assert about.example, tag


@pytest.mark.parametrize("name", SIZES)
def test_no_two_tags_of_a_standard_have_the_same_meaning(name: str) -> None:
    meanings = [about.english for about in Standard.load(name).descriptions.values()]
    assert len(meanings) == len(set(meanings))


def test_the_pku_tags_are_26_letters_and_their_finer_kinds() -> None:
    tags = Standard.load("pku").tags or ()
    assert {tag for tag in tags if len(tag) == 1} == set("abcdefghijklmnopqrstuvwxyz")
    assert {tag for tag in tags if tag.endswith("g") and len(tag) == 2} == {
        *("Ag", "Bg", "Dg", "Mg", "Ng", "Rg", "Tg", "Vg", "Yg")
    }
    assert {tag for tag in tags if len(tag) == 2 and tag[1] != "g"} == {
        *("nr", "ns", "nt", "nx", "nz", "vn", "vd", "an", "ad")
    }
    assert not {"vvn", "na"} & set(tags), "typing errors of the corpus"


@pytest.mark.parametrize("name", SIZES)
def test_a_shipped_standard_has_tags_for_what_is_never_cut(name: str) -> None:
    """Otherwise a model guesses: <br> was a proper noun."""
    assert set(tags_of_wholes(name)) == WORD_KINDS


def test_versions_of_ud_differ_in_the_coordinating_conjunction() -> None:
    old, new = (set(Standard.load(name).tags or ()) for name in ("ud1", "ud"))
    assert old - new == {"CONJ"}
    assert new - old == {"CCONJ"}


def test_columns_of_the_shipped_standards() -> None:
    assert {name: Standard.load(name).column for name in standard_names()} == {
        "ctb": "tag",
        "gsd": "xpos",
        "pku": "tag",
        "ud": "upos",
        "ud1": "upos",
    }


def test_explain_gives_both_languages_and_an_example() -> None:
    assert Standard.load("pku").explain("vn") == "vn: verb used as a noun (名动词), as in 经济发展 (发展)"
    assert Standard.load("gsd").explain("``").startswith("``: opening quotation mark")


def test_explain_of_an_unknown_tag_offers_a_near_one() -> None:
    with pytest.raises(StandardError, match="'ctb' has no tag 'NNN'") as caught:
        Standard.load("ctb").explain("NNN")
    assert "NN" in caught.value.hint


def test_an_unknown_name_offers_a_near_one() -> None:
    with pytest.raises(StandardError, match="no standard 'CTB'") as caught:
        Standard.load("CTB")
    assert caught.value.hint == "did you mean 'ctb'?"
    with pytest.raises(StandardError, match="no standard 'negra'") as caught:
        Standard.load("negra")
    assert "ctb, gsd, pku, ud, ud1" in caught.value.hint


def test_one_may_declare_a_standard(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'title = "Ours"\ncolumn = "xpos"\n[tags]\nN = { english = "noun" }\n"#" = {}\n',
        "our.own.toml",
    )
    standard = Standard.load(path)
    assert standard == Standard.load(str(path))
    assert (standard.name, standard.title, standard.column) == ("our.own", "Ours", "xpos")
    assert standard.tags == ("N", "#")
    assert "N" in standard
    assert "V" not in standard


def test_a_standard_without_tags_is_open(tmp_path: Path) -> None:
    standard = Standard.load(write(tmp_path, ""))
    assert standard.is_open
    assert "anything" in standard
    assert standard.explain("anything") == "anything: not described"
    closed = standard.with_tags(["N", "V"])
    assert not closed.is_open
    assert "anything" not in closed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tags = 3", "tags must be a table, got 3"),
        ("titel = 'x'", "unknown field 'titel', expected one of title, column, tags"),
        ("title = ", "is not TOML"),
        ("[tags]\nN = 'noun'", "tag 'N' must be a table, got 'noun'"),
        ("[tags]\nN = { german = 'x' }", "tag 'N': unknown field 'german'"),
        ("[tags]\nN = { english = 3 }", "tag 'N': english must be a string, got 3"),
    ],
)
def test_a_wrong_file_is_named_with_its_fault(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(StandardError) as caught:
        Standard.load(path)
    assert caught.value.message.startswith(f"{path}: ")
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tags]", "'house' has no tags"),
        ("[tags]\n'a b' = {}", "a tag must be a string without spaces, got 'a b'"),
        ("[tags]\n'' = {}", "a tag must be a string without spaces, got ''"),
        ("column = 'lemma'", "column must be one of tag, upos, xpos, got 'lemma'"),
        ("title = 3", "title must be a string, got 3"),
    ],
)
def test_values_that_cannot_be_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(StandardError) as caught:
        Standard.load(write(tmp_path, text))
    assert message in caught.value.message


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(StandardError, match=r"none\.toml: cannot be read: No such file"):
        Standard.load(tmp_path / "none.toml")
    (tmp_path / "gb.toml").write_bytes('title = "对联"'.encode("gb18030"))
    with pytest.raises(StandardError, match=r"gb\.toml: this is not UTF-8"):
        Standard.load(tmp_path / "gb.toml")


def test_twice_the_same_tag_is_refused() -> None:
    with pytest.raises(StandardError, match="has the tag 'N' twice"):
        Standard("house", tags=("N", "V", "N"))
    with pytest.raises(StandardError, match="needs a name"):
        Standard("")


def test_a_standard_is_a_value() -> None:
    ctb = Standard.load("ctb")
    assert Standard.load("ctb") is ctb, "shipped standards are read once"
    assert copy.deepcopy(ctb) == ctb
    assert pickle.loads(pickle.dumps(ctb)) == ctb
    assert hash(copy.deepcopy(ctb)) == hash(ctb)
    with pytest.raises(AttributeError):
        ctb.name = "x"  # type: ignore[misc]
