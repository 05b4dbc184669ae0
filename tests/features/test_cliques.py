"""Two-chain templates: their cliques, patterns for templates that differ by a shift, errors."""

from __future__ import annotations

import pytest

from duilian.errors import ConfigError, TemplateError
from duilian.features import CliqueTemplates

# Tables 1 and 2 of Qiu et al. (2012), right column: for each clique the offsets of the units read.
CHUNK = {
    "s": "w-1 w0 w1 w-1w0 w0w1 p-1 p0 p1 p-2p-1 p-1p0 p0p1 p1p2 p-2p-1p0 p-1p0p1 p0p1p2",
    "t": "w-2 w-1 w0 w1 w2 w-1w0 w0w1 p-2 p-1 p0 p1 p2 p-3p-2 p-2p-1 p-1p0 p0p1 p1p2 p2p3 p-1p1",
    "st": "w0",
    "ss": "w0",
    "tt": "w-1 w0 p-1 p0",
}
SEGPOS = {
    "s": "x-2 x-1 x0 x1 x2 x-1x0 x0x1 x-1x1",
    "t": "x-3 x-2 x-1 x0 x1 x2 x3 x-3x-2 x-2x-1 x-1x0 x0x1 x1x2 x2x3 x-2x0 x0x2",
    "st": "x0",
    "tt": "x-1",
}


@pytest.mark.parametrize(("name", "table"), [("chunk", CHUNK), ("segpos-char", SEGPOS)])
def test_presets_are_the_tables_of_the_paper(name: str, table: dict[str, str]) -> None:
    found: dict[str, set[str]] = {}
    for cliques, template in CliqueTemplates.load(name).lines:
        short = template.replace("@pos", "p").replace("[", "").replace("]", "").replace(" ", "")
        for clique in cliques:
            assert short not in found.setdefault(clique, set())
            found[clique].add(short)
    assert found == {clique: set(listed.split()) for clique, listed in table.items()}


def test_templates_that_differ_by_a_shift_are_one_pattern() -> None:
    templates = CliqueTemplates(
        "s t: w[-1]  # before\ns: w[1]\ntt: @pos[-1] w[1]\nt: @pos[0] w[2]\n"
        "t: same[-1,0] if single[0]\nt: bias"
    )
    assert templates.uses == {
        "w[0]": {("s", -1), ("t", -1), ("s", 1)},
        "@pos[0] w[2]": {("tt", -1), ("t", 0)},
        "same[0,1] if single[1]": {("t", -1)},
        "bias": {("t", 0)},
    }
    assert templates.places == [("s", -1), ("s", 1), ("t", -1), ("t", 0), ("tt", -1)]
    assert templates.columns == ["pos"]


def test_numbers_that_are_no_offsets_stay() -> None:
    templates = CliqueTemplates("s: c[1,0] prefix[2,1..3]\nt: suffix[-1,2] if type[0]=han")
    assert set(templates.uses) == {"c[0,0] prefix[1,1..3]", "suffix[0,2] if type[1]=han"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("w[0]", r"my:1:1: expected 's t: w\[0\]'"),
        ("s: w[0]\nq: w[0]", "my:2:1: unknown 'q'; a template can score s, ss, t, st, tt"),
        (": w[0]", "my:1:1: expected"),
        ("s t: v[0]", "my:1:6: unknown atom 'v'"),
        ("t: t[-1]", r"my:1:4: two-chain templates have no t\[-1\]: write tt"),
        ("# nothing", "my:1:1: there are no templates"),
    ],
)
def test_errors_point_at_line_and_column(text: str, message: str) -> None:
    with pytest.raises(TemplateError, match=f"^{message}"):
        _ = CliqueTemplates(text, "my").lines


def test_a_template_twice_is_refused() -> None:
    with pytest.raises(TemplateError, match=r"'s: w\[0\]' appears twice"):
        _ = CliqueTemplates("s t: w[0]\ns: w[0]").uses


def test_unknown_presets_and_files_have_clear_errors(tmp_path) -> None:
    with pytest.raises(
        ConfigError, match=r"unknown two-chain templates 'pos-word'\n  hint: .* chunk, segpos-char"
    ):
        CliqueTemplates.load("pos-word")
    (tmp_path / "mine.txt").write_text("s: w[0]\n", encoding="utf-8")
    assert CliqueTemplates.load(tmp_path / "mine.txt").uses == {"w[0]": {("s", 0)}}
