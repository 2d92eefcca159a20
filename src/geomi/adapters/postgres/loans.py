"""Loans of a queue's tasks: who has which messages in hand, and what becomes of them.

Whoever changes messages has locked their tasks before; a claim leaves out what another holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict

from geomi.adapters.ledger.queue import Ask, lent_names, letter_values
from geomi.adapters.ledger.rows import Row
from geomi.adapters.postgres.session import Session, columns
from geomi.adapters.statements import statements
from geomi.model.dataset.queue import MAX_LENT_MESSAGES, Loan, LoanSettlement

SQL = statements("postgres", "queues")


def claim(db: Session, dataset: int | None, ask: Ask, many: int) -> list[Loan]:
    """Lend up to `many` tasks that have a message due, with every message of them that is."""
    values = {"dataset": dataset, "queue": ask.queue, "now_s": ask.now_s, "many": max(0, many)}
    rows = db.rows(SQL["due_tasks"], values)
    if not rows:
        return []
    tasks = [row[0] for row in rows]
    tokens = [row[-1] + 1 for row in rows]
    db.send(SQL["lose"], {"tasks": tasks})
    loans: dict[str, object] = {"task": tasks, "token": tokens}
    db.send(SQL["hold"], loans | {"owner": ask.owner, "until_s": ask.until_s})
    last = _last_names(db, tasks, ask.now_s)
    held = [(task, token) for task, token in zip(tasks, tokens, strict=True) if task in last]
    for task, token in zip(tasks, tokens, strict=True):
        if task not in last:  # by another clock than the one that it was put off by
            db.send(SQL["close"], {"task": task, "token": token})
    lent = columns([(*loan, last[loan[0]]) for loan in held], ("task", "token", "last"))
    messages: dict[int, list[Row]] = defaultdict(list)
    for task, *message in db.rows(SQL["lend"], lent | {"now_s": ask.now_s}):
        messages[task].append(tuple(message))
    return [ask.loan(row, sorted(messages[row[0]])) for row in rows if row[0] in last]


def _last_names(db: Session, tasks: Sequence[int], now_s: float) -> dict[int, str]:
    """Return up to which name messages of each task are lent."""
    values = {"tasks": list(tasks), "now_s": now_s, "many": MAX_LENT_MESSAGES}
    sized: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for task, name, size in db.rows(SQL["due_messages"], values):
        sized[task].append((name, size))
    return {task: lent_names(found)[-1] for task, found in sized.items()}


def _held(db: Session, dataset: int | None, loan: Loan) -> dict[str, object] | None:
    """Return what finds a loan's rows, with its task locked; None where it was lost."""
    row = db.row(SQL["task"], {"dataset": dataset, "queue": loan.queue, "task": loan.task})
    if row is None or row[1] != loan.token:
        return None
    return {"task": row[0], "token": loan.token}


def renew(db: Session, dataset: int | None, loan: Loan, until_s: float) -> bool:
    """Prolong a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    return held is not None and db.run(SQL["renew"], held | {"until_s": until_s}) == 1


def end_dead(db: Session, owners: Sequence[str], now_s: float) -> None:
    """End the loans of owners that are dead."""
    db.send(SQL["pass"], {"owners": list(owners), "now_s": now_s})


def settle(db: Session, dataset: int | None, loan: Loan, settlement: LoanSettlement) -> bool:
    """End messages of a loan; False where it was lost."""
    held = _held(db, dataset, loan)
    if held is None:
        return False
    if settlement.done:
        db.send(SQL["done"], held | {"names": list(settlement.done)})
    if settlement.back:
        db.send(SQL["back"], held | {"names": list(settlement.back)})
    if settlement.later:
        later = [(name, float(due_s)) for name, due_s in settlement.later]
        db.send(SQL["later"], held | columns(later, ("name", "due_s")))
    for letter in settlement.dead:
        db.send(SQL["bury"], held | letter_values(letter))
    if settlement.worked is not None:
        db.send(SQL["worked"], held | asdict(settlement.worked))
    db.send(SQL["close"], held)
    return True
