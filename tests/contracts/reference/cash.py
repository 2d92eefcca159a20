"""The cash of URLs that wait, where a job's order keeps any: spent and given, by the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.adapters.store.accounting.budget import JobTerms
from geomi.adapters.store.accounting.opic import CashPayment, UrlCash, inherit, once, pay, pays
from geomi.frontier.importance import LIFT, points
from geomi.model.entry import Settlement, Target, UrlEntry
from geomi.model.verdict import State
from tests.contracts.reference.world import Book, Queue


def settle_cash(book: Book, terms: JobTerms, visits: Sequence[Settlement]) -> None:
    """Give what settled pages hold to their links; new ones are there by now."""
    if terms.share is None:
        return
    held = once([(v, book.queues[v.entry.host].cash.get(v.entry.url_hash, 0.0)) for v in visits])
    for visit, cash in held:
        if pays(visit):
            _spend(book.queues[visit.entry.host], visit, points(terms.share, cash))
    _write(book, terms.share, pay(terms, held))


def inherit_cash(book: Book, terms: JobTerms, added: Sequence[Target]) -> None:
    """Let what was added from outside share what the virtual root holds."""
    if terms.share is not None:
        _write(book, terms.share, inherit(terms, added))


def lift(queue: Queue, entry: UrlEntry) -> UrlEntry:
    """Put an entry before all others of its queue."""
    if entry.priority < LIFT:
        entry = replace(entry, priority=entry.priority + LIFT)
        queue.put(entry)
    return entry


def _spend(queue: Queue, visit: Settlement, counted: int) -> None:
    key = visit.entry.url_hash
    queue.cash[key] = 0.0
    ended = replace(queue.entries[key], priority=queue.entries[key].priority - counted)
    queue.entries[key] = ended
    if ended.state is State.PENDING:
        queue.pending[key] = ended


def _write(book: Book, share: float, payment: CashPayment) -> None:
    for (host, url_hash), gift in payment.gifts.items():
        queue = book.queues.get(host)
        entry = queue.pending.get(url_hash) if queue else None
        if queue is None or entry is None:
            continue
        purse = UrlCash(queue.cash.get(url_hash, 0.0), entry.priority).plus(gift, share)
        queue.cash[url_hash] = purse.cash
        queue.put(replace(entry, priority=purse.priority))
    book.root = max(0.0, book.root + payment.to_root)
