"""Webhooks: URLs of a tenant that the service calls when a crawl changes its state.

Every call passes the egress gate, which refuses an address that is not public at each attempt,
whatever the name resolved to when the webhook was created. A redirect counts as a failure.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import orjson

from geomi.errors import (
    ConfigError,
    ExtraMissing,
    FieldRefused,
    NotAllowed,
    QuotaReached,
    UnknownName,
)
from geomi.fetch.response import reason_for_tenants
from geomi.model.job import JobState
from geomi.model.page import Request
from geomi.model.verdict import Outcome
from geomi.ports.web import Fetcher
from geomi.service.crawling.crawls import JOB_ID, is_private_host
from geomi.service.service import TenantService, ValueNamespace
from geomi.url.parse import parse as parse_url

NAMESPACE = "hooks"
MAX_HOOKS = 50
MAX_METADATA = 20
SECRET_BYTES = 32
SEALED = "vault:"  # no secret that was drawn has a colon
ANSWER_S = 10.0
MAX_ANSWER_BYTES = 65_536


class HookEvent(StrEnum):
    """The events that a webhook can receive."""

    PENDING = "crawl.pending"
    INITIALIZING = "crawl.initializing"
    DISCOVERING = "crawl.discovering"
    PROCESSING = "crawl.processing"
    FINALIZING = "crawl.finalizing"
    COMPLETED = "crawl.completed"
    FAILED = "crawl.failed"
    CANCELLED = "crawl.cancelled"
    PAUSED = "crawl.paused"


ENDS = (HookEvent.COMPLETED, HookEvent.FAILED, HookEvent.CANCELLED)


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that wants to be told.

    Args:
        secret: signs the deliveries; shown once, and stored to sign each delivery, encrypted where
            the vault can. Empty where the vault's key is another one now.
        metadata: the receiver's own value, which every delivery has.
    """

    id: str
    url: str
    events: tuple[HookEvent, ...]
    secret: str
    created_at_s: float
    is_enabled: bool = True
    metadata: dict[str, str] = field(default_factory=dict)

    def wants(self, event: HookEvent) -> bool:
        """Return whether it wants an event."""
        return self.is_enabled and event in self.events


def event_of(state: JobState, *, is_paused: bool) -> HookEvent:
    """Return the event that a step of a job is."""
    is_held = is_paused and not state.is_final
    return HookEvent.PAUSED if is_held else HookEvent(f"crawl.{state.value}")


async def create(
    desk: TenantService,
    url: str,
    events: tuple[HookEvent, ...] = ENDS,
    *,
    metadata: dict[str, str] | None = None,
) -> Webhook:
    """Keep a hook and draw its secret."""
    refuse_private_url(desk, url)
    hook = Webhook(
        desk.new_id(),
        url,
        events,
        secrets.token_urlsafe(SECRET_BYTES),
        desk.wall_s,
        metadata=metadata or {},
    )
    async with desk.door:
        if await _values(desk).count() >= MAX_HOOKS:
            raise QuotaReached(f"there are {MAX_HOOKS} webhooks, which is the limit")
        await _values(desk).add(hook.id, _sealed(desk, hook))
    return hook


async def find(desk: TenantService, name: str) -> Webhook:
    """Find a hook."""
    hook = await find_or_none(desk, name)
    if hook is None:
        raise _unknown(name)
    return hook


async def find_or_none(desk: TenantService, name: str) -> Webhook | None:
    """Find a hook that may have been deleted."""
    kept = await _values(desk).get(name) if JOB_ID.fullmatch(name) else None
    return _opened(desk, kept.value) if kept else None


async def page(desk: TenantService, *, after: str, limit: int) -> list[Webhook]:
    """List hooks in the order they were made, for paging."""
    found = await _values(desk).list(after=after, limit=limit)
    return [_opened(desk, kept.value) for kept in found]


async def every(desk: TenantService) -> list[Webhook]:
    """List all hooks of a tenant."""
    return [_opened(desk, kept.value) for kept in await _values(desk).every()]


