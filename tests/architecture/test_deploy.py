"""What lies in `deploy` names commands, flags, ports, paths and extras that exist, and no secret.

No container runtime is asked: what is written there is read, and held against the code.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from geomi.api.app import make_app
from geomi.cli.program import make_program
from geomi.cli.serve.serve import PORT
from geomi.processes.server import MAX_CONNECTIONS, RESERVED_HANDLES, connection_limits
from geomi.settings.options import Settings
from geomi.settings.process import unknown_variables
from tests.conftest import missing_part

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
SECRET = re.compile(r"PASSWORD|SECRET|KEY|TOKEN")


def compose() -> Any:
    """Read the compose file."""
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def manifests() -> list[Any]:
    """Read the Kubernetes manifests."""
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / "geomi.yaml").read_text()))


def containers() -> list[Any]:
    """Return the containers of the manifests."""
    pods = [one["spec"]["template"]["spec"] for one in manifests() if "template" in one["spec"]]
    return [container for pod in pods for container in pod["containers"]]


def instructions(name: str) -> list[str]:
    """Return what stands after an instruction of the Dockerfile."""
    text = (DEPLOY / "Dockerfile").read_text()
    return re.findall(rf"^{name} (.+)$", text, flags=re.MULTILINE)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield every command that a file gives to geomi, and where it stands."""
    for name, service in compose()["services"].items():
        if "build" in service:
            yield f"compose {name}", service["command"]
    for container in containers():
        yield f"kubernetes {container['args'][0]}", container["args"]
    for unit in UNITS:
        (line,) = re.findall(r"^ExecStart=(.+)$", unit.read_text(), flags=re.MULTILINE)
        words = shlex.split(line)
        assert words[0].endswith("/geomi")
        yield unit.name, words[1:]
    yield "Dockerfile", json.loads(instructions("CMD")[-1])


@pytest.mark.req("DEP-04")
@pytest.mark.parametrize(("where", "words"), list(commands()), ids=lambda value: str(value)[:30])
def test_every_command_is_one_that_geomi_takes(where: str, words: list[str]) -> None:
    group = get_command(make_program())
    command = group.commands[words[0]]  # type: ignore[attr-defined]  # a Typer app is a group
    command.make_context(words[0], list(words[1:]))  # an unknown flag or a wrong value raises


@pytest.mark.req("DEP-04")
def test_ports_and_paths_are_those_of_the_server() -> None:
    paths = set(make_app().openapi()["paths"])
    assert compose()["services"]["server"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert instructions("EXPOSE") == [str(PORT)]
    (server,) = [one for one in containers() if one["args"][0] == "serve"]
    assert [port["containerPort"] for port in server["ports"]] == [PORT]
    probed = {server[name]["httpGet"]["path"] for name in ("livenessProbe", "readinessProbe")}
    assert probed == {"/healthz", "/readyz"} <= paths


@pytest.mark.req("DEP-04")
def test_no_secret_has_a_default() -> None:
    for name, service in compose()["services"].items():
        for variable, value in service.get("environment", {}).items():
            for used in re.findall(r"\$\{([^}]*)\}", str(value)):
                assert ":?" in used, (name, variable)
            if SECRET.search(variable):
                assert re.fullmatch(r"\$\{\w+:\?[^}]*\}", value), (name, variable)
    for container in containers():
        assert "env" not in container
        assert container["envFrom"] == [{"secretRef": {"name": "geomi"}}]
    for unit in UNITS:
        assert "\nEnvironment=" not in unit.read_text()
        assert "\nEnvironmentFile=/etc/geomi.env\n" in unit.read_text()


@pytest.mark.req("DEP-04")
def test_every_variable_is_one_that_geomi_reads() -> None:
    named = re.findall(
        r"\bGEOMI_[A-Z_]+",
        "".join(file.read_text() for file in DEPLOY.rglob("*") if file.is_file()),
    )
    assert "GEOMI_CONTACT" in named
    assert unknown_variables(dict.fromkeys(named, "x")) == []


def test_the_image_installs_extras_that_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (named,) = re.findall(r"'\.\[([a-z0-9,]+)\]'", (DEPLOY / "Dockerfile").read_text())
    assert set(named.split(",")) <= set(extras["optional-dependencies"])
    for line in instructions("COPY"):
        if not line.startswith("--from"):
            for name in line.split()[:-1]:
                assert (ROOT / name).exists(), name


def test_there_are_files_for_every_connection_and_for_everything_else() -> None:
    units = [re.findall(r"^LimitNOFILE=(\d+)$", one.read_text(), flags=re.M) for one in UNITS]
    built = [one for one in compose()["services"].values() if "build" in one]
    limits = [int(found) for (found,) in units]
    limits += [one["ulimits"]["nofile"][kind] for one in built for kind in ("soft", "hard")]
    assert len(limits) == len(UNITS) + 2 * len(built)
    for handles in limits:
        assert connection_limits(Settings(), handles=handles).most == MAX_CONNECTIONS
    told = (DEPLOY / "kubernetes" / "geomi.yaml").read_text()
    assert f"{MAX_CONNECTIONS + RESERVED_HANDLES:,}" in told and f"{RESERVED_HANDLES} or" in told


def test_where_all_clients_have_one_address_it_has_no_limit() -> None:
    variable = "GEOMI_MAX_CONNECTIONS_PER_ADDRESS"
    assert compose()["services"]["server"]["environment"][variable] == "0"
    assert f"{variable}=0" in (DEPLOY / "kubernetes" / "geomi.yaml").read_text()


def test_nothing_runs_as_root_or_writes_where_it_need_not() -> None:
    assert instructions("USER") == ["geomi"]
    for service in compose()["services"].values():
        if "build" in service:
            assert service["read_only"] and service["cap_drop"] == ["ALL"]
    for container in containers():
        assert container["securityContext"]["readOnlyRootFilesystem"]
    for unit in UNITS:
        assert "DynamicUser=yes" in unit.read_text()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_the_units(unit: Path, tmp_path: Path) -> None:
    if (verify := shutil.which("systemd-analyze")) is None:
        missing_part("systemd-analyze")
    # The program is where it is installed to, which is not here: anything that runs will do.
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=re.MULTILINE)
    copy = tmp_path / unit.name
    copy.write_text(text)
    done = subprocess.run([verify, "verify", str(copy)], capture_output=True, text=True, timeout=30)
    own = [line for line in done.stderr.splitlines() if unit.name in line]
    assert own == [], done.stderr
