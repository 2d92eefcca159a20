"""Questions about the frontier: what is left of a job, and what became of its URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomi.adapters.store.accounting.hosts import (
    MINUTES_PER_DAY,
    minute_of,
    oldest_counted,
    request_window,
)
from geomi.adapters.store.hot import HotPath
from geomi.adapters.store.rows import Row, ending_of, entry_of, examples_of, status_count_of
from geomi.adapters.store.session import Database, Session
from geomi.adapters.store.statements import table_statements
from geomi.errors import StoreError
from geomi.frontier.region import UNLABELLED, regions_of
from geomi.model.entry import (
    MAX_ENTRIES,
    MAX_LOOKED_AT,
    EntryFilter,
    EntryPage,
    RemainingWork,
    ResponseTimes,
    Tally,
    UrlEntry,
    WaitingRegion,
)
from geomi.model.history import FIRST_CURSOR, PageCursor
from geomi.model.index.document import StatusCount
from geomi.model.site import HostView, OutcomeCount, RequestWindow
from geomi.model.verdict import Outcome, State
from geomi.ports.frontier import EntryEnding

SQL = table_statements("census")

MAX_PREFIX_CHARS = 2000
END: PageCursor = (2**63 - 1, b"")  # after every entry


class CensusTable:
    """`ports.frontier.Census` of one tenant."""

    def __init__(self, database: Database, hot: HotPath, tenant: str) -> None:
        self._database = database
        self._hot = hot
        self._tenant = tenant

    async def outlook(self, job: str, *, now_s: float) -> RemainingWork:
        """Say what is left of a job and when the next of it is due."""
        return await self._database.read(lambda db: self._hot.outlook(db, job, self._tenant, now_s))

    async def entry(self, job: str, url_hash: bytes, *, host: str | None = None) -> UrlEntry | None:
        """Find one URL of a job: at once with its host, else by asking each of the job's queues."""
        values = self._of(job) | {"url_hash": url_hash, "host": host}
        query = SQL["entry" if host is None else "entry_on_host"]
        row = await self._database.read(lambda db: db.row(query, values))
        return entry_of(row[1:], job, row[0]) if row else None

    async def entries(
        self, job: str, *, state: State | None, after: bytes, limit: int
    ) -> list[UrlEntry]:
        """List a job's entries in the order of their hashes."""
        values = {"state": state and state.value, "after": after, "many": limit}
        rows = await self._database.read(lambda db: _of_every_queue(db, self._of(job), values))
        listed = sorted(rows, key=lambda row: row[1])[:limit]
        return [entry_of(row, job, host) for host, *row in listed]

    async def exclusions(self, job: str) -> Mapping[str, tuple[int, tuple[str, ...]]]:
        """Return how often each rule kept a link out, with some examples."""
        values = self._of(job)
        rows = await self._database.read(lambda db: db.rows(SQL["exclusions"], values))
        return {rule: (count, examples_of(rule, examples)) for rule, count, examples in rows}

    async def patterns(self, job: str) -> list[tuple[str, str, Tally]]:
        """List (host, pattern, tally) of a job's counted patterns, the most visited first."""
        values = self._of(job)
        rows = await self._database.read(lambda db: db.rows(SQL["patterns"], values))
        return [(host, pattern, Tally(*tally)) for host, pattern, *tally in rows]

    async def qualities(self, job: str, *, thin_words: int) -> list[OutcomeCount]:
        """Count a job's pages by host, outcome and the way their content was found."""
        values = self._of(job) | {"thin_words": thin_words}
        rows = await self._database.read(lambda db: db.rows(SQL["qualities"], values))
        return [OutcomeCount(host, Outcome(outcome), *counts) for host, outcome, *counts in rows]

    async def outcomes(self, job: str) -> Mapping[EntryEnding, int]:
        """Count a job's entries by state, outcome and status."""
        values = self._of(job)
        rows = await self._database.read(lambda db: db.rows(SQL["outcomes"], values))
        return {ending_of(row): row[3] for row in rows}

    async def statuses(self, job: str, *, collection: str) -> list[StatusCount]:
        """Count a job's entries by state and by what became of their documents."""
        values = self._of(job) | {"collection": collection}
        rows = await self._database.read(lambda db: db.rows(SQL["statuses"], values))
        return [status_count_of(row) for row in rows]

    async def rows(
        self, job: str, which: EntryFilter, *, after: PageCursor = FIRST_CURSOR, limit: int
    ) -> EntryPage:
        """List some entries of a job in an order that stays."""
        check_prefix(which)
        values = self._of(job)
        return await self._database.read(
            lambda db: _rows(db, values, which, after, entries_shown(limit))
        )

    async def hosts(self, *, after: str = "", limit: int) -> list[HostView]:
        """List the hosts that the tenant's own jobs have met, by name."""
        values = {"tenant": self._tenant, "after": after, "many": entries_shown(limit)}
        rows = await self._database.read(lambda db: db.rows(SQL["hosts"], values))
        return [HostView(*row) for row in rows]

    async def leases(self, host: str) -> int:
        """Return how often a host was lent."""
        row = await self._database.read(lambda db: db.row(SQL["leases"], {"host": host}))
        return int(row[0]) if row else 0

    async def response_times(self, job: str, *, limit: int) -> ResponseTimes:
        """Return how long the pages of a job took to answer, and which of its hosts are slowest."""
        values = self._of(job) | {"many": entries_shown(limit)}
        rows = await self._database.read(lambda db: db.rows(SQL["response_times"], values))
        return ResponseTimes(
            mean_s=rows[0][2] if rows else None,
            slowest=tuple((host, seconds) for host, seconds, _ in rows),
        )

    async def regions(self, job: str) -> list[WaitingRegion]:
        """Count what waits of a job by the regions that serve it; nothing where it names none."""
        values = self._of(job)
        rows = await self._database.read(lambda db: db.rows(SQL["regions"], values))
        return [
            WaitingRegion(() if label == UNLABELLED else regions_of(label), *counts)
            for label, *counts in rows
        ]

    async def windows(self, domain: str, *, now_s: float) -> list[RequestWindow]:
        """List the counts of requests to a domain that have not expired, the newest first."""
        values = {"domain": domain, "oldest": oldest_counted(minute_of(now_s), MINUTES_PER_DAY)}
        rows = await self._database.read(lambda db: db.rows(SQL["windows"], values))
        return [request_window(domain, minute, many) for minute, many in rows]

    async def floor_s(self, host: str) -> float:
        """Return the longest delay among the active jobs of a host."""
        query = SQL["floor"]
        return float(await self._database.read(lambda db: db.value(query, {"host": host})))

    async def release_dead(self, owners: Sequence[str], *, now_s: float) -> int:
        """End the leases of owners known to be dead."""
        return await self._database.write(lambda db: self._hot.release_dead(db, owners, now_s))

    def _of(self, job: str) -> dict[str, object]:
        return {"job": job, "tenant": self._tenant}


