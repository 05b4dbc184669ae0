"""Shows what has changed in the answers of the bundled model, and in the bytes of small models.

    python tools/goldens.py                    # which form, which block of 100 lines; exit status 1 if any
    python tools/goldens.py --before TREE      # and the first line that differs from what TREE's package says
    python tools/goldens.py --only convert     # only forms and small models with that in their names
    python tools/goldens.py --show parse 3     # the answer about lines 201 to 300, to look at
    python tools/goldens.py --write            # freeze the answers as they are now
    python tools/goldens.py --bundled-recipe --data DIR    # train recipes/bundled.toml: the same bytes?

The hashes are in tests/golden/hashes.json, the lines, forms and small models beside it. TREE is a checkout
that has this script, and a virtual environment .venv with its own package.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from duilian.recipes import Recipe, Run, train  # noqa: E402
from golden import hashes  # noqa: E402
from golden.forms import FORMS, SMALL, small_answers  # noqa: E402
from golden.golden_models import array_hash, file_hash  # noqa: E402
from golden.place import BLOCKS, Place, place  # noqa: E402


def check(place: Place, only: str, before: Path | None) -> Iterator[str]:
    """What has changed, a sentence each."""
    known = hashes.read()
    if known["lines"] != hashes.of_lines():
        yield "the golden lines have changed, and so every answer"
    for part in known["bundled"]:
        if known["bundled"][part] != hashes.of_bundled()[part]:
            yield f"the bundled model: {part} changed"
    gone = [
        name for part, now in (("forms", FORMS), ("models", SMALL)) for name in known[part] if name not in now
    ]
    yield from (f"{name}: is not asked any more" for name in gone)
    for name in (name for name in FORMS if only in name):
        if said := hashes.check_form(name, place):
            yield said if before is None else said + first_difference(name, place, before)
    for name in (name for name in SMALL if only in name):
        if said := hashes.check_small(name, place):
            yield said if before is None else said + first_difference(name, place, before)


def first_difference(name: str, place: Place, tree: Path) -> str:
    """The first line in the first changed block that another checkout's package answers differently."""
    block = 1
    if name in FORMS:
        blocks = min(FORMS[name].blocks, place.blocks)
        block = max(
            1, hashes.changed_blocks(hashes.read()["forms"][name], hashes.of_form(name, place), blocks)[0]
        )
    command = [str(tree / ".venv/bin/python"), str(tree / "tools/goldens.py"), "--show", name, str(block)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")
    if ran.returncode:
        return f"\n  {tree} cannot say what it was: {(ran.stderr.splitlines() or [''])[-1]}"
    pairs = itertools.zip_longest(ran.stdout.split("\n"), shown(name, block, place).split("\n"))
    for number, (old, new) in enumerate(pairs, start=1):
        if old != new:
            return f"\n  line {number} of the answer\n  - {old}\n  + {new}"
    return f"\n  {tree} says the same"


def shown(name: str, block: int, place: Place) -> str:
    """The answer about a block, or all answers of a small model."""
    if name in SMALL:
        return small_answers(name, place)
    answers = FORMS[name].answers(place)
    return answers[min(block, len(answers)) - 1]


def show(name: str, block: int) -> None:
    """Print an answer."""
    if name not in FORMS and name not in SMALL:
        sys.exit(f"there is no form {name!r}; there are:\n  " + "\n  ".join([*FORMS, *SMALL]))
    with place(min(max(block, 1), BLOCKS)) as here:
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
        sys.stdout.write(shown(name, block, here))


def write(place: Place) -> None:
    """Freeze everything as it is."""
    hashes.write(
        {
            "lines": hashes.of_lines(),
            "bundled": hashes.of_bundled(),
            "forms": {name: hashes.of_form(name, place) for name in FORMS},
            "models": {name: hashes.of_small(name, place) for name in SMALL},
        }
    )


def check_recipe(data: Path) -> Iterator[str]:
    """Train the bundled model again, and say how it differs from the frozen one."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "zh.model"
        train(Recipe.load(ROOT / "recipes/bundled.toml", data), Run(output=model))
        found = {"file": file_hash(model), "arrays": array_hash(model)}
    for part, hash in hashes.read()["bundled"].items():
        if found[part] != hash:
            yield f"recipes/bundled.toml: {part} of the model differ"


def main() -> None:
    """Do what the options say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="the usual: say what has changed")
    what.add_argument("--write", action="store_true")
    what.add_argument("--show", nargs="+", metavar=("FORM", "BLOCK"))
    what.add_argument("--bundled-recipe", action="store_true", help="takes many minutes")
    parser.add_argument("--data", type=Path, help="the folder of the corpora, for --bundled-recipe")
    parser.add_argument("--blocks", type=int, default=BLOCKS, help="check the first blocks only")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--before", type=Path, metavar="TREE")
    options = parser.parse_args()
    if options.show:
        name, block = [*options.show, "1"][:2]
        show(name, int(block))
        return
    if options.bundled_recipe and options.data is None:
        parser.error("--bundled-recipe needs --data")
    with place(options.blocks) as here:
        if options.write:
            write(here)
            return
        found = (
            check_recipe(options.data)
            if options.bundled_recipe
            else check(here, options.only, options.before)
        )
        count = 0
        for said in found:
            print(said, flush=True)
            count += 1
    print(f"{count} changes" if count else "nothing has changed")
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
