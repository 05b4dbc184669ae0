"""Readers of corpora against files of libFuzzer, which is guided by the branches that they reach.

    TMPDIR=/dev/shm python fuzz/guided_readers.py --formats conllu slash --seconds 1800

Needs `pip install atheris`. A finding is what `mutated_corpora.py` calls one; it ends the run, and its file
is kept.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["duilian.corpus"], enable_loader_override=False):
    from mutated_corpora import PIECES, SEEDS, judge


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--formats", nargs="+", default=["conllu", "slash"], choices=[*SEEDS])
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="A folder for files.")
    options = parser.parse_args()
    logging.disable()  # what lenient readers skip
    path = Path(tempfile.mkdtemp()) / "mutant"

    def attack(raw: bytes) -> None:
        """The first byte chooses the format, and whether errors are skipped."""
        choice = raw[0] if raw else 0
        path.write_bytes(raw[1:])
        form = options.formats[choice // 2 % len(options.formats)]
        what, detail = judge(path, form, lenient=choice % 2 == 1)
        assert what in ("read", "refused"), f"{form}: {what}: {detail}"

    corpus = options.keep / "corpus" / "guided"
    corpus.mkdir(parents=True, exist_ok=True)
    for k, form in enumerate(options.formats):
        (corpus / f"seed-{form}").write_bytes(bytes([2 * k]) + SEEDS[form].encode())
    words = path.with_name("pieces")
    words.write_text("".join(f'"{_escaped(piece)}"\n' for piece in PIECES if len(piece) < 60))
    limits = [
        f"-max_total_time={options.seconds}",
        f"-seed={options.seed}",
        f"-dict={words}",
        f"-artifact_prefix={options.keep}/guided-",
        "-max_len=2000",
        "-timeout=600",
    ]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], attack)
    atheris.Fuzz()


def _escaped(piece: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in piece.encode("utf-8", "surrogatepass"))


if __name__ == "__main__":
    main()
