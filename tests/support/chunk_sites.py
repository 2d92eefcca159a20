"""Sites whose pages come out as chunks of known sizes: healthy ones, and one for each fault."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tests.support.server import Reply
from tests.support.webs import WORDS

NOTICE = " ".join(random.Random(0).choices(WORDS, k=200))
SYMBOLS = "<pre>" + "* * * * * * * * * *\n" * 30 + "</pre>"


def words(seed: int, many: int) -> str:
    """Return words in an order that no other seed gives."""
    chosen = random.Random(seed).choices(WORDS, k=many)
    return " ".join(
        f"{word}{seed}" if place % 7 == 0 else word for place, word in enumerate(chosen)
    )


def healthy() -> dict[str, Reply]:
    """Twelve pages of two chunks, some 300 tokens each."""
    return _site({f"/{n}": _section(n, 250) + _section(100 + n, 250) for n in range(1, 13)})


def short() -> dict[str, Reply]:
    """Pages of one chunk that is far too short on average."""
    return _site({f"/{n}": f"<p>{words(n, 70)}</p>" for n in range(1, 23)})


def empty() -> dict[str, Reply]:
    """Pages whose every second chunk has signs and no word."""
    return _site({f"/{n}": _section(n, 330) + SYMBOLS for n in range(1, 13)})


def repeating() -> dict[str, Reply]:
    """Pages with a text of their own, and a second chunk that all of them have."""
    notice = f"<h2>Notice</h2><p>{NOTICE}</p>"
    return _site({f"/{n}": _section(n, 300) + notice for n in range(1, 13)})


def long() -> dict[str, Reply]:
    """One page of far more chunks than twenty."""
    return _site({"/1": "".join(_section(n, 300) for n in range(1, 27))})


def _section(seed: int, many: int) -> str:
    return f"<h2>Part {seed}</h2><p>{words(seed, many)}</p>"


def _site(bodies: dict[str, str]) -> dict[str, Reply]:
    pages = {path: _page(f"Page {path[1:]}", body) for path, body in bodies.items()}
    # The first page is one of them: a list of links would be a short chunk of its own.
    first, *others = bodies
    return pages | {"/": _page("Page", bodies[first], others)} if others else {"/": pages[first]}


def _page(title: str, body: str, links: Iterable[str] = ()) -> Reply:
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    html = f"<title>{title}</title><main><h1>{title}</h1>{body}</main><nav>{anchors}</nav>"
    return Reply(f"<!doctype html><html lang=en>{html}</html>".encode())
