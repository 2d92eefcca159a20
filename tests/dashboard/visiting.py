"""Somebody at the dashboard without a browser: cookies kept, forms read off the page and sent."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode

from fastapi import FastAPI

from geomi.dashboard.app import add_dashboard
from geomi.ports.runtime import EventSink
from geomi.settings.options import Settings
from tests.api.asking import LOCAL, Answered, Client, Ground
from tests.api.asking import serving as serving_api

Fields = Mapping[str, str | tuple[str, ...]]


@dataclass
class Person:
    """Somebody with a key, and a browser that keeps cookies."""

    app: FastAPI
    key: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str) -> Answered:
        """Open a page."""
        return await self._ask("GET", path)

    async def post(self, path: str, fields: Fields) -> Answered:
        """Send a form as it is."""
        pairs = [
            (name, one)
            for name, value in fields.items()
            for one in (value if isinstance(value, tuple) else (value,))
        ]
        return await self._ask("POST", path, urlencode(pairs).encode())

    async def send(self, page: str, action: str, fields: Fields | None = None) -> Answered:
        """Open a page, and send one of its forms with what it carries."""
        shown = text(await self.get(page))
        return await self.post(action, {"form_token": form_token(shown), **(fields or {})})

    async def sign_in(self) -> Answered:
        """Show the key."""
        return await self.send("/sign-in", "/sign-in", {"key": self.key})

    async def _ask(self, method: str, path: str, body: bytes | None = None) -> Answered:
        told = {"content-type": "application/x-www-form-urlencoded", **self.headers}
        if self.cookies:
            told["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        answer = await Client(self.app, prefix="", extra=told).ask(method, path, body)
        for name, morsel in SimpleCookie(answer.headers.get("set-cookie", "")).items():
            self.cookies[name] = morsel.value
            if morsel["max-age"] == "0":
                del self.cookies[name]
        return answer


@dataclass(frozen=True)
class House:
    """A served data directory with its dashboard, and somebody of each kind signed in."""

    ground: Ground
    admin: Person
    mine: Person
    other: Person

    @property
    def app(self) -> FastAPI:
        """The app itself."""
        return self.ground.app

    def stranger(self) -> Person:
        """Return somebody who has not signed in."""
        return Person(self.app)

    async def person(self, key: str) -> Person:
        """Return somebody who has signed in."""
        somebody = Person(self.app, key)
        answer = await somebody.sign_in()
        assert answer.status == 303, text(answer)
        return somebody


@asynccontextmanager
async def serving(
    root: Path, settings: Settings = LOCAL, *sinks: EventSink
) -> AsyncIterator[House]:
    """Serve a data directory with its dashboard; `sinks` hear what happens in it."""
    async with serving_api(root, settings, *sinks) as ground:
        add_dashboard(ground.app)
        people = []
        for client in (ground.admin, ground.mine, ground.other):
            somebody = Person(ground.app, client.key)
            await somebody.sign_in()
            people.append(somebody)
        yield House(ground, *people)


def text(answer: Answered) -> str:
    """Return a page as it was sent."""
    return answer.body.decode()


def form_token(page: str) -> str:
    """Return what the forms of a page carry."""
    found = re.search(r'name="form_token" value="([^"]+)"', page)
    assert found is not None, page
    return found[1]


@dataclass
class Seen:
    """What a browser would make of a page: its elements, and its words."""

    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    words: str = ""

    def named(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of every element of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]


class _Reader(HTMLParser):
    def __init__(self, seen: Seen) -> None:
        super().__init__(convert_charrefs=True)
        self.seen = seen

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.seen.words += data


def seen(answer: Answered) -> Seen:
    """Read a page as a browser would."""
    found = Seen()
    _Reader(found).feed(text(answer))
    return found
