"""Run the tests with Spark, Ray and Dask in a fresh virtual environment, and print a table.

    python tools/engines.py [--documents 20000] [--folder build/engines] [--wheel duilian.whl] [--suite spark]

Java comes from Debian if there is none (that needs root), everything else from PyPI. The tests are those of
`tests/engines`; what cannot be installed is printed as not run. A wheel saves compiling.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PACKAGES = (
    "pyspark>=4.1",
    "ray[data]>=2.40",
    "dask[distributed]",
    "joblib",
    "hypothesis",
    "pytest",
    "pytest-timeout",
)
# The engine, its suite, and on which Spark cluster: threads of one process, or processes of their own.
SUITES = (
    ("Spark, `local[2]`", "spark", {"DUILIAN_SPARK": "local[2,4]"}),
    ("Spark, `local-cluster[2,1,1024]`", "spark", {"DUILIAN_SPARK": "local-cluster[2,1,1024]"}),
    ("Ray, 2 CPUs", "ray", {}),
    ("Dask, 2 workers", "dask", {}),
)
EXPECTED = "from documents_for_engines import expected_hash; print(expected_hash())"
VERSIONS = """
import dask, pyarrow, pyspark, ray
print(*(f"{each.__name__} {each.__version__}" for each in (pyspark, ray, dask, pyarrow)), sep=", ")
"""


def install(folder: Path, wheel: Path | None) -> Path:
    """Install Java if there is none, and the engines; return the interpreter."""
    if shutil.which("java") is None:
        subprocess.run(["apt-get", "install", "-y", "-q", "default-jre-headless"], check=False)
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    own = f"{TOP if wheel is None else wheel.resolve()}[scale]"
    pip = [str(python), "-m", "pip", "install", "-q"]
    subprocess.run([*pip, own, *PACKAGES], check=True)
    if wheel is not None:  # one of the same version may be there
        subprocess.run([*pip, "--force-reinstall", "--no-deps", str(wheel)], check=True)
    return python


def expected_hash(python: Path, options: dict[str, str]) -> str:
    """Ask the Python API once; every suite compares its answers with these."""
    command, env = [str(python), "-c", EXPECTED], os.environ | options
    folder = TOP / "tests" / "engines"
    return subprocess.run(
        command, check=True, env=env, cwd=folder, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def run(python: Path, suite: str, options: dict[str, str]) -> list[tuple[str, str, str]]:
    """Run one suite; return its tests, their outcome and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [str(python), "-m", "pytest", "-q", str(TOP / "tests" / "engines" / f"test_{suite}.py")]
        subprocess.run([*command, f"--junitxml={report}"], check=False, env=os.environ | options, cwd=TOP)
        if not report.exists():
            return [("the suite", "FAILED", "0 s")]
        return [_row(case, suite) for case in ET.parse(report).getroot().iter("testcase")]


def _row(case: ET.Element, suite: str) -> tuple[str, str, str]:
    kinds = {child.tag for child in case}
    outcome = "FAILED" if kinds & {"failure", "error"} else "not run" if "skipped" in kinds else "passed"
    name = (case.get("name") or suite).removeprefix("test_").replace("_", " ")
    return name, outcome, f"{float(case.get('time') or 0):.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, default=TOP / "build" / "engines")
    parser.add_argument("--wheel", type=Path, help="install this, instead of the source tree")
    parser.add_argument("--python", type=Path, help="use this environment as it is")
    suites = sorted({suite for _, suite, _ in SUITES})
    parser.add_argument("--suite", choices=suites, action="append", help="only this one; may be repeated")
    asked = parser.parse_args()
    python = (asked.python or install(asked.folder, asked.wheel)).absolute()
    own = {"DUILIAN_DOCUMENTS": str(asked.documents)}
    own["DUILIAN_EXPECTED_HASH"] = expected_hash(python, own)
    chosen = asked.suite or suites
    found = {
        engine: run(python, suite, own | options) for engine, suite, options in SUITES if suite in chosen
    }
    print(f"\n{asked.documents:,} documents", flush=True)
    subprocess.run([str(python), "-c", VERSIONS], check=False)
    print("\n| engine | test | outcome | time |\n| --- | --- | --- | --- |")
    for engine, rows in found.items():
        for row in rows:
            print(f"| {' | '.join((engine, *row))} |")
    sys.exit(any(outcome != "passed" for rows in found.values() for _, outcome, _ in rows))


if __name__ == "__main__":
    main()
