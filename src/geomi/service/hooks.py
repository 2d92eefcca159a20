"""Hooks: URLs that are told when something becomes of a crawl."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from enum import StrEnum

from geomi.errors import FieldRefused, NotAllowed, QuotaReached, UnknownName
from geomi.model.job import JobState
from geomi.service.crawls import ID
from geomi.service.drawer import Drawer
from geomi.service.hosts import is_inner
from geomi.service.open import Desk
from geomi.url.parse import parse as parse_url

DRAWER = "hooks"
MAX_HOOKS = 50
MAX_METADATA = 20
SECRET_BYTES = 32


class HookEvent(StrEnum):
    """What a hook can be told of."""

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
class Hook:
    """A URL that wants to be told.

    Args:
        secret: what deliveries are signed with; shown once, and kept because each has to be signed.
        metadata: the receiver's own words, sent along with everything.
    """

    id: str
    url: str
    events: tuple[HookEvent, ...]
    secret: str
    created_at_s: float
    is_enabled: bool = True
    metadata: dict[str, str] = field(default_factory=dict)

    def wants(self, event: HookEvent) -> bool:
        """Say whether it is to be told of an event."""
        return self.is_enabled and event in self.events


def event_of(state: JobState, *, is_paused: bool) -> HookEvent:
    """Return the event that a step of a job is."""
    is_held = is_paused and not state.is_final
    return HookEvent.PAUSED if is_held else HookEvent(f"crawl.{state.value}")


async def create(
    desk: Desk,
    url: str,
    events: tuple[HookEvent, ...] = ENDS,
    *,
    metadata: dict[str, str] | None = None,
) -> Hook:
    """Keep a hook and draw its secret."""
    refuse_inner(desk, url)
    hook = Hook(
        desk.new_id(),
        url,
        events,
        secrets.token_urlsafe(SECRET_BYTES),
        desk.wall_s,
        metadata=metadata or {},
    )
    async with desk.door:
        if await _drawer(desk).count() >= MAX_HOOKS:
            raise QuotaReached(f"there are {MAX_HOOKS} webhooks, which is the limit")
        await _drawer(desk).add(hook.id, hook)
    return hook


async def find(desk: Desk, name: str) -> Hook:
    """Find a hook."""
    hook = await known(desk, name)
    if hook is None:
        raise _unknown(name)
    return hook


async def known(desk: Desk, name: str) -> Hook | None:
    """Find a hook that may have been deleted."""
    kept = await _drawer(desk).get(name) if ID.fullmatch(name) else None
    return kept.value if kept else None


async def page(desk: Desk, *, after: str, limit: int) -> list[Hook]:
    """List hooks in the order they were made, for paging."""
    return [kept.value for kept in await _drawer(desk).list(after=after, limit=limit)]


async def every(desk: Desk) -> list[Hook]:
    """List all hooks of a tenant."""
    return [kept.value for kept in await _drawer(desk).every()]


async def change(
    desk: Desk,
    name: str,
    *,
    url: str | None = None,
    events: tuple[HookEvent, ...] | None = None,
    is_enabled: bool | None = None,
    metadata: dict[str, str] | None = None,
) -> Hook:
    """Give a hook another URL or other events, or let it rest."""
    await find(desk, name)
    if url is not None:
        refuse_inner(desk, url)
    changed = await _drawer(desk).amend(
        name,
        lambda old: replace(
            old,
            url=url or old.url,
            events=old.events if events is None else events,
            is_enabled=old.is_enabled if is_enabled is None else is_enabled,
            metadata=old.metadata if metadata is None else metadata,
        ),
    )
    if changed is None:
        raise _unknown(name)
    return changed


async def delete(desk: Desk, name: str) -> None:
    """Forget a hook; what was to be delivered to it no longer is."""
    if not ID.fullmatch(name) or await _drawer(desk).remove(name) is None:
        raise _unknown(name)


def refuse_inner(desk: Desk, url: str) -> None:
    """Raise for a URL that could never be told; the egress gate looks again at each delivery."""
    parsed = parse_url(url)
    if parsed is None:
        raise FieldRefused(f"`{url[:200]}` is not an http(s) URL", field="url")
    if is_inner(parsed) and not desk.service.settings.allow_private:
        raise NotAllowed(f"{parsed.host} is not a public address", hint="name a `url` of the web")


def _unknown(name: str) -> UnknownName:
    return UnknownName(f"no webhook is called `{name[:80]}`")


def _drawer(desk: Desk) -> Drawer[Hook]:
    return Drawer(desk.slips, DRAWER, Hook)
