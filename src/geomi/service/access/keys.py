"""Create, check and revoke API keys: the caller's tenant, and what the caller may do.

A key is `geomi_<id>_<secret>`. The id is public: lists and the audit log name the key by it. Of
the secret only its SHA-256 is stored. A slow hash protects secrets that people invent; this one is
256 random bits, which nobody guesses at any speed, and every request pays for the hash.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

from geomi.errors import (
    FieldRefused,
    KeyRefused,
    QuotaReached,
    StoreError,
    UnknownName,
    WrongState,
)
from geomi.service.service import Service, TenantService, ValueNamespace

PREFIX = "geomi"
ID_BYTES = 6
ID = re.compile(rf"[0-9a-f]{{{2 * ID_BYTES}}}")
SECRET_BYTES = 32
MAX_KEY_CHARS = 128  # of what somebody sends as a key; ours have 62
LONGEST_S = 100 * 365 * 86_400.0
MAX_KEYS = 1000  # of one tenant, revoked ones included
MAX_LABEL_CHARS = 100
# When a key was used last is told to the hour: finer would cost every request a write.
USED_EVERY_S = 3600.0


class KeyRole(StrEnum):
    """Whose things a key can reach."""

    ADMIN = "admin"  # those of its tenant, and the system's
    TENANT = "tenant"


class KeyScope(StrEnum):
    """What a key may do."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"  # keys; with the role `admin`, tenants and providers


ALL_SCOPES = tuple(KeyScope)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept; times are of the wall clock."""

    id: str
    digest: str
    tenant: str
    role: KeyRole
    scopes: tuple[KeyScope, ...]
    created_at_s: float
    label: str = ""
    expires_at_s: float | None = None
    used_at_s: float | None = None
    revoked_at_s: float | None = None

    def is_valid(self, wall_s: float) -> bool:
        """Return whether it opens anything now."""
        is_over = self.expires_at_s is not None and self.expires_at_s <= wall_s
        return self.revoked_at_s is None and not is_over


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to create."""

    tenant: str
    role: KeyRole = KeyRole.TENANT
    scopes: tuple[KeyScope, ...] = (KeyScope.READ, KeyScope.WRITE)
    label: str = ""
    expires_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key and the text that opens with it, which is shown once and kept nowhere."""

    key: ApiKey
    text: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request, by its key."""

    desk: TenantService
    key: ApiKey

    @property
    def tenant(self) -> str:
        """The only tenant whose things the caller can name."""
        return self.key.tenant

    def may(self, scope: KeyScope) -> bool:
        """Return whether the key was given a scope."""
        return scope in self.key.scopes


async def create(service: Service, wish: NewKey) -> CreatedKey:
    """Create a key; refuse an expiry in the past or the far future."""
    lasts_s = (wish.expires_at_s or inf) - service.office.wall_s
    if wish.expires_at_s is not None and not 0 < lasts_s <= LONGEST_S:
        raise FieldRefused(
            "the expiry must be in the future, within a hundred years",
            field="expiresAt",
            hint="leave it out for a key that does not expire",
        )
    async with service.office.door:
        many = len(await of_tenant(service, wish.tenant))
        if many >= MAX_KEYS:
            raise QuotaReached(
                f"tenant `{wish.tenant}` has {many} keys; the limit is {MAX_KEYS}",
                hint="delete some that are revoked",
            )
        while True:
            minted = _make(wish, service.office.wall_s)
            if await _values(service).add(minted.key.id, minted.key):
                return minted


async def authenticate(service: Service, text: str) -> Caller:
    """Find out who asks; every refusal says the same, so that nothing can be learned from it."""
    refusal = KeyRefused("the key is not valid", hint="send `Authorization: Bearer geomi_…`")
    prefix, _, rest = text.partition("_")
    name, _, secret = rest.partition("_")
    if len(text) > MAX_KEY_CHARS or prefix != PREFIX or not (name.isalnum() and name.isascii()):
        raise refusal
    kept = await _values(service).get(name)
    # Also where there is no such key, so that both take as long.
    is_right = hmac.compare_digest(_digest(secret), kept.value.digest if kept else _digest(""))
    wall_s = service.office.wall_s
    if kept is None or not is_right or not kept.value.is_valid(wall_s):
        raise refusal
    if wall_s - (kept.value.used_at_s or 0.0) >= USED_EVERY_S:
        # Whoever changes it at the same time knows better: nothing is lost but an hour.
        with suppress(StoreError):  # whoever reads is answered on a full disk as well
            await _values(service).change(kept, replace(kept.value, used_at_s=wall_s))
    return Caller(service.desk(kept.value.tenant), kept.value)


async def of_tenant(service: Service, tenant: str | None) -> list[ApiKey]:
    """List the keys of a tenant, or all there are."""
    every = [kept.value for kept in await _values(service).every()]
    return [key for key in every if tenant in (None, key.tenant)]


async def find(service: Service, tenant: str | None, name: str) -> ApiKey:
    """Find a key of a tenant, or any."""
    kept = await _values(service).get(name) if name.isascii() and name.isalnum() else None
    if kept is None or tenant not in (None, kept.value.tenant):
        # Whatever is no id may be a secret that was put in its place: it is not said again.
        called = f"`{name}`" if ID.fullmatch(name) else "that"
        raise UnknownName(f"there is no key {called}", hint=f"its id follows `{PREFIX}_`")
    return kept.value


async def still_opens(service: Service, name: str) -> bool:
    """Return whether a key that has opened something would open it again."""
    kept = await _values(service).get(name)
    return kept is not None and kept.value.is_valid(service.office.wall_s)


def id_of(text: str) -> str:
    """Take the id out of a whole key; an id is one already."""
    return text.strip().removeprefix(f"{PREFIX}_").partition("_")[0]


async def revoke(service: Service, tenant: str | None, name: str) -> ApiKey:
    """Revoke a key; a revoked key stays revoked."""
    await find(service, tenant, name)
    wall_s = service.office.wall_s
    revoked = await _values(service).amend(
        name, lambda key: replace(key, revoked_at_s=key.revoked_at_s or wall_s)
    )
    if revoked is None:
        raise UnknownName(f"there is no key `{name}`")
    return revoked


async def rotate(service: Service, tenant: str | None, name: str) -> CreatedKey:
    """Create a key like another, and revoke the other."""
    old = await find(service, tenant, name)
    if not old.is_valid(service.office.wall_s):
        raise WrongState(f"key `{name}` is no longer valid", hint="create a new one")
    minted = await create(service, _like(old))
    await revoke(service, tenant, name)
    return minted


async def delete(service: Service, keys: Sequence[ApiKey]) -> None:
    """Remove keys for good."""
    for key in keys:
        await _values(service).remove(key.id)


def _like(key: ApiKey) -> NewKey:
    return NewKey(key.tenant, key.role, key.scopes, key.label, key.expires_at_s)


def _make(wish: NewKey, wall_s: float) -> CreatedKey:
    name, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    key = ApiKey(
        id=name,
        digest=_digest(secret),
        tenant=wish.tenant,
        role=wish.role,
        scopes=wish.scopes,
        created_at_s=wall_s,
        label=wish.label,
        expires_at_s=wish.expires_at_s,
    )
    return CreatedKey(key, f"{PREFIX}_{name}_{secret}")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _values(service: Service) -> ValueNamespace[ApiKey]:
    return ValueNamespace(service.office.named_values, "keys", ApiKey)
