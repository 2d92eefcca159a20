"""`geomi serve` as a team starts it: a key is printed, the API answers, and a signal ends it."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.command import GEOMI, clean_env, run

pytestmark = pytest.mark.slow


def ask(url: str, method: str, path: str, key: str, body: object = None) -> tuple[int, Any]:
    """Send one request over a connection of its own."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, json.loads(content) if content else None


class Served:
    """A server in a process of its own."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [*GEOMI, "serve", "--port", "0", "-o", str(root)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_env(),
            start_new_session=True,
        )

    def url(self) -> str:
        """Wait until it says where it is."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if found := re.search(r"serves (http://\S+/)", line):
                return found[1]
        raise AssertionError("it ended without serving")

    def end(self) -> tuple[int, str]:
        """End it as a supervisor would; return its code and what it printed."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out


def test_a_fresh_directory_is_served_with_a_key_that_is_printed_once(tmp_path: Path) -> None:
    first = Served(tmp_path)
    url = first.url()
    assert first.process.stdout is not None
    key = first.process.stdout.readline().strip()
    assert key.startswith("geomi_") and url.startswith("http://127.0.0.1:")
    asked = {"collectionId": "handbook", "seedUrls": ["http://localhost:1/"]}
    status, crawl = ask(url, "POST", "/api/v1/crawls", key, asked)
    assert (status, crawl["status"]) == (202, "pending")
    assert ask(url, "GET", "/readyz", "")[0] == 200
    assert ask(url, "GET", "/api/v1/crawls", "geomi_0_0")[0] == 401
    code, out = first.end()
    assert (code, out) == (0, "")
    second = Served(tmp_path)
    url = second.url()
    assert ask(url, "GET", f"/api/v1/crawls/{crawl['jobId']}", key)[0] == 200
    assert second.end() == (0, "")


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    first = Served(tmp_path)
    port = str(urlsplit(first.url()).port)
    refused = run("serve", "--port", port, "-o", str(tmp_path / "other"))
    assert refused.returncode == 2 and f"cannot listen on 127.0.0.1:{port}" in refused.stderr
    first.end()
