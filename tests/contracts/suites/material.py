"""Values for the suites: jobs, URLs, visits and pages that differ only where a test looks."""

from __future__ import annotations

from hashlib import sha256

from geomi.model.config import CrawlConfig, Limits, Politeness, UrlOrder
from geomi.model.entry import (
    Batch,
    Discovered,
    HostState,
    HostUpdate,
    Lease,
    Settlement,
    Source,
    UrlEntry,
)
from geomi.model.job import CrawlJob, JobState
from geomi.model.page import DuplicateReason, Fingerprint, PageRecord, Ref
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store

START_S = 1000.0
WALL_S = 1_800_000_000.0  # 2027-01-15, 08:00 UTC
LEASE_S = 60.0
DELAY_S = 10.0


def config(
    *,
    max_pages: int = 0,
    delay_s: float | None = DELAY_S,
    per_ip: int = 4,
    max_hosts: int = 0,
    requests_per_second: float | None = None,
    order: UrlOrder = UrlOrder.SCORE,
    queued: tuple[int, int, int] = (0, 0, 0),
) -> CrawlConfig:
    """Return a job's configuration that differs where stores look.

    Args:
        queued: how many URLs may wait in all, on one host, of one pattern.
    """
    return CrawlConfig(
        order=order,
        limits=Limits(
            max_pages=max_pages,
            max_queued=queued[0],
            max_queued_per_host=queued[1],
            max_queued_per_pattern=queued[2],
        ),
        politeness=Politeness(
            delay_s=delay_s,
            per_ip=per_ip,
            max_hosts=max_hosts,
            requests_per_second=requests_per_second,
        ),
    )


def job(
    name: str = "job",
    *,
    tenant: str = "local",
    rules: CrawlConfig | None = None,
    state: JobState = JobState.PROCESSING,
    paused: bool = False,
) -> CrawlJob:
    """Return a job at work."""
    return CrawlJob(
        id=name,
        tenant=tenant,
        seeds=("http://a.test/",),
        config=rules or config(),
        state=state,
        created_at_s=START_S,
        paused=paused,
    )


def url(
    path: str = "/", host: str = "a.test", *, depth: int = 0, priority: int = 100
) -> Discovered:
    """Return a URL that was found."""
    address = f"http://{host}{path}"
    return Discovered(
        url_hash=sha256(address.encode()).digest()[:16],
        url=address,
        host=f"{host}:80",
        depth=depth,
        priority=priority,
        source=Source.LINK,
        parent="http://a.test/",
    )


async def begin(store: Store, *urls: Discovered, rules: CrawlConfig | None = None) -> None:
    """Create the job `job` and add URLs to it."""
    await store.jobs.create(job(rules=rules))
    await store.frontier.add("job", urls, now_s=START_S)


async def claim(
    store: Store,
    name: str = "job",
    *,
    now_s: float = START_S,
    owner: str = "worker",
    hosts: int = 16,
    urls: int = 10,
    wall_s: float = WALL_S,
) -> list[Lease]:
    """Claim as a worker does."""
    return await store.frontier.claim(
        name, owner=owner, hosts=hosts, urls=urls, lease_s=LEASE_S, now_s=now_s, wall_s=wall_s
    )


async def claim_one(store: Store, name: str = "job", *, now_s: float = START_S) -> Lease:
    """Claim where exactly one host is due."""
    (lease,) = await claim(store, name, now_s=now_s)
    return lease


def visit(
    lease: Lease,
    entry: UrlEntry | None = None,
    *,
    now_s: float = START_S,
    outcome: Outcome = Outcome.OK,
    state: State = State.COMPLETED,
    discovered: tuple[Discovered, ...] = (),
    page: PageRecord | None = None,
) -> Settlement:
    """Close an entry of a lease, the first unless another is named; it counts if completed."""
    return Settlement(
        entry=entry or lease.entries[0],
        token=lease.token,
        outcome=outcome,
        state=state,
        settled_s=now_s,
        status=200 if outcome is Outcome.OK else None,
        counts=state is State.COMPLETED,
        bytes_received=1000,
        discovered=discovered,
        page=page,
    )


def give_back(lease: Lease, *, end_s: float = START_S, next_s: float | None = None) -> HostUpdate:
    """End a lease whose last response ended at `end_s`; the host rests its floor."""
    state = HostState(lease.host, last_end_s=end_s, ip=lease.state.ip)
    return HostUpdate(lease, state, end_s + lease.floor_s if next_s is None else next_s)


def batch(*parts: Settlement | HostUpdate, wall_s: float = WALL_S) -> Batch:
    """Gather what one transaction closes."""
    return Batch(
        settlements=tuple(part for part in parts if isinstance(part, Settlement)),
        hosts=tuple(part for part in parts if isinstance(part, HostUpdate)),
        wall_s=wall_s,
    )


async def visit_all(store: Store, lease: Lease, *, now_s: float = START_S) -> None:
    """Settle every entry of a lease and give its host back."""
    visits = (visit(lease, entry, now_s=now_s) for entry in lease.entries)
    await store.frontier.settle(batch(*visits, give_back(lease, end_s=now_s)))


def asked(
    path: str = "/",
    host: str = "a.test",
    *,
    at_s: float = START_S,
    job: str = "job",
    owner: str = "worker",
    ip: str = "192.0.2.1",
) -> SentRequest:
    """Return a request that was sent."""
    return SentRequest(
        host=f"{host}:80",
        job=job,
        owner=owner,
        ip=ip,
        purpose=RequestPurpose.PAGE,
        url=f"http://{host}{path}",
        started_s=at_s,
        ended_s=at_s + 0.25,
        status=200,
        outcome=Outcome.OK,
        floor_s=DELAY_S,
        robots_at_s=START_S - 5,
        robots_line=3,
    )


def page(
    found: Discovered,
    *,
    exact_key: bytes = b"",
    simhash: int = 0,
    sketch: bytes = b"",
    words: int = 0,
    duplicate_of: str = "",
    title: str = "A page",
) -> PageRecord:
    """Return what is kept of a page."""
    return PageRecord(
        url_hash=found.url_hash,
        url=found.url,
        final_url=found.url,
        status=200,
        content_type="text/html",
        fetched_at_s=START_S,
        due_s=START_S + 86_400,
        fingerprint=Fingerprint("c" * 64, "h" * 64, exact_key, simhash, sketch, words),
        record=Ref("segment-1", 10, 20),
        response=Ref("segment-1", 30, 40),
        etag='"1"',
        last_modified="Mon, 01 Jan 2024 00:00:00 GMT",
        title=title,
        duplicate_of=duplicate_of,
        duplicate_reason=DuplicateReason.NEAR if duplicate_of else None,
    )
