"""An open data directory: its store, its archive, the network behind the gate, and its order."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geomi import __version__
from geomi.adapters.compute.child import ChildCompute
from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.rules import (
    EgressRules,
    Proxies,
    parse_no_proxy,
    parse_override,
    parse_proxy,
)
from geomi.adapters.presence import Presence, dead_owners, forget
from geomi.app.archive import bucket_of, open_archive
from geomi.app.store import clock_of, open_store, owners_here
from geomi.engine.world import World
from geomi.errors import StoreError
from geomi.model.event import Warned
from geomi.model.markdown import NO_RULES, MarkdownRules
from geomi.ports.clock import Clock
from geomi.ports.sink import EventSink
from geomi.ports.store import KeptArchive
from geomi.settings.options import Settings
from geomi.text.ulid import new_ulid

if TYPE_CHECKING:
    from geomi.app.store import Store


@dataclass(frozen=True, slots=True)
class Home:
    """An open data directory and the world around it."""

    root: Path
    settings: Settings
    store: Store
    archive: KeptArchive
    world: World


def egress_rules(settings: Settings) -> EgressRules:
    """Read what the gate has to know; nonsense is refused before anything is opened."""
    return EgressRules(
        allow_private=settings.allow_private,
        overrides=tuple(parse_override(text) for text in settings.resolve),
        ca_file=Path(settings.ca_file) if settings.ca_file else None,
        proxies=Proxies(
            http=parse_proxy(settings.http_proxy) if settings.http_proxy else None,
            https=parse_proxy(settings.https_proxy) if settings.https_proxy else None,
            no_proxy=parse_no_proxy(settings.no_proxy),
        ),
    )


@asynccontextmanager
async def open_home(
    root: Path,
    settings: Settings,
    listen: Callable[[Clock], EventSink],
    *,
    owner: str = "",
    create: bool = True,
    markdown_rules: MarkdownRules = NO_RULES,
) -> AsyncIterator[Home]:
    """Open a data directory: its store, its archive, the network behind the gate.

    Args:
        listen: makes the listener of its events, given its clock.
        markdown_rules: functions that write elements their way, in this process alone.
    """
    rules = egress_rules(settings)
    bucket = bucket_of(settings)
    rng = random.Random()
    if create or settings.db:
        _make_folder(root)
    with closing(open_store(root, settings, create=create)) as store:
        clock = clock_of(store)
        owner = owner or f"w-{new_ulid(clock.wall_s(), rng)}"
        sink = listen(clock)
        archive = open_archive(
            root, bucket, worker=owner, warn=lambda text: sink.emit(Warned("", text))
        )
        egress = Egress(rules, clock)
        client = HttpClient(egress, clock)
        compute = ChildCompute()
        world = World(
            clock=clock,
            fetcher=client,
            resolver=egress,
            frontier=store.frontier,
            census=store.census,
            jobs=store.jobs,
            pages=store.pages,
            robots=store.robots,
            requests=store.requests,
            refusals=store.refusals,
            sites=store.sites,
            providers=store.providers,
            histories=store.histories,
            sweeps=store.sweeps,
            archive=archive,
            compute=compute,
            sink=sink,
            rng=rng,
            version=__version__,
            owner=owner,
            markdown_rules=markdown_rules,
        )
        try:
            with Presence(root, owner):  # one for all crawls of this process
                try:
                    yield Home(root, settings, store, archive, world)
                finally:
                    await archive.aclose()  # if it fails, the lock stays: others mend after us
        finally:
            await client.aclose()
            await compute.aclose()
            egress.close()


async def recover(home: Home) -> None:
    """Put in order what dead workers left: leases, and half-written ends of segments."""
    dead = dead_owners(home.root, owners_here(home.store))
    if not dead:
        return
    await home.world.census.release_dead(dead, now_s=home.world.clock.now_s())
    for owner in dead:
        lost = await home.archive.mend(owner, await home.store.segments.ends(owner))
        await requeue(home, lost)
    forget(home.root, dead)


async def requeue(home: Home, lost: Sequence[str]) -> None:
    """Fetch again what the disk has lost: committed captures whose bytes are gone."""
    count = await home.store.segments.requeue(lost) if lost else 0
    if count:
        message = f"{len(lost)} archive segments are damaged; {count} pages will be fetched again"
        home.world.sink.emit(Warned("", message))


def _make_folder(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the data directory `{root}`: {error.strerror}",
            hint="give one that can be written with -o DIR",
        ) from error
