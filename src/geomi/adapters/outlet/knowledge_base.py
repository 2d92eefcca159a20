"""The layout of a knowledge base's bucket (STO-01, STO-02), as folders.

    crawls/{tenant}/{job}/raw/{urlHash}.html        the body as it came
    crawls/{tenant}/{job}/extracted/{urlHash}.json  the record made of it
    robots/{domain}.txt                             the robots.txt that was obeyed

`urlHash` is the whole SHA-256 of a URL's key (URL-18). Every file appears whole or not at all, and
no name is anything that a site could choose. What is no HTML has the ending of what it is.
"""

from __future__ import annotations

from pathlib import Path

from geomi.adapters.machine.disk import place_file
from geomi.adapters.outlet.markdown import host_name
from geomi.text.identifiers import sha256_hex

_ENDINGS = {
    "application/json": "json",
    "application/pdf": "pdf",
    "text/markdown": "md",
    "text/plain": "txt",
    "text/x-markdown": "md",
}
_HTML = frozenset({"", "text/html", "application/xhtml+xml"})
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class KnowledgeTree:
    """One job's pages under one folder, with the robots files of their sites."""

    def __init__(self, root: Path, *, tenant: str, job: str) -> None:
        self._root = root
        self._pages = root / "crawls" / host_name(tenant) / job

    def write_page(self, key: str, record: bytes, response: bytes) -> None:
        """Write a page by its URL's key, and its body where there is a response."""
        name = sha256_hex(key)
        if response:
            head, _, body = response.partition(b"\r\n\r\n")
            place_file(self._pages / "raw" / f"{name}.{_ending(head)}", body)
        place_file(self._pages / "extracted" / f"{name}.json", record)

    def write_robots(self, scheme: str, host: str, body: bytes) -> None:
        """Write the robots.txt of a `name:port`; a scheme's own port is left out of the name."""
        domain = host_name(host.removesuffix(_DEFAULT_PORTS.get(scheme, "")))
        place_file(self._root / "robots" / f"{domain}.txt", body)


def _ending(head: bytes) -> str:
    kind = ""
    for line in head.splitlines()[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-type":
            kind = value.partition(b";")[0].strip().lower().decode("latin-1")
            break
    return "html" if kind in _HTML else _ENDINGS.get(kind, "bin")
