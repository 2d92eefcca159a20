"""Sign in to a tenant's own sites: prove whose they are, keep what they are shown (FUT-21, C-48).

1. `request_token` gives a random token for one origin.
2. The owner serves it at `PLACE`; `verify` asks the origin for it, in its turn, through the gate.
3. `keep` encrypts what requests to that origin show. A crawl with `http.sign_in` uses it.

`forget_site` removes what is kept for a host, when the host is erased or taken down.
"""

from __future__ import annotations

import base64
import re
import secrets

from geomi.app.directory import DataDirectory
from geomi.engine.host.reserve import reserved_session
from geomi.engine.host.robots import RobotsKeeper
from geomi.engine.host.sign_in import (
    PLACE,
    SignInBook,
    look_for_proof,
    origin_of,
    sealed,
    with_proof,
)
from geomi.engine.visit.privacy import Privacy
from geomi.errors import ConfigError, FieldRefused, UnknownName
from geomi.fetch.request import Requests, check_headers, is_sendable
from geomi.model.config import CrawlConfig
from geomi.model.page import Headers
from geomi.model.site import SignIn, SignInKind
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url
from geomi.url.parse import split as split_url

MAX_SIGN_INS = 100
MAX_SECRET_CHARS = 8192
MAX_LINES = 10
TOKEN_BYTES = 32
_BEARER = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750 §2.1
_COOKIE = re.compile(r"[!#-+\--:<-\[\]-~]+=[!-+\--~ ]*")  # RFC 6265 §4.2, one or more pairs
_HEADER = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}):[ \t]*(\S.*)")


async def request_token(home: DataDirectory, text: str, *, allows_http: bool) -> SignIn:
    """Return what an origin has to serve; one that was asked for before has the same token."""
    url = _origin(text)
    if url.scheme == "http" and not allows_http:
        raise FieldRefused(
            f"`{origin_of(url)}` is not https: others on the way could read the secret",
            field="origin",
            hint="use https, or allow http for this origin (--allow-http)",
        )
    book, origin = SignInBook(home.store.named_values), origin_of(url)
    if (known := await book.get(origin)) is not None:
        return known
    if len(await book.every()) >= MAX_SIGN_INS:
        raise ConfigError(
            f"there are {MAX_SIGN_INS} sign-ins, which is the limit", hint="remove one first"
        )
    token = f"geomi-{secrets.token_urlsafe(TOKEN_BYTES)}"
    await book.add(SignIn(origin, token, home.world.clock.wall_s()))
    return await _found(home, origin)


async def verify(home: DataDirectory, text: str, config: CrawlConfig) -> SignIn:
    """Ask an origin for its token now; return what is known of it then."""
    sign_in = await _found(home, origin_of(_origin(text)))
    url, world = split_url(sign_in.origin + PLACE), home.world
    privacy = Privacy(config.safety)
    requests = Requests(config, [], version=world.version)
    keeper = RobotsKeeper(world, "", config, requests, privacy)
    async with reserved_session(world, config, url.authority, privacy) as session:
        robots = await keeper.read(url, session)
        seen = await look_for_proof(world, requests, sign_in, session, robots)
    book = SignInBook(home.store.named_values)
    return await book.amend(sign_in.origin, lambda now: with_proof(now, seen)) or seen


async def keep(home: DataDirectory, text: str, kind: SignInKind, secret: str) -> SignIn:
    """Encrypt the secret that requests to an origin show; it replaces another."""
    sign_in = await _found(home, origin_of(_origin(text)))
    if not sign_in.is_proved(home.world.clock.wall_s()):
        raise ConfigError(
            f"nothing proves now that `{sign_in.origin}` is yours"
            f"{f': {sign_in.problem}' if sign_in.problem else ''}",
            hint=f"serve its token at {sign_in.origin}{PLACE}, then: geomi sign-in verify",
        )
    headers = shown_headers(kind, secret)
    book = SignInBook(home.store.named_values)
    kept = await book.amend(sign_in.origin, lambda now: sealed(home.world, now, kind, headers))
    return kept or sign_in


async def every(home: DataDirectory) -> list[SignIn]:
    """List a tenant's origins."""
    return await SignInBook(home.store.named_values).every()


async def remove(home: DataDirectory, text: str) -> str:
    """Forget an origin, its token and what it was shown; return its name."""
    origin = origin_of(_origin(text))
    if not await SignInBook(home.store.named_values).remove(origin):
        raise _unknown(origin)
    return origin


async def forget_site(home: DataDirectory, host: str) -> int:
    """Forget all origins of a host; return how many there were."""
    book = SignInBook(home.store.named_values)
    return sum([await book.remove(one) for one in await origins_of_site(home, host)])


async def origins_of_site(home: DataDirectory, host: str) -> list[str]:
    """List the origins of a host, on whatever port."""
    return [one.origin for one in await every(home) if split_url(one.origin).host == host]


def shown_headers(kind: SignInKind, secret: str) -> Headers:
    """Return the headers that a secret stands for; an error never shows a part of it."""
    secret = secret.strip("\r\n")
    if not secret or len(secret) > MAX_SECRET_CHARS:
        raise _refused(f"it has {len(secret):,} characters; 1 to {MAX_SECRET_CHARS:,} are allowed")
    match kind:
        case SignInKind.BASIC:
            if ":" not in secret or not secret.isprintable():
                raise _refused("it is not `user:password` on one line")
            told = base64.b64encode(secret.encode()).decode("ascii")
            headers: Headers = (("authorization", f"Basic {told}"),)
        case SignInKind.BEARER:
            if not _BEARER.fullmatch(secret):
                raise _refused("it is not a bearer token (RFC 6750)")
            headers = (("authorization", f"Bearer {secret}"),)
        case SignInKind.COOKIE:
            if not _COOKIE.fullmatch(secret):
                raise _refused("it is not `name=value`, or several with `; ` between them")
            headers = (("cookie", secret),)
        case SignInKind.HEADER:
            headers = _lines(secret)
    if not all(is_sendable(value) for _, value in headers):
        raise _refused(f"no header can carry it: use up to {MAX_SECRET_CHARS:,} ASCII characters")
    return headers


def _lines(secret: str) -> Headers:
    lines = secret.splitlines()
    if len(lines) > MAX_LINES:
        raise _refused(f"it has {len(lines)} lines; {MAX_LINES} headers are allowed")
    headers = []
    for number, line in enumerate(lines, start=1):
        found = _HEADER.fullmatch(line)
        if found is None:
            raise _refused(f"line {number} is not `Name: value`")
        headers.append((found[1].lower(), found[2].rstrip()))
    check_headers(tuple(headers))
    return tuple(headers)


def _refused(why: str) -> FieldRefused:
    return FieldRefused(f"the secret cannot be used: {why}", field="secret")


def _origin(text: str) -> Url:
    """Read an origin, or the origin of a URL."""
    url = parse_url(text)
    if url is None:
        raise FieldRefused(
            f"`{text[:80]}` is not an http or https URL", field="origin", hint="https://example.org"
        )
    return url


async def _found(home: DataDirectory, origin: str) -> SignIn:
    sign_in = await SignInBook(home.store.named_values).get(origin)
    if sign_in is None:
        raise _unknown(origin)
    return sign_in


def _unknown(origin: str) -> UnknownName:
    return UnknownName(
        f"there is no token for `{origin}`", hint=f"ask for one: geomi sign-in token {origin}"
    )
