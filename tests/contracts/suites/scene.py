"""What the random walk draws from: jobs, URLs, ends of visits, and what an observer remembers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from geomi.frontier.state import SETTLED
from geomi.model.config import UrlOrder
from geomi.model.entry import Discovered, Lease, Novelty, RemainingWork, Settlement, UrlEntry
from geomi.model.job import CrawlJob
from geomi.model.page import KnownPage, PageRecord, Ref
from geomi.model.request_log import SentRequest
from geomi.model.tenant import Quota, TenantUsage
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store
from tests.contracts.suites.alike import sketch_of
from tests.contracts.suites.material import asked, config, page, url, visit

JOBS = {
    "quick": config(delay_s=2.0, per_ip=1, max_hosts=2),
    "slow": config(delay_s=5.0, max_pages=6),
    "ranked": config(delay_s=3.0, order=UrlOrder.WEIGHTED),
}
HOSTS = ("a.test", "b.test", "c.test")
URLS = [
    replace(
        url(f"/{number}", host, depth=depth, priority=100 - 10 * (number % 2)),
        pattern="even" if number % 2 == 0 else "",
    )
    for host in HOSTS
    for number in range(4)
    for depth in (2, number % 2)
]
SEEDS = [url("/0", host, depth=2) for host in HOSTS]
LEASE_S = 20.0
QUOTA = Quota(max_daily_pages=9, max_storage_bytes=1500)
SKETCHES = (sketch_of(1, 2), sketch_of(2, 3), sketch_of(4), b"")
EXACT_KEYS = (b"k" * 16, b"l" * 16)

names = st.sampled_from(sorted(JOBS))
owners = st.sampled_from(["one", "two", "three"])
urls = st.lists(st.sampled_from(URLS), max_size=5)
endings = st.sampled_from(
    [
        (Outcome.OK, State.COMPLETED),
        (Outcome.OK, State.COMPLETED),
        (Outcome.DUPLICATE, State.COMPLETED),
        (Outcome.GONE, State.FAILED),
        (Outcome.TIMEOUT, State.PENDING),
        (Outcome.ROBOTS, State.BLOCKED),
        (Outcome.WRONG_TYPE, State.SKIPPED),
    ]
)


@dataclass(slots=True)
class Seen:
    """What a careful observer knows of one host: its newest lease and its last response."""

    token: int = 0
    until_s: float = 0.0
    end_s: float | None = None
    job: str = ""

    def lent(self, lease: Lease, *, delay_s: float, now_s: float) -> Seen:
        """Check a lease against what is known, and return what is known then."""
        assert lease.floor_s >= delay_s
        assert lease.token == self.token + 1
        assert self.until_s <= now_s, "lent twice at once"
        ends_s = [end_s for end_s in (self.end_s, self.until_s or None) if end_s is not None]
        assert all(end_s + lease.floor_s <= now_s for end_s in ends_s), "lent too early"
        return Seen(lease.token, lease.until_s, self.end_s, lease.job)


def end_visit(
    lease: Lease,
    entry: UrlEntry,
    ending: tuple[Outcome, State],
    found: tuple[Discovered, ...],
    *,
    now_s: float,
) -> Settlement:
    """End a visit as drawn; a page that was opened again only has its links followed anew."""
    name = lease.host.removesuffix(":80")
    path = entry.url.removeprefix(f"http://{name}")
    request = asked(path, name, at_s=now_s, job=lease.job)
    kin = frozenset({"even"}) if len(found) % 2 else frozenset[str]()
    novelty = Novelty(links=bool(found), text=len(found) > 1, text_mark=b"", kin=kin)
    if is_complete(entry.outcome) and entry.outcome is not None:
        done = visit(lease, entry, now_s=now_s, outcome=entry.outcome)
        return replace(done, counts=False, discovered=found)
    outcome, state = ending
    return replace(
        visit(lease, entry, now_s=now_s, outcome=outcome, state=state),
        due_s=now_s + 7 if state is State.PENDING else 0.0,
        discovered=found,
        page=_page_of(entry, outcome, now_s) if state is State.COMPLETED else None,
        asked=(request,),
        novelty=novelty if entry.pattern else None,
    )


def _page_of(entry: UrlEntry, outcome: Outcome, now_s: float) -> PageRecord:
    """Return a page of a few that are much alike; at the next visit it may say something else."""
    says = (entry.url_hash[0] + int(now_s)) % len(SKETCHES)
    kept = page(
        url(),
        exact_key=EXACT_KEYS[says % 2],
        sketch=SKETCHES[says],
        duplicate_of="http://x.test/" if outcome is Outcome.DUPLICATE else "",
    )
    return replace(kept, url_hash=entry.url_hash, url=entry.url)


def is_complete(outcome: Outcome | None) -> bool:
    """Whether a visit that ended so has kept a page."""
    return outcome is not None and SETTLED[outcome] is State.COMPLETED


def wall_of(now_s: float) -> float:
    """Return the time of day: for quotas a day is over after a few rests."""
    return now_s * 5000


async def lend(
    store: Store, name: str, owner: str, *, hosts: int, urls: int, now_s: float
) -> list[Lease]:
    """Claim as a worker does."""
    return await store.frontier.claim(
        name,
        owner=owner,
        hosts=hosts,
        urls=urls,
        lease_s=LEASE_S,
        now_s=now_s,
        wall_s=wall_of(now_s),
    )


async def usage(store: Store, now_s: float) -> tuple[TenantUsage, list[Ref]]:
    """Return what the tenant has used, and what its captures take."""
    feeds = [await store.pages.feed(name, after=0, limit=1000) for name in JOBS]
    rows = [row for feed in feeds for row in feed]
    refs = [ref for row in rows for ref in (row.record, row.response) if ref is not None]
    return await store.quotas.standing(wall_s=wall_of(now_s)), refs


async def told(
    store: Store, now_s: float
) -> dict[str, tuple[CrawlJob | None, list[UrlEntry], RemainingWork]]:
    """Return what a store says of each job; tallies come with the entries."""
    return {
        name: (
            await store.jobs.get(name),
            await store.census.entries(name, state=None, after=b"", limit=1000),
            await store.census.outlook(name, now_s=now_s),
        )
        for name in JOBS
    }


async def likeness(store: Store) -> tuple[list[list[KnownPage]], list[Mapping[bytes, KnownPage]]]:
    """Return which pages a store finds by each sketch, and by exact keys in each job."""
    near = [await store.pages.near(sketch) for sketch in SKETCHES]
    return near, [await store.pages.twins(name, EXACT_KEYS) for name in JOBS]


def without_urls(requests: Iterable[SentRequest]) -> list[str]:
    """Return a log for comparing; what was erased has lost its URLs there."""
    return sorted(repr(replace(one, url="")) for one in requests)
