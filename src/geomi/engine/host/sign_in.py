"""Sign in to an origin that the tenant of a job has proved to be its own (C-48).

Rules kept:
- A job signs in only if its `http.sign_in` says so.
- What is shown belongs to one origin: scheme, host and port. Another host, another port, a
  subdomain or the target of a redirect gets nothing.
- The proof is looked at again when it is a day old, in the host's turn and only if robots.txt
  allows it. Without a proof nothing is shown.
- A secret is decrypted for the one request that carries it, and never logged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace

import orjson

from geomi.engine.host.robots import JobRobots
from geomi.engine.host.session import HostSession
from geomi.engine.world import World
from geomi.errors import ConfigError, StoreBusy
from geomi.fetch.request import Requests
from geomi.fetch.response import respond
from geomi.model.event import Warned
from geomi.model.job import CrawlJob
from geomi.model.page import Fetched, Headers
from geomi.model.site import SignIn, SignInKind
from geomi.model.verdict import Outcome
from geomi.ports.named_values import NamedValues
from geomi.url.parse import DEFAULT_PORTS, Url
from geomi.url.parse import split as split_url

NAMESPACE = "sign-ins"
PLACE = "/.well-known/geomi-verification.txt"
TRIES = 20


def origin_of(url: Url) -> str:
    """Return scheme, host and port of a URL, without a port that goes without saying."""
    port = "" if url.port == DEFAULT_PORTS[url.scheme] else f":{url.port}"
    return f"{url.scheme}://{url.host}{port}"


class SignInBook:
    """The sign-ins of one tenant, each under its origin."""

    def __init__(self, named_values: NamedValues) -> None:
        self._values = named_values

    async def get(self, origin: str) -> SignIn | None:
        """Find that of an origin."""
        named = await self._values.get(NAMESPACE, origin)
        return _read(named.body) if named else None

    async def every(self) -> list[SignIn]:
        """List all, in the order of their origins."""
        found: list[SignIn] = []
        while listed := await self._values.list(
            NAMESPACE, after=found[-1].origin if found else "", limit=1000
        ):
            found += [_read(named.body) for named in listed]
        return found

    async def add(self, sign_in: SignIn) -> bool:
        """Keep a new one; False where its origin has one."""
        return await self._values.add(NAMESPACE, sign_in.origin, orjson.dumps(asdict(sign_in)))

    async def amend(self, origin: str, change: Callable[[SignIn], SignIn]) -> SignIn | None:
        """Change what is there now; None where there is nothing."""
        for _ in range(TRIES):
            named = await self._values.get(NAMESPACE, origin)
            if named is None:
                return None
            changed = change(_read(named.body))
            if await self._values.change(replace(named, body=orjson.dumps(asdict(changed)))):
                return changed
        raise StoreBusy(f"the sign-in of `{origin}` is being changed", hint="try again")

    async def remove(self, origin: str) -> bool:
        """Forget one; False where there is nothing."""
        for _ in range(TRIES):
            named = await self._values.get(NAMESPACE, origin)
            if named is None:
                return False
            if await self._values.remove(named):
                return True
        raise StoreBusy(f"the sign-in of `{origin}` is being changed", hint="try again")


async def look_for_proof(
    world: World, requests: Requests, sign_in: SignIn, session: HostSession, robots: JobRobots
) -> SignIn:
    """Ask an origin for its token, without signing in; return what is known of it then."""
    url = split_url(sign_in.origin + PLACE)
    if robots.unreached is not None:
        problem = f"robots.txt cannot be fetched: {robots.copy.detail or robots.unreached}"
    elif not (verdict := robots.judge(url)).admitted:
        problem = f"robots.txt forbids {PLACE}: {verdict.detail}"
    else:
        session.allowed_by(robots.fetched_s, robots.rule(url).line)
        problem = _problem(await session.ask(requests.ownership(url)), sign_in.token)
    wall_s = world.clock.wall_s()
    proved_at_s = None if problem else wall_s
    return replace(sign_in, looked_at_s=wall_s, proved_at_s=proved_at_s, problem=problem)


class SignIns:
    """What the requests of one job that signs in show to whom."""

    def __init__(self, world: World, job: CrawlJob, requests: Requests) -> None:
        self._world = world
        self._job = job.id
        self._requests = requests
        self._book = SignInBook(world.store.named_values)
        self._told: set[str] = set()

    async def covers(self, url: Url) -> bool:
        """Return whether something is kept that may be shown to the origin of a URL."""
        return bool(await self._kept(url))

    async def headers(self, url: Url, session: HostSession, robots: JobRobots) -> Headers:
        """Return what the request for a URL shows; nothing to an origin that is not proved."""
        if url.authority != session.lease.host:
            return ()
        sign_in = await self._kept(url)
        if sign_in is None:
            return ()
        if sign_in.is_due(self._world.clock.wall_s()):
            sign_in = await self._looked_at(sign_in, session, robots)
        if sign_in is None or not sign_in.is_proved(self._world.clock.wall_s()):
            problem = sign_in.problem if sign_in else "it was removed"
            self._warn(f"geomi does not sign in to {origin_of(url)}: {problem}")
            return ()
        try:
            return unsealed(self._world, sign_in)
        except ConfigError as error:
            self._warn(f"geomi cannot sign in to {sign_in.origin}: {error.message}", error.hint)
            return ()

    async def _kept(self, url: Url) -> SignIn | None:
        sign_in = await self._book.get(origin_of(url))
        return sign_in if sign_in is not None and sign_in.sealed else None

    async def _looked_at(
        self, sign_in: SignIn, session: HostSession, robots: JobRobots
    ) -> SignIn | None:
        seen = await look_for_proof(self._world, self._requests, sign_in, session, robots)
        return await self._book.amend(sign_in.origin, lambda now: with_proof(now, seen))

    def _warn(self, message: str, hint: str = "geomi sign-in verify shows what is wrong") -> None:
        if message not in self._told:
            self._told.add(message)
            self._world.sink.emit(Warned(self._job, message, hint))


def with_proof(now: SignIn, seen: SignIn) -> SignIn:
    """Note what a look has found, unless the token was another one."""
    if now.token != seen.token:
        return now
    return replace(
        now, looked_at_s=seen.looked_at_s, proved_at_s=seen.proved_at_s, problem=seen.problem
    )


def sealed(world: World, sign_in: SignIn, kind: SignInKind, headers: Headers) -> SignIn:
    """Keep what is shown to an origin, bound to its tenant and to the origin."""
    secret = orjson.dumps([world.store.tenant, sign_in.origin, headers])
    return replace(sign_in, kind=kind, sealed=world.vault.seal(secret))


def unsealed(world: World, sign_in: SignIn) -> Headers:
    """Return what is shown to an origin; raise ConfigError where it was kept for another."""
    tenant, origin, headers = orjson.loads(world.vault.unseal(sign_in.sealed))
    if (tenant, origin) != (world.store.tenant, sign_in.origin):
        raise ConfigError(
            f"what is kept for `{sign_in.origin}` belongs to another origin",
            hint="give the secret again",
        )
    return tuple((name, value) for name, value in headers)


def _problem(fetched: Fetched, token: str) -> str:
    """Say why an answer does not prove anything; empty where it does."""
    outcome = respond(fetched)
    if outcome is not Outcome.OK:
        status = f" (HTTP {fetched.status})" if fetched.status else ""
        return f"{PLACE} ended with {outcome}{status}"
    if fetched.body.strip() != token.encode("ascii"):
        return f"{PLACE} has another text than the token"
    return ""


def _read(body: bytes) -> SignIn:
    told = orjson.loads(body)
    return SignIn(**told | {"kind": SignInKind(told["kind"]) if told["kind"] else None})
