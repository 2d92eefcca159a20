"""Name and judge a URL as one job does; nothing here remembers a URL.

`JobRules` is what the configuration of a job decides, compiled once. Whoever starts a job, works on
it, surveys its sites or explains it asks the same object. It never changes: a job that goes on
under another configuration has other rules. `LinkGate` adds a worker's memory to them.

Rules kept:
- A refusal comes from the first that objects: what people decided about the site (TRP-07), the
  subscribed lists of domains (SCP-07), personal data in the URL (C-47), then the chain of `admit`.
- The lists alone may change while a job runs: a domain that is found to be bad today is left alone
  from today.
- People overrule a trap detector, and no other rule.
- A redirect keeps the depth and the source of the URL that led to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from geomi.admit.rules import Admission
from geomi.engine.listed_domains import ListedDomains
from geomi.engine.visit.identity import UrlIdentity
from geomi.engine.visit.privacy import Privacy
from geomi.engine.world import World
from geomi.frontier.priority import priority
from geomi.model.config import CrawlConfig
from geomi.model.entry import Discovered, EntryKind, Source, UrlEntry
from geomi.model.site import Review, SiteRule
from geomi.model.verdict import Verdict
from geomi.ports.store import Store
from geomi.url.parse import Url, split, url_hash
from geomi.url.parse import parse as parse_url

PROBES = ((EntryKind.SITEMAP, "/sitemap.xml"), (EntryKind.LISTING, "/llms.txt"))
TRAP_RULES = "trap."  # how the names of all detectors begin
_YEAR_S = 365.2425 * 86_400


class JobRules:
    """The rules of one job about URLs, and what it does about personal data.

    Args:
        now_year: how far a calendar may go on before it is a trap.
        decisions: what people decided about sites.
        listed: the domains that no job visits; without it no list is asked.
    """

    def __init__(
        self,
        config: CrawlConfig,
        seeds: Sequence[str],
        *,
        now_year: int,
        decisions: Sequence[SiteRule] = (),
        listed: ListedDomains | None = None,
    ) -> None:
        self.config = config
        self.identity = UrlIdentity(config)
        self.privacy = Privacy(config.safety)
        self.decisions = SiteDecisions(decisions)
        self._listed = listed or ListedDomains()
        self._admission = Admission(config, seeds, now_year)

    def seed(self, url: Url) -> Discovered | Verdict:
        """Judge one of the URLs the crawl was asked to start from."""
        url = self.identity.wire(url)
        verdict = self.verdict(url, 0, is_seed=True)
        if not verdict.admitted:
            return verdict
        return self.found_page(url, self.identity.key(url), 0, Source.SEED, None)

    def probes(self, seed: Url) -> tuple[Discovered, ...]:
        """Return what a seed's host is asked for on the chance that it is there.

        As entries of a seed they are told apart from lists that somebody has named: that one of
        them is missing is no failure.
        """
        if not self.config.scope.probe:
            return ()
        named = ((parse_url(path, seed.href), kind) for kind, path in PROBES)
        return tuple(self.found_list(url, kind, Source.SEED) for url, kind in named if url)

    def follow(self, entry: UrlEntry, target: str) -> Discovered | Verdict:
        """Judge a redirect's target: same depth, one hop more, and what was first asked for."""
        url = parse_url(target)
        if url is None:
            return Verdict(False, "url", f"`{target}` is not an http(s) URL")
        # A page that is sent to its own other spelling is asked for as its site spells it.
        if self.identity.hash(url, entry.kind) != entry.url_hash:
            url = self.identity.wire(url)
        verdict = self._redirect_verdict(entry, url)
        if not verdict.admitted:
            return verdict
        return Discovered(
            url_hash=self.identity.hash(url, entry.kind),
            url=url.href,
            host=url.authority,
            depth=entry.depth,
            priority=entry.priority,
            source=entry.source,
            kind=entry.kind,
            parent=entry.parent,
            origin=entry.origin or entry.url,
            hops=entry.hops + 1,
            nesting=entry.nesting,
            pattern=self.identity.pattern(url) if entry.kind is EntryKind.PAGE else "",
            lastmod_s=entry.lastmod_s,
        )

    def respelled(self, entry: UrlEntry, target: str | None) -> Url | None:
        """Return a redirect's target where it is the entry itself, spelled in another way."""
        url = parse_url(target) if target else None
        if url is None or url.authority != entry.host or self.privacy.refusal(url):
            return None
        return url if self.identity.hash(url, entry.kind) == entry.url_hash else None

    def verdict(self, url: Url, depth: int, *, is_seed: bool = False) -> Verdict:
        """Judge a page."""
        refusal = self._refusal(url)
        if refusal is not None:
            return refusal
        verdict = self._admission.judge(url, depth, is_seed=is_seed)
        if verdict.admitted or not self.decisions.lift(url.host, verdict):
            return verdict
        return self._admission.judge(url, depth, is_seed=is_seed, is_trusted=True)

    def host_verdict(self, url: Url) -> Verdict:
        """Judge a URL that is no page, such as a sitemap: its host alone can be refused."""
        return self._refusal(url) or self._admission.judge_host(url)

    def explain(self, url: Url, depth: int, *, is_seed: bool) -> list[tuple[str, Verdict]]:
        """Return what every rule says by itself, in the order in which they are asked."""
        own = (
            ("site", self.decisions.refusal(url.host)),
            ("domain_list", self._listed.refusal(url.host)),
            ("safety", self.privacy.refusal(url)),
        )
        steps = [(name, refusal) for name, refusal in own if refusal is not None]
        for name, verdict in self._admission.explain(url, depth, is_seed=is_seed):
            if not verdict.admitted and self.decisions.lift(url.host, verdict):
                verdict = Verdict(True, name, f"{verdict.rule}, allowed by a review")
            steps.append((name, verdict))
        return steps

    def found_page(
        self,
        url: Url,
        key: str,
        depth: int,
        source: Source,
        parent: str | None,
        changed_s: float | None = None,
    ) -> Discovered:
        """Turn a page that was admitted into a find; `key` is what its identity makes of it."""
        # What an include list lets in matches it by definition, seeds aside, which need no boost.
        boosted = bool(self.config.scope.include)
        return Discovered(
            url_hash=url_hash(key),
            url=url.href,
            host=url.authority,
            depth=depth,
            priority=priority(self.config.order, depth, source, boosted=boosted),
            source=source,
            parent=parent,
            pattern=self.identity.pattern(url, key),
            lastmod_s=changed_s,
        )

    def found_list(
        self, url: Url, kind: EntryKind, source: Source, parent: str | None = None, nesting: int = 0
    ) -> Discovered:
        """Turn a list of URLs, such as a sitemap, into a find."""
        return Discovered(
            url_hash=self.identity.hash(url, kind),
            url=url.href,
            host=url.authority,
            depth=0,
            priority=priority(self.config.order, 0, Source.SITEMAP, boosted=False),
            source=source,
            kind=kind,
            parent=parent,
            nesting=nesting,
        )

    def _refusal(self, url: Url) -> Verdict | None:
        """Refuse whatever leads to a URL, be it a page or a list of pages."""
        return (
            self.decisions.refusal(url.host)
            or self._listed.refusal(url.host)
            or self.privacy.refusal(url)
        )

    def _redirect_verdict(self, entry: UrlEntry, url: Url) -> Verdict:
        if entry.kind is not EntryKind.PAGE:
            return self.host_verdict(url)
        verdict = self.verdict(url, entry.depth, is_seed=entry.source is Source.SEED)
        if not verdict.admitted:
            return verdict
        return self._admission.judge_redirect(split(entry.url), url)


