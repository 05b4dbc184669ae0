"""Write native/src/text/unicode_tables.hpp: ranges of code points by character class.

    python tools/unicode_tables.py > native/src/text/unicode_tables.hpp

Classes come from the Unicode data of the running Python (its version is in the output); what the general
categories do not cover (Han, emoji, invisible characters) is listed here.
"""

from __future__ import annotations

import sys
import unicodedata

HAN = [
    (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
]  # fmt: skip
EMOJI = [
    (0x231A, 0x231B), (0x23E9, 0x23FA), (0x2600, 0x27BF), (0x2B50, 0x2B50), (0x2B55, 0x2B55),
    (0x1F000, 0x1F2FF), (0x1F300, 0x1F3FA), (0x1F400, 0x1FAFF),
]  # fmt: skip
SPACE = [(0x0000, 0x0020), (0x007F, 0x00A0), (0x200B, 0x200B), (0xFEFF, 0xFEFF)]
# Joiners, skin tones, tags: like combining marks, they belong to the preceding character.
EXTEND = [(0x200C, 0x200D), (0x1F3FB, 0x1F3FF), (0xE0001, 0xE007F)]


def inside(code: int, ranges: list[tuple[int, int]]) -> bool:
    return any(low <= code <= high for low, high in ranges)


def class_of(code: int) -> str:
    category = unicodedata.category(chr(code))
    if inside(code, SPACE) or category[0] == "Z":
        return "space"
    if inside(code, EXTEND) or category[0] == "M" or category == "Cf":
        return "extend"
    if inside(code, HAN):
        return "han"
    if inside(code, EMOJI):
        return "emoji"
    if category == "Nd":
        return "digit"
    if category in ("Lu", "Ll", "Lt"):
        return "letter"
    if category[0] in "PS":
        return "punct"
    return "other"


def main() -> None:
    ranges: list[tuple[int, int, str]] = []
    for code in range(0x110000):
        if 0xD800 <= code <= 0xDFFF:
            continue
        name = class_of(code)
        if ranges and ranges[-1][2] == name and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code, name)
        else:
            ranges.append((code, code, name))
    print(f"// Made by tools/unicode_tables.py from Unicode {unicodedata.unidata_version}; do not edit.")
    print('#pragma once\n\n#include "duilian/text/characters.hpp"\n\nnamespace duilian {\n')
    print("struct CharRange {\n  char32_t low;\n  char32_t high;\n  CharClass kind;\n};\n")
    print("// clang-format off")
    print("inline constexpr CharRange kCharRanges[] = {")
    row = "   "
    for low, high, name in ranges:
        if name == "other":
            continue
        item = f" {{0x{low:X},0x{high:X},CharClass::{name}}},"
        if len(row) + len(item) > 110:
            print(row)
            row = "   "
        row += item
    print(row)
    print("};\n// clang-format on\n\n}  // namespace duilian")


if __name__ == "__main__":
    sys.exit(main())
