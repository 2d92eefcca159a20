"""Download one text that the operator subscribes to, in its host's turn and by its robots.txt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geomi.engine.host.reserve import RedirectFollower, as_entry, reserved_session
from geomi.engine.host.robots import RobotsKeeper
from geomi.engine.host.session import MustRest
from geomi.engine.visit.rules import JobRules
from geomi.engine.world import World
from geomi.errors import LeaseLost, NothingFetched, StoreBusy
from geomi.fetch.request import Requests
from geomi.fetch.response import respond
from geomi.model.config import CrawlConfig
from geomi.model.entry import EntryKind, Source
from geomi.model.page import Fetched, Headers
from geomi.model.verdict import Outcome, Verdict
from geomi.url.parse import Url

ANY_YEAR = 9999  # no list is a calendar without an end


@dataclass(frozen=True, slots=True)
class Download:
    """What came: the answer, or word that the text is still the one that is known."""

    fetched: Fetched
    is_unchanged: bool


async def download(
    world: World, config: CrawlConfig, url: Url, conditions: Mapping[str, Headers]
) -> Download:
    """Fetch a text along its redirects; `NothingFetched` says what kept it away.

    Args:
        config: how it is asked for; `limits.max_page_bytes` is its greatest size.
        conditions: the headers that ask a URL only for another text than the known one.
    """
    rules = JobRules(config, [url.href], now_year=ANY_YEAR)
    try:
        async with reserved_session(world, config, url.authority, rules.privacy) as session:
            await session.take_place()
            requests = Requests(config, [], version=world.version)
            keeper = RobotsKeeper(world, "", config, requests, rules.privacy)
            robots = await keeper.read(url, session)
            if robots.unreached is not None:
                raise _nothing(url, f"robots.txt: {robots.unreached}: {robots.copy.detail}")
            follower = RedirectFollower(rules, requests, conditions)
            entry = as_entry(rules.found_list(url, EntryKind.LISTING, Source.SEED))
            fetched = await follower.ask(entry, session, robots, keeper)
    except (LeaseLost, MustRest) as stopped:
        raise StoreBusy(f"{url.host} is not available now: {stopped}") from stopped
    if isinstance(fetched, Verdict):
        raise _nothing(url, fetched.detail)
    outcome = respond(fetched, is_conditional=fetched.url in conditions)
    if outcome not in (Outcome.OK, Outcome.NOT_MODIFIED):
        raise _nothing(url, f"{outcome}: {fetched.detail or f'HTTP {fetched.status}'}")
    return Download(fetched, outcome is Outcome.NOT_MODIFIED)


def _nothing(url: Url, why: str) -> NothingFetched:
    return NothingFetched(f"{url.href}: {why}", hint="download it by hand, and name the file")
