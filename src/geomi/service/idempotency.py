"""A request that is sent twice is carried out once: its answer is kept for a day by its key.

An answer that shows a secret is not kept; whoever sends such a request again is told that it was
carried out, and has to make another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.errors import StoreBusy, WrongState
from geomi.service.drawer import Drawer
from geomi.service.open import Desk
from geomi.service.sweep import sweep
from geomi.text.identifiers import sha256_hex

KEPT_S = 86_400.0
# Whoever has not answered by then has died: requests end far sooner.
AT_WORK_S = 120.0
MAX_KEPT_BYTES = 256 * 1024
DRAWER = "idempotency"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered; status 0 while somebody is at it.

    Args:
        digest: of the request, so that another one under the same key is noticed.
        is_secret: it showed a secret and is not kept.
    """

    digest: str
    at_s: float
    status: int = 0
    body: str = ""
    location: str = ""
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to carry a request out, or the answer of whoever did."""

    name: str
    answer: Answer
    is_first: bool


async def enter(desk: Desk, key: str, *, target: str, body: bytes) -> Ticket:
    """Look up a request under its key; the first of those alike is to be carried out."""
    name, drawer = sha256_hex(f"{target}\n{key}"), _drawer(desk)
    digest, wall_s = sha256_hex(body), desk.wall_s
    mine = Answer(digest, wall_s)
    await sweep(desk.service, DRAWER)
    for _ in range(2):
        if await drawer.add(name, mine, due_at_s=wall_s + KEPT_S):
            return Ticket(name, mine, is_first=True)
        kept = await drawer.get(name)
        if kept is None:
            continue  # its day was over just now
        if kept.value.digest != digest:
            raise WrongState(
                "another request was sent under this Idempotency-Key",
                hint="take a new key for a new request",
            )
        if kept.value.status:
            return Ticket(name, _shown(kept.value), is_first=False)
        if wall_s - kept.value.at_s < AT_WORK_S:
            raise WrongState("this request is being carried out", hint="send it again in a moment")
        if await drawer.change(kept, mine, due_at_s=wall_s + KEPT_S):
            return Ticket(name, mine, is_first=True)
    raise StoreBusy("others send the same request", hint="send it again in a moment")


async def leave(desk: Desk, ticket: Ticket, answer: Answer | None) -> None:
    """Keep the answer for whoever sends the request again; None: it may be carried out anew."""
    if answer is None or len(answer.body) > MAX_KEPT_BYTES:
        await _drawer(desk).remove(ticket.name)
        return
    done = replace(answer, digest=ticket.answer.digest, at_s=ticket.answer.at_s)
    due_at_s = done.at_s + KEPT_S
    await _drawer(desk).amend(ticket.name, lambda _: done, due=lambda _: due_at_s)


def _shown(answer: Answer) -> Answer:
    if answer.is_secret:
        raise WrongState(
            "this request was carried out, and its answer is shown once",
            hint="make another key under a new Idempotency-Key, and revoke the first",
        )
    return answer


def _drawer(desk: Desk) -> Drawer[Answer]:
    return Drawer(desk.slips, DRAWER, Answer)
