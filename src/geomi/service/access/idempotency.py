"""Carry out a request that is sent twice only once: its answer is stored for a day under its key.

An answer that shows a secret is not stored. If a caller repeats such a request, the service answers
that it was carried out; the caller must send another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.errors import StoreBusy, WrongState
from geomi.service.service import TenantService, ValueNamespace, delete_expired_values
from geomi.text.identifiers import sha256_hex

KEPT_S = 86_400.0
# Whoever has not answered by then has died: requests end far sooner.
AT_WORK_S = 120.0
MAX_KEPT_BYTES = 256 * 1024
NAMESPACE = "idempotency"


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A stored answer; status 0 while the request is in progress.

    Args:
        digest: of the request, to notice another one under the same key.
        is_secret: it showed a secret and is not stored.
    """

    digest: str
    at_s: float
    status: int = 0
    body: str = ""
    location: str = ""
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to carry a request out, or the stored answer."""

    name: str
    answer: StoredAnswer
    is_first: bool


async def claim_request(desk: TenantService, key: str, *, target: str, body: bytes) -> Ticket:
    """Look up a request under its key; the first of those alike is to be carried out."""
    name, namespace = sha256_hex(f"{target}\n{key}"), _values(desk)
    digest, wall_s = sha256_hex(body), desk.wall_s
    mine = StoredAnswer(digest, wall_s)
    await delete_expired_values(desk.service, NAMESPACE)
    for _ in range(2):
        if await namespace.add(name, mine, due_at_s=wall_s + KEPT_S):
            return Ticket(name, mine, is_first=True)
        kept = await namespace.get(name)
        if kept is None:
            continue  # its day was over just now
        if kept.value.digest != digest:
            raise WrongState(
                "another request was already sent under this Idempotency-Key",
                hint="use a new key for a new request",
            )
        if kept.value.status:
            return Ticket(name, _shown(kept.value), is_first=False)
        if wall_s - kept.value.at_s < AT_WORK_S:
            raise WrongState("this request is in progress", hint="send it again in a moment")
        if await namespace.change(kept, mine, due_at_s=wall_s + KEPT_S):
            return Ticket(name, mine, is_first=True)
    raise StoreBusy("another client sends the same request", hint="send it again in a moment")


async def store_answer(desk: TenantService, ticket: Ticket, answer: StoredAnswer | None) -> None:
    """Store the answer for a repeated request; None: a repetition may be carried out."""
    if answer is None or len(answer.body) > MAX_KEPT_BYTES:
        await _values(desk).remove(ticket.name)
        return
    done = replace(answer, digest=ticket.answer.digest, at_s=ticket.answer.at_s)
    due_at_s = done.at_s + KEPT_S
    await _values(desk).amend(ticket.name, lambda _: done, due=lambda _: due_at_s)


def _shown(answer: StoredAnswer) -> StoredAnswer:
    if answer.is_secret:
        raise WrongState(
            "this request was carried out; its answer is shown only once",
            hint="create another key under a new Idempotency-Key, and revoke the first",
        )
    return answer


def _values(desk: TenantService) -> ValueNamespace[StoredAnswer]:
    return ValueNamespace(desk.named_values, NAMESPACE, StoredAnswer)
