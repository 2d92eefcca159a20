"""What goes wrong is told in one clear line, with the exit code that is documented."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.conftest import missing_part
from tests.e2e.command import GEOMI, clean_env, records, run
from tests.support.server import End, Raw, Reply, Site

HERE = ("--allow-private", "--delay", "0", "-q")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["crawl", "http://a.test/", "--dept", "3"], "error: No such option: --dept"),
        (["crawl", "http://a.test/", "-n", "-1"], "error: limits.max_pages = `-1`"),
        (["crawl", "http://a.test/", "-H", "Host: b"], "error: header `Host` cannot be set"),
        (["scrape", "javascript:alert(1)"], "is not a URL that can be crawled"),
        (
            ["crawl", "http://a.test/", "--set", "extract.content=div[["],
            "error: `extract.content`: `div[[` is not a CSS selector",
        ),
        (
            ["scrape", "http://a.test/", "--set", "extract.remove=p,=="],
            "error: `extract.remove`: `==` is not a CSS selector",
        ),
    ],
)
def test_a_wrong_command_line_starts_nothing(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    ended = run(*arguments, cwd=tmp_path)
    assert ended.returncode == 2, ended.stderr
    assert told in ended.stderr
    _assert_clear(ended)
    assert not (tmp_path / "geomi-data" / "jobs").exists()


@pytest.mark.parametrize("below", ["file/below", "/proc/geomi"])
def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("in the way")
    ended = run("crawl", "http://127.0.0.1/", *HERE, "-o", str(tmp_path / below))
    assert ended.returncode == 4
    assert "cannot make the data directory" in ended.stderr
    _assert_clear(ended)


@pytest.mark.parametrize("command", [["status"], ["crawl", "http://127.0.0.1/", *HERE]])
def test_a_store_of_a_newer_geomi_is_refused_and_left_alone(
    tmp_path: Path, command: list[str]
) -> None:
    with closing(sqlite3.connect(tmp_path / "geomi.db")) as db:
        db.execute("PRAGMA user_version = 999")
    before = (tmp_path / "geomi.db").read_bytes()[24:]
    ended = run(*command, "-o", str(tmp_path))
    assert ended.returncode == 4
    assert "has schema 999; this geomi knows schemas up to" in ended.stderr
    assert "hint: use a newer geomi" in ended.stderr
    _assert_clear(ended)
    with closing(sqlite3.connect(tmp_path / "geomi.db")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (999,)
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert before


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "geomi.db").write_text("this is a text, and a long one at that. " * 100)
    ended = run("status", "-o", str(tmp_path))
    assert ended.returncode == 4
    assert "file is not a database" in ended.stderr
    _assert_clear(ended)


@pytest.mark.parametrize("command", ["crawl", "scrape"])
def test_a_host_that_cannot_be_reached_is_one_line(tmp_path: Path, command: str) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    ended = run(
        command, f"http://127.0.0.1:{port}/", "--allow-private", cwd=tmp_path,
        env={"GEOMI_CRAWL_HTTP__MAX_RETRIES": "0"},
    )  # fmt: skip
    assert ended.returncode == 5
    errors = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert f"http://127.0.0.1:{port}/: connect_error: " in errors[0]
    assert ended.stdout == ""


def test_a_private_address_is_refused_without_the_flag(tmp_path: Path) -> None:
    with Site({"/": Reply(b"<p>hello")}) as site:
        ended = run("scrape", site.url("/"))
        assert site.connections == 0
    assert ended.returncode == 5
    assert "address_refused" in ended.stderr
    _assert_clear(ended)


def test_too_little_free_space_ends_a_crawl_before_the_disk_is_full(tmp_path: Path) -> None:
    with Site({"/": Reply(b"<p>Some words.")}) as site:
        command = ["crawl", site.url("/"), *HERE, "-o", str(tmp_path)]
        ended = run(*command, env={"GEOMI_MIN_FREE_BYTES": str(10**18)})
        assert ended.returncode == 3
        assert "bytes are free; stopped in time" in ended.stderr
        _assert_clear(ended)
        assert site.log == []
        assert run(*command, "--resume").returncode == 0
    assert [record["url"] for record in records(tmp_path)] == [site.url("/")]


@pytest.mark.slow
def test_a_full_disk_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    rng = random.Random(5)
    paths = [f"/{number}" for number in range(40)]
    routes = {path: Reply(_noise(rng, path)) for path in paths}
    links = "".join(f'<a href="{path}">{path}</a> ' for path in paths)
    routes["/"] = Reply(f"<p>All of them: {links}".encode())
    folder = tmp_path / "small"
    folder.mkdir()
    with Site(routes) as site, _small_disk(folder):
        command = ["crawl", site.url("/"), *HERE, "-n", "0", "-o", str(folder / "data")]
        ended = run(*command, env={"GEOMI_MIN_FREE_BYTES": "0"})
        assert ended.returncode == 3, ended.stderr
        assert "no space" in ended.stderr
        _assert_clear(ended)
        _mount("remount,size=256m", folder)
        again = run(*command, "--resume")
        assert again.returncode == 0, again.stderr
        kept = sorted(record["url"] for record in records(folder / "data"))
    assert kept == sorted(site.url(path) for path in routes)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["scrape", "crawl"])
def test_ctrl_c_ends_with_130_and_no_traceback(tmp_path: Path, command: str) -> None:
    silent = Raw((), End.SILENCE)
    with Site({"/robots.txt": Reply(status=404), "/": silent}) as site:
        process = subprocess.Popen(
            [*GEOMI, command, site.url("/"), "--allow-private"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_env() | {"TMPDIR": str(tmp_path)},
            cwd=tmp_path,
        )
        _wait_until_asked(site, "/")
        if command == "crawl":
            assert json.loads(run("status", "--json", cwd=tmp_path).stdout)["is_running"]
        process.send_signal(signal.SIGINT)
        if command == "crawl":  # the first lets the request in flight end, and this one never does
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert list(tmp_path.glob("geomi-*/geomi.db")) == (
        [tmp_path / "geomi-data" / "geomi.db"] if command == "crawl" else []
    )
    if command == "crawl":
        told = run("status", cwd=tmp_path).stdout
        assert "(interrupted); no process works on it: continue with --resume" in told
        assert not json.loads(run("status", "--json", cwd=tmp_path).stdout)["is_running"]


def test_a_reader_that_leaves_is_no_error() -> None:
    for arguments in (["config", "show"], ["crawl", "--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            ended = subprocess.run(
                [*GEOMI, *arguments],
                stdout=pipe,
                stderr=subprocess.PIPE,
                env=clean_env(),
                check=False,
            )
        assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_like_one_that_leads_nowhere(tmp_path: Path, closed: str) -> None:
    flags = "--allow-private --delay 0 -n 1 -o data"
    with Site({"/": Reply(b"<title>home</title><p>Some words to keep.")}) as site:
        for command in (f"crawl {site.url('/')} {flags}", "status -o data"):
            ended = subprocess.run(
                ["sh", "-c", f"{shlex.join(GEOMI)} {command} {closed}"],
                capture_output=True,
                text=True,
                env=clean_env(),
                cwd=tmp_path,
                check=False,
            )
            assert ended.returncode == 0, ended
            assert "Traceback" not in ended.stdout + ended.stderr
    assert records(tmp_path / "data")[0]["title"] == "home"


def _assert_clear(ended: subprocess.CompletedProcess[str]) -> None:
    """One error, at most one hint, nothing on stdout, and no traceback."""
    lines = ended.stderr.splitlines()
    assert [line for line in lines if line.startswith("error: ")] == [
        line for line in lines if not line.startswith(("hint: ", "warning: "))
    ], ended.stderr
    assert sum(line.startswith("error: ") for line in lines) == 1, ended.stderr
    assert ended.stdout == ""


def _noise(rng: random.Random, path: str) -> bytes:
    words = " ".join(f"{rng.getrandbits(60):x}" for _ in range(4000))
    return f"<title>{path}</title><p>{words}".encode()


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """Put a disk of 1.5 MiB there; only root can."""
    if not _mount("size=1536k", folder):
        missing_part("a tmpfs cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _mount(options: str, folder: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "geomi-test", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _wait_until_asked(site: Site, path: str) -> None:
    deadline_s = time.monotonic() + 20
    while path not in [seen.path for seen in site.log]:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
