"""The layout of a knowledge base's bucket (STO-01, STO-02).

    crawls/{tenant}/{job}/raw/{urlHash}.html        the body as it came
    crawls/{tenant}/{job}/extracted/{urlHash}.json  the record made of it, and its `analysis`
    robots/{domain}.txt                             the robots.txt that was obeyed
    sitemaps/{domain}/{hash}.xml                    the sitemaps that were read

`urlHash` is the whole SHA-256 of a URL's key (URL-18), and `hash` that of a sitemap's. No name is
anything that a site could choose. What is no HTML has the ending of what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson

from geomi.adapters.machine.disk import place_file
from geomi.text.identifiers import sha256_hex
from geomi.url.host import file_name, site_folder
from geomi.url.parse import Url

_ENDINGS = {
    "application/json": "json",
    "application/pdf": "pdf",
    "text/markdown": "md",
    "text/plain": "txt",
    "text/x-markdown": "md",
}
_HTML = frozenset({"", "text/html", "application/xhtml+xml"})

Place = Callable[[str, bytes], None]  # takes a file by its name in the layout


class KnowledgeTree:
    """One job's pages, with the robots files and the sitemaps of their sites."""

    def __init__(self, place: Place, *, tenant: str, job: str) -> None:
        self._place = place
        self._pages = f"crawls/{file_name(tenant)}/{job}"

    def write_page(self, key: str, record: bytes, response: bytes, analysis: bytes = b"") -> None:
        """Write a page by its URL's key, and its body where there is a response.

        Args:
            analysis: of the page, as JSON; empty where nobody has analysed it.
        """
        name = sha256_hex(key)
        if response:
            head, _, body = response.partition(b"\r\n\r\n")
            self._place(f"{self._pages}/raw/{name}.{_ending(head)}", body)
        if analysis:
            record = orjson.dumps(orjson.loads(record) | {"analysis": orjson.loads(analysis)})
        self._place(f"{self._pages}/extracted/{name}.json", record)

    def write_robots(self, site: Url, body: bytes) -> None:
        """Write the robots.txt of a site."""
        self._place(f"robots/{site_folder(site)}.txt", body)

    def write_sitemap(self, name: str, body: bytes) -> None:
        """Write a sitemap under the name that the archive has for it."""
        self._place(f"sitemaps/{name}", body)


def in_folder(root: Path) -> Place:
    """Return what puts files into a folder; each appears whole or not at all."""
    return lambda name, data: place_file(root / name, data)


def _ending(head: bytes) -> str:
    kind = ""
    for line in head.splitlines()[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-type":
            kind = value.partition(b";")[0].strip().lower().decode("latin-1")
            break
    return "html" if kind in _HTML else _ENDINGS.get(kind, "bin")
