"""Survey a site without crawling it: read robots.txt, sitemaps, /llms.txt and the seed pages.

Every request waits for its host's turn and gets a row in the request log. The pages themselves are
not kept. A URL is judged by the rules of a crawl, so `geomi map` lists exactly what `geomi crawl`
would put into its frontier.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from geomi.engine.host.reserve import RedirectFollower, as_entry, reserved_session
from geomi.engine.host.robots import JobRobots, RobotsKeeper
from geomi.engine.host.session import HostSession, MustRest
from geomi.engine.visit.links import FoundLinks, LinkGate
from geomi.engine.visit.parsing import ListReader
from geomi.engine.visit.rules import JobRules
from geomi.engine.world import World
from geomi.errors import LeaseLost
from geomi.extract.media import is_readable, is_risky
from geomi.extract.page import extract
from geomi.fetch.request import Requests
from geomi.fetch.response import respond
from geomi.model.entry import Discovered, EntryKind, Source
from geomi.model.page import Fetched
from geomi.model.verdict import Exclusion, Outcome, Verdict
from geomi.robots.meta import directives
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

MAX_LISTED = 100_000
MAX_LISTS = 200  # sitemaps and listings read in one survey
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class ListedUrl:
    """A URL that a crawl would take, or that robots.txt keeps it from (`robots` says why)."""

    url: str
    source: Source
    pattern: str = ""
    lastmod_s: float | None = None
    robots: str = ""


@dataclass(frozen=True, slots=True)
class ListRead:
    """A sitemap or a listing that was requested; a missing one is not an error."""

    url: str
    urls: int
    problem: str = ""
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class SampledPage:
    """One page that was fetched to learn what pages of this site cost."""

    url: str
    wire_bytes: int
    fetch_ms: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class HostTerms:
    """The required politeness of a host."""

    host: str
    delay_s: float
    robots: str


def _reason(outcome: Outcome, detail: str) -> str:
    return f"{outcome}: {detail}"


@dataclass(slots=True)
class Survey:
    """The results of a survey; filled while it runs."""

    listed: dict[bytes, ListedUrl] = field(default_factory=dict)
    excluded: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    lists: list[ListRead] = field(default_factory=list)
    samples: list[SampledPage] = field(default_factory=list)
    hosts: list[HostTerms] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_cut: bool = False
    reason: Callable[[Outcome, str], str] = _reason

    @property
    def allowed(self) -> list[ListedUrl]:
        """What a crawl would fetch."""
        return [one for one in self.listed.values() if not one.robots]

    @property
    def disallowed(self) -> Mapping[str, list[ListedUrl]]:
        """What robots.txt forbids, by the line that does."""
        found: dict[str, list[ListedUrl]] = {}
        for one in self.listed.values():
            if one.robots:
                found.setdefault(one.robots, []).append(one)
        return found


async def survey(
    world: World,
    seeds: Sequence[Url],
    rules: JobRules,
    *,
    samples: int = 0,
    reason: Callable[[Outcome, str], str] = _reason,
) -> Survey:
    """Survey the sites of some seeds; fetch up to `samples` of the pages found on each.

    Args:
        reason: says why a request failed, to whom the survey is for.
    """
    found, gate = Survey(reason=reason), LinkGate(rules, world.loop_share)
    requests = Requests(rules.config, [seed.href for seed in seeds], version=world.version)
    for host, of_host in groupby(sorted(seeds, key=_authority), key=_authority):
        surveyor = _Surveyor(world, gate, requests, found)
        await surveyor.look_at(host, list(of_host), samples)
    return found


def _authority(url: Url) -> str:
    return url.authority


class _Surveyor:
    """Surveys one host under its lease."""

    def __init__(self, world: World, gate: LinkGate, requests: Requests, found: Survey) -> None:
        self._world = world
        self._rules = gate.rules
        self._config = gate.rules.config
        self._gate = gate
        self._requests = requests
        self._found = found
        self._privacy = gate.rules.privacy
        self._keeper = RobotsKeeper(world, "", self._config, requests, self._privacy)
        self._walk = RedirectFollower(gate.rules, requests)

    async def look_at(self, host: str, seeds: Sequence[Url], samples: int) -> None:
        reserved = reserved_session(self._world, self._config, host, self._privacy)
        try:
            async with reserved as session:
                await session.take_place()
                await self._look(session, seeds, samples)
        except (LeaseLost, MustRest) as stopped:
            self._found.problems.append(f"{host}: {stopped}")

    async def _look(self, session: HostSession, seeds: Sequence[Url], samples: int) -> None:
        robots = await self._keeper.read(seeds[0], session)
        host = seeds[0].authority
        if robots.unreached is not None:
            told = self._found.reason(robots.unreached, robots.copy.detail)
            self._found.problems.append(f"{host}: {told}")
            return
        named = self._gate.sitemaps(robots.file.sitemaps, seeds[0])
        self._take(replace(named, discovered=()))
        waiting = deque((*named.discovered, *self._rules.probes(seeds[0])))
        await self._read_lists(waiting, session, robots)
        for seed in seeds:
            await self._read_seed(seed, session, robots)
        self._judge(robots, seeds[0])
        fetched = {sample.url for sample in self._found.samples}
        fresh = [one for one in self._found.allowed if one.url not in fetched]
        for one in _spread(fresh, host, samples - len(fetched)):
            await self._sample(one, session)
        self._found.hosts.append(HostTerms(host, session.delay_s(), robots.policy.reason))

    async def _read_lists(
        self, waiting: deque[Discovered], session: HostSession, robots: JobRobots
    ) -> None:
        """Read sitemaps, those they name in turn, and listings, up to a limit."""
        seen: set[bytes] = set()
        while waiting and len(self._found.lists) < MAX_LISTS:
            one = waiting.popleft()
            if one.url_hash in seen:
                continue
            seen.add(one.url_hash)
            entry, reader = as_entry(one), ListReader(as_entry(one))
            fetched = await self._walk.ask(entry, session, robots, self._keeper, reader.sink)
            if isinstance(fetched, Verdict):
                self._found.lists.append(ListRead(one.url, 0, f"robots.txt: {fetched.detail}"))
                continue
            found, problem = await self._read_list(reader, fetched, session)
            pages = [one for one in found.discovered if one.kind is EntryKind.PAGE]
            waiting += [one for one in found.discovered if one.kind is not EntryKind.PAGE]
            is_missing = _is_missing(one, respond(fetched))
            self._found.lists.append(ListRead(one.url, len(pages), problem, is_missing))
            self._take(replace(found, discovered=tuple(pages)))
        if waiting:
            told = f"{len(waiting)} more lists were not read; a survey reads {MAX_LISTS}"
            self._found.problems.append(f"{session.lease.host}: {told}")

    async def _read_list(
        self, reader: ListReader, fetched: Fetched, session: HostSession
    ) -> tuple[FoundLinks, str]:
        if (outcome := respond(fetched)) is not Outcome.OK:
            told = fetched.detail or f"HTTP {fetched.status}"
            return FoundLinks(), self._found.reason(outcome, told)
        wall_s = self._world.clock.wall_s()
        return await reader.found(fetched, self._gate, wall_s=wall_s, rest=session.pause)

    async def _read_seed(self, seed: Url, session: HostSession, robots: JobRobots) -> None:
        """Take the links of a start page; the page itself is in the list."""
        answer = self._rules.seed(seed)
        if isinstance(answer, Verdict):
            self._take(FoundLinks(excluded=(Exclusion(answer.rule, seed.href, answer.detail),)))
            return
        self._take(FoundLinks(discovered=(answer,)))
        entry = as_entry(answer)
        sink = ListReader(entry).sink
        fetched = await self._walk.ask(entry, session, robots, self._keeper, sink)
        if isinstance(fetched, Verdict):
            return
        if (outcome := respond(fetched)) is not Outcome.OK:
            told = fetched.detail or f"HTTP {fetched.status}"
            self._found.problems.append(f"{seed.href}: {self._found.reason(outcome, told)}")
            return
        self._note(entry.url, fetched)
        kind = fetched.header("content-type")
        if is_readable(kind) and not is_risky(kind, fetched.url):
            limit = self._config.limits.max_links_per_page
            article = extract(
                fetched.body, fetched.url, kind, self._config.extract, max_links=limit
            )
            nofollow = "nofollow" in directives(sorted(article.robots), self._requests.token)
            left_out = article.links_left_out
            self._take(
                await self._gate.admit(
                    entry,
                    fetched.url,
                    article.links,
                    nofollow=nofollow,
                    left_out=left_out,
                    rest=session.pause,
                )
            )

    async def _sample(self, one: ListedUrl, session: HostSession) -> None:
        url = parse_url(one.url)
        assert url is not None, "only URLs that parse are listed"
        fetched = await session.ask(self._requests.page(as_entry(_page(one, url)), url))
        self._note(one.url, fetched)

    def _note(self, url: str, fetched: Fetched) -> None:
        sample = SampledPage(url, fetched.wire_bytes, fetched.fetch_ms, respond(fetched))
        self._found.samples.append(sample)

    def _take(self, found: FoundLinks) -> None:
        for one in found.discovered:
            if len(self._found.listed) >= MAX_LISTED:
                self._found.is_cut = True
                break
            listed = ListedUrl(one.url, one.source, one.pattern, one.lastmod_s)
            self._found.listed.setdefault(one.url_hash, listed)
        for exclusion in found.excluded:
            count, examples = self._found.excluded.get(exclusion.rule, (0, ()))
            if len(examples) < EXAMPLES:
                examples = (*examples, self._privacy.told(exclusion.url))
            self._found.excluded[exclusion.rule] = count + 1, examples

    def _judge(self, robots: JobRobots, here: Url) -> None:
        """Note what this host's robots.txt says of the URLs found on it."""
        for url_hash, one in self._found.listed.items():
            url = parse_url(one.url)
            if url is None or (url.scheme, url.authority) != (here.scheme, here.authority):
                continue
            verdict = robots.judge(url)
            if not verdict.admitted:
                self._found.listed[url_hash] = replace(one, robots=verdict.detail)


def _is_missing(one: Discovered, outcome: Outcome) -> bool:
    """Return whether a list is not there; where nobody named it, a page may stand in its place."""
    is_other = outcome is Outcome.WRONG_TYPE and one.source is Source.SEED
    return outcome is Outcome.GONE or is_other


def _spread(listed: Sequence[ListedUrl], host: str, many: int) -> Iterator[ListedUrl]:
    """Choose some URLs of a host, evenly over the list: neighbours resemble each other."""
    here = [one for one in listed if (url := parse_url(one.url)) and url.authority == host]
    for number in range(min(many, len(here))):
        yield here[number * len(here) // min(many, len(here))]


def _page(one: ListedUrl, url: Url) -> Discovered:
    return Discovered(b"", one.url, url.authority, depth=1, priority=0, source=one.source)
