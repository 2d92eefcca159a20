"""Loans of a queue's tasks: who has which messages in hand, and what becomes of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict

from geomi.adapters.ledger.queue import Ask, lent_names, letter_values
from geomi.adapters.ledger.rows import Row
from geomi.adapters.statements import statements
from geomi.model.dataset.queue import MAX_LENT_MESSAGES, Loan, LoanSettlement

SQL = statements("sqlite", "queues")


def claim(db: sqlite3.Connection, dataset: int | None, ask: Ask, tasks: int) -> list[Loan]:
    """Lend up to `tasks` tasks that have a message due, with every message of them that is."""
    values = {"dataset": dataset, "queue": ask.queue, "now_s": ask.now_s, "many": max(0, tasks)}
    rows = db.execute(SQL["due_tasks"], values).fetchall()
    return [loan for row in rows if (loan := _lend(db, ask, row)) is not None]


def _lend(db: sqlite3.Connection, ask: Ask, row: Row) -> Loan | None:
    task, token = row[0], row[-1] + 1
    due = {"task": task, "now_s": ask.now_s}
    loan = {"task": task, "token": token, "owner": ask.owner, "until_s": ask.until_s}
    db.execute(SQL["lose"], due)
    db.execute(SQL["hold"], loan)
    found = db.execute(SQL["due_messages"], due | {"many": MAX_LENT_MESSAGES}).fetchall()
    if not (names := lent_names(found)):  # by another clock than the one that it was put off by
        db.execute(SQL["close"], loan)
        return None
    db.execute(SQL["lend"], due | {"token": token, "last": names[-1]})
    return ask.loan(row, db.execute(SQL["lent"], loan))


def _held(db: sqlite3.Connection, dataset: int | None, loan: Loan) -> dict[str, object] | None:
    """Return what finds a loan's rows; None where it was lost."""
    values = {"dataset": dataset, "queue": loan.queue, "task": loan.task}
    row = db.execute(SQL["task"], values).fetchone()
    if row is None or row[1] != loan.token:
        return None
    return {"task": row[0], "token": loan.token}


def renew(db: sqlite3.Connection, dataset: int | None, loan: Loan, until_s: float) -> bool:
    """Prolong a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    if held is None:
        return False
    return db.execute(SQL["renew"], held | {"until_s": until_s}).rowcount == 1


def end_dead(db: sqlite3.Connection, owners: Sequence[str], now_s: float) -> None:
    """End the loans of owners that are dead."""
    db.executemany(SQL["pass"], [{"owner": owner, "now_s": now_s} for owner in owners])


def settle(
    db: sqlite3.Connection, dataset: int | None, loan: Loan, settlement: LoanSettlement
) -> bool:
    """End messages of a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    if held is None:
        return False
    db.executemany(SQL["done"], [held | {"name": name} for name in settlement.done])
    db.executemany(SQL["back"], [held | {"name": name} for name in settlement.back])
    db.executemany(
        SQL["later"],
        [held | {"name": name, "due_s": due_s} for name, due_s in settlement.later],
    )
    db.executemany(SQL["bury"], [held | letter_values(letter) for letter in settlement.dead])
    if settlement.worked is not None:
        db.execute(SQL["worked"], held | asdict(settlement.worked))
    db.execute(SQL["close"], held)
    return True
