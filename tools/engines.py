"""Run the tests with Spark, Ray and Dask in a fresh virtual environment, and print a table.

    python tools/engines.py [--documents 20000] [--folder build/engines]

Java comes from Debian if there is none (that needs root), everything else from PyPI. The tests are those of
`tests/engines`; what cannot be installed is printed as not run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PACKAGES = (
    "pyspark>=4.1",
    "ray[data]>=2.40",
    "dask[distributed]",
    "pytest",
    "pytest-timeout",
    "duckdb",
    "polars",
)


def install(folder: Path) -> Path:
    """Install Java if there is none, and the engines; return the interpreter."""
    if shutil.which("java") is None:
        subprocess.run(["apt-get", "install", "-y", "-q", "openjdk-17-jre-headless"], check=False)
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "-q", f"{TOP}[scale]", *PACKAGES], check=True)
    return python


def run(python: Path, suite: str, documents: int) -> list[tuple[str, str, str]]:
    """Run one suite; return its tests, their outcome and seconds."""
    report = python.parent.parent / f"{suite}.xml"
    command = [str(python), "-m", "pytest", "-q", str(TOP / "tests" / "engines" / f"test_{suite}.py")]
    own = {"DUILIAN_DOCUMENTS": str(documents)}
    subprocess.run([*command, f"--junitxml={report}"], check=False, env=os.environ | own, cwd=TOP)
    rows = []
    for case in ET.parse(report).getroot().iter("testcase"):
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        outcome = {"failure": "FAILED", "error": "FAILED", "skipped": "not run"}.get(
            (kinds or [""])[0], "passed"
        )
        rows.append((case.get("name") or suite, outcome, f"{float(case.get('time') or 0):.0f} s"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, default=TOP / "build" / "engines")
    parser.add_argument("--python", type=Path, help="use this environment as it is")
    asked = parser.parse_args()
    python = asked.python or install(asked.folder)
    found = {suite: run(python, suite, asked.documents) for suite in ("spark", "ray", "dask")}
    print(f"\n{asked.documents:,} documents\n\n| engine | test | outcome | time |\n| --- | --- | --- | --- |")
    for suite, rows in found.items():
        for name, outcome, seconds in rows:
            print(f"| {suite} | {name.removeprefix('test_').replace('_', ' ')} | {outcome} | {seconds} |")
    sys.exit(any(outcome != "passed" for rows in found.values() for _, outcome, _ in rows))


if __name__ == "__main__":
    main()
