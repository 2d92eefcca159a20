"""Open one data directory for many tenants, with a `TenantService` for each of them.

Search indexes and models are opened at the first search: a model takes a while to load, and the
service must start without it. `ConcurrencyLimit` bounds what one tenant does at
once in this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from geomi.app import DataDirectory, open_directory
from geomi.app.index import SearchIndexes, open_search_indexes
from geomi.app.use.datasets import open_datasets
from geomi.engine.enrich.loop import SearchIndex
from geomi.engine.world import World, wait_for_event
from geomi.errors import QuotaReached
from geomi.model.named_value import SYSTEM
from geomi.ports.dataset import Dataset
from geomi.ports.named_values import NamedValues
from geomi.ports.runtime import Clock, EventSink
from geomi.settings.options import Settings
from geomi.text.identifiers import new_ulid

# Each waits for a host and then for a page, and each asks the store twice a second.
MAX_PREVIEWS, MAX_STREAMS = 8, 50
# It goes through all raw files of a dataset; another would find the same.
MAX_ORCHESTRATIONS = 1
# One ends within seconds, the other when somebody has seen enough.
BUSY_S = 10.0


class ConcurrencyLimit:
    """How many do something at once for one tenant, in this process."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._taken = 0

    def refuse_crowd(self) -> None:
        """Raise where no place is free."""
        if self._taken >= self._most:
            raise QuotaReached(
                f"{self._taken} {self._what} at once, which is the limit",
                hint="wait until one has ended",
                retry_after_s=BUSY_S,
            )

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold a place."""
        self.refuse_crowd()
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1


@dataclass(frozen=True, slots=True)
class TenantService:
    """Where one tenant is served: the data directory with its handles alone.

    Args:
        door: whoever counts before adding does both behind it, so that no limit is overrun.
        looks: pages that are looked at for the tenant now.
        streams: crawls that are followed for the tenant now.
        orchestrations: of its dataset, under way now.
    """

    tenant: str
    service: Service
    home: DataDirectory
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    looks: ConcurrencyLimit = field(
        default_factory=lambda: ConcurrencyLimit(MAX_PREVIEWS, "pages are previewed")
    )
    streams: ConcurrencyLimit = field(
        default_factory=lambda: ConcurrencyLimit(MAX_STREAMS, "crawls are followed")
    )
    orchestrations: ConcurrencyLimit = field(
        default_factory=lambda: ConcurrencyLimit(MAX_ORCHESTRATIONS, "orchestrations run")
    )

    @property
    def world(self) -> World:
        """Everything that its crawls touch."""
        return self.home.world

    @property
    def named_values(self) -> NamedValues:
        """Its keys, schedules and whatever else is stored by name."""
        return self.home.store.named_values

    async def shelf(self) -> SearchIndex:
        """Return where its documents are found."""
        library = self.service.library
        assert library is not None, "only an open service has one"
        return await library.shelf(self.home)

    @property
    def wall_s(self) -> float:
        """The time of day."""
        return self.world.clock.wall_s()

    def new_id(self) -> str:
        """Make a name that sorts by the time it was made at."""
        return new_ulid(self.wall_s, self.world.rng)


class LazySearchIndexes:
    """The indexes of all tenants and the models behind them, opened when somebody first searches.

    A model takes a while to load, and one that is away is no reason not to serve: whoever asks next
    tries again.
    """

    def __init__(self, home: DataDirectory, opened: AsyncExitStack) -> None:
        self._home = home
        self._opened = opened
        self._door = asyncio.Lock()
        self._shelves: SearchIndexes | None = None

    async def shelf(self, home: DataDirectory) -> SearchIndex:
        """Return where the documents of a tenant are found."""
        async with self._door:
            if self._shelves is None:
                shelves = open_search_indexes(self._home)
                self._shelves = await self._opened.enter_async_context(shelves)
        return self._shelves.of(home)


@dataclass(frozen=True, slots=True)
class Service:
    """A data directory that is served; closed by whoever opened it.

    Args:
        library: None where nobody searches, as in a process that does chores.
        leaving: set when the process is told to end; what would go on for long ends by itself then.
    """

    home: DataDirectory
    library: LazySearchIndexes | None = None
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    _desks: dict[str, TenantService] = field(default_factory=dict)
    _datasets: dict[str, Dataset] = field(default_factory=dict)

    def desk(self, tenant: str) -> TenantService:
        """Return the desk of a tenant; there are as many as tenants that have asked so far."""
        if tenant not in self._desks:
            self._desks[tenant] = TenantService(tenant, self, self.home.open_for(tenant))
        return self._desks[tenant]

    async def leaves_within(self, seconds: float) -> bool:
        """Wait for a while, or until the process is told to end; say whether it was."""
        return await wait_for_event(self.leaving, seconds)

    @property
    def datasets(self) -> Mapping[str, Dataset]:
        """The dataset of each tenant that has one, opened once."""
        if not self._datasets and self.settings.datasets:
            self._datasets.update(open_datasets(self.settings))
        return self._datasets

    @property
    def office(self) -> TenantService:
        """The system's own desk: what belongs to no tenant lies there."""
        return self.desk(SYSTEM)

    @property
    def settings(self) -> Settings:
        """How this process runs."""
        return self.home.settings


@asynccontextmanager
async def open_service(
    root: Path, settings: Settings, listen: Callable[[Clock], EventSink]
) -> AsyncIterator[Service]:
    """Open a data directory, which is made if need be, to be served; secrets of hooks lie in it."""
    open_datasets(settings)  # nonsense is refused before anything is made
    _make_private(root)
    async with open_directory(root, settings, listen) as home, AsyncExitStack() as opened:
        yield Service(home, LazySearchIndexes(home, opened))


def _make_private(root: Path) -> None:
    """Make a directory that nobody else reads; one that is there stays as it is."""
    with suppress(OSError):  # opening it says what is wrong
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
