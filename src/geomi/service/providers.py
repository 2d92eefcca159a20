"""Providers in a service, for an administrator: register, review, crawl, schedule, erase (G-20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from geomi.app.use import channels, providers
from geomi.app.use.channels import ChannelDecision, ProviderCheck, decide_channel
from geomi.app.use.deletion import provider_holdings, take_down_provider
from geomi.errors import UnknownName
from geomi.model.event import Warned
from geomi.model.job import CrawlJob
from geomi.model.site import Provider
from geomi.service.access import tenants
from geomi.service.crawling import crawls, schedules
from geomi.service.crawling.crawls import CrawlOrder, provider_order
from geomi.service.crawling.schedules import Schedule, ScheduleTiming
from geomi.service.service import Service, TenantService
from geomi.settings.providers import (
    EVERY_PROVIDER,
    PROFILE,
    Registration,
    check_date,
    presets,
    read_registration,
    refuse_forbidden,
)

MOST_CHECKED = 1000  # of all tenants at once; the rest is looked for the next time


@dataclass(frozen=True, slots=True)
class ErasedProvider:
    """What was erased of a provider, over all tenants."""

    key: str
    reason: str
    at_s: float
    jobs: int
    pages: int
    other_jobs: tuple[str, ...]


async def every(desk: TenantService) -> list[Provider]:
    """List providers by key: those that come with geomi, and those that were registered."""
    found = providers.with_presets(await desk.world.store.providers.list())
    return [found[key] for key in sorted(found)]


async def find(desk: TenantService, name: str) -> Provider:
    """Find a provider by its key or its UUID."""
    for provider in await every(desk):
        if name in (provider.key, provider.provider_id):
            return provider
    raise UnknownName(f"there is no provider `{name[:80]}`")


async def channel_of(desk: TenantService, provider: Provider) -> ChannelDecision:
    """Say by which channel a provider's documents come, and why."""
    finding = await channels.stored_finding(desk.home, provider)
    return decide_channel(provider, finding, has_source=desk.home.docs_source is not None)


def is_preset(provider: Provider) -> bool:
    """Return whether a provider is as it comes with geomi."""
    return provider == presets().get(provider.key)


async def register(desk: TenantService, payload: Mapping[str, object]) -> Registration:
    """Register a provider (CFG-03); an error names all faults, and nothing is stored."""
    read = read_registration(payload, new_id=str(uuid4()), now_s=desk.wall_s)
    return await providers.register(desk.world, read, has_own_id="provider_id" in payload)


async def review(
    desk: TenantService, name: str, *, allows: bool, reviewed_at: str | None
) -> Provider:
    """Record what a provider's terms say about crawling."""
    provider = await find(desk, name)
    today = datetime.fromtimestamp(desk.wall_s, UTC).date().isoformat()
    read_at = check_date(reviewed_at, now_s=desk.wall_s) if reviewed_at else today
    return await providers.review(desk.world, provider.key, allows=allows, reviewed_at=read_at)


async def remove(desk: TenantService, name: str) -> None:
    """Delete a registration."""
    await providers.remove(desk.world, (await find(desk, name)).key)


async def crawl(
    desk: TenantService, name: str, collection: str, *, job_id: str = "", is_fallback: bool = False
) -> CrawlJob:
    """Start a crawl of a provider's documents, as it was registered (JOB-15).

    Args:
        job_id, is_fallback: as `crawls.start` takes them.
    """
    order = provider_order(await find(desk, name), collection)
    return await crawls.start(desk, order, job_id=job_id, is_fallback=is_fallback)


async def check_due_providers(service: Service) -> int:
    """Ask the sources for providers that they were not asked for today (CFG-23, LEG-05)."""
    client = channels.docs_client_of(service.home)  # a name is asked for once, for all tenants
    checked: list[ProviderCheck] = []
    for tenant in await tenants.all_names(service):
        home = service.desk(tenant).home
        if due := (await channels.unchecked_providers(home))[: MOST_CHECKED - len(checked)]:
            checked += await channels.check_providers(home, client, due)
    if checked:
        service.home.world.sink.emit(Warned("", _check_summary(checked)))
    return 0


def _check_summary(checked: Sequence[ProviderCheck]) -> str:
    """Say which providers a source has, which are crawled, and which could not be looked for."""
    by_key = {one.provider.key: one for one in checked}  # tenants share those that come with geomi
    found = [key for key, one in by_key.items() if one.finding and one.finding.library]
    missing = [key for key, one in by_key.items() if one.finding and not one.finding.library]
    unknown = [one for one in by_key.values() if one.finding is None]
    has_apis = any(one.provider.has_api for one in by_key.values())
    sources = "Context7 and official APIs have" if has_apis else "Context7 has"
    told = f"{sources} {len(found)} of {len(by_key)} providers"
    if missing:
        told += f"; it lacks {', '.join(missing)}, which geomi will crawl"
    if unknown:
        told += f"; {len(unknown)} got no answer: {unknown[0].problem}"
    return told


async def schedule(desk: TenantService, name: str, collection: str, cron: str) -> Schedule:
    """Let a provider be crawled again and again, as it is registered now (CHG-08).

    For `all` every provider is crawled that is registered then, in one indexing session.
    """
    if name == EVERY_PROVIDER:
        order = CrawlOrder(collection, (), profile=PROFILE, provider=EVERY_PROVIDER)
        return await schedules.create(desk, order, ScheduleTiming(cron), title="all providers")
    provider = await find(desk, name)
    refuse_forbidden(provider)
    order = provider_order(provider, collection)
    return await schedules.create(desk, order, ScheduleTiming(cron), title=provider.name)


async def erase(desk: TenantService, name: str, reason: str) -> ErasedProvider:
    """Erase everything that any tenant has collected of a provider, and forbid further crawls."""
    provider = await find(desk, name)
    jobs = pages = 0
    others: list[str] = []
    for tenant in await tenants.all_names(desk.service):
        home = desk.service.desk(tenant).home
        found = await provider_holdings(home, provider.key, provider)
        line = await take_down_provider(home, found, reason)
        jobs, pages = jobs + line.jobs, pages + line.pages
        others += found.others
    return ErasedProvider(provider.key, reason, desk.wall_s, jobs, pages, tuple(others))
