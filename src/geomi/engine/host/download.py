"""Fetch one file that the operator names, in its host's turn, into a sink.

It is asked for like a list of a site: robots.txt is obeyed, every redirect is judged, and each
request has a row in the log. Only its size and its time have limits of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from geomi.engine.host.reserve import RedirectFollower, as_entry, reserved_session
from geomi.engine.host.robots import RobotsKeeper
from geomi.engine.host.session import MustRest
from geomi.engine.visit.rules import read_job_rules
from geomi.engine.world import World
from geomi.errors import LeaseLost, NothingFetched, StoreBusy
from geomi.fetch.request import Requests
from geomi.fetch.response import respond
from geomi.model.config import CrawlConfig, Scope, Within
from geomi.model.entry import EntryKind, Source
from geomi.model.page import Fetched, Headers, Sink
from geomi.model.verdict import Outcome, Verdict
from geomi.url.parse import Url

TOTAL_S = 600.0
_TOLD = frozenset({Outcome.OK, Outcome.NOT_MODIFIED})


async def download(
    world: World,
    config: CrawlConfig,
    url: Url,
    sink: Sink,
    conditions: Mapping[str, Headers],
    *,
    max_bytes: int,
) -> Fetched:
    """Fetch a file, or learn that it has not changed; `NothingFetched` says why not.

    Args:
        conditions: what is sent along to a URL that the way leads to.
        max_bytes: its greatest size, as it comes.
    """
    rules = await read_job_rules(world, _file_config(config, max_bytes), [url.href])
    verdict = rules.host_verdict(url)
    if not verdict.admitted:
        raise NothingFetched(f"{url.href}: {verdict.detail}", hint=verdict.hint)
    requests = Requests(rules.config, [], version=world.version)
    keeper = RobotsKeeper(world, "", rules.config, requests, rules.privacy)
    entry = as_entry(rules.found_list(url, EntryKind.LISTING, Source.SEED))
    follower = RedirectFollower(rules, requests, conditions)
    try:
        async with reserved_session(world, rules.config, url.authority, rules.privacy) as session:
            await session.take_place()
            robots = await keeper.read(url, session)
            if robots.unreached is not None:
                raise _nothing(url, robots.unreached, f"robots.txt: {robots.copy.detail}")
            fetched = await follower.ask(entry, session, robots, keeper, sink)
    except (LeaseLost, MustRest) as stopped:
        raise StoreBusy(f"{url.host} is not available now: {stopped}") from stopped
    if isinstance(fetched, Verdict):
        raise _nothing(url, Outcome.ROBOTS, fetched.detail)
    outcome = respond(fetched, is_conditional=bool(conditions.get(fetched.url)))
    if outcome not in _TOLD:
        raise _nothing(url, outcome, fetched.detail or f"HTTP {fetched.status}")
    return fetched


def _file_config(config: CrawlConfig, max_bytes: int) -> CrawlConfig:
    return replace(
        config,
        scope=Scope(within=Within.ANY, blocked_hosts=config.scope.blocked_hosts),
        limits=replace(config.limits, max_page_bytes=max_bytes),
        http=replace(config.http, total_timeout_s=TOTAL_S),
    )


def _nothing(url: Url, outcome: Outcome, detail: str) -> NothingFetched:
    hint = "download it yourself, and name the file" if outcome is Outcome.ROBOTS else ""
    return NothingFetched(f"{url.href}: {outcome}: {detail}", hint=hint)
