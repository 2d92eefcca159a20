"""What a user installs works with the default dependencies, and holds nothing but the product."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from geomi.cli.program import COMMANDS, GROUPS
from geomi.errors import DISTRIBUTION
from tests.architecture.tree import PACKAGE, importers, modules
from tests.conftest import missing_part

ROOT = PACKAGE.parents[1]
PINNED = ("-c", str(ROOT / "constraints.txt"))
# Modules that speak to a driver with every line, and the extra that brings it. `app` imports them
# when a setting asks for them. Other users of an extra import it where they need it.
EXTRAS = {
    "geomi.adapters.blob.bucket": "s3",
    "geomi.adapters.blob.s3": "s3",
    "geomi.adapters.dataset.bucket": "s3",
    "geomi.adapters.store.postgres": "postgres",
}
DRIVERS = {"s3": "obstore", "postgres": "psycopg"}
# Started by name: by a person, by a server, by a process of our own.
PROGRAMS = frozenset(
    {"__main__.py", "asgi.py", "demo/__main__.py", "adapters/compute/child_program.py"}
)

# `geomi` on PyPI is a stranger's package of geometry; ours has another name there.
STRANGER = re.compile(
    r"\b(?:pipx? install|uvx|uv add|uv tool install)\b[^\n|`]*?(?<![\w/.-])geomi(?![-_\w/])"
    r"|(?<![\w/.-])geomi\[[a-z]"
)
TEXTS = frozenset({"", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".json", ".service", ".html"})

IMPORT_ALL = """
import importlib, json, sys
errors = {}
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        errors[name] = f"{type(error).__name__}: {error}"
print(json.dumps(errors))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as a user's pip does."""
    folder = tmp_path_factory.mktemp("dist")
    _pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel with its default dependencies, and return the folder of its programs."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    _pip(str(folder / "bin" / "python"), "install", "--no-compile", *PINNED, str(wheel))
    return folder / "bin"


@pytest.mark.slow
def test_the_wheel_holds_the_package_alone(wheel: Path) -> None:
    """Every file of the package is in it, and no other: no tests, nothing that was left lying."""
    metadata = f"{'-'.join(wheel.name.split('-')[:2])}.dist-info/"
    inside = {name for name in ZipFile(wheel).namelist() if not name.startswith(metadata)}
    assert inside == {
        file.relative_to(PACKAGE.parent).as_posix()
        for file in PACKAGE.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


@pytest.mark.slow
def test_every_module_imports_with_the_default_dependencies(wheel: Path, installed: Path) -> None:
    """Nothing that an extra or our own tools bring is needed, but where an extra is the point."""
    names = sorted(_dotted(name) for name in ZipFile(wheel).namelist() if name.endswith(".py"))
    run = subprocess.run(
        [installed / "python", "-I", "-c", IMPORT_ALL, *names],
        check=True,
        capture_output=True,
        text=True,
    )
    errors = json.loads(run.stdout)
    needed = {one for one in EXTRAS for name in errors if f"{name}.".startswith(f"{one}.")}
    assert needed == EXTRAS.keys()  # a line that is no longer needed goes
    assert [
        f"{name}: {error}"
        for name, error in errors.items()
        if error
        not in {
            f"ModuleNotFoundError: No module named '{DRIVERS[extra]}'"
            for module, extra in EXTRAS.items()
            if f"{name}.".startswith(f"{module}.")
        }
    ] == []


@pytest.mark.slow
def test_the_hint_for_an_extra_can_be_followed(installed: Path, tmp_path: Path) -> None:
    """What geomi says about a missing extra works where the wheel is, published or not."""
    jobs = ["jobs", "list", "-o", str(tmp_path), "--db", "postgresql://127.0.0.1:9/nobody"]
    run = _geomi(installed, *jobs)
    assert run.returncode == 2
    found = re.search(r"pip install '(\S+)'", run.stderr)
    assert found is not None, run.stderr
    assert found[1] == f"{DISTRIBUTION}[postgres]"
    _pip(str(installed / "python"), *shlex.split(found[0])[1:], "--no-compile", *PINNED)
    run = _geomi(installed, *jobs)
    assert "psycopg" not in run.stderr
    assert run.returncode == 4  # nobody listens there
    checks = json.loads(_geomi(installed, "doctor", "--json", "-o", str(tmp_path)).stdout)["checks"]
    assert f"the distribution {DISTRIBUTION} " in checks[0]["detail"]


def test_no_line_installs_a_strangers_package() -> None:
    """Nobody who follows a document, a hint or a file of ours gets somebody else's code."""
    for line in ("bin/pip install geomi", "pip install 'geomi[s3]'", "the extra `geomi[yaml]`"):
        assert STRANGER.search(line)
    assert [
        f"{file.relative_to(ROOT)}: {found[0]}"
        for file in _texts()
        if file != Path(__file__).resolve()
        for found in STRANGER.finditer(file.read_text("utf-8", errors="replace"))
    ] == []


def test_every_module_has_a_user_in_the_product() -> None:
    """What tests alone import is test code, wherever it lies."""
    commands = {f"cli/{name.replace('.', '/')}.py" for name in (COMMANDS | GROUPS).values()}
    assert [
        module.name
        for module in modules()
        if not (module.is_init or importers()[module.name] or module.name in commands | PROGRAMS)
    ] == []


def _pip(python: str, *arguments: str) -> None:
    """Run pip with the registry that this machine is configured for."""
    command = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if "No matching distribution found" in run.stderr:
        missing_part(f"a registry of packages: {run.stderr.splitlines()[-1]}")
    assert run.returncode == 0, run.stderr


def _geomi(programs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(programs / "geomi"), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def _texts() -> Iterator[Path]:
    """Name every text of the project that a person may follow."""
    for file in ROOT.iterdir():
        if file.is_file() and file.suffix in TEXTS:
            yield file
    for name in (".ci", "deploy", "docs", "src", "tests", "tools"):
        for file in (ROOT / name).rglob("*"):
            if file.is_file() and file.suffix in TEXTS:
                yield file


def _dotted(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
