"""The files of `deploy/` are true to the program: its options, its paths, and how long it takes to stop."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import typer.main
import yaml
from starlette.testclient import TestClient

from duilian.cli import make_app
from duilian.serve.limits import Limits
from duilian.serve.server import GRACE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
STOP = Limits().seconds + GRACE  # at the latest


def options_of(command: list[str]) -> dict[str, str]:
    """The options of a command line, read as the program itself reads them."""
    assert Path(command[0]).name == "duilian"
    assert command[1] == "serve"
    parsed = typer.main.get_command(make_app(["serve", "explain"])).commands["serve"]  # type: ignore[attr-defined]
    return dict(parsed.make_context("serve", command[2:]).params)


def instruction(name: str) -> str:
    """The argument of an instruction of the Dockerfile, its lines joined."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    found = re.findall(rf"^{name} (.*)$", text, re.MULTILINE)
    assert len(found) == 1, name
    return str(found[0])


def setting(name: str) -> str:
    """A setting of the systemd unit."""
    found = re.findall(rf"^{name}=(.*)$", (DEPLOY / "duilian.service").read_text(), re.MULTILINE)
    assert len(found) == 1, name
    return str(found[0])


def test_the_container_listens_where_it_says(client: TestClient) -> None:
    options = options_of(json.loads(instruction("ENTRYPOINT")))
    assert (options["host"], options["port"]) == ("0.0.0.0", int(instruction("EXPOSE")))
    assert instruction("STOPSIGNAL") == "SIGTERM"
    asked = re.search(r"http://[^']+", instruction("HEALTHCHECK"))
    assert asked is not None
    address = urlsplit(asked[0])
    assert address.port == options["port"]
    assert client.get(address.path).status_code == 200


def test_the_composed_service_is_for_this_machine_and_may_end_its_work() -> None:
    (service,) = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values()
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).samefile(
        DEPLOY / "Dockerfile"
    )
    (published,) = service["ports"]
    assert published == f"127.0.0.1:{instruction('EXPOSE')}:{instruction('EXPOSE')}"
    assert int(service["stop_grace_period"].removesuffix("s")) >= STOP


def test_the_unit_listens_on_this_machine_and_may_end_its_work() -> None:
    assert options_of(shlex.split(setting("ExecStart")))["host"] == "127.0.0.1"
    assert int(setting("TimeoutStopSec")) >= STOP


def test_the_extra_that_they_install_exists() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text()
    for name in ("Dockerfile", "duilian.service"):
        for extra in re.findall(r"\[(\w+)\]'", (DEPLOY / name).read_text()):
            assert re.search(rf"^{extra} = \[", pyproject, re.MULTILINE), extra


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "duilian.service"
    # Without the program itself, which is not installed in /opt here.
    unit.write_text((DEPLOY / "duilian.service").read_text().replace("/opt/duilian/bin/duilian", "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True)
    assert "duilian.service" not in done.stderr, done.stderr
