"""Decide whether a provider's documents come from a source or a crawl (CFG-23, C7-01, LEG-05).

A registration may name the provider's official API, which then comes first. Other providers come
from Context7 if that is configured and has them. Without a source geomi crawls, and also if the
registration says `crawl`. The crawl is the fallback if a source fails or has too little (G-22).

geomi asks about a provider at most once a day, and stores the answer. It does not store a failed
question, which says neither that the source has the provider nor that it lacks it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from geomi.app.directory import DataDirectory
from geomi.app.external_docs import fallback_reason
from geomi.app.store import open_store
from geomi.app.use import providers
from geomi.app.use.crawl import Plan
from geomi.engine.external_docs import ApiDocsClient, ExternalDocsClient
from geomi.engine.jobs import read_seeds
from geomi.engine.worker.supervisor import CrawlReport
from geomi.errors import ConfigError, SourceError, StoreMissing
from geomi.model.config import CrawlConfig, Extraction, Render, Scope
from geomi.model.external_docs import LibraryFinding
from geomi.model.job import DEFAULT_PROFILE, CrawlJob, JobKind
from geomi.model.named_value import MAX_LISTED_VALUES
from geomi.model.site import Channel, Provider
from geomi.ports.named_values import NamedValues
from geomi.seed.external_docs import (
    MAX_QUESTIONS,
    MAX_ROUNDS,
    document_urls,
    topic_pattern,
)
from geomi.settings.options import Settings

FINDINGS_NAMESPACE = "context7"
FINDING_HOLDS_S = 86_400.0  # CFG-23 asks at start; a service that runs for months asks again


@dataclass(frozen=True, slots=True)
class ChannelDecision:
    """The channel that holds for a provider, and why.

    Args:
        library: the id of its library, where one is known.
        documents: where its documents are, if the source lists them.
    """

    channel: Channel
    why: str
    library: str = ""
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProviderRun:
    """A run that is over: how it ended, and by which channel a provider's documents came."""

    report: CrawlReport
    decision: ChannelDecision | None = None


def decide_channel(
    provider: Provider, finding: LibraryFinding | None, *, has_source: bool
) -> ChannelDecision:
    """Say which channel holds for a provider by what is known now."""
    library = finding.library if finding else ""
    if provider.has_api:
        return _decide_api(provider, finding)
    if not has_source:
        return ChannelDecision(Channel.CRAWL, "GEOMI_CONTEXT7_URL is not set", library)
    if provider.channel is Channel.CRAWL:
        return ChannelDecision(Channel.CRAWL, "its registration says so", library)
    if finding is None:
        return ChannelDecision(provider.channel, "Context7 was not asked yet")
    day = datetime.fromtimestamp(finding.at_s, UTC).date().isoformat()
    if not library:
        return ChannelDecision(Channel.CRAWL, f"Context7 did not have it on {day}")
    return ChannelDecision(Channel.CONTEXT7, f"Context7 had it as {library} on {day}", library)


def _decide_api(provider: Provider, finding: LibraryFinding | None) -> ChannelDecision:
    if finding is None:
        return ChannelDecision(Channel.API, f"{provider.api} was not asked yet")
    day = datetime.fromtimestamp(finding.at_s, UTC).date().isoformat()
    if not finding.library:
        return ChannelDecision(Channel.CRAWL, f"{provider.api} had no documents on {day}")
    many = len(finding.documents)
    why = f"{provider.api} had {many} documents on {day}"
    return ChannelDecision(Channel.API, why, finding.library, finding.documents)


async def known_channel(home: DataDirectory, key: str) -> ChannelDecision:
    """Say which channel holds for a provider, without asking anybody."""
    provider = await providers.find(home.world, key)
    finding = await stored_finding(home, provider)
    return decide_channel(provider, finding, has_source=home.docs_source is not None)


async def ask_channel(home: DataDirectory, key: str) -> ChannelDecision:
    """Say which channel holds for a provider; the source is asked where that is a day ago."""
    provider = await providers.find(home.world, key)
    finding = await stored_finding(home, provider)
    has_source = home.docs_source is not None
    is_asked = provider.has_api or (has_source and provider.channel is not Channel.CRAWL)
    if not is_asked or is_fresh(finding, wall_s=home.world.clock.wall_s()):
        return decide_channel(provider, finding, has_source=has_source)
    checked = await check_provider(home, provider, docs_client_of(home))
    if checked.problem:
        source = Channel.API.source if provider.has_api else Channel.CONTEXT7.source
        return ChannelDecision(Channel.CRAWL, f"{source}: {checked.problem}")
    return decide_channel(provider, checked.finding, has_source=has_source)


