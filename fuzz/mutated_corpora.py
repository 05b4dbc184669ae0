"""Mutants of corpus files in every format: each is read, or refused with an error that begins `path:line:`.

python fuzz/mutated_corpora.py --runs 10000 --seed 1
"""

from __future__ import annotations

import argparse
import collections
import logging
import random
import re
import sys
import tempfile
import time
from pathlib import Path

from duilian.corpus import read_sentences
from duilian.errors import CorpusError, DuilianError

TIME_LIMIT = 2.0  # seconds of a file
SEEDS = {
    "slash": "19980101-01-001-001/m  迈向/v  [中央/n  人民/n]nt  。/w\n他/r  去/v  哪儿/{r|n}  ？/w\n",
    "underscore": "<S ID=1>\n他_PN 来_VV 了_SP 。_PU\n</S>\n她_PN 去_{VC|VV} 哪儿_? __PU\n",
    "segmented": "他  来  了  。\n山  高  水  长\n",
    "columns": "他 PN B-NP\n来 VV B-VP\n了 AS {I-VP|O}\n\n好 JJ _\n吧 SP O\n\n",
    "ctb-brackets": "( (IP (NP (PN 他)) (VP (VV 来) (AS 了)) (PU 。)) )\n",
    "conllu": (
        "# sent_id = 1\n# text = 他来了。\n1\t他\t他\tPRON\tPN\tPerson=3\t2\tnsubj\t_\t_\n"
        "2-3\t来了\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t来\t来\tVERB\tVV\t_\t0\troot\t0:root\t_\n"
        "3\t了\t了\tAUX\tAS\t_\t2\taux\t_\t_\n3.1\t_\t_\tX\t_\t_\t_\t_\t_\t_\n"
        "4\t。\t。\tPUNCT\tPU\t_\t2\tpunct\t_\t_\n\n"
    ),
    "conllx": "1\t他\t_\tPN\tPN\t_\t2\tSBJ\t_\t_\n2\t来\t_\tVV\tVV\t_\t0\tROOT\t_\t_\n\n",
    "jsonl": (
        '{"id": "1", "layers": {"ctb": {"words": ["他", "来"], "tags": ["PN", "VV"], "heads": [2, 0], '
        '"relations": ["SBJ", "ROOT"]}}}\n'
    ),
}
PIECES = (
    "\t", "\n", "\r\n", "\r", " ", "\u3000", "\0", "/", "_", "[", "]", "{", "}", "|", "(", ")", "-1", "0",
    "2147483648", "9" * 400, "1.1", "1-2", "2-1", "#", "# text = x", "\"", "\\ud800", "null", "[]", "{}",
    "[" * 300, "(" * 3000, "\ufeff", "\u2028", "\u200b", "中", "\U0010ffff", "<S>",
    "SpaceAfter=No", "a" * 9999,
)  # fmt: skip
BYTES = (b"\xff", b"\xe4\xb8", b"\x80", b"\xed\xa0\x80", b"\x1f\x8b", b"\xfe\xff", b"\xc0\xaf", b"\0")


def mutant(rng: random.Random, text: str) -> bytes:
    """A file after one to four changes: of pieces, of lines, of fields, of bytes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        lines = text.split("\n")
        k = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[min(to, at + rng.randrange(8)) :]
            case 2:
                text = text[:at] + rng.choice(PIECES) + text[at + 1 :]
            case 3:
                text = "\n".join([*lines[:k], *rng.sample(lines, rng.randrange(len(lines))), *lines[k:]])
            case 4:
                fields = re.split(r"(\t| +)", lines[k])
                fields[rng.randrange(len(fields))] = rng.choice(PIECES)
                text = "\n".join([*lines[:k], "".join(fields), *lines[k + 1 :]])
            case _:
                text = text[:at] * rng.randrange(3) + text[at:]
    raw = text.encode("utf-8", "replace")
    if rng.random() < 0.15:
        at = rng.randrange(len(raw) + 1)
        raw = raw[:at] + rng.choice(BYTES) + raw[at:]
    return raw


def judge(path: Path, form: str | None, *, lenient: bool) -> tuple[str, str]:
    """What became of a file: read, refused, or a finding and its details."""
    began = time.process_time()
    try:
        for sentence in read_sentences(path, format=form, lenient=lenient, standard=None):
            assert sentence.layers
        what, detail = "read", ""
    except CorpusError as error:
        is_placed = re.match(rf"{re.escape(str(path))}:[1-9]\d*: .", str(error)) is not None
        what, detail = ("refused" if is_placed else "no place"), str(error)
    except DuilianError as error:  # the file as a whole: empty, or in a format that cannot be told
        is_placed = str(path) in str(error)
        what, detail = ("refused" if is_placed else "no place"), str(error)
    except Exception as error:
        what, detail = type(error).__name__, str(error)
    if time.process_time() - began > TIME_LIMIT:
        what = "slow"
    return what, detail[:300]


def attack(folder: Path, runs: int, seed: int) -> tuple[collections.Counter[str], list[str]]:
    """Judge mutants of all formats in turn; return the outcomes, and the findings in words."""
    outcomes, findings, path = collections.Counter[str](), [], folder / "mutant"
    for run in range(runs):
        form = list(SEEDS)[run % len(SEEDS)]
        rng = random.Random(f"{form} {seed} {run}")
        path.write_bytes(mutant(rng, SEEDS[form] * rng.choice((1, 1, 3))))
        what, detail = judge(path, rng.choice((form, form, None)), lenient=rng.random() < 0.3)
        outcomes[what] += 1
        if what not in ("read", "refused"):
            findings.append(f"{form} {seed} {run}: {what}: {detail}")
    return outcomes, findings


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.disable()  # what lenient readers skip
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        outcomes, findings = attack(Path(name), options.runs, options.seed)
    for finding in findings[:50]:
        print(finding)
    print(dict(outcomes), f"{time.monotonic() - began:.0f} s")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
