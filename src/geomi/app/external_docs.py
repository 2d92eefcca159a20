"""Wire a job that collects a provider's documents from Context7 instead of crawling its pages.

The entries of such a job are addresses below the source. Workers claim, settle and publish them
like pages, with a fetcher that asks the source (ADR 26). The job names its library, so
that a restarted worker and a worker on another machine know what the job is. A process without
the source refuses the job.
"""

from __future__ import annotations

from dataclasses import replace

from geomi.adapters.context7.client import Context7Client, read_address
from geomi.adapters.endpoint import json_headers
from geomi.adapters.http.client import HttpClient
from geomi.adapters.http.egress import Egress
from geomi.adapters.http.rules import EgressRules
from geomi.app.use.plan import Plan
from geomi.engine.external_docs import ExternalDocsClient, ExternalDocsFetcher
from geomi.engine.jobs import read_seeds
from geomi.engine.world import World
from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, Extraction, Render, Scope
from geomi.model.job import DEFAULT_PROFILE, CrawlJob
from geomi.model.site import Channel
from geomi.ports.external_docs import ExternalDocsSource
from geomi.ports.runtime import Clock
from geomi.seed.external_docs import document_urls
from geomi.settings.options import Settings


def check_source(settings: Settings) -> None:
    """Raise for a source that could never be asked, before anything is opened."""
    if settings.context7_url:
        read_address(settings.context7_url)
        json_headers(settings.context7_key)


def open_source(settings: Settings, rules: EgressRules, clock: Clock) -> ExternalDocsSource | None:
    """Open the way to the source of ready documents, if one is named; nothing is asked yet."""
    if not settings.context7_url:
        return None
    # Its address comes from the operator, not from a page: it may be a private one.
    client = HttpClient(Egress(replace(rules, allow_private=True), clock), clock)
    return Context7Client(client, clock, settings.context7_url, key=settings.context7_key)


def external_docs_plan(plan: Plan, source: str, library: str, name: str) -> Plan:
    """Turn the plan of a provider's crawl into one that collects its ready documents.

    Args:
        name: that of the provider, as people write it.
    """
    resolved = replace(
        plan.resolved,
        config=_config(plan.resolved.config),
        # One source, one voice. The ranges of a profile are for pages.
        run=replace(plan.resolved.run, workers=1, profile=DEFAULT_PROFILE),
        origins=(),
    )
    return replace(
        plan,
        seeds=read_seeds(document_urls(source, library)),
        resolved=resolved,
        channel=Channel.CONTEXT7,
        library=library,
        library_name=name,
    )


def refuse_unserved(job: CrawlJob, source: ExternalDocsSource | None) -> None:
    """Raise where a job is for documents of a source that this process does not know."""
    if job.channel is not Channel.CONTEXT7:
        return
    if source is None or not all(seed.startswith(f"{source.address}/") for seed in job.seeds):
        raise ConfigError(
            f"job {job.id} collects ready documents, and their source is not named here",
            hint=f"GEOMI_CONTEXT7_URL, as it was for {job.seeds[0]}",
        )


def world_for_job(world: World, job: CrawlJob, source: ExternalDocsSource | None) -> World:
    """Return the world that a job's worker sees: one of ready documents asks their source."""
    if job.channel is not Channel.CONTEXT7:
        return world
    refuse_unserved(job, source)
    assert source is not None, "or it would have been refused"
    librarian = ExternalDocsClient(source, world.clock)
    fetcher = ExternalDocsFetcher(
        librarian, world.clock, library=job.library, name=job.library_name
    )
    return replace(world, fetcher=fetcher)


def _config(config: CrawlConfig) -> CrawlConfig:
    """Return what holds of a provider's crawl for documents that are no pages of a site.

    Nothing is followed and nothing is fetched from a site, so that there is no robots.txt to obey,
    no request of a crawl to log, and no response to keep. The provider's own pause is not the
    source's, for which the floor of public hosts holds; the librarian has its own patience.
    """
    return replace(
        config,
        scope=Scope(block_defaults=False, avoid_traps=False, sitemaps=False, honor_canonical=False),
        limits=replace(config.limits, max_depth=0, max_pages=0),
        robots=replace(config.robots, respect=False),
        http=replace(config.http, max_retries=0, conditional=False),
        politeness=replace(
            config.politeness, base_delay_s=0.0, max_backoff_s=0.0, latency_factor=0.0
        ),
        store=replace(config.store, raw=False, request_log=False),
        extract=Extraction(
            links=config.extract.links,
            images=config.extract.images,
            markdown=config.extract.markdown,
            max_markdown_chars=config.extract.max_markdown_chars,
            template=False,
        ),
        render=Render.NEVER,
    )
