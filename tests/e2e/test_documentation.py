"""A real documentation site, as Debian packages it, behind a plain web server."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser
from warcio.archiveiterator import ArchiveIterator

from tests.conftest import missing_part
from tests.e2e.command import LOCAL, records, run

MANUAL = Path("/usr/share/doc/python3.11/html")


class _Logging(SimpleHTTPRequestHandler):
    """Serves files and notes each path that was asked for."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[Counter[str]] = Counter()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        self.asked[self.path] += 1


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Logging, directory=str(folder)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="manual")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _reachable(folder: Path) -> set[str]:
    """Walk the files' own links with another parser: the paths of every HTML page behind "/"."""
    known, waiting = {"/"}, ["/"]
    while waiting:
        path = waiting.pop()
        file = folder / (unquote(path).lstrip("/") or "index.html")
        for anchor in LexborHTMLParser(file.read_bytes()).css("a[href]"):
            target = urljoin(f"http://host{path}", anchor.attributes["href"] or "")
            parts = urlsplit(urldefrag(target).url)
            if parts.netloc != "host" or parts.path in known:
                continue
            is_page = parts.path.endswith(".html")
            if is_page and (folder / unquote(parts.path).lstrip("/")).is_file():
                known.add(parts.path)
                waiting.append(parts.path)
    return known


@pytest.mark.slow
@pytest.mark.req("LNK-03", "LNK-14", "LNK-18", "CTY-01", "EXT-09")
def test_every_page_of_the_manual_once(tmp_path: Path) -> None:
    if not MANUAL.is_dir():
        missing_part("Debian's python3.11-doc (apt-get install python3.11-doc)")
    wanted = _reachable(MANUAL)
    assert len(wanted) > 500
    with _served(MANUAL) as site:
        command = ("crawl", f"{site}/", "-o", str(tmp_path), "--delay", "0", "-q", *LOCAL)
        done = run(*command)
        assert done.returncode == 0, done.stderr
        asked = _Logging.asked.copy()
        again = run(*command, "--resume")
        assert again.returncode == 0, again.stderr
        assert _Logging.asked == asked, "a finished job fetches nothing"

    html = {path: count for path, count in asked.items() if path in wanted}
    assert html == dict.fromkeys(wanted, 1)
    kept = Counter(urlsplit(record["final_url"]).path for record in records(tmp_path))
    assert kept == Counter(wanted)
    assert _archived(tmp_path) == kept


def _archived(directory: Path) -> Counter[str]:
    """Read the archive with a reader that is not ours."""
    found: Counter[str] = Counter()
    for segment in sorted(directory.glob("jobs/*/warc/*.warc.gz")):
        with segment.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    assert record.http_headers.get_statuscode() == "200"
                    assert record.content_stream().read()
                    found[urlsplit(record.rec_headers.get_header("WARC-Target-URI")).path] += 1
    return found
