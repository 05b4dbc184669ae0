"""An output form of `analyze` from another package: words with bars between them."""

import os
import subprocess
import sys

import numpy as np
import pytest

from duilian.document import Doc, WordTable
from duilian.errors import ConfigError
from duilian.views import FORMS, find_form, register_form

PLUGIN = """
from duilian.views import Form

class BarsForm(Form, name="bars"):
    def text(self, doc):
        return "|".join(doc.words(self.standard)) + "\\n"
"""


@pytest.fixture
def bars():
    scope = {}
    exec(PLUGIN, scope)
    yield register_form(scope["BarsForm"])
    del FORMS["bars"]


def test_a_registered_form_is_found_by_name(bars):
    doc = Doc("他来", {"pku": WordTable(np.array([0, 1]), np.array([1, 2]), np.array([0, 2]))})
    assert find_form("bars")("pku").text(doc) == "他|来\n"
    with pytest.raises(ConfigError, match="the form name 'bars' is empty or taken"):
        register_form(bars)
    with pytest.raises(ConfigError, match=r"unknown form 'bar'\n.*did you mean 'bars'\?"):
        find_form("bar")


def test_an_installed_package_adds_a_form_to_the_command_line(tmp_path):
    info = tmp_path / "bars-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: bars\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[duilian.forms]\nbars = bars_form:BarsForm\n")
    (tmp_path / "bars_form.py").write_text(PLUGIN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "duilian.cli", "analyze", "他来了。", "--to", "bars"]
    done = subprocess.run(command, env=environment, capture_output=True)
    assert (done.returncode, done.stdout.decode()) == (0, "他|来|了|。\n"), done.stderr.decode()
