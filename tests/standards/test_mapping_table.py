"""Mapping tables: the built-in ones keep their promises, users' own are read, errors name the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from duilian.errors import ConfigError, StandardError
from duilian.standards import Mapping, Standard
from duilian.standards.standard import table_names

LEFT = ("ctb", "gsd", "ud", "ud1")


def write(folder: Path, text: str, name: str = "own.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_tables() -> None:
    usual = {f"{left}-pku.{kind}" for left in LEFT for kind in ("relaxed", "tight")}
    assert set(table_names()) == {*usual, "ctb-pku.strict"}


@pytest.mark.parametrize("name", table_names())
def test_a_shipped_table_serves_every_tag_of_both_sides(name: str) -> None:
    left, right = name.split(".")[0].split("-")
    mapping = Mapping.from_table(name)
    assert mapping.tags_a == Standard.load(left).tags
    assert mapping.tags_b == Standard.load(right).tags
    assert mapping.without_partner() == ((), ())
    assert mapping.size < len(mapping.tags_a) * len(mapping.tags_b) / 3


@pytest.mark.parametrize("left", LEFT)
def test_relaxed_has_all_of_tight_and_more(left: str) -> None:
    tight, relaxed = (Mapping.from_table(f"{left}-pku.{kind}") for kind in ("tight", "relaxed"))
    assert relaxed.covers(tight)
    assert not tight.covers(relaxed)


def test_strict_leaves_out_what_only_the_corpora_have() -> None:
    strict, tight = (Mapping.from_table(f"ctb-pku.{kind}") for kind in ("strict", "tight"))
    more = {("NN", "ns"), ("NN", "t"), ("NN", "Tg"), ("VE", "d")}
    assert set(tight.bundles()) == {*strict.bundles()} | more
    assert more.isdisjoint(strict.bundles())


def test_ctb_to_pku_is_about_as_large_as_in_the_paper() -> None:
    assert 130 <= Mapping.from_table("ctb-pku.tight").size <= 160
    assert 165 <= Mapping.from_table("ctb-pku.relaxed").size <= 195


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("ctb-pku.tight", "NN", "vn"),
        ("ctb-pku.tight", "NN", "nt"),
        ("ctb-pku.tight", "NN", "nz"),
        ("ctb-pku.tight", "DT", "r"),
        ("ctb-pku.tight", "DEC", "u"),
        ("ctb-pku.relaxed", "VV", "vn"),
        ("gsd-pku.tight", "SFN", "k"),
        ("gsd-pku.tight", "EC", "w"),
        ("ud-pku.tight", "AUX", "u"),
        ("ud1-pku.tight", "CONJ", "c"),
    ],
)
def test_pairs_that_must_be_there(name: str, a: str, b: str) -> None:
    assert Mapping.from_table(name)(a, b)


@pytest.mark.parametrize(("a", "b"), [("VV", "vn"), ("NN", "w"), ("PU", "n"), ("DEC", "v"), ("NR", "v")])
def test_pairs_that_tight_must_not_have(a: str, b: str) -> None:
    assert not Mapping.from_table("ctb-pku.tight")(a, b)


@pytest.mark.parametrize("name", table_names())
def test_punctuation_goes_with_punctuation_only(name: str) -> None:
    left = name.split("-")[0]
    signs = {"ctb": {"PU"}, "ud": {"PUNCT", "SYM", "X"}, "ud1": {"PUNCT", "SYM", "X"}}
    gsd = {"''", '"', "(", ")", ",", ".", "...", "/", ":", "EC", "HYPH", "XX", "``"}
    assert set(Mapping.from_table(name).back("w")) <= signs.get(left, gsd)


def test_a_shipped_table_can_be_asked_for_the_other_way_round() -> None:
    assert Mapping.from_table("pku-ctb.tight") == Mapping.from_table("ctb-pku.tight").T


def test_given_tags_cut_the_table_down_and_order_it() -> None:
    mapping = Mapping.from_table("ctb-pku.tight", ["VV", "NN"], ["vn", "v"])
    assert mapping.bundles() == [("VV", "v"), ("NN", "vn")]


def test_a_tag_of_the_data_that_the_table_does_not_know() -> None:
    with pytest.raises(
        StandardError, match=r"ctb-pku\.tight\.txt: the table does not contain the tag 'vvn'"
    ) as caught:
        Mapping.from_table("ctb-pku.tight", ["VV"], ["v", "vvn"])
    assert "unknown='complete'" in caught.value.hint
    mapping = Mapping.from_table("ctb-pku.tight", ["VV", "NN"], ["v", "n", "vvn"], unknown="complete")
    assert mapping.back("vvn") == ("VV", "NN")
    assert mapping.to("VV") == ("v", "vvn")


def test_a_tag_whose_partners_are_not_in_the_data() -> None:
    with pytest.raises(StandardError, match="tag 'PU' maps only to w, not among the given tags"):
        Mapping.from_table("ctb-pku.tight", ["VV", "PU"], ["v"])
    assert Mapping.from_table("ctb-pku.tight", ["VV", "PU"], ["v"], unknown="complete").size == 2


def test_a_wrong_choice_for_unknown_tags() -> None:
    with pytest.raises(ConfigError, match="unknown must be 'error', 'complete' or 'keep', got 'ignore'"):
        Mapping.from_table("ctb-pku.tight", unknown="ignore")  # type: ignore[arg-type]


def test_an_unknown_table() -> None:
    with pytest.raises(StandardError, match=r"no mapping table 'ctb-pku\.tigth'") as caught:
        Mapping.from_table("ctb-pku.tigth")
    assert "ctb-pku.tight" in caught.value.hint


def test_own_table_with_comments_and_odd_tags(tmp_path: Path) -> None:
    text = "\ufeff# mine\r\n\r\nstandards: any any\r\nN n \\# #why: no reason\r\n词\tv n#\r\n"
    mapping = Mapping.from_table(write(tmp_path, text))
    assert mapping.tags_a == ("N", "词")
    assert mapping.to("N") == ("n", "#")
    assert mapping.to("词") == ("v", "n#")


def test_own_standard_beside_own_table(tmp_path: Path) -> None:
    write(tmp_path, "[tags]\nN = {}\nV = {}\n", "house.toml")
    good = write(tmp_path, "standards: house.toml pku\nN n\nV v\n")
    mapping = Mapping.from_table(str(good), tags_b=["n", "v"])
    assert (mapping.tags_a, mapping.size) == (("N", "V"), 2)
    bad = write(tmp_path, "standards: house.toml pku\nN n\n\nW v\n", "bad.txt")
    with pytest.raises(StandardError) as caught:
        Mapping.from_table(bad)
    assert caught.value.message == f"{bad}:4: standard 'house' has no tag 'W'"


def test_own_table_may_include_another(tmp_path: Path) -> None:
    write(tmp_path, "standards: any pku\nN n\n", "tight.txt")
    loose = write(tmp_path, "standards: any pku\ninclude: tight.txt\nN vn\n")
    assert Mapping.from_table(loose, tags_b=["n", "vn"]).to("N") == ("n", "vn")
    shipped = write(tmp_path, "standards: ctb pku\ninclude: ctb-pku.tight\nNN v\n", "mine.txt")
    mapping, tight = Mapping.from_table(shipped), Mapping.from_table("ctb-pku.tight")
    assert set(mapping.bundles()) - set(tight.bundles()) == {("NN", "v")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NN n\n", ":1: the table must begin with 'standards:' and two names"),
        ("include: ctb-pku.tight\n", ":1: the table must begin with 'standards:' and two names"),
        ("standards: ctb\n", ":1: 'standards:' needs two names, got 1"),
        ("standards: ctb pku\nstandards: ctb pku\n", ":2: 'standards:' appears a second time"),
        ("# x\nstandards: ctb pkv\n", ":2: there is no standard 'pkv'"),
        ("standards: none.toml pku\n", ":1: "),
        ("standards: ctb pku\nNN n\nNM q\n", ":3: standard 'ctb' has no tag 'NM'"),
        ("standards: ctb pku\nNN n nn\n", ":2: standard 'pku' has no tag 'nn'"),
        ("standards: ctb pku\nNN n\nVV v\nNN vn\n", ":4: tag 'NN' already has line 2"),
        ("standards: ctb pku\nNN n vn n\n", ":2: tag 'NN' is already mapped to 'n'"),
        ("standards: ctb pku\nNN  # n\n", ":2: tag 'NN' is mapped to nothing"),
        ("standards: ctb pku\ninclude:\n", ":2: 'include:' needs one table, got 0"),
        ("standards: ctb pku\ninclude: ctb-pku\n", ":2: there is no mapping table 'ctb-pku' to include"),
        ("standards: ctb pku\ninclude: own.txt\n", "includes itself"),
        (
            "standards: gsd pku\ninclude: ctb-pku.tight\n",
            ":2: ctb-pku.tight.txt maps ctb to pku, not gsd to",
        ),
        (
            "standards: ctb pku\ninclude: ctb-pku.tight\nNN n\n",
            ":3: tag 'NN' is already mapped to 'n': ctb-pku.st",
        ),
        ("standards: ctb pku\n", "the table has no pairs"),
        ("", "the table has no pairs"),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(StandardError) as caught:
        Mapping.from_table(path)
    assert caught.value.message.startswith(f"{path}:")
    assert message in caught.value.message


def test_any_standards_cannot_include_named_ones_but_are_told_how(tmp_path: Path) -> None:
    path = write(tmp_path, "standards: any any\ninclude: ctb-pku.tight\n")
    with pytest.raises(StandardError, match="maps ctb to pku, not any to any") as caught:
        Mapping.from_table(path)
    assert caught.value.hint == "write `standards: ctb pku`; sides of other names may use it"


def test_two_tables_that_include_each_other(tmp_path: Path) -> None:
    write(tmp_path, "standards: any any\ninclude: b.txt\n", "a.txt")
    write(tmp_path, "standards: any any\ninclude: a.txt\n", "b.txt")
    with pytest.raises(StandardError, match=r"b\.txt:2: .*a\.txt includes itself"):
        Mapping.from_table(tmp_path / "a.txt")


def test_unreadable_tables(tmp_path: Path) -> None:
    with pytest.raises(StandardError, match=r"none\.txt: cannot be read: No such file"):
        Mapping.from_table(tmp_path / "none.txt")
    (tmp_path / "gb.txt").write_bytes("standards: any any\n名 n\n".encode("gb18030"))
    with pytest.raises(StandardError, match=r"gb\.txt: this is not UTF-8"):
        Mapping.from_table(tmp_path / "gb.txt")
