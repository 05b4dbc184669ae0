"""What is packaged, and what the project's files say about it."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import duilian
from scripts import load_script

TOP = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
IMPORTED_AS = {"scikit-learn": "sklearn", "python-crfsuite": "pycrfsuite"}
IMPORTED_AS |= {"pytest-timeout": "timeout", "pytest-xdist": "xdist"}
FOLDER_OF_EXTRA = {"test": ["tests", "pyproject.toml"], "bench": ["benchmarks"]}  # others: the package
TOOLS = {"dev", "docs"}  # extras that install programs


def text(name: str) -> str:
    return (TOP / name).read_text(encoding="utf-8")


def read_yaml(name: str) -> Any:
    return yaml.safe_load(text(name))


@pytest.fixture(scope="module")
def wheel() -> ModuleType:
    """The tool that builds wheels."""
    return load_script("tools/wheel.py")


def installed() -> list[str]:
    """The files of the installed package, without those that the installer made."""
    found = distribution("duilian")
    if Path(str(found.locate_file("duilian"))) != Path(duilian.__file__).parent:
        pytest.skip("the tests run on a source tree, not on an installed package")
    assert found.files is not None
    return [str(path) for path in found.files if "__pycache__" not in path.parts and ".." not in path.parts]


class TestWheel:
    def test_it_has_what_belongs_in_it(self, wheel: ModuleType) -> None:
        assert list(wheel.faults(installed())) == []

    def test_faults_are_found(self, wheel: ModuleType) -> None:
        info = [f"duilian-1.dist-info/licenses/{name}" for name in wheel.LICENSES]
        package = [f"duilian/{name}" for name in wheel.source_files()]
        native = ["duilian/_native.abi3.so", "duilian/_native.pyi", "duilian/bundled/duilian_fts5.so"]
        whole = info + package + native
        assert list(wheel.faults(whole)) == []
        assert {"duilian/py.typed", "duilian/bundled/zh.model"} <= set(package)
        assert "NOTICE" in wheel.LICENSES
        for name in [*info, *native, "duilian/py.typed", "duilian/bundled/zh.model"]:
            assert len(list(wheel.faults(set(whole) - {name}))) == 1, name
        for name in ("tests/test_house.py", "duilian/native.cpp", "duilian/_native.cpython-311.so"):
            assert len(list(wheel.faults([*whole, name]))) == 1, name


class TestVersion:
    def test_it_is_that_of_the_installed_package(self) -> None:
        installed()
        assert duilian.__version__ == distribution("duilian").version

    def test_it_is_written_nowhere(self) -> None:
        assert "version" not in PROJECT["project"]
        assert PROJECT["project"]["dynamic"] == ["version"]
        assert not re.search(r"^version:", text("CITATION.cff"), re.MULTILINE)

    def test_pythons_agree(self) -> None:
        oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
        assert f"Programming Language :: Python :: {oldest}" in PROJECT["project"]["classifiers"]
        assert PROJECT["tool"]["ruff"]["target-version"] == "py" + oldest.replace(".", "")
        stable = PROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
        plain = "cp" + oldest.replace(".", "")
        assert PROJECT["tool"]["cibuildwheel"]["build"] == [f"{plain}-*", f"{stable}-*"]


@pytest.mark.parametrize("extra", sorted(set(PROJECT["project"]["optional-dependencies"]) - TOOLS))
def test_every_extra_has_code(extra: str) -> None:
    places = [TOP / place for place in FOLDER_OF_EXTRA.get(extra, ["src/duilian"])]
    files = [file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place])]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    for requirement in PROJECT["project"]["optional-dependencies"][extra]:
        name = re.split(r"[<>=~! \[]", requirement)[0]
        module = IMPORTED_AS.get(name, "yaml" if name == "pyyaml" else name.replace("-", "_"))
        assert re.search(rf"\b{module}\b", code), requirement


class TestNotices:
    def test_notice_and_card_name_the_corpora_of_the_bundled_model(self) -> None:
        files = re.findall(r"^(?:train|file) = \[?\"([\w/-]+)", text("recipes/bundled.toml"), re.MULTILINE)
        names = {
            "pd/train": ("People's Daily, January 1998",),
            "ud2/gsd-train": ("UD Chinese GSD", "GSDSimp"),
            "ud2/neural": ("cnsyn",),
            "lists/cedict-words": ("CC-CEDICT", "wordfreq"),
            "lists/english-words": ("wordfreq", "textblob", "lemminflect"),
        }
        assert set(files) == set(names)
        for page in ("NOTICE", "docs/model-card.md"):
            assert not [name for file in files for name in names[file] if name not in text(page)]
        assert "CC BY-SA 4.0" in text("NOTICE")

    def test_what_it_names_is_there(self) -> None:
        for name in re.findall(r"\b(?:src|native|docs|recipes|LICENSES)/[\w./-]*\w", text("NOTICE")):
            assert (TOP / name).exists(), name

    def test_citation(self) -> None:
        cited = read_yaml("CITATION.cff")
        assert cited["license"] == PROJECT["project"]["license"].split(" AND ")[0], "that of the code"
        assert len(cited["references"]) == 8
        for reference in cited["references"]:
            assert {"type", "title", "authors", "year"} <= set(reference)
            kinds = re.findall(r"`([\w-]+)`", reference["notes"])
            assert kinds
            assert all(f"`{kind}`" in text("docs/models.md") for kind in kinds)


class TestChangelog:
    def test_it_has_the_form_of_keep_a_changelog(self) -> None:
        versions = re.findall(r"^## (.*)$", text("CHANGELOG.md"), re.MULTILINE)
        assert versions[0] == "[Unreleased]"
        for version in versions[1:]:
            assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version)
        for section in text("CHANGELOG.md").split("\n## ")[1:]:
            kinds = re.findall(r"^### (.*)$", section, re.MULTILINE)
            order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
            assert len(set(kinds)) == len(kinds)
            assert set(kinds) <= set(order)


class TestForge:
    def test_ci_runs_what_we_run(self) -> None:
        jobs = read_yaml(".github/workflows/ci.yml")["jobs"]
        runs = [step.get("run") for job in jobs.values() for step in job["steps"]]
        assert ".ci/run" in runs
        sessions = {run.removeprefix("nox -s ") for run in runs if run and run.startswith("nox -s ")}
        assert sessions <= nox_sessions()

    def test_a_release_needs_its_tests(self) -> None:
        release = read_yaml(".github/workflows/release.yml")
        assert set(release["jobs"]["publish"]["needs"]) == set(release["jobs"]) - {"publish"}
        assert release[True]["push"] == {"tags": ["v*"]}  # YAML reads `on` as true
        assert PROJECT["tool"]["cibuildwheel"]["test-command"]

    @pytest.mark.parametrize("name", ["bug", "answer", "idea"])
    def test_issue_templates(self, name: str) -> None:
        form = read_yaml(f".github/ISSUE_TEMPLATE/{name}.yml")
        assert {"name", "description", "body"} <= set(form)
        assert all(part["type"] in {"textarea", "input", "markdown"} for part in form["body"])


class TestContributing:
    def test_sessions_are_described(self) -> None:
        described = set(re.findall(r"`nox -s (\w+)", text("CONTRIBUTING.md")))
        assert described == nox_sessions()

    def test_large_files_are_refused_but_for_the_bundled_model(self) -> None:
        hooks = {hook["id"]: hook for hook in read_yaml(".pre-commit-config.yaml")["repos"][0]["hooks"]}
        model = "src/duilian/bundled/zh.model"
        assert re.search(hooks["large-files"]["exclude"], model)
        assert re.search(hooks["bundled-model"]["files"], model)
        limit = re.search(r"--maxkb=(\d+)", hooks["bundled-model"]["entry"])
        assert limit is not None
        assert (TOP / model).stat().st_size <= int(limit[1]) * 1024 <= 16_000_000


def nox_sessions() -> set[str]:
    """The names of the sessions in the noxfile."""
    return {node.name for node in ast.parse(text("noxfile.py")).body if isinstance(node, ast.FunctionDef)}
