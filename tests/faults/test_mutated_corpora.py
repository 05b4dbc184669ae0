"""Mutants of corpus files are read or refused with their place: the short form of fuzz/mutated_corpora.py."""

from __future__ import annotations

from pathlib import Path

from mutated_corpora import SEEDS, attack, judge


def test_mutants_are_read_or_refused_with_their_place(tmp_path: Path) -> None:
    outcomes, findings = attack(tmp_path, 400, seed=7)
    assert findings == []
    assert outcomes["refused"] > 50
    assert outcomes["read"] > 50


def test_the_seeds_are_sound(tmp_path: Path) -> None:
    for form, text in SEEDS.items():
        (tmp_path / "seed").write_text(text, encoding="utf-8")
        assert judge(tmp_path / "seed", form, lenient=False) == ("read", ""), form
