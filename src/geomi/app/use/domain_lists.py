"""Subscribe to lists of bad domains, and keep them fresh (SCP-07).

A list is a file, or a URL that is fetched through the egress gate, in its host's turn. Whatever
cannot be read as a list leaves the one before as it was, and the list says why. Of all processes
of a store one refreshes a list, at most once a day; a URL is asked only for another text than the
known one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from geomi.admit.domain_list import MAX_LIST_BYTES, pack, read_domains
from geomi.app.directory import DataDirectory
from geomi.engine.host.download import download
from geomi.errors import ConfigError, GeomiError, UnknownName
from geomi.fetch.request import modified, unless_changed
from geomi.fetch.response import NOT_MODIFIED
from geomi.model.event import Warned
from geomi.model.site import DomainList
from geomi.settings.layers import resolve, settings_layer
from geomi.url.parse import parse as parse_url

MAX_LISTS = 20
REFRESH_EVERY_S = 86_400.0
LOOK_EVERY_S = 300.0  # how soon a process that crawls knows of a list that another has read
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a source names now; None where it is the text that is known already."""

    names: frozenset[str] | None
    answered_url: str = ""
    tag: str = ""
    date: str = ""


async def subscribe(home: DataDirectory, name: str, source: str) -> DomainList:
    """Read a list and keep it; every crawl leaves its domains alone from now on."""
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"`{name[:80]}` cannot be the name of a list",
            hint="use 1 to 40 small letters, digits and dashes, such as malware-hosts",
        )
    known = {one.name for one in await home.store.domain_lists.list()} | {name}
    if len(known) > MAX_LISTS:
        raise ConfigError(
            f"{MAX_LISTS} lists are subscribed to already",
            hint="geomi blocked unsubscribe NAME makes room",
        )
    wall_s = home.world.clock.wall_s()
    draft = DomainList(name, _whole(source), 0, 0, tried_s=wall_s, read_s=wall_s)
    reading = await _read(home, draft)
    assert reading.names is not None, "what is not known yet is asked for as a whole"
    fresh = _kept(draft, reading, wall_s)
    await home.store.domain_lists.put(fresh, pack(reading.names))
    return fresh


async def unsubscribe(home: DataDirectory, name: str) -> None:
    """Forget a list; what it alone named may be visited again."""
    if not await home.store.domain_lists.remove(name):
        raise UnknownName(f"no list is called `{name}`", hint="geomi blocked lists")


async def refresh(home: DataDirectory, names: Sequence[str] = ()) -> list[DomainList]:
    """Read lists again now, all of them where none is named, and return them as they are then."""
    known = {one.name: one for one in await home.store.domain_lists.list()}
    for name in names:
        if name not in known:
            raise UnknownName(f"no list is called `{name}`", hint="geomi blocked lists")
    return [await _refresh(home, known[name]) for name in names or known]


async def refresh_due(home: DataDirectory) -> None:
    """Read the lists again that no process has read for a day; warn of each that cannot be."""
    now_s = home.world.clock.wall_s()
    for one in await home.store.domain_lists.list():
        is_due = abs(now_s - one.tried_s) >= REFRESH_EVERY_S  # also after a clock was put back
        if not is_due or not await home.store.domain_lists.take(one, now_s=now_s):
            continue
        fresh = await _refresh(home, replace(one, tried_s=now_s))
        if fresh.problem:
            kept = f"list `{one.name}` stays with its {one.domains:,} domains: {fresh.problem}"
            home.world.sink.emit(Warned("", kept, f"geomi blocked refresh {one.name}"))


async def keep_fresh(home: DataDirectory) -> None:
    """Refresh lists when they are due, and read what others refreshed, until cancelled."""
    while True:
        try:
            await refresh_due(home)
            await home.world.listed.read(home.store)
        except GeomiError as error:  # what is known holds until the store is back
            home.world.sink.emit(Warned("", error.message, error.hint))
        await asyncio.sleep(LOOK_EVERY_S)


@asynccontextmanager
async def kept_fresh(home: DataDirectory) -> AsyncIterator[None]:
    """Keep lists fresh for as long as a job is worked on."""
    keeping = asyncio.create_task(keep_fresh(home), name="domain lists")
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping


async def _refresh(home: DataDirectory, one: DomainList) -> DomainList:
    wall_s = home.world.clock.wall_s()
    try:
        reading = await _read(home, one)
    except GeomiError as error:
        fresh, body = replace(one, problem=error.message), None
    else:
        fresh = _kept(one, reading, wall_s)
        body = None if reading.names is None else await asyncio.to_thread(pack, reading.names)
    await home.store.domain_lists.update(fresh, body)
    return fresh


def _kept(one: DomainList, reading: _Reading, wall_s: float) -> DomainList:
    if reading.names is None:
        return replace(one, read_s=wall_s, problem="")
    return replace(
        one,
        domains=len(reading.names),
        edition=max(int(wall_s * 1000), one.edition + 1),
        read_s=wall_s,
        answered_url=reading.answered_url,
        answered_tag=reading.tag,
        answered_date=reading.date,
        problem="",
    )


async def _read(home: DataDirectory, one: DomainList) -> _Reading:
    if "://" not in one.source:
        text = await asyncio.to_thread(_file, Path(one.source))
        return _Reading(await asyncio.to_thread(read_domains, text, one.source))
    url = parse_url(one.source)
    if url is None:
        raise ConfigError(
            f"`{one.source[:200]}` is not an http(s) URL", hint="give the URL of a list, or a file"
        )
    config = resolve([settings_layer(home.settings)]).config
    conditions = {one.answered_url: unless_changed(one.answered_tag, one.answered_date)}
    body = bytearray()
    fetched = await download(
        home.world, config, url, body.extend, conditions, max_bytes=MAX_LIST_BYTES
    )
    if fetched.status == NOT_MODIFIED:
        return _Reading(None)
    names = await asyncio.to_thread(read_domains, bytes(body), one.source)
    return _Reading(names, fetched.url, fetched.header("etag"), modified(fetched))


def _whole(source: str) -> str:
    """Return a source as any process of this machine finds it."""
    return source if "://" in source else str(Path(source).absolute())


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_LIST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"`{path}` cannot be read: {error.strerror}") from error
