"""Check every rule of politeness against the stored request log, host by host.

The audit computes everything again that it can. Gaps and concurrency come from the times of the
requests. Required delays come from the jobs' settings and the stored robots.txt, besides the log.
Permissions come from that robots.txt. The log is read twice, in parts: first to learn since when
each job's settings hold, then to judge. Only one host at a time and the findings are in memory.

Two kinds of requests are not in the log: those that a killed worker had in flight, and those that
it had not settled yet.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from geomi.engine.audit.checks import AddressCheck, AddressProof, CapCheck, CapProof
from geomi.engine.audit.invariants import damage
from geomi.engine.audit.replay import HostCheck, HostProof
from geomi.engine.audit.terms import RunHistory, TermsBook
from geomi.engine.world import World
from geomi.errors import UnknownName
from geomi.model.request_log import GoneRequests, SentRequest
from geomi.ports.store import Jobs, RequestLog
from geomi.url.host import registrable_domain, split_authority

ROWS_PER_READ = 2000
# Hosts and addresses that are listed one by one; of those where a rule was broken, as many again.
MAX_LISTED = 1000

P = TypeVar("P", HostProof, AddressProof)


@dataclass(frozen=True, slots=True)
class Audit:
    """What the log proves.

    Args:
        hosts, addresses: one by one, those where a rule was broken first; `more_hosts` and
            `more_addresses` say how many are not listed.
        is_whole: whether all hosts were looked at; caps are counted over all of them.
        gone: what the log has no more, of which nothing is proven.
    """

    requests: int
    broken: int
    is_whole: bool
    hosts: tuple[HostProof, ...]
    more_hosts: int
    addresses: tuple[AddressProof, ...]
    more_addresses: int
    caps: tuple[CapProof, ...]
    gone: GoneRequests


async def audit(
    world: World, *, host: str = "", jobs_of: Callable[[str], Jobs] | None = None
) -> Audit:
    """Read the log of every host, or of one, and return the proofs.

    Args:
        jobs_of: where the jobs of other tenants are: the log is everybody's.
    """
    return await _Auditor(TermsBook(world, jobs_of), world.store.requests).run(host)


class _Auditor:
    """Gathers the findings of one audit."""

    def __init__(self, terms: TermsBook, log: RequestLog) -> None:
        self._log = log
        self._terms = terms
        self._history = RunHistory()
        self._caps = CapCheck()
        self._domain_caps: dict[str, CapCheck] = {}
        self._ips: set[str] = set()
        self._requests = self._broken = 0
        self._hosts: _Listed[HostProof] = _Listed()
        self._addresses: _Listed[AddressProof] = _Listed()

    async def run(self, host: str) -> Audit:
        """Read everything once, then check hosts, then addresses, then caps."""
        gone, hosts = await self._log.gone(), await self._log.hosts()
        if gone.requests:
            self._history.gone_before_s = gone.before_s
        named = self._named(hosts, host) if host else hosts
        for name in hosts:
            async for asked in self._of_host(name):
                self._history.add(asked)
        self._history.end()
        for name in named:
            await self._check_host(name)
        for ip in sorted(self._ips) if host else await self._log.ips():
            await self._check_address(ip)
        caps = () if host else self._cap_proofs()
        return Audit(
            requests=self._requests,
            broken=self._broken + sum(cap.broken for cap in caps),
            is_whole=not host,
            hosts=self._hosts.all,
            more_hosts=self._hosts.more,
            addresses=self._addresses.all,
            more_addresses=self._addresses.more,
            caps=caps,
            gone=gone,
        )

    def _named(self, hosts: list[str], host: str) -> list[str]:
        """Return the hosts to check; a name without a port means all of its ports."""
        wanted = host.lower()
        found = [each for each in hosts if wanted in (each, each.rpartition(":")[0])]
        if found:
            return found
        known = ", ".join(islice(hosts, 3)) or "none"
        raise UnknownName(f"no request to `{host}` is in the log", hint=f"hosts: {known}")

    async def _check_host(self, host: str) -> None:
        check = HostCheck(host, self._history)
        async for asked in self._of_host(host):
            self._requests += 1
            if asked.ip:
                self._ips.add(asked.ip)
            if detail := damage(asked):
                check.refuse(asked, detail)
                continue
            terms = await self._terms.of(asked)
            check.add(asked, terms)
            if terms is not None:
                is_present = self._history.is_present(asked)
                own = terms.config.politeness
                self._caps.add(asked, own, is_present=is_present)
                if own.max_per_domain_hour or own.max_per_domain_day:
                    domain = registrable_domain(split_authority(host)[0])
                    check_of = self._domain_caps.setdefault(domain, CapCheck(domain))
                    check_of.add(asked, own, is_present=is_present)
        self._take(self._hosts, check.proof())

    def _cap_proofs(self) -> tuple[CapProof, ...]:
        """Say how full the windows were: of all requests, and of the domains, broken ones first."""
        of_domains = [
            proof
            for domain in sorted(self._domain_caps)
            for proof in self._domain_caps[domain].proofs()
        ]
        of_domains.sort(key=lambda proof: not proof.broken)
        self._broken += sum(proof.broken for proof in of_domains[MAX_LISTED:])
        return (*self._caps.proofs(), *of_domains[:MAX_LISTED])

    async def _check_address(self, ip: str) -> None:
        check = AddressCheck(ip, self._history)
        async for asked in _read(lambda s: self._log.of_ip(ip, after_s=s, limit=ROWS_PER_READ)):
            if not damage(asked):
                check.add(asked, await self._terms.config(asked.job))
        self._take(self._addresses, check.proof())

    def _of_host(self, host: str) -> AsyncIterator[SentRequest]:
        return _read(lambda s: self._log.of_host(host, after_s=s, limit=ROWS_PER_READ))

    def _take(self, listed: _Listed[P], proof: P) -> None:
        self._broken += proof.broken
        listed.add(proof)


class _Listed(Generic[P]):
    """Keeps the first proofs of a kind, with and without a breach."""

    def __init__(self) -> None:
        self.more = 0
        self._clean: list[P] = []
        self._broken: list[P] = []

    def add(self, proof: P) -> None:
        kept = self._broken if proof.broken else self._clean
        if len(kept) < MAX_LISTED:
            kept.append(proof)
        else:
            self.more += 1

    @property
    def all(self) -> tuple[P, ...]:
        return tuple(self._broken + self._clean)


async def _read(
    part: Callable[[float], Awaitable[list[SentRequest]]],
) -> AsyncIterator[SentRequest]:
    """Yield the requests of a host or an address in the order of their starts.

    Args:
        part: reads some that started after a time, and all that started with the last of them.
    """
    after_s = -math.inf
    while rows := await part(after_s):
        for row in rows:
            yield row
        after_s = rows[-1].started_s
