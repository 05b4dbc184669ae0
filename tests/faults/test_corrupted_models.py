"""Damaged model files are refused: the short form of fuzz/corrupted_models.py."""

from __future__ import annotations

from pathlib import Path

from corrupted_models import attack, judge, small_model


def test_damaged_models_are_refused(tmp_path: Path) -> None:
    model = small_model(tmp_path)
    assert judge(model) == "accepted"
    assert attack(model, tmp_path, 500, seed=7) == {"refused": 500}
