"""Browser sessions: a person who has shown a key need not show it again for a while.

The browser keeps `<key id>.<secret>`; of the secret only its SHA-256 is stored, as of a key. A
session may do what its key may do now: a revoked key ends its sessions.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass

from geomi.errors import KeyRefused, UnknownName
from geomi.service.access import keys
from geomi.service.access.keys import Caller
from geomi.service.service import Service, ValueNamespace, delete_expired_values
from geomi.text.identifiers import sha256_hex

NAMESPACE = "sessions"
FORM_KEYS, FORM_KEY = "form_keys", "sign-in"
SECRET_BYTES = 32
LASTS_S = 12 * 3600.0  # a working day; whoever stays longer shows the key again
MAX_SESSIONS = 20  # of one key; one more ends the one that was opened first
MAX_TOKEN_CHARS = 200


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """One signed-in browser; times are of the wall clock.

    Args:
        form_token: what every form of this session carries, so that no other site can send one.
    """

    key: str
    form_token: str
    opened_at_s: float
    expires_at_s: float

    def is_form(self, text: str) -> bool:
        """Return whether a form is one of this session's own."""
        return hmac.compare_digest(text.encode(), self.form_token.encode())


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A new session, and the token that names it, which is kept by the browser alone."""

    caller: Caller
    session: BrowserSession
    token: str


async def open_session(service: Service, key_text: str) -> OpenedSession:
    """Open a session for a valid key."""
    caller = await keys.authenticate(service, key_text)
    await delete_expired_values(service, NAMESPACE)
    wall_s, secret = service.office.wall_s, secrets.token_urlsafe(SECRET_BYTES)
    session = BrowserSession(
        caller.key.id, secrets.token_urlsafe(SECRET_BYTES), wall_s, wall_s + LASTS_S
    )
    async with service.office.door:
        await _make_room(service, caller.key.id)
        name = _name(caller.key.id, secret)
        await _values(service).add(name, session, due_at_s=session.expires_at_s)
    return OpenedSession(caller, session, f"{caller.key.id}.{secret}")


async def resume(service: Service, token: str) -> tuple[Caller, BrowserSession]:
    """Find out who is behind a session; `KeyRefused` where it is over, whyever."""
    refusal = KeyRefused("the session has ended", hint="sign in again")
    key_id, _, secret = token.partition(".")
    if len(token) > MAX_TOKEN_CHARS or not (key_id.isalnum() and key_id.isascii()):
        raise refusal
    kept = await _values(service).get(_name(key_id, secret))
    wall_s = service.office.wall_s
    if kept is None or kept.value.expires_at_s <= wall_s:
        raise refusal
    try:
        key = await keys.find(service, None, kept.value.key)
    except UnknownName as error:
        raise refusal from error
    if not key.is_valid(wall_s):
        raise refusal
    return Caller(service.desk(key.tenant), key), kept.value


async def close(service: Service, token: str) -> None:
    """End a session; an ended one stays ended."""
    key_id, _, secret = token.partition(".")
    await _values(service).remove(_name(key_id, secret))


async def new_form_token(service: Service) -> str:
    """Draw a token for the form that somebody signs in with; nobody else can make one."""
    words = f"{secrets.token_urlsafe(SECRET_BYTES)}.{int(service.office.wall_s + LASTS_S)}"
    return f"{words}.{await _sealed(service, words)}"


async def is_form_token(service: Service, text: str) -> bool:
    """Return whether the service has drawn a token, and not too long ago."""
    words, _, seal = text.rpartition(".")
    until = words.rpartition(".")[2]
    if len(text) > MAX_TOKEN_CHARS or not (text.isascii() and until.isdigit()):
        return False
    is_ours = hmac.compare_digest(seal, await _sealed(service, words))
    return is_ours and service.office.wall_s < int(until)


async def _sealed(service: Service, words: str) -> str:
    """Sign a text with a key of this service, which is made once for all its processes."""
    values = ValueNamespace(service.office.named_values, FORM_KEYS, str)
    kept = await values.get(FORM_KEY)
    if kept is None:
        await values.add(FORM_KEY, secrets.token_hex(SECRET_BYTES))
        kept = await values.get(FORM_KEY)
        assert kept is not None, "added by us, or by somebody faster"
    return hmac.new(bytes.fromhex(kept.value), words.encode(), "sha256").hexdigest()


async def _make_room(service: Service, key_id: str) -> None:
    """End the oldest sessions of a key until there is room for another."""
    found = await _values(service).list(after=f"{key_id}-", limit=MAX_SESSIONS * 2)
    own = [kept for kept in found if kept.value.key == key_id]
    own.sort(key=lambda kept: kept.value.opened_at_s)
    for kept in own[: max(0, len(own) + 1 - MAX_SESSIONS)]:
        await _values(service).remove(kept.name)


def _name(key_id: str, secret: str) -> str:
    """Name a session by its key, so that those of one key lie together."""
    return f"{key_id}-{sha256_hex(secret.encode('utf-8', 'surrogatepass'))}"


def _values(service: Service) -> ValueNamespace[BrowserSession]:
    return ValueNamespace(service.office.named_values, NAMESPACE, BrowserSession)
