"""A format from another package, found by name and by extension: `word=TAG` lines in `.toy` files."""

import os
import subprocess
import sys

import pytest

import duilian as dl
from duilian.corpus import FORMATS, register_format
from duilian.errors import ConfigError

PLUGIN = """
from duilian.corpus import Format, Layer, Sentence

def read(lines, path, options):
    for _, line in lines:
        words, tags = zip(*(token.split("=") for token in line.split()))
        yield Sentence({options.standard or "toy": Layer(words, tags)})

def write(sentences, options):
    for sentence in sentences:
        layer = sentence[options.standard or next(iter(sentence))]
        yield " ".join(map("=".join, zip(layer.words, layer.tags))) + "\\n"

TOY = Format("toy", "toy", read, write, (".toy",), recognises=lambda lines: "=" in lines[0])
"""


@pytest.fixture
def toy():
    scope = {}
    exec(PLUGIN, scope)
    yield register_format(scope["TOY"])
    del FORMATS["toy"]


def test_a_registered_format_is_read_and_written_by_extension_name_and_content(tmp_path, toy):
    (tmp_path / "a.toy").write_text("他=PN 来=VV\n", "utf-8")
    corpus = dl.read(tmp_path / "a.toy", standard="x")
    assert (corpus.format, corpus[0]["x"].tags) == ("toy", ("PN", "VV"))
    dl.write(corpus, tmp_path / "b.txt", format="toy")
    assert dl.read(tmp_path / "b.txt", standard="x") == corpus
    with pytest.raises(ConfigError, match="is empty or taken"):
        register_format(toy)
    with pytest.raises(ConfigError, match=r"unknown format 'toi'\n.*did you mean 'toy'\?"):
        dl.read(tmp_path / "a.toy", format="toi")


@pytest.mark.parametrize("arguments", [["a.toy"], ["b.txt", "--format", "toy"]])
def test_an_installed_package_adds_a_format_to_the_command_line(tmp_path, arguments):
    (info := tmp_path / "toy-1.0.dist-info").mkdir()
    (info / "entry_points.txt").write_text("[duilian.formats]\ntoy = toy_format:TOY\n")
    (tmp_path / "toy_format.py").write_text(PLUGIN)
    (tmp_path / arguments[0]).write_text("他=PN 来=VV\n", "utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "duilian.cli", "corpus", "convert", *arguments, "--to", "underscore"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
    assert (done.returncode, done.stdout.decode()) == (0, "他_PN 来_VV\n"), done.stderr.decode()
