"""Every code block of the README and of all pages runs, or says why not; see code_blocks.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from docs import code_blocks
from docs.code_blocks import TOP, Block, blocks, check, inline_commands
from duilian import demo
from duilian.learning import AdaGrad
from duilian.models import CoupledTagger, Tagger

SAMPLES = Path(__file__).parent / "samples"
DEMO = Path(demo.__file__).parent
GENERATED = {"commands.md"}  # its blocks are the examples of --help


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `small.model` and `pos.model`, which pages may use without training them."""
    folder = tmp_path_factory.mktemp("models")
    corpora = [demo.load(name, name) for name in demo.STANDARDS]
    small = CoupledTagger(demo.STANDARDS, level="char", mapping="tight")
    small.set_params(learning__iterations=2).fit(corpora).save(folder / "small.model")
    Tagger("ctb", learning=AdaGrad(iterations=5)).fit(corpora[0]).save(folder / "pos.model")
    return folder


def name_of(page: Path) -> str:
    return str(page.relative_to(TOP))


@pytest.mark.parametrize("page", code_blocks.pages(), ids=name_of)
def test_the_blocks_run(
    page: Path, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text(encoding="utf-8")
    found = list(blocks(text))
    for command in inline_commands(text):
        code_blocks.check_command(command, name_of(page))
    if page.name in GENERATED:
        for block in found:
            check(block, name_of(page))
    elif any(block.is_run for block in found):
        fill(tmp_path, text, request)
        monkeypatch.chdir(tmp_path)
        code_blocks.run(page, tmp_path)
    if missing := sorted({name for block in found for name in block.missing}):
        pytest.skip(
            f"{name_of(page)}: blocks that need {', '.join(missing)} are not run (nox -s integrations)"
        )


def fill(folder: Path, page: str, request: pytest.FixtureRequest) -> None:
    """Put the files into a folder that pages may take for granted."""
    sources = [*SAMPLES.iterdir()]
    if "duilian.demo" not in page:
        sources += DEMO.glob("*.txt")
    if any(f"{name}.model" in page for name in ("small", "pos")):
        sources += request.getfixturevalue("models").iterdir()
    for path in sources:
        shutil.copy(path, folder)


PAGE = """
Save this as `a.txt`:

```text
x
```

<!-- no-run: because -->
```sh
duilian tag --model a.model | duilian corpus stats - --json
```

```console
$ echo one \\
> two
one two
```

`duilian corpus stats FILE` and
"""


def test_blocks_are_found_with_what_is_said_about_them() -> None:
    file, unrun, console = blocks(PAGE)
    assert (file.file, file.is_run, unrun.is_run, console.is_run) == ("a.txt", False, False, True)
    assert unrun.commands == ["duilian tag --model a.model | duilian corpus stats - --json"]
    assert console.commands == ["echo one two"]
    assert inline_commands(PAGE) == ["duilian corpus stats FILE"]
    check(unrun, "page")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "duilian tag --modle a.model"),
        ("sh", "cat a | duilian tagg"),
        ("sh", "duilian corpus stats --modle a"),
        ("python", "import duilian as dl\ndl.laod()"),
        ("python", "from duilian.corpus import raed"),
    ],
)
def test_what_does_not_exist_is_found_even_if_not_run(language: str, text: str) -> None:
    with pytest.raises(AssertionError):
        check(Block(1, language, text, "<!-- no-run: why -->"), "page")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sh", "false\ntrue"),
        ("console", "$ echo one\ntwo"),
        ("python", ">>> 1 + 1\n3\n"),
        ("python", "assert False"),
    ],
)
def test_a_block_that_is_wrong_fails(tmp_path: Path, language: str, text: str) -> None:
    with pytest.raises(AssertionError):
        code_blocks.run_block(Block(1, language, text, ""), "page", tmp_path, {})
