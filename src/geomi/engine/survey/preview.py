"""Fetch and analyse one page in its host's turn, and store nothing (API-12).

Only the page's own host is asked (C-68). If the page cannot be fetched, an error says why.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.analyse.page import analyse
from geomi.engine.host.reserve import RedirectFollower, as_entry, reserved_session
from geomi.engine.host.robots import RobotsKeeper
from geomi.engine.host.session import HostSession, MustRest
from geomi.engine.visit.parsing import PageReader
from geomi.engine.visit.rules import JobRules
from geomi.engine.world import World
from geomi.errors import ConfigError, LeaseLost, NothingFetched, StoreBusy
from geomi.fetch.request import Requests
from geomi.fetch.response import reason_for_tenants, respond
from geomi.model.index.analysis import Analysis, AnalysisInput
from geomi.model.page import Article, Fetched
from geomi.model.verdict import Outcome, Verdict
from geomi.ports.runtime import Unread
from geomi.url.parse import Url

LONGEST_WAIT_S = 10.0  # for a host that a crawl is asking: somebody sits before the screen


@dataclass(frozen=True, slots=True)
class Preview:
    """A page as it would be collected, and what would be understood of it."""

    url: str
    final_url: str
    status: int
    article: Article
    analysis: Analysis


async def preview(world: World, url: Url, rules: JobRules) -> Preview:
    """Fetch a page and understand it; `NothingFetched` says what kept it away."""
    config, answer = rules.config, rules.seed(url)
    if isinstance(answer, Verdict):
        raise ConfigError(f"{url.href} is excluded: {answer.detail}", hint=answer.hint)
    try:
        async with reserved_session(
            world, config, url.authority, rules.privacy, longest_wait_s=LONGEST_WAIT_S
        ) as session:
            await session.take_place()
            requests = Requests(config, [url.href], version=world.version)
            keeper = RobotsKeeper(world, "", config, requests, rules.privacy)
            robots = await keeper.read(url, session)
            if robots.unreached is not None:
                raise _nothing(url, robots.unreached, f"robots.txt: {robots.copy.detail}")
            follower = RedirectFollower(rules, requests)
            fetched = await follower.ask(as_entry(answer), session, robots, keeper)
            if isinstance(fetched, Verdict):
                raise _nothing(url, Outcome.ROBOTS, fetched.detail)
            article = await _read(world, rules, url, fetched, session)
    except (LeaseLost, MustRest) as stopped:
        raise StoreBusy(f"{url.host} is not available now: {stopped}") from stopped
    subject = AnalysisInput(fetched.url, article, world.clock.wall_s())
    return Preview(
        url.href, fetched.url, fetched.status, article, analyse(subject, config.analysis)
    )


async def _read(
    world: World, rules: JobRules, url: Url, fetched: Fetched, session: HostSession
) -> Article:
    outcome = respond(fetched)
    if outcome is Outcome.REDIRECTED:
        raise _nothing(url, outcome, f"it redirects to {fetched.header('location')[:500]}")
    if outcome is not Outcome.OK:
        raise _nothing(url, outcome, fetched.detail or f"HTTP {fetched.status}")
    reader = PageReader(world, "", rules.config, rules.privacy)
    # Not here: this process may be the service itself, and the page is anybody's.
    alone = not world.markdown_rules
    article = await reader.read(fetched, session, alone=alone)
    if isinstance(article, Unread):
        outcome = Outcome.POISONED if article.crashed else Outcome.TOO_COMPLEX
        raise _nothing(url, outcome, article.reason)
    if article.unreadable:
        raise _nothing(url, Outcome.WRONG_TYPE, article.unreadable)
    return article


def _nothing(url: Url, outcome: Outcome, detail: str) -> NothingFetched:
    return NothingFetched(f"{url.href}: {reason_for_tenants(outcome, detail)}")
