"""Draws sentences of 5 to 40 words from People's Daily, in half width, for machine-made treebanks.

    python tools/news_sentences.py DIR/pd/train.txt 16000 > pd16.txt

The words and PKU tags stay; no sentence comes twice. See tools/neural_teacher.py for what to do with them.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

WIDE = {
    code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
}
WIDE |= {ord(sign): ord(sign) - 0xFEE0 for sign in "％．－＋＆＃＠＄／"}
END = re.compile(r"((?:^|\s)[。！？]/w(?:\s+[”』）》’]/w)*)")
SHORTEST, LONGEST = 5, 40


def draw(lines: Sequence[str], count: int, seed: int = 1) -> Iterator[str]:
    """Draw different sentences of a text, one paragraph a line."""
    cut = (END.sub(r"\1\n", line).split("\n") for line in lines)
    found = dict.fromkeys("  ".join(part.split()) for parts in cut for part in parts)
    chosen = [sentence for sentence in found if SHORTEST <= sentence.count("  ") + 1 <= LONGEST]
    random.Random(seed).shuffle(chosen)
    yield from (sentence.translate(WIDE) for sentence in chosen[:count])


def main() -> None:
    """Write the sentences to standard output."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    sys.stdout.writelines(f"{sentence}\n" for sentence in draw(lines, int(sys.argv[2])))


if __name__ == "__main__":
    main()
