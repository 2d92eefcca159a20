"""Which channel a provider's documents come by, and why (CFG-23, C7-01…C7-04, G-22).

What decides, in this order: without a source there is only the crawl. A registration that says
`crawl` is somebody's word. Else the source is asked: a provider that it has is collected there, one
that it does not have is crawled; the crawl is also what is left where the source fails or has
nothing to say.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from geomi.app import registry
from geomi.app.findings import finding_of, is_fresh, librarian_of, look_for
from geomi.app.home import Home
from geomi.app.plan import Plan
from geomi.app.ready import library_of, ready_plan
from geomi.engine.external_docs import shortcoming
from geomi.engine.worker.supervisor import CrawlReport
from geomi.model.external_docs import LibraryFinding
from geomi.model.job import CrawlJob, JobState
from geomi.model.site import Channel, Provider
from geomi.seed.external_docs import TOPICS

FALLBACK = "channel crawl"


@dataclass(frozen=True, slots=True)
class Decision:
    """The channel that holds for a provider, and why.

    Args:
        library: the id of its library, where one is known.
    """

    channel: Channel
    why: str
    library: str = ""


@dataclass(frozen=True, slots=True)
class Collected:
    """A run that is over: how it ended, and by which channel a provider's documents came."""

    report: CrawlReport
    decision: Decision | None = None


def decide(provider: Provider, finding: LibraryFinding | None, *, has_source: bool) -> Decision:
    """Say which channel holds for a provider by what is known now."""
    library = finding.library if finding else ""
    if not has_source:
        return Decision(Channel.CRAWL, "GEOMI_CONTEXT7_URL names no source", library)
    if provider.channel is Channel.CRAWL:
        return Decision(Channel.CRAWL, "its registration says so", library)
    if finding is None:
        return Decision(provider.channel, "Context7 was not asked yet")
    day = datetime.fromtimestamp(finding.at_s, UTC).date().isoformat()
    if not library:
        return Decision(Channel.CRAWL, f"Context7 did not have it on {day}")
    return Decision(Channel.CONTEXT7, f"Context7 had it as {library} on {day}", library)


async def remembered(home: Home, key: str) -> Decision:
    """Say which channel holds for a provider, without asking anybody."""
    provider = await registry.find(home.world, key)
    finding = await finding_of(home, provider)
    return decide(provider, finding, has_source=home.ready is not None)


async def asked(home: Home, key: str) -> Decision:
    """Say which channel holds for a provider; the source is asked where that is a day ago."""
    provider = await registry.find(home.world, key)
    finding = await finding_of(home, provider)
    needs_no_answer = home.ready is None or provider.channel is Channel.CRAWL
    if needs_no_answer or is_fresh(finding, wall_s=home.world.clock.wall_s()):
        return decide(provider, finding, has_source=home.ready is not None)
    checked = await look_for(home, provider, librarian_of(home))
    if checked.problem:
        return Decision(Channel.CRAWL, f"Context7: {checked.problem}")
    return decide(provider, checked.finding, has_source=True)


async def planned(home: Home, plan: Plan, decision: Decision) -> Plan:
    """Return the plan by which a provider's documents come, given its crawl's."""
    if decision.channel is not Channel.CONTEXT7 or not decision.library or home.ready is None:
        return plan
    name = (await registry.find(home.world, plan.provider)).name
    return ready_plan(plan, home.ready.address, decision.library, name)


async def collect(
    home: Home, plan: Plan, run: Callable[[Plan], Awaitable[CrawlReport]]
) -> Collected:
    """Run a provider by its channel, and by its crawl where that has not brought enough (G-22).

    What is for no provider is a crawl.
    """
    if not plan.provider:
        return Collected(await run(plan))
    decision = await _again(home, plan) or await asked(home, plan.provider)
    first = await planned(home, plan, decision)
    if first is plan:
        return Collected(await run(_noted(plan, decision)), decision)
    report = await run(first)
    why = await fallback(home, report.job)
    if not why:
        return Collected(report, decision)
    fallen = Decision(Channel.CRAWL, f"Context7: {why}", decision.library)
    plan = replace(plan, resume=plan.resume and await _is_followed(home, report.job))
    return Collected(await run(_noted(plan, fallen)), fallen)


async def fallback(home: Home, job: CrawlJob) -> str:
    """Say why a job that asked a source is to be followed by a crawl; empty where it is not."""
    if not library_of(job) or job.state is not JobState.COMPLETED or job.crawl:
        return ""
    entries = await home.world.census.entries(job.id, state=None, after=b"", limit=len(TOPICS))
    return shortcoming(entries)


async def _again(home: Home, plan: Plan) -> Decision | None:
    """Say by which channel a run goes on that was interrupted; None where it begins."""
    if not plan.resume:
        return None
    own = [job for job in await registry.jobs_of(home.world, plan.provider) if not job.crawl]
    if not own or own[0].state.is_final:
        return None
    library = library_of(own[0])
    channel = Channel.CONTEXT7 if library else Channel.CRAWL
    return Decision(channel, f"job {own[0].id} goes on", library)


async def _is_followed(home: Home, job: CrawlJob) -> bool:
    """Say whether a crawl has followed a job already; one before it was for another run."""
    own = await registry.jobs_of(home.world, job.provider)
    after = (one for one in own if one.created_at_s > job.created_at_s and not one.crawl)
    return any(not library_of(one) for one in after)


def _noted(plan: Plan, decision: Decision) -> Plan:
    """Let a crawl's job say why it is one."""
    note = (f"{FALLBACK} ({decision.why})", f"provider {plan.provider}")
    resolved = replace(plan.resolved, origins=(*plan.resolved.origins, note))
    return replace(plan, resolved=resolved)
