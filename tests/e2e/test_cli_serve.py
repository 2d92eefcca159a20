"""`geomi serve` as somebody uses it who has read the how-to, and nothing else but curl."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from geomi.demo.serve import DemoSite
from tests.conftest import missing_part
from tests.e2e.command import run
from tests.e2e.serving import Served

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "run-the-service.md"
# What stands there for a reader to fill in.
FILLED_IN = "export GEOMI="


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Serve on a fresh directory, beside the sample site."""
    with _demo() as site:
        flags = [part for override in site.overrides for part in ("--resolve", override)]
        contact = {"GEOMI_CONTACT": "https://crawler.test/about"}
        with Served(tmp_path / "served", *flags, env=contact) as one:
            yield one


class _demo:
    """The sample site in a thread of its own."""

    def __enter__(self) -> DemoSite:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._site = DemoSite(port=0)
        asyncio.run_coroutine_threadsafe(self._site.__aenter__(), self._loop).result()
        return self._site

    def __exit__(self, *_: object) -> None:
        leaving = self._site.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(leaving, self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def commands() -> str:
    """Return every command of the how-to, in order."""
    blocks = re.findall(r"```sh\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.S)
    return "\n".join(block for block in blocks if FILLED_IN not in block)


@pytest.mark.slow
@pytest.mark.req("CFG-18", "JOB-14", "FUT-13")
def test_the_how_to_works_with_curl_alone(served: Served, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        missing_part("curl")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands()],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "GEOMI": f"{served.url}api/v1", "KEY": served.key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout
    assert "event: page" in told and '"status":"completed"' in told
    assert '"quotation":' in told and "http://docs.geomi.test/" in told
    assert '"status":"cancelled"' in told
    assert served.get("/crawls")["crawls"] == []
    assert served.get("/collections")["collections"] == []
    assert served.get("/documents")["documents"] == []
    assert served.get("/schedules")["schedules"] == []


@pytest.mark.slow
def test_a_key_is_printed_once_and_a_second_start_prints_none(served: Served) -> None:
    key = served.key
    assert re.fullmatch(r"geomi_[0-9a-f]{12}_[\w-]{43}", key)
    served.stop()
    served.key = ""
    served.start()
    assert served.key == ""
    assert served.get("/crawls", key=key)["crawls"] == []
    made = run("keys", "create", "-o", str(served.root), "--json")
    assert made.returncode == 0, made.stderr