def job_rules(
    world: World, config: CrawlConfig, seeds: Sequence[str], decisions: Sequence[SiteRule] = ()
) -> JobRules:
    """Compile the rules of a job as of today."""
    year = 1970 + int(world.clock.wall_s() // _YEAR_S)
    return JobRules(config, seeds, now_year=year, decisions=decisions, listed=world.listed)


async def read_job_rules(world: World, config: CrawlConfig, seeds: Sequence[str]) -> JobRules:
    """Compile the rules of a job with what people have decided, and lists name, by now."""
    return await rules_for(world, config, seeds, await read_site_decisions(world.store))


async def rules_for(
    world: World, config: CrawlConfig, seeds: Sequence[str], decisions: Sequence[SiteRule]
) -> JobRules:
    """Compile the rules of a job beside the loop: patterns may take a tenth of a second."""
    await world.listed.read(world.store)
    return await asyncio.to_thread(job_rules, world, config, seeds, decisions)


class SiteDecisions:
    """The decisions of one tenant, by host name."""

    __slots__ = ("_allowed", "_excluded")

    def __init__(self, rules: Sequence[SiteRule] = ()) -> None:
        self._allowed: dict[str, set[str]] = {}
        self._excluded: dict[str, SiteRule] = {}
        for rule in rules:
            if rule.review is Review.ALLOW:
                self._allowed.setdefault(rule.host, set()).add(rule.pattern)
            else:
                self._excluded[rule.host] = rule

    def allow(self, host: str, name: str) -> bool:
        """Tell whether a pattern, or the rule `trap.…`, was found to be no trap on a host."""
        allowed = self._allowed.get(host)
        return allowed is not None and ("" in allowed or name in allowed)

    def lift(self, host: str, verdict: Verdict) -> bool:
        """Tell whether a refusal is that of a detector which was overruled on a host."""
        return verdict.rule.startswith(TRAP_RULES) and self.allow(host, verdict.rule)

    def refusal(self, host: str) -> Verdict | None:
        """Refuse a host that somebody has excluded."""
        rule = self._excluded.get(host)
        if rule is None:
            return None
        detail = rule.note or "somebody has looked at this site and excluded it"
        return Verdict(False, "site.excluded", detail, rule.remedy or f"geomi traps reset {host}")


async def read_site_decisions(store: Store) -> tuple[SiteRule, ...]:
    """Return what people decided about hosts; one whose provider forbids crawling is left alone."""
    forbidden = (
        SiteRule(
            url.host,
            "",
            Review.EXCLUDE,
            note=f"provider {provider.key} forbids crawling",
            remedy=f"geomi providers review {provider.key} --allows",
        )
        for provider in await store.providers.list()
        if provider.tos_allows_crawling is False
        for url in map(parse_url, provider.seed_urls)
        if url is not None
    )
    return (*await store.sites.list(), *forbidden)
