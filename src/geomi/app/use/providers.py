"""The registry of providers: the presets of geomi, overlaid by what a directory stores.

Nobody changes a preset; a review of one is stored beside it, and wins. A provider that was taken
down comes back only through a new review that allows crawling.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from geomi.app.store import open_store
from geomi.engine.listed_domains import ListedDomains
from geomi.engine.visit.rules import read_site_decisions as read_site_decisions
from geomi.engine.world import World
from geomi.errors import ConfigError, StoreMissing, WrongState
from geomi.model.job import CrawlJob
from geomi.model.site import Channel, Provider, SiteRule
from geomi.settings.options import Settings
from geomi.settings.providers import (
    FIRST_SEED,
    Registration,
    apart,
    presets,
    refuse_forbidden,
    refuse_terms,
)
from geomi.settings.values import refuse_unknown

EVERY_JOB = 1_000_000

ProviderWarning = tuple[str, str]  # what a person should know, and what to do about it


def with_presets(stored: Sequence[Provider]) -> dict[str, Provider]:
    """Return every provider by key: the presets first, in their order."""
    return {**presets(), **{provider.key: provider for provider in stored}}


def stored_providers(root: Path, settings: Settings) -> list[Provider]:
    """List what a data directory keeps, where no world is open yet; nothing is made."""
    try:
        store = open_store(root, settings, create=False)
    except StoreMissing:
        return []
    with closing(store):
        return asyncio.run(store.providers.list())


def stored_reviews(root: Path, settings: Settings) -> tuple[tuple[SiteRule, ...], ListedDomains]:
    """Return what people decided about sites, and what lists name, where no world is open yet."""
    listed = ListedDomains()
    try:
        store = open_store(root, settings, create=False)
    except StoreMissing:
        return (), listed
    with closing(store):
        asyncio.run(listed.read(store))
        return asyncio.run(read_site_decisions(store)), listed


def provider_named(key: str, providers: dict[str, Provider]) -> Provider:
    """Find a provider by its key; refuse an unknown one with the nearest known."""
    refuse_unknown({key: None}, list(providers), "provider")
    return providers[key]


async def find(world: World, key: str) -> Provider:
    """Find a provider by its key."""
    return provider_named(key, with_presets(await world.store.providers.list()))


async def register(world: World, read: Registration, *, has_own_id: bool) -> Registration:
    """Register a provider as it was read, and say what is different of it in the end.

    Two that name different IDs are two providers, even if their first seeds, and so their derived
    keys, are the same: the second gets a key of its own.

    Args:
        has_own_id: the registration itself names the ID.
    """
    known = with_presets(await world.store.providers.list())
    provider, derived = read.provider, dict(read.derived)
    before = known.get(provider.key)
    if before is None:
        return replace(read, provider=await add(world, provider, has_own_id=has_own_id))
    if not has_own_id:
        derived["provider_id"] = f"the provider that was known as `{provider.key}`"
    elif derived.get("key") == FIRST_SEED and provider.provider_id != before.provider_id:
        refuse_forbidden(before)  # under another key, too
        provider = apart(provider)
        derived["key"] = f"{FIRST_SEED} and its ID: another provider is `{before.key}`"
    return Registration(await add(world, provider, has_own_id=has_own_id), derived)


async def add(world: World, provider: Provider, *, has_own_id: bool = False) -> Provider:
    """Register a provider unless its terms forbid it.

    A known one keeps its ID if no other is named, and its review if the terms are not mentioned.

    Args:
        has_own_id: the registration itself names the ID.
    """
    refuse_terms(provider, now_s=world.clock.wall_s())
    before = with_presets(await world.store.providers.list()).get(provider.key)
    if before is not None:
        refuse_forbidden(before)
        if not has_own_id:
            provider = replace(provider, provider_id=before.provider_id)
        if provider.tos_reviewed_at is None and provider.seed_urls == before.seed_urls:
            provider = replace(
                provider,
                tos_reviewed_at=before.tos_reviewed_at,
                tos_allows_crawling=before.tos_allows_crawling,
            )
    await world.store.providers.put(provider)
    return provider


async def review(world: World, key: str, *, allows: bool, reviewed_at: str) -> Provider:
    """Note what a provider's terms say about crawling, and when they were read (LEG-03)."""
    provider = replace(
        await find(world, key), tos_reviewed_at=reviewed_at, tos_allows_crawling=allows
    )
    await world.store.providers.put(provider)
    return provider


async def remove(world: World, key: str) -> Provider:
    """Forget a registration; a preset of the same key is then what it was."""
    provider = await find(world, key)
    if any(takedown.key == key for takedown in await world.store.providers.takedowns()):
        refuse_forbidden(provider)
    if key not in presets():
        await _refuse_orphans(world, key)
    if not await world.store.providers.remove(key):
        raise ConfigError(
            f"provider `{key}` comes with geomi and cannot be removed",
            hint=f"to forbid its crawls: geomi providers review {key} --forbids",
        )
    return provider


async def refuse_crawl(world: World, key: str) -> None:
    """Raise where a crawl would be for a provider that does not allow it (LEG-04)."""
    if key:
        refuse_forbidden(await find(world, key))


async def jobs_of(world: World, key: str) -> tuple[CrawlJob, ...]:
    """Find every job that was started for a provider."""
    every = await world.store.jobs.list(limit=EVERY_JOB)
    return tuple(job for job in every if job.provider == key)


async def provider_warnings(
    world: World, key: str, *, is_ready: bool = False
) -> list[ProviderWarning]:
    """Return warnings for the crawl of a provider.

    Args:
        is_ready: the crawl collects external documents instead of pages.
    """
    if not key:
        return []
    provider = await find(world, key)
    told: list[ProviderWarning] = []
    if provider.tos_allows_crawling is None:
        hint = f"read them, then: geomi providers review {key} --allows, or --forbids"
        told.append((f"the terms of provider {key} have not been reviewed", hint))
    if provider.channel is Channel.CONTEXT7 and not is_ready:
        told.append((f"Context7 has the documents of provider {key}; this crawl is a fallback", ""))
    return told


async def _refuse_orphans(world: World, key: str) -> None:
    """Raise if a job would keep a provider without a registration: a takedown must find it."""
    jobs = await jobs_of(world, key)
    if jobs:
        raise WrongState(
            f"{len(jobs)} provider `{key}` has {len(jobs)} jobs",
            hint=f"geomi providers takedown {key}, or geomi jobs delete {jobs[0].id} --yes",
        )
