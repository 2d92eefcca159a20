"""Show the hosts of a tenant's crawls: their politeness, their robots.txt and their answers."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.engine.host.robots import JobRobots, read_copy
from geomi.errors import UnknownName
from geomi.fetch.request import product_token, user_agent
from geomi.model.config import CrawlConfig
from geomi.model.entry import MAX_ENTRIES, EntryFilter, UrlEntry
from geomi.model.job import JobFilter
from geomi.model.robots import RobotsKey
from geomi.model.site import HostView
from geomi.model.verdict import State
from geomi.service.service import TenantService

MAX_HOST_CHARS = 280
LOOKED_BACK = 20  # newest jobs, for what a host said last
MAX_WALK = 100  # parts of the list of hosts, for one that is named
SCHEMES = ("https", "http")


@dataclass(frozen=True, slots=True)
class SiteDetails:
    """One host.

    Args:
        readings: its robots.txt as the tenant's newest crawl reads it, by scheme.
        failure: the newest URL that it answered with a failure, if there is one.
    """

    view: HostView
    readings: tuple[tuple[str, JobRobots], ...]
    failure: UrlEntry | None


async def page(desk: TenantService, *, after: str, limit: int) -> list[HostView]:
    """List hosts by their names, for paging."""
    return list(await desk.world.store.census.hosts(after=after, limit=limit))


async def find(desk: TenantService, host: str) -> SiteDetails:
    """Find a host; a host that no crawl of this tenant has visited is unknown."""
    after = ""
    for _ in range(MAX_WALK):
        views = await desk.world.store.census.hosts(after=after, limit=MAX_ENTRIES)
        for view in views:
            after = view.host
            if view.host == host:
                return SiteDetails(view, await _readings(desk, host), await _failure(desk, host))
        if not views:
            break
    raise UnknownName(f"no crawl has visited `{host[:MAX_HOST_CHARS]}`")


async def _readings(desk: TenantService, host: str) -> tuple[tuple[str, JobRobots], ...]:
    newest = await desk.world.store.jobs.page(JobFilter(), before="", limit=1)
    config = newest[0].config if newest else CrawlConfig()
    token = product_token(user_agent(config, version=desk.world.version))
    now_s, found = desk.world.clock.now_s(), []
    for scheme in SCHEMES:
        copy = await desk.world.store.robots.get(RobotsKey(scheme, host, token))
        if copy is not None:
            found.append((scheme, read_copy(copy, config.robots, now_s=now_s)))
    return tuple(found)


async def _failure(desk: TenantService, host: str) -> UrlEntry | None:
    """Return what failed last on a host, in the newest crawl in which anything did."""
    name = host.removesuffix(":443").removesuffix(":80")
    for job in await desk.world.store.jobs.page(JobFilter(), before="", limit=LOOKED_BACK):
        for scheme in SCHEMES:
            which = EntryFilter(state=State.FAILED, prefix=f"{scheme}://{name}/")
            rows = await desk.world.store.census.rows(job.id, which, limit=1)
            if rows.entries:
                return rows.entries[0]
    return None
