"""Deliver events to webhooks: once for each step of a crawl, signed, with four tries.

A delivery is stored in the transaction that marks its step as sent. It keeps its id over all
attempts, so that a receiver recognises a repetition. `queue_deliveries` turns steps into
deliveries, and checks ended crawls for alarms; `send_due` sends what is due.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

import orjson

from geomi.errors import UnknownName, WrongState
from geomi.model.job import JobEvent, JobState
from geomi.model.named_value import NamedValue
from geomi.service import alarms, webhooks
from geomi.service.crawling.crawls import JOB_ID
from geomi.service.provider_runs import report_end
from geomi.service.service import Service, TenantService, ValueNamespace
from geomi.service.webhooks import HookEvent, Webhook, event_of, post

NAMESPACE = "deliveries"
RETRIES_S = (60.0, 300.0, 900.0)  # after the first, second and third try
KEPT_S = 7 * 86_400.0
TRIMMED = 100  # looked at whenever something is delivered
MAX_ERROR_CHARS = 300
MOST_AT_ONCE = 32


class DeliveryState(StrEnum):
    """What became of a delivery."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    DEAD = "dead"  # tried as often as it may be


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event for one hook.

    Args:
        body: JSON exactly as it is sent and signed.
        next_at_s: when it is tried next; None where it is not.
    """

    id: str
    hook: str
    event: HookEvent
    job: str
    n: int
    body: str
    created_at_s: float
    state: DeliveryState = DeliveryState.WAITING
    attempts: int = 0
    next_at_s: float | None = None
    last_at_s: float | None = None
    last_status: int | None = None
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of a try; without a status there was no answer."""

    at_s: float
    status: int | None
    error: str = ""

    @property
    def is_success(self) -> bool:
        """Whether the receiver has it."""
        return self.status is not None and 200 <= self.status < 300


def deliveries_of(
    desk: TenantService, event: JobEvent, hooks: Sequence[Webhook]
) -> list[NamedValue]:
    """Return the deliveries of a step, to store in the transaction that marks it as sent."""
    told = orjson.loads(event.body)
    kind = event_of(JobState(told["state"]), is_paused=bool(told["paused"]))
    namespace = _values(desk)
    named_values: list[NamedValue] = []
    for hook in hooks:
        if hook.wants(kind):
            one = _delivery(desk, event, hook, kind, told)
            named_values.append(
                NamedValue(
                    desk.tenant, NAMESPACE, one.id, namespace.body(one), due_at_s=one.next_at_s
                )
            )
    return named_values


