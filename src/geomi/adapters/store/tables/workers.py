"""A worker's card, to a row and back."""

from __future__ import annotations

from typing import Any

from geomi.adapters.store.codec import decode_strings, encode
from geomi.adapters.store.rows import Row, legible
from geomi.model.worker import WorkerCard, WorkerRole


def card_columns(card: WorkerCard) -> dict[str, Any]:
    """Return every column of a worker; the hosts it holds are counted, not kept."""
    return {
        "owner": card.owner,
        "machine": card.machine,
        "root": card.root,
        "pid": card.pid,
        "role": card.role.value,
        "version": card.version,
        "started_s": card.started_s,
        "beat_s": card.beat_s,
        "silence_s": card.silence_s,
        "jobs": encode(card.jobs),
        "pages": card.pages,
        "pages_per_s": card.pages_per_s,
    }


def card_of(row: Row) -> WorkerCard:
    """Read a card, with the hosts that its worker holds."""
    owner, machine, root, pid, role, version, started_s, beat_s, silence_s, jobs, *counts = row
    with legible("workers", owner):
        return WorkerCard(
            owner,
            machine,
            root,
            pid,
            WorkerRole(role),
            version,
            started_s,
            beat_s,
            silence_s,
            decode_strings(jobs),
            *counts,
        )
