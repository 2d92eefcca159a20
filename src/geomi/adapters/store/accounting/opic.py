"""What cash changes hands when the visits of one job settle, the same in every store (adr 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geomi.adapters.store.accounting.budget import JobTerms
from geomi.frontier.importance import distribute, dividend, points
from geomi.model.entry import Settlement, Target
from geomi.model.verdict import State


@dataclass(frozen=True, slots=True)
class CashPayment:
    """What some settled pages give.

    Args:
        to_root: what the virtual root has more after it, or less.
    """

    gifts: dict[Target, float]
    to_root: float


@dataclass(frozen=True, slots=True)
class UrlCash:
    """What a URL that waits holds, and its priority with it."""

    cash: float
    priority: int

    def plus(self, gift: float, share: float) -> UrlCash:
        """Add to it; the priority moves by what the cash now counts for more."""
        cash = self.cash + gift
        more = points(share, cash) - points(share, self.cash)
        return UrlCash(cash, self.priority + more)


def pays(visit: Settlement) -> bool:
    """Whether a visit has ended its entry, so that its cash goes on."""
    return visit.state is not State.PENDING


def links_of(visit: Settlement) -> list[Target]:
    """Return where a page leads, each place once, itself left out."""
    links = dict.fromkeys(visit.endorsed)
    links |= dict.fromkeys((found.host, found.url_hash) for found in visit.discovered)
    links.pop((visit.entry.host, visit.entry.url_hash), None)
    return list(links)


def once(held: Sequence[tuple[Settlement, float]]) -> list[tuple[Settlement, float]]:
    """Return what each visit has to give; a page that ended twice in a batch gives once."""
    left: list[tuple[Settlement, float]] = []
    given: set[Target] = set()
    for visit, cash in held:
        own = (visit.entry.host, visit.entry.url_hash)
        left.append((visit, 0.0 if own in given else cash))
        if pays(visit):
            given.add(own)
    return left


def pay(terms: JobTerms, visits: Sequence[tuple[Settlement, float]]) -> CashPayment:
    """Give the cash of settled pages away, with what the virtual root pays each of them.

    A page that will be tried again keeps what it has; what it led to begins with nothing.
    """
    paid = dividend(terms.root, terms.waiting)
    payers = [(cash + paid if pays(visit) else 0.0, links_of(visit)) for visit, cash in visits]
    gifts, rest = distribute(payers)
    return CashPayment(gifts, rest - paid * sum(pays(visit) for visit, _ in visits))


def inherit(terms: JobTerms, added: Sequence[Target]) -> CashPayment:
    """Let what was added from outside share all that the virtual root holds."""
    if not added:
        return CashPayment({}, 0.0)
    return CashPayment(dict.fromkeys(added, terms.root / len(added)), -terms.root)
