"""Wire a job that collects a provider's documents from a source instead of crawling its pages.

The source is Context7, or the provider's own API. The entries of such a job are addresses below
Context7, or the pages that show the API's documents. Workers claim, settle and publish them like
pages, with a fetcher that asks the source (ADR 26). The job names its library, so that a
restarted worker and a worker on another machine know what the job is. A process without the source
refuses the job.
"""

from __future__ import annotations

from dataclasses import replace

from geomi.adapters.context7.client import Context7Client, read_address
from geomi.adapters.endpoint import json_headers
from geomi.adapters.github.client import MAX_DOCUMENTS, GithubClient, read_github_address
from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.rules import EgressRules
from geomi.engine.external_docs import (
    ApiDocsClient,
    ApiDocsFetcher,
    ExternalDocsClient,
    ExternalDocsFetcher,
    shortcoming,
)
from geomi.engine.world import World
from geomi.errors import ConfigError
from geomi.model.job import CrawlJob, JobKind, JobState
from geomi.model.site import Channel
from geomi.ports.external_docs import DocumentApi, ExternalDocsSource
from geomi.ports.runtime import Clock
from geomi.settings.options import GITHUB_URL, Settings

MAX_ENTRIES = MAX_DOCUMENTS


def check_source(settings: Settings) -> None:
    """Raise for a source that could never be asked, before anything is opened."""
    if settings.context7_url:
        read_address(settings.context7_url)
        json_headers(settings.context7_key)
    if settings.github_url != GITHUB_URL:
        read_github_address(settings.github_url)
    if settings.github_token:
        json_headers(settings.github_token)


def open_source(settings: Settings, rules: EgressRules, clock: Clock) -> ExternalDocsSource | None:
    """Open the way to the source of external documents, if one is named; nothing is asked yet."""
    if not settings.context7_url:
        return None
    client = _client(rules, clock)
    return Context7Client(client, clock, settings.context7_url, key=settings.context7_key)


class RepositoryApi:
    """The API of repositories, whose client is made when a provider first names it."""

    def __init__(self, settings: Settings, rules: EgressRules, clock: Clock) -> None:
        self._settings = settings
        self._rules = rules
        self._clock = clock
        self._client: GithubClient | None = None

    def client(self) -> DocumentApi:
        """Return the client; nothing is asked yet."""
        if self._client is None:
            fetcher = _client(self._rules, self._clock)
            address, token = self._settings.github_url, self._settings.github_token
            self._client = GithubClient(fetcher, self._clock, address, token=token)
        return self._client

    async def aclose(self) -> None:
        """Close every connection, if one was made."""
        if self._client is not None:
            await self._client.aclose()


def _client(rules: EgressRules, clock: Clock) -> HttpClient:
    """Return a client of a server whose address comes from the operator, not from a page."""
    return HttpClient(Egress(replace(rules, allow_private=True), clock), clock)


def refuse_unserved(job: CrawlJob, source: ExternalDocsSource | None) -> None:
    """Raise where a job is for documents of a source that this process does not know."""
    if job.channel is not Channel.CONTEXT7:
        return
    if source is None or not all(seed.startswith(f"{source.address}/") for seed in job.seeds):
        raise ConfigError(
            f"job {job.id} collects external documents, and no external source is configured",
            hint=f"set GEOMI_CONTEXT7_URL as it was for {job.seeds[0]}",
        )


def world_for_job(
    world: World, job: CrawlJob, source: ExternalDocsSource | None, api: RepositoryApi
) -> World:
    """Return the world that a job's worker sees: one of external documents asks their source."""
    if job.channel is Channel.API:
        own = ApiDocsClient(api.client(), world.clock)
        return replace(world, fetcher=ApiDocsFetcher(own, world.clock, library=job.library))
    if job.channel is not Channel.CONTEXT7:
        return world
    refuse_unserved(job, source)
    assert source is not None, "or it would have been refused"
    client = ExternalDocsClient(source, world.clock)
    fetcher = ExternalDocsFetcher(client, world.clock, library=job.library, name=job.library_name)
    return replace(world, fetcher=fetcher)


async def fallback_reason(world: World, job: CrawlJob) -> str:
    """Say why a job that asked a source is to be followed by a crawl; empty where it is not."""
    is_first = job.channel.is_source and job.kind is JobKind.CRAWL
    if not is_first or job.state is not JobState.COMPLETED:
        return ""
    entries = await world.store.census.entries(job.id, state=None, after=b"", limit=MAX_ENTRIES)
    return shortcoming(entries)
