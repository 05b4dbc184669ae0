"""Write src/duilian/text/simplified.txt: traditional characters and their simplified forms.

    python tools/script_table.py > src/duilian/text/simplified.txt

Needs OpenCC (pip install opencc) for its tables; Duilian itself does not. Only pairs of single characters are
kept, so that offsets in a text stay valid. Quotation marks are added here.
"""

from __future__ import annotations

import opencc

PAIRS_PER_LINE = 24
QUOTES = ["「“", "」”", "『‘", "』’"]


def final(character: str, direct: dict[str, str]) -> str:
    """Follow chains of simplified forms, so that folding is idempotent."""
    while character in direct:
        character = direct[character]
    return character


def main() -> None:
    convert = opencc.OpenCC("t2s").convert
    han = [chr(code) for code in (*range(0x3400, 0xA000), *range(0x20000, 0x2A6E0))]
    # One long call instead of 70,000; the line breaks keep the characters apart.
    simple = convert("\n".join(han)).split("\n")
    direct = {a: b for a, b in zip(han, simple, strict=True) if len(b) == 1 and a != b}
    pairs = sorted([*(a + final(a, direct) for a in direct), *QUOTES])
    print("# Traditional characters and their simplified forms. The facts are OpenCC's (Apache License 2.0);")
    print("# tools/script_table.py writes this file.")
    for at in range(0, len(pairs), PAIRS_PER_LINE):
        print(" ".join(pairs[at : at + PAIRS_PER_LINE]))


if __name__ == "__main__":
    main()