async def plan_for_channel(home: DataDirectory, plan: Plan, decision: ChannelDecision) -> Plan:
    """Return the plan by which a provider's documents come, given its crawl's."""
    if not (decision.channel.is_source and decision.library):
        return plan
    provider = await providers.find(home.world, plan.provider)
    if decision.channel is Channel.API:
        return source_plan(plan, decision, decision.documents[: provider.max_pages], provider.name)
    if home.docs_source is None:
        return plan
    urls = document_urls(home.docs_source.address, decision.library)
    return source_plan(plan, decision, urls, provider.name)


def source_plan(plan: Plan, decision: ChannelDecision, urls: Sequence[str], name: str) -> Plan:
    """Turn the plan of a provider's crawl into one that collects documents of a source.

    Args:
        urls: where its documents are.
        name: the provider's name, as people write it.
    """
    config = _docs_config(plan.resolved.config)
    if decision.channel is Channel.API:  # which says whether a document is still the same
        config = replace(config, http=replace(config.http, conditional=True))
    else:  # whose answers name further topics
        config = replace(
            config,
            scope=replace(config.scope, include=(topic_pattern(urls[0]),)),
            limits=replace(config.limits, max_depth=MAX_ROUNDS, max_pages=MAX_QUESTIONS),
        )
    resolved = replace(
        plan.resolved,
        config=config,
        # One source, one voice. The ranges of a profile are for pages.
        run=replace(plan.resolved.run, workers=1, profile=DEFAULT_PROFILE),
        origins=(),
    )
    return replace(
        plan,
        seeds=read_seeds(urls),
        resolved=resolved,
        channel=decision.channel,
        library=decision.library,
        library_name=name,
    )


