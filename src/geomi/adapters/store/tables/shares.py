"""Which captures of a tenant's jobs are lent to which process."""

from __future__ import annotations

from itertools import takewhile

from geomi.adapters.store.session import OwnedTable, Session, TransactionClash, Values
from geomi.adapters.store.statements import table_statements
from geomi.adapters.store.tables.jobs import known_number
from geomi.adapters.store.tables.pages import CAPTURES
from geomi.adapters.store.tables.pages import SQL as PAGES
from geomi.model.page import CaptureShare

SQL = table_statements("shares", CAPTURES)
_LAST = 2**63 - 1  # no capture has a greater number


class ShareTable(OwnedTable):
    """`ports.pages.Shares` of one tenant."""

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

        def has_free(db: Session) -> Values | None:
            key = self._key(db, job, work)
            return key if key and db.value(SQL["has_free"], {**key, "now_s": now_s}) else None

        key = await self._database.read(has_free)
        if key is None:  # to look costs no lock
            return None
        loan = {**key, "owner": owner, "until_s": until_s}
        lent = await self._database.write(
            lambda db: _take_free(db, loan, now_s) or _take_next(db, loan, many, behind)
        )
        if lent is None:
            return None
        after, last = lent
        place = {**key, "seq": after, "last": last}
        rows = await self._database.read(lambda db: db.rows(SQL["captures"], place))
        return CaptureShare(job, work, owner, after, last, tuple(map(CAPTURES.read, rows)))

    async def renew(self, share: CaptureShare, *, until_s: float) -> bool:
        """Prolong a share; False where it was lost."""
        return await self._change("renew", share, {"until_s": until_s})

    async def settle(self, share: CaptureShare, done: int) -> bool:
        """End a share that is done up to a capture; others may have the rest."""
        return await self._change("end" if done >= share.last else "shorten", share, {"seq": done})

    async def is_behind(self, job: str, work: str) -> bool:
        """Return whether captures of a job wait for a work, or are lent for it."""

        def read(db: Session) -> bool:
            key = self._key(db, job, work)
            return key is not None and bool(db.value(SQL["is_behind"], key))

        return await self._database.read(read)

    async def rewind(self, job: str, work: str) -> None:
        """Begin a work again with the first capture."""

        def write(db: Session) -> None:
            key = self._key(db, job, work)
            if key is not None:
                db.send(SQL["restart"], key)
                db.send(SQL["forget"], key)

        await self._database.write(write)

    async def _change(self, name: str, share: CaptureShare, values: Values) -> bool:
        """Change a share if it is still its owner's."""

        def write(db: Session) -> bool:
            key = self._key(db, share.job, share.work)
            whose = {"owner": share.owner, "last": share.last}
            return key is not None and db.run(SQL[name], {**key, **whose, **values}) == 1

        return await self._database.write(write)

    def _key(self, db: Session, job: str, work: str) -> Values | None:
        number = known_number(db, job, self._tenant)
        return None if number is None else {"job": number, "name": work}


def _take_free(db: Session, loan: Values, now_s: float) -> tuple[int, int] | None:
    """Lend the first share that is nobody's; return the capture before it, and its last."""
    at_now = {**loan, "now_s": now_s}
    row = db.row(SQL["free"], at_now)
    if row is None:
        return None
    last, after = row
    if db.run(SQL["take"], {**at_now, "last": last, "seq": after}) == 0:
        raise TransactionClash("another process took the share at this moment")
    return after, last


def _take_next(db: Session, loan: Values, many: int, behind: str) -> tuple[int, int] | None:
    """Lend what nobody had yet, up to a page that an unfinished share has."""
    reach = db.value(SQL["reach"], {**loan, "name": behind}) if behind else _LAST
    cursor = db.row(SQL["place"], loan)
    after, length = cursor or (0, 0)
    ahead = db.rows(SQL["ahead"], {**loan, "after": after, "reach": reach, "many": many})
    lent = {url_hash for (url_hash,) in db.rows(SQL["lent_pages"], loan)}
    seqs = [seq for seq, _ in takewhile(lambda row: row[1] not in lent, ahead)]
    if not seqs:
        return None
    moved = {**loan, "after": after, "seq": seqs[-1], "length": length + len(seqs)}
    if db.run(PAGES["advance"], moved) == 0:
        raise TransactionClash("another process took these captures at this moment")
    db.send(SQL["put"], {**loan, "last": seqs[-1], "seq": after})
    return after, seqs[-1]
