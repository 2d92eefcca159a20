"""What each URL of the sample web answers.

Bundled files come first: `/x` is `x.html`, `/x/` is `x/index.html`, anything else is the file of
that name. A small table adds what files cannot say: redirects, one page in EUC-KR, two broken
answers. Two endless places, a maze and a calendar, are written as they are asked for. The rest is
a 404.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeAlias

WWW, DOCS, BLOG, SHOP = "www.geomi.test", "docs.geomi.test", "blog.geomi.test", "shop.geomi.test"
HOSTS = (WWW, DOCS, BLOG, SHOP)

REDIRECTS = {
    (BLOG, "/old"): "/older",
    (BLOG, "/older"): "/posts/library-release",
    (BLOG, "/new-thread"): f"http://{SHOP}/products/garden-thread",
}
CHARSETS = {(BLOG, "/ko/letter-1998"): "euc-kr"}
TORN = (SHOP, "/torn")
TANGLED = (SHOP, "/tangled")
MAZE = "/loop/"
CALENDAR = "/calendar/"

HTML = "text/html"
TYPES = {
    ".html": HTML,
    ".txt": "text/plain",
    ".xml": "application/xml",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


class Flaw(StrEnum):
    """How an answer is broken on the wire."""

    NONE = "none"
    TORN = "torn"  # Content-Length promises more than is sent
    TANGLED = "tangled"  # a chunk whose size is no number


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """One response before it is written.

    Args:
        is_file: whether the body is a bundled file and may carry validators.
    """

    status: int
    content_type: str = ""
    body: bytes = b""
    location: str = ""
    flaw: Flaw = Flaw.NONE
    is_file: bool = False


Site: TypeAlias = Mapping[tuple[str, str], DemoAnswer]


def load_site() -> Site:
    """Read every bundled file once; requests then never touch the disk."""
    root = files("geomi.demo").joinpath("site")
    return {
        (host, path): _file_answer(host, path, file)
        for host in HOSTS
        for path, file in _walk(root.joinpath(host), "/")
    }


def answer(site: Site, host: str, path: str) -> DemoAnswer:
    """Decide what `path` (without its query) on `host` answers."""
    key = (host, path)
    if host not in HOSTS:
        return _html(
            421, "Misdirected request", f"<p>No site named {_escape(host)} lives here.</p>"
        )
    if key in site:
        return site[key]
    if key in REDIRECTS:
        return DemoAnswer(301, location=REDIRECTS[key])
    if key in (TORN, TANGLED):
        return _broken(Flaw.TORN if key == TORN else Flaw.TANGLED)
    if host == SHOP and path.startswith(MAZE):
        return _maze(path)
    if host == SHOP and path.startswith(CALENDAR):
        return _calendar(path) or _not_found()
    return _not_found()


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for child in folder.iterdir():
        if child.is_dir():
            yield from _walk(child, f"{prefix}{child.name}/")
        else:
            yield _public_path(prefix, child.name), child


def _public_path(prefix: str, name: str) -> str:
    if name == "index.html":
        return prefix
    return prefix + name.removesuffix(".html")


def _file_answer(host: str, path: str, file: Traversable) -> DemoAnswer:
    kind = TYPES["." + file.name.rpartition(".")[2]]
    charset = CHARSETS.get((host, path), "utf-8")
    return DemoAnswer(200, f"{kind}; charset={charset}", file.read_bytes(), is_file=True)


def _html(status: int, title: str, inner: str, flaw: Flaw = Flaw.NONE) -> DemoAnswer:
    text = (
        '<!DOCTYPE html>\n<html lang="en">\n'
        f'<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n<main>\n<h1>{title}</h1>\n{inner}\n</main>\n</body>\n</html>\n"
    )
    return DemoAnswer(status, f"{HTML}; charset=utf-8", text.encode(), flaw=flaw)


def _not_found() -> DemoAnswer:
    inner = "<p>The thread you followed ends here. Nothing was ever tied to it.</p>"
    return _html(404, "Nothing is here", inner)


def _broken(flaw: Flaw) -> DemoAnswer:
    inner = "<p>This page was in one piece when it left the workshop.</p>"
    return _html(200, f"A {flaw} page", inner, flaw)


def _maze(path: str) -> DemoAnswer:
    doors = path.count("/") - MAZE.count("/")
    inner = (
        f"<p>You have passed {doors} doors on the way to your parcel. Behind this one are two "
        'more, and they look familiar.</p>\n<p><a href="a/b/">Go on</a></p>'
    )
    return _html(200, f"The maze, door {doors}", inner)


def _calendar(path: str) -> DemoAnswer | None:
    parts = path.removeprefix(CALENDAR).split("/")
    if len(parts) not in (2, 3) or not all(_is_number(part) for part in parts):
        return None
    year, month = int(parts[0]), int(parts[1])
    if not (1 <= year <= 9999 and 1 <= month <= 12):
        return None
    inner = "<p>No market on this day. Perhaps on the next one.</p>"
    if len(parts) == 3:
        return _html(200, f"Market days, {year}-{month:02}-{parts[2]}", inner)
    return _html(200, f"Market days, {year}-{month:02}", inner + _month_links(year, month))


def _month_links(year: int, month: int) -> str:
    days = "".join(
        f'<li><a href="{CALENDAR}{year}/{month:02}/{day:02}">{day}</a></li>\n'
        for day in range(1, 29)
    )
    count = year * 12 + month - 1
    earlier, later = (f"{CALENDAR}{n // 12}/{n % 12 + 1:02}" for n in (count - 1, count + 1))
    return (
        f'\n<ol>\n{days}</ol>\n<p><a rel="prev" href="{earlier}">Earlier</a> '
        f'<a rel="next" href="{later}">Later</a></p>'
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len("9999")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
