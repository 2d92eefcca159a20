"""Which captures of a tenant's jobs are lent to which process, in memory."""

from __future__ import annotations

from itertools import takewhile

from geomi.model.page import CaptureRow, CaptureShare
from tests.contracts.reference.world import Book, World


class MemoryShares:
    """`ports.pages.Shares` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def claim(
        self,
        job: str,
        work: str,
        *,
        owner: str,
        until_s: float,
        now_s: float,
        many: int,
        behind: str = "",
    ) -> CaptureShare | None:
        """Lend captures: a share that somebody left, or the next ones."""
        book = self._world.find_book(job, self._tenant)
        if book is None:
            return None
        own = {last: share for (name, last), share in sorted(book.shares.items()) if name == work}
        free = [(after, last) for last, (after, _, until) in own.items() if until <= now_s]
        place = free[0] if free else _next(book, work, many, behind)
        if place is None:
            return None
        after, last = place
        book.shares[work, last] = (after, owner, until_s)
        rows = tuple(
            CaptureRow(seq, page.url, page.record, page.response)
            for seq, page in book.captures.items()
            if after < seq <= last
        )
        return CaptureShare(job, work, owner, after, last, rows)

    async def renew(self, share: CaptureShare, *, until_s: float) -> bool:
        """Prolong a share; False where it was lost."""
        return self._change(share, (share.after, share.owner, until_s))

    async def settle(self, share: CaptureShare, done: int) -> bool:
        """End a share that is done up to a capture; others may have the rest."""
        return self._change(share, None if done >= share.last else (done, share.owner, 0.0))

    async def is_behind(self, job: str, work: str) -> bool:
        """Return whether captures of a job wait for a work, or are lent for it."""
        book = self._world.find_book(job, self._tenant)
        if book is None:
            return False
        lent, _ = book.cursors.get(work, (0, 0))
        return any(seq > lent for seq in book.captures) or any(
            name == work for name, _ in book.shares
        )

    async def rewind(self, job: str, work: str) -> None:
        """Begin a work again with the first capture."""
        if book := self._world.find_book(job, self._tenant):
            book.cursors.pop(work, None)
            for key in [key for key in book.shares if key[0] == work]:
                del book.shares[key]

    def _change(self, share: CaptureShare, held: tuple[int, str, float] | None) -> bool:
        book, key = self._world.find_book(share.job, self._tenant), (share.work, share.last)
        if book is None or book.shares.get(key, (0, ""))[1] != share.owner:
            return False
        if held is None:
            del book.shares[key]
        else:
            book.shares[key] = held
        return True


def _next(book: Book, work: str, many: int, behind: str) -> tuple[int, int] | None:
    """Lend what nobody had yet, up to a page that an unfinished share has."""
    after, length = book.cursors.get(work, (0, 0))
    ahead = [seq for seq in book.captures if seq > after and seq <= _reach(book, behind)][:many]
    lent = {
        book.captures[seq].url_hash
        for (name, last), (first, _, _) in book.shares.items()
        for seq in book.captures
        if name == work and first < seq <= last
    }
    seqs = list(takewhile(lambda seq: book.captures[seq].url_hash not in lent, ahead))
    if not seqs:
        return None
    book.cursors[work] = (seqs[-1], length + len(seqs))
    return after, seqs[-1]


def _reach(book: Book, behind: str) -> float:
    if not behind:
        return float("inf")
    unfinished = [after for (name, _), (after, _, _) in book.shares.items() if name == behind]
    return min([book.cursors.get(behind, (0, 0))[0], *unfinished])