def _docs_config(config: CrawlConfig) -> CrawlConfig:
    """Return what holds of a provider's crawl for documents that are no pages of a site.

    Nothing is followed and nothing is fetched from a site, so that there is no robots.txt to obey,
    no request of a crawl to log, and no response to keep. The provider's own pause is not the
    source's, for which the floor of public hosts holds; the client has its own patience.
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
            tables=config.extract.tables,
            markdown=config.extract.markdown,
            max_markdown_chars=config.extract.max_markdown_chars,
            template=False,
        ),
        render=Render.NEVER,
    )


async def run_provider(
    home: DataDirectory, plan: Plan, run: Callable[[Plan], Awaitable[CrawlReport]]
) -> ProviderRun:
    """Run a provider by its channel, and by its crawl where that has not brought enough (G-22).

    What is for no provider is a crawl.
    """
    if not plan.provider:
        return ProviderRun(await run(plan))
    decision = await _resumed_channel(home, plan) or await ask_channel(home, plan.provider)
    first = await plan_for_channel(home, plan, decision)
    if first is plan:
        return ProviderRun(await run(replace(plan, channel_why=decision.why)), decision)
    report = await run(first)
    why = await fallback_reason(home.world, report.job)
    if not why:
        return ProviderRun(report, decision)
    fallen = ChannelDecision(Channel.CRAWL, f"{decision.channel.source}: {why}", decision.library)
    plan = replace(plan, resume=plan.resume and await _is_followed(home, report.job))
    return ProviderRun(await run(replace(plan, channel_why=fallen.why)), fallen)


async def _resumed_channel(home: DataDirectory, plan: Plan) -> ChannelDecision | None:
    """Return the channel of an interrupted run; None if there is none."""
    if not plan.resume:
        return None
    known = await providers.jobs_of(home.world, plan.provider)
    newest = next((job for job in known if job.kind is JobKind.CRAWL), None)
    if newest is None or newest.state.is_final:
        return None
    why = f"job {newest.id} continues"
    return ChannelDecision(newest.channel, why, newest.library, newest.seeds)


async def _is_followed(home: DataDirectory, job: CrawlJob) -> bool:
    """Return whether a crawl has followed a job already; one before it was for another run."""
    own = await providers.jobs_of(home.world, job.provider)
    return any(
        one.channel is Channel.CRAWL and one.kind is JobKind.CRAWL
        for one in own
        if one.created_at_s > job.created_at_s
    )


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """What came of looking for one provider.

    Args:
        finding: None where the source could not be asked.
        problem: why it could not.
    """

    provider: Provider
    finding: LibraryFinding | None
    problem: str = ""


def stored_findings(root: Path, settings: Settings) -> dict[str, LibraryFinding]:
    """Return what a data directory remembers, by the key of the provider; nothing is made."""
    try:
        store = open_store(root, settings, create=False)
    except StoreMissing:
        return {}
    with closing(store):
        return asyncio.run(_every(store.named_values))


async def stored_finding(home: DataDirectory, provider: Provider) -> LibraryFinding | None:
    """Return what is remembered of a provider."""
    named = await home.store.named_values.get(FINDINGS_NAMESPACE, provider.key)
    return valid_finding(provider, _adapter().validate_json(named.body) if named else None)


def valid_finding(provider: Provider, finding: LibraryFinding | None) -> LibraryFinding | None:
    """Return a finding that is about a provider under its present name or API, and no other."""
    return finding if finding and finding.name == _asked_for(provider) else None


def _asked_for(provider: Provider) -> str:
    """Return what a source is asked for a provider."""
    return provider.api if provider.has_api else provider.name


def is_fresh(finding: LibraryFinding | None, *, wall_s: float) -> bool:
    """Return whether a provider need not be looked for again."""
    return finding is not None and 0 <= wall_s - finding.at_s < FINDING_HOLDS_S


async def check_provider(
    home: DataDirectory, provider: Provider, client: ExternalDocsClient | None
) -> ProviderCheck:
    """Ask for one provider's library (`resolve-library-id`), or its API, and remember the answer.

    Args:
        client: asks the external source; None if none is configured.
    """
    documents: tuple[str, ...] = ()
    try:
        if provider.has_api:
            own = await ApiDocsClient(home.docs_api.client(), home.world.clock).find(provider.api)
            library, documents = (own.library, own.documents) if own else ("", ())
        else:
            picked = await require_source(client).resolve(provider.name)
            library = picked.library if picked else ""
    except SourceError as error:
        return ProviderCheck(provider, None, error.message)
    at_s = home.world.clock.wall_s()
    finding = LibraryFinding(provider.key, _asked_for(provider), library, at_s, documents)
    await _remember(home, finding)
    return ProviderCheck(provider, finding)


def docs_client_of(home: DataDirectory) -> ExternalDocsClient | None:
    """Return who asks the external source for one run; None where none is named."""
    if home.docs_source is None:
        return None
    return ExternalDocsClient(home.docs_source, home.world.clock)


def require_source(client: ExternalDocsClient | None) -> ExternalDocsClient:
    """Refuse to ask an external source that nobody has named."""
    if client is None:
        raise ConfigError(
            "no external source is configured",
            hint="set GEOMI_CONTEXT7_URL=https://context7.com, and a GEOMI_CONTEXT7_KEY if needed",
        )
    return client


async def check_providers(
    home: DataDirectory, client: ExternalDocsClient | None, keys: Sequence[str] = ()
) -> list[ProviderCheck]:
    """Look for providers, one after the other; where none is named, all that can be asked for."""
    known = providers.with_presets(await home.world.store.providers.list())
    wanted = [providers.provider_named(key, known) for key in keys]
    if not keys:
        wanted = [one for one in known.values() if client or one.has_api]
    if not wanted:
        require_source(client)
    return [await check_provider(home, provider, client) for provider in wanted]


async def unchecked_providers(home: DataDirectory) -> list[str]:
    """Name the providers that can be asked for, and were not within a day."""
    known = providers.with_presets(await home.world.store.providers.list())
    wall_s = home.world.clock.wall_s()
    found = await _every(home.store.named_values)
    return [
        key
        for key, provider in known.items()
        if (provider.has_api or home.docs_source is not None)
        and not is_fresh(valid_finding(provider, found.get(key)), wall_s=wall_s)
    ]


async def _remember(home: DataDirectory, finding: LibraryFinding) -> None:
    named_values, body = home.store.named_values, _adapter().dump_json(finding)
    named = await named_values.get(FINDINGS_NAMESPACE, finding.key)
    if named is None:
        await named_values.add(FINDINGS_NAMESPACE, finding.key, body)
    else:  # whoever was faster has just asked the same
        await named_values.change(replace(named, body=body))


async def _every(named_values: NamedValues) -> dict[str, LibraryFinding]:
    found: dict[str, LibraryFinding] = {}
    after = ""
    while found_now := await named_values.list(
        FINDINGS_NAMESPACE, after=after, limit=MAX_LISTED_VALUES
    ):
        after = found_now[-1].name
        found |= {named.name: _adapter().validate_json(named.body) for named in found_now}
    return found


@cache
def _adapter() -> TypeAdapter[LibraryFinding]:
    return TypeAdapter(LibraryFinding)
