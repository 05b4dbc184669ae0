"""Rewrites the golden feature lists; read the diff.

PYTHONPATH=tests python tests/features/make_golden.py
"""

from duilian.features import Templates
from duilian.text import Folding
from features.test_templates import GOLDEN, SENTENCES

for preset, (units, columns) in SENTENCES.items():
    features = Templates.load(preset).describe(units, columns, Folding(width=True))
    lines = [line for unit, found in zip(units, features, strict=True) for line in (f"// {unit}", *found)]
    (GOLDEN / f"{preset}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