def signed_headers(hook: Webhook, delivery: Delivery, *, wall_s: float) -> dict[str, str]:
    """Return what a delivery is sent with; the signature is over time and body together."""
    stamp = str(int(wall_s))
    return {
        "Content-Type": "application/json",
        "Geomi-Delivery": delivery.id,
        "Geomi-Event": delivery.event.value,
        "Geomi-Timestamp": stamp,
        "Geomi-Signature": f"sha256={signature(hook.secret, stamp, delivery.body.encode())}",
    }


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Sign a body with the time (HMAC-SHA256), so that a stranger cannot send it again later."""
    return hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def after_attempt(delivery: Delivery, attempt: Attempt) -> Delivery:
    """Return a delivery after a try: delivered, tried again later, or given up."""
    tried = replace(
        delivery,
        attempts=delivery.attempts + 1,
        last_at_s=attempt.at_s,
        last_status=attempt.status,
        last_error=attempt.error[:MAX_ERROR_CHARS],
        next_at_s=None,
    )
    if attempt.is_success:
        return replace(tried, state=DeliveryState.DELIVERED)
    if tried.attempts > len(RETRIES_S):
        return replace(tried, state=DeliveryState.DEAD)
    return replace(tried, next_at_s=attempt.at_s + RETRIES_S[tried.attempts - 1])


async def record_attempt(
    desk: TenantService, delivery: Delivery, attempt: Attempt
) -> Delivery | None:
    """Write down how a try went; None where the delivery is gone."""
    done = await _values(desk).amend(
        delivery.id, lambda old: after_attempt(old, attempt), due=lambda one: one.next_at_s
    )
    await _trim(desk)
    return done


async def delete(desk: TenantService, delivery: Delivery) -> None:
    """Forget a delivery whose hook is gone."""
    await _values(desk).remove(delivery.id)


async def find(desk: TenantService, hook: str, name: str) -> Delivery:
    """Find a delivery of a hook."""
    kept = await _values(desk).get(name) if JOB_ID.fullmatch(name) else None
    if kept is None or kept.value.hook != hook:
        raise UnknownName(f"there is no delivery `{name[:80]}`")
    return kept.value


async def page(
    desk: TenantService, hook: str, state: DeliveryState | None, *, before: str, limit: int
) -> tuple[list[Delivery], str]:
    """List deliveries of a hook, newest first; and where the next part begins, empty at the end."""
    found: list[Delivery] = []
    for _ in range(10):  # a namespace has the deliveries of all hooks
        kept = await _values(desk).list(after=before, limit=100, is_backwards=True)
        for one in kept:
            before = one.name
            if one.value.hook == hook and state in (None, one.value.state):
                found.append(one.value)
            if len(found) == limit:
                return found, before
        if len(kept) < 100:
            return found, ""
    return found, before


async def redeliver(desk: TenantService, hook: str, name: str) -> Delivery:
    """Let a delivery that is over be tried again, from the beginning."""
    found = await find(desk, hook, name)
    if found.state is DeliveryState.WAITING:
        raise WrongState(f"delivery {name} already waits for its next try")
    wall_s = desk.wall_s
    again = await _values(desk).amend(
        name,
        lambda old: replace(old, state=DeliveryState.WAITING, attempts=0, next_at_s=wall_s),
        due=lambda one: one.next_at_s,
    )
    return again or found


def read_due(desk: TenantService, named: NamedValue) -> Delivery:
    """Read a delivery that is due."""
    return _values(desk).read(named).value


def _delivery(
    desk: TenantService, event: JobEvent, hook: Webhook, kind: HookEvent, told: dict[str, object]
) -> Delivery:
    name = desk.new_id()
    content = {
        "id": name,
        "event": kind,
        "at": datetime.fromtimestamp(event.at_s, UTC),
        "sequence": event.n,
        "crawl": {"jobId": event.job, **told},
        "metadata": hook.metadata,
    }
    body = orjson.dumps(content).decode()
    wall_s = desk.wall_s
    return Delivery(name, hook.id, kind, event.job, event.n, body, wall_s, next_at_s=wall_s)


async def _trim(desk: TenantService) -> None:
    """Forget the oldest deliveries that are over and have been kept long enough."""
    for kept in await _values(desk).list(limit=TRIMMED):
        one = kept.value
        if one.state is not DeliveryState.WAITING and one.created_at_s + KEPT_S < desk.wall_s:
            await _values(desk).remove(one.id)


def _values(desk: TenantService) -> ValueNamespace[Delivery]:
    return ValueNamespace(desk.named_values, NAMESPACE, Delivery)


async def queue_deliveries(service: Service) -> int:
    """Turn unsent steps into deliveries; return how many steps there were."""
    unsent = service.home.store.unsent_events
    found = await unsent.list(MOST_AT_ONCE)
    for event in found:
        desk = service.desk(event.tenant)
        if _is_end(event):
            await alarms.check_ended_crawl(desk, event.job)
            await report_end(desk, event.job)
        named_values = deliveries_of(desk, event, await webhooks.every(desk))
        await unsent.hand_over(event, named_values)
    return len(found)


async def send_due(service: Service) -> int:
    """Try what is due; return how many deliveries that were."""
    wall_s = service.office.wall_s
    due = await service.home.store.due_values.due(NAMESPACE, wall_s=wall_s, limit=MOST_AT_ONCE)
    async with asyncio.TaskGroup() as group:
        for named in due:
            group.create_task(_send(service.desk(named.tenant), named), name=named.name)
    return len(due)


async def _send(desk: TenantService, named: NamedValue) -> None:
    delivery = read_due(desk, named)
    hook = await webhooks.find_or_none(desk, delivery.hook)
    if hook is None:
        await delete(desk, delivery)
        return
    if not hook.secret:
        attempt = Attempt(desk.wall_s, None, "the secret of the webhook cannot be read any more")
        await record_attempt(desk, delivery, attempt)
        return
    headers = signed_headers(hook, delivery, wall_s=desk.wall_s)
    headers["User-Agent"] = f"geomi/{desk.world.version}"
    answer = await post(desk.world.fetcher, hook.url, headers, delivery.body.encode())
    attempt = Attempt(desk.wall_s, answer.status, answer.told_problem)
    await record_attempt(desk, delivery, attempt)


def _is_end(event: JobEvent) -> bool:
    return JobState(orjson.loads(event.body)["state"]).is_final