def check_prefix(which: EntryFilter) -> None:
    """Refuse to look for what no URL can begin with."""
    if len(which.prefix) > MAX_PREFIX_CHARS:
        raise StoreError(
            f"a beginning of URLs has {len(which.prefix)} characters",
            hint=f"give at most {MAX_PREFIX_CHARS}",
        )


def entries_shown(limit: int) -> int:
    """Return how many rows are in one answer."""
    return max(0, min(limit, MAX_ENTRIES))


def view_values(which: EntryFilter, after: PageCursor, last: PageCursor) -> dict[str, object]:
    """Return what a statement has to know to look between two places."""
    return {
        "queue": after[0],
        "after": after[1],
        "last_queue": last[0],
        "last": last[1],
        "state": which.state and which.state.value,
        "outcome": which.outcome and which.outcome.value,
        "prefix": which.prefix,
    }


def entry_page(job: str, rows: Sequence[Row], edge: PageCursor | None, many: int) -> EntryPage:
    """Return entries, and where to go on: after the last of them, or after the last looked at."""
    entries = tuple(entry_of(row, job, host) for _, host, *row in rows)
    if entries and len(entries) == many:
        return EntryPage(entries, (rows[-1][0], entries[-1].url_hash))
    return EntryPage(entries, edge)


def _of_every_queue(
    db: Session, own: Mapping[str, object], values: Mapping[str, object]
) -> list[Row]:
    """Each queue gives as many entries as are wanted: its own key finds them in order."""
    queues = [queue for (queue,) in db.rows(SQL["queues"], own)]
    return db.rows_of_each(SQL["entries"], [{**values, "queue": queue} for queue in queues])


def _rows(
    db: Session, own: dict[str, object], which: EntryFilter, after: PageCursor, many: int
) -> EntryPage:
    values = own | view_values(which, after, END) | {"looked": MAX_LOOKED_AT - 1, "many": many}
    found = db.row(SQL["edge"], values)
    edge: PageCursor | None = (found[0], found[1]) if found else None
    last_queue, last = edge or END
    rows = db.rows(SQL["rows"], values | {"last_queue": last_queue, "last": last})
    return entry_page(str(own["job"]), rows, edge, many)