async def change(
    desk: TenantService,
    name: str,
    *,
    url: str | None = None,
    events: tuple[HookEvent, ...] | None = None,
    is_enabled: bool | None = None,
    metadata: dict[str, str] | None = None,
) -> Webhook:
    """Give a hook another URL or other events, or let it rest."""
    await find(desk, name)
    if url is not None:
        refuse_private_url(desk, url)
    changed = await _values(desk).amend(
        name,
        lambda old: replace(
            _sealed(desk, old),
            url=url or old.url,
            events=old.events if events is None else events,
            is_enabled=old.is_enabled if is_enabled is None else is_enabled,
            metadata=old.metadata if metadata is None else metadata,
        ),
    )
    if changed is None:
        raise _unknown(name)
    return _opened(desk, changed)


async def delete(desk: TenantService, name: str) -> None:
    """Forget a hook; what was to be delivered to it no longer is."""
    if not JOB_ID.fullmatch(name) or await _values(desk).remove(name) is None:
        raise _unknown(name)


def refuse_private_url(desk: TenantService, url: str) -> None:
    """Raise for a URL that is not public; the egress gate checks again at each delivery."""
    parsed = parse_url(url)
    if parsed is None:
        raise FieldRefused(f"`{url[:200]}` is not an http(s) URL", field="url")
    if is_private_host(parsed) and not desk.service.settings.allow_private:
        raise NotAllowed(f"{parsed.host} is not a public address", hint="give a public `url`")


def _sealed(desk: TenantService, hook: Webhook) -> Webhook:
    """Return a hook as it is stored; without the extra `signin` its secret stays as it is."""
    if hook.secret.startswith(SEALED):
        return hook
    try:
        text = desk.world.vault.seal(orjson.dumps([desk.tenant, hook.id, hook.secret]))
    except ExtraMissing:
        return hook
    return replace(hook, secret=SEALED + text)


def _opened(desk: TenantService, hook: Webhook) -> Webhook:
    """Return a stored hook with its secret; one of an older geomi was stored as it is."""
    if not hook.secret.startswith(SEALED):
        return hook
    try:
        told = orjson.loads(desk.world.vault.unseal(hook.secret.removeprefix(SEALED)))
    except (ConfigError, ExtraMissing):
        return replace(hook, secret="")
    tenant, name, secret = told
    is_own = (tenant, name) == (desk.tenant, hook.id)
    return replace(hook, secret=secret if is_own else "")


def _unknown(name: str) -> UnknownName:
    return UnknownName(f"there is no webhook `{name[:80]}`")


def _values(desk: TenantService) -> ValueNamespace[Webhook]:
    return ValueNamespace(desk.named_values, NAMESPACE, Webhook)


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """The answer to a call; without a status there was none, and `problem` says why.

    Args:
        problem: for the operator; it may name what is inside our network.
    """

    status: int | None
    problem: str = ""
    failure: Outcome | None = None

    @property
    def told_problem(self) -> str:
        """The words about it for its tenant."""
        return reason_for_tenants(self.failure, self.problem) if self.failure else self.problem

    @property
    def is_taken(self) -> bool:
        """Whether the receiver has it; a redirect is no success."""
        return self.status is not None and 200 <= self.status < 300


async def post(fetcher: Fetcher, url: str, headers: Mapping[str, str], body: bytes) -> PostAnswer:
    """Send a body; nothing that a receiver does is an exception."""
    fetched = await fetcher.fetch(
        Request(
            url=url,
            headers=tuple(headers.items()),
            connect_timeout_s=ANSWER_S,
            read_timeout_s=ANSWER_S,
            total_timeout_s=ANSWER_S,
            max_bytes=MAX_ANSWER_BYTES,
            truncate=True,
            body=body,
        )
    )
    if fetched.failure is not None:
        return PostAnswer(None, fetched.detail or str(fetched.failure), fetched.failure)
    return PostAnswer(fetched.status)
