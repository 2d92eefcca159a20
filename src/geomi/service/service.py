"""Open one data directory for many tenants, with a `TenantService` for each of them.

Search indexes and models are opened at the first search: a model takes a while to load, and the
service must start without it. `ConcurrencyLimit` bounds what one tenant does at once in this
process.

`ValueNamespace` is how a tenant's or the system's named values are kept: JSON in the store, values
here. A change names the revision that it read, so that it never overwrites another change; `amend`
reads and tries again. Expired values are deleted, a few whenever a new one is added.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from geomi.adapters.machine.threads import MeasuredThreads
from geomi.app import DataDirectory, open_directory
from geomi.app.index import SearchIndexes, open_search_indexes
from geomi.app.use.datasets import open_datasets
from geomi.engine.enrich.loop import SearchIndex
from geomi.engine.world import World, wait_for_event
from geomi.errors import QuotaReached, StoreBusy
from geomi.model.named_value import MAX_LISTED_VALUES, SYSTEM, NamedValue
from geomi.ports.dataset import Dataset
from geomi.ports.named_values import NamedValues
from geomi.ports.runtime import Clock, EventSink
from geomi.service.cpu_budget import CpuBudget, LoopPace
from geomi.settings.options import Settings
from geomi.text.identifiers import new_ulid

# Each waits for a host and then for a page, and each asks the store twice a second.
MAX_PREVIEWS, MAX_STREAMS = 8, 50
# It goes through all raw files of a dataset; another would find the same.
MAX_ORCHESTRATIONS = 1
MAX_EXPORTS = 2  # each may take gigabytes of the disk
# One ends within seconds, the other when somebody has seen enough.
BUSY_S = 10.0
# Whoever loses that often against others is better told than kept.
TRIES = 20
T = TypeVar("T")
EXPIRED_AT_ONCE = 20


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
    """The service of one tenant: the data directory with handles of this tenant alone.

    Args:
        door: a lock for counting and adding in one step, so that no limit is exceeded.
        looks: previews that run for the tenant now.
        streams: event streams of the tenant that are open now.
        exports: of its crawls, under way now.
        orchestrations: of its dataset, under way now.
        cpu: what its costly requests may take of this process.
    """

    tenant: str
    service: Service
    home: DataDirectory
    cpu: CpuBudget
    door: asyncio.Lock = field(default_factory=asyncio.Lock)
    looks: ConcurrencyLimit = field(
        default_factory=lambda: ConcurrencyLimit(MAX_PREVIEWS, "pages are previewed")
    )
    streams: ConcurrencyLimit = field(
        default_factory=lambda: ConcurrencyLimit(MAX_STREAMS, "crawls are followed")
    )
    exports: ConcurrencyLimit = field(
        default_factory=lambda: ConcurrencyLimit(MAX_EXPORTS, "crawls are exported")
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

    async def search_index(self) -> SearchIndex:
        """Return where its documents are found."""
        search_indexes = self.service.search_indexes
        assert search_indexes is not None, "only an open service has one"
        return await search_indexes.search_index(self.home)

    @property
    def wall_s(self) -> float:
        """The time of day."""
        return self.world.clock.wall_s()

    def new_id(self) -> str:
        """Make a name that sorts by the time it was made at."""
        return new_ulid(self.wall_s, self.world.rng)


class LazySearchIndexes:
    """The indexes of all tenants and their models, opened at the first search.

    A model takes a while to load, and one that is away is no reason not to serve: whoever asks next
    tries again.
    """

    def __init__(self, home: DataDirectory, opened: AsyncExitStack) -> None:
        self._home = home
        self._opened = opened
        self._door = asyncio.Lock()
        self._search_indexes: SearchIndexes | None = None

    async def search_index(self, home: DataDirectory) -> SearchIndex:
        """Return where the documents of a tenant are found."""
        async with self._door:
            if self._search_indexes is None:
                search_indexes = open_search_indexes(self._home)
                self._search_indexes = await self._opened.enter_async_context(search_indexes)
        return self._search_indexes.of(home)


@dataclass(frozen=True, slots=True)
class Service:
    """A served data directory; the code that opened it closes it.

    Args:
        search_indexes: None if nothing searches, as in a process for background tasks.
        leaving: set when the process must end; long work then ends by itself.
        pace: lets costly requests of all tenants leave half of the loop to others.
    """

    home: DataDirectory
    search_indexes: LazySearchIndexes | None = None
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    pace: LoopPace = field(default_factory=LoopPace)
    _desks: dict[str, TenantService] = field(default_factory=dict)
    _datasets: dict[str, Dataset] = field(default_factory=dict)

    def desk(self, tenant: str) -> TenantService:
        """Return the desk of a tenant; there are as many as tenants that have asked so far."""
        if tenant not in self._desks:
            cpu = CpuBudget(self.settings.api_cpu_per_minute, self.pace)
            self._desks[tenant] = TenantService(tenant, self, self.home.open_for(tenant), cpu)
        return self._desks[tenant]

    async def leaves_within(self, seconds: float) -> bool:
        """Wait for a while, or until the process must end; return whether it must."""
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
    """Open a data directory to serve it; create it if missing, readable by this user alone."""
    open_datasets(settings)  # nonsense is refused before anything is made
    asyncio.get_running_loop().set_default_executor(MeasuredThreads())
    async with open_directory(root, settings, listen) as home, AsyncExitStack() as opened:
        yield Service(home, LazySearchIndexes(home, opened))


@dataclass(frozen=True, slots=True)
class StoredValue(Generic[T]):
    """A value, and the row that it was read from."""

    named: NamedValue
    value: T

    @property
    def name(self) -> str:
        """What it goes by in its namespace."""
        return self.named.name


class ValueNamespace(Generic[T]):
    """One namespace of one tenant, or of the system."""

    def __init__(self, named_values: NamedValues, name: str, kind: type[T]) -> None:
        self.name = name
        self._named_values = named_values
        self._kind: TypeAdapter[T] = TypeAdapter(kind)

    def body(self, value: T) -> bytes:
        """Write a value as a named value holds it."""
        return self._kind.dump_json(value)

    def read(self, named: NamedValue) -> StoredValue[T]:
        """Read a named value of this namespace."""
        return StoredValue(named, self._kind.validate_json(named.body))

    async def add(self, name: str, value: T, *, due_at_s: float | None = None) -> bool:
        """Put something in; False where the name is taken."""
        return await self._named_values.add(self.name, name, self.body(value), due_at_s=due_at_s)

    async def get(self, name: str) -> StoredValue[T] | None:
        """Find something by its name."""
        named = await self._named_values.get(self.name, name)
        return self.read(named) if named else None

    async def list(
        self, *, after: str = "", limit: int = MAX_LISTED_VALUES, is_backwards: bool = False
    ) -> builtins.list[StoredValue[T]]:
        """List things in the order of their names, or backwards."""
        named_values = await self._named_values.list(
            self.name, after=after, limit=limit, is_backwards=is_backwards
        )
        return [self.read(named) for named in named_values]

    async def every(self) -> builtins.list[StoredValue[T]]:
        """List everything; for namespaces that have a limit."""
        found: list[StoredValue[T]] = []
        while more := await self.list(after=found[-1].name if found else ""):
            found += more
        return found

    async def change(
        self, kept: StoredValue[T], value: T, *, due_at_s: float | None = None
    ) -> bool:
        """Replace the value; False if another change was faster."""
        return await self._named_values.change(
            replace(kept.named, body=self.body(value), due_at_s=due_at_s)
        )

    async def amend(
        self,
        name: str,
        change: Callable[[T], T],
        *,
        due: Callable[[T], float | None] = lambda _: None,
    ) -> T | None:
        """Change the present value, with retries against other changes; None if there is none."""
        for _ in range(TRIES):
            kept = await self.get(name)
            if kept is None:
                return None
            value = change(kept.value)
            if await self.change(kept, value, due_at_s=due(value)):
                return value
        raise StoreBusy(
            f"`{name}` in {self.name} is being changed by another request", hint="try again"
        )

    async def remove(self, name: str) -> T | None:
        """Take something out and return it; None where there is nothing."""
        for _ in range(TRIES):
            kept = await self.get(name)
            if kept is None:
                return None
            if await self._named_values.remove(kept.named):
                return kept.value
        raise StoreBusy(
            f"`{name}` in {self.name} is being changed by another request", hint="try again"
        )

    async def count(self) -> int:
        """Return how many things there are."""
        return await self._named_values.count(self.name)


async def delete_expired_values(service: Service, namespace: str) -> None:
    """Forget some values whose time is over, whosever they are."""
    wall_s = service.office.wall_s
    for named in await service.home.store.due_values.due(
        namespace, wall_s=wall_s, limit=EXPIRED_AT_ONCE
    ):
        await service.desk(named.tenant).named_values.remove(named)
