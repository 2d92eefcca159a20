"""What of one tenant was in hand when processes died."""

from __future__ import annotations

import builtins

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.session import OwnedTable, Session
from geomi.adapters.store.statements import table_statements
from geomi.model.worker import FORGET_S, Suspect, WorkInHand, WorkKind

ROWS = RowMapper(Suspect, "suspects", named_by="label")
SQL = table_statements("suspects", ROWS)


class SuspectTable(OwnedTable):
    """`ports.workers.Suspects` of one tenant."""

    async def note(self, work: WorkInHand, *, owner: str, wall_s: float) -> Suspect:
        """Count the death of a process that had something in hand."""
        row = Suspect(work.kind, work.name, work.label, 1, owner, wall_s)

        def write(db: Session) -> Suspect:
            db.send(SQL["forget"], {"before_s": wall_s - FORGET_S})
            db.send(SQL["note"], {"tenant": self._tenant, **ROWS.values(row)})
            return self._find(db, work.kind, work.name) or row

        return await self._database.write(write)

    async def find(self, kind: WorkKind, name: bytes) -> Suspect | None:
        """Find what processes have died of."""
        return await self._database.read(lambda db: self._find(db, kind, name))

    async def list(self, kind: WorkKind, *, limit: int) -> builtins.list[Suspect]:
        """List what processes have died of."""
        values = {"tenant": self._tenant, "kind": kind.value, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["list"], values))
        return [ROWS.read(row) for row in rows]

    async def clear(self, kind: WorkKind, name: bytes) -> None:
        """Forget the deaths of something that was read since."""
        values = {"tenant": self._tenant, "kind": kind.value, "name": name}
        await self._database.write(lambda db: db.send(SQL["clear"], values))

    async def forget(self, *, wall_s: float) -> None:
        """Forget old notes of every tenant."""
        values = {"before_s": wall_s - FORGET_S}
        await self._database.write(lambda db: db.send(SQL["forget"], values))

    def _find(self, db: Session, kind: WorkKind, name: bytes) -> Suspect | None:
        row = db.row(SQL["find"], {"tenant": self._tenant, "kind": kind.value, "name": name})
        return ROWS.read(row) if row else None
