"""Collect the technical facts of a domain's hosts: robots.txt, sitemap, server (SED-45), no page.

Every request needs a host's lease and gets a row in the request log, like those of a crawl. The
same engine reads and obeys robots.txt, and the same parser reads sitemaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from geomi.engine.host.reserve import RedirectFollower
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.hosts import DomainSession, HostProbe, RecordingFetcher
from geomi.engine.seeds.sitemaps import HostSitemaps
from geomi.engine.visit.rules import JobRules
from geomi.errors import LeaseLost, SeedError, StoreBusy
from geomi.fetch.request import Requests
from geomi.model.config import CrawlConfig
from geomi.model.dataset.contract import HostFacts, RobotsFacts, ServerInfo, SitemapFacts
from geomi.model.dataset.seed import ErrorType
from geomi.model.site import SiteRule
from geomi.url.parse import parse as parse_url

# Only hosts are judged here: no page is let in or kept out, in whatever year.
ANY_YEAR = 9999


@dataclass(frozen=True, slots=True)
class CollectedHost:
    """What is known of a host, and its files where there are any."""

    facts: HostFacts
    robots: bytes | None = None
    sitemap: bytes | None = None


async def collect(
    seeding: SeedContext,
    domain: str,
    names: Sequence[str],
    reviews: Sequence[SiteRule] = (),
    *,
    alone: bool = False,
) -> dict[str, CollectedHost]:
    """Collect the facts of some hosts of a domain, one after the other.

    Args:
        names: of hosts, with their port where it is an unusual one.
        reviews: what people decided about hosts.
        alone: files are rehearsed in the process that can be killed before they are read here.

    Raises:
        SeedError: the servers of the domain took too long together, or one could not be asked.
    """
    config = facts_config(seeding.config)
    clock = seeding.world.clock
    hearing = RecordingFetcher(seeding.world.fetcher, clock, domain, config.seeds.domain_timeout_s)
    world = replace(seeding.world, fetcher=hearing)
    requests = Requests(config, (), version=world.version)
    await world.listed.read(world.store)
    rules = JobRules(config, (), now_year=ANY_YEAR, decisions=reviews, listed=world.listed)
    line = DomainSession(world, rules)
    walk = RedirectFollower(rules, requests)
    collector = _Collector(
        rules,
        hearing,
        HostProbe(world, rules, requests, line, hearing, alone=alone),
        HostSitemaps(
            clock,
            line,
            walk,
            hearing,
            max_lists=config.seeds.max_sitemaps,
            rehearsing=world.compute if alone else None,
        ),
    )
    try:
        return {name: await collector.collect(name) for name in names}
    except (StoreBusy, LeaseLost) as late:  # the host's lease: the domain is still ours
        raise SeedError(
            f"a host of `{domain}` had no turn in time: {late.message}",
            kind=ErrorType.TIMEOUT,
            hint="other workers use it, or its delay is long; try the domain again later",
        ) from late
    finally:
        await line.hang_up()


def facts_config(config: CrawlConfig) -> CrawlConfig:
    """Return a configuration under which robots.txt is asked for, read and obeyed, whatever else.

    A copy that somebody keeps tells nothing of what a server says now.
    """
    robots = replace(config.robots, respect=True, collect_sitemaps=True, persist=False)
    return replace(config, robots=robots)


@dataclass(frozen=True, slots=True)
class _Collector:
    rules: JobRules
    hearing: RecordingFetcher
    reach: HostProbe
    maps: HostSitemaps

    async def collect(self, name: str) -> CollectedHost:
        """Collect the facts of one host."""
        if refusal := self._refusal(name):
            return CollectedHost(
                HostFacts(
                    RobotsFacts(False, error=refusal),
                    SitemapFacts(False, error=refusal),
                    ServerInfo(),
                )
            )
        self.hearing.check()
        reached, robots = await self.reach.reach(name)
        sitemap, listing = await self.maps.find(reached, robots.sitemap_urls)
        await self.reach.show(reached)
        return CollectedHost(
            HostFacts(robots, sitemap, self.hearing.server_info(name)),
            self.reach.file(reached) if robots.exists else None,
            listing,
        )

    def _refusal(self, name: str) -> str:
        """Say why a host is not asked at all: a rule, or somebody, has blocked it."""
        root = parse_url(f"https://{name}/")
        assert root is not None, "the host of a URL is one of another scheme, too"
        verdict = self.rules.host_verdict(root)
        return "" if verdict.admitted else f"{verdict.rule}: {verdict.detail}"
