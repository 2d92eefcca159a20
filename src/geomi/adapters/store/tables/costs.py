"""What models cost, as rows: which lines are the same, and how they add up.

Names and numbers may come from a model's server: what no store can keep is refused, and nothing is
ever taken away from the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable

from geomi.adapters.store.keys import refuse_long
from geomi.adapters.store.rows import Row, legible
from geomi.errors import StoreError
from geomi.model.index.language_model import CostLine, ModelPurpose

MAX_AMOUNT = 2**53  # what JSON carries exactly; a thousand of them fit into a column

AMOUNTS = ("calls", "failures", "tokens_in", "tokens_out", "micros")
COLUMNS = ("job", "day", "purpose", "provider", "model", *AMOUNTS)

CostKey = tuple[str, str, str, str, str]


def summed(lines: Iterable[CostLine]) -> list[CostLine]:
    """Return one line for each key, in the order in which everybody locks them."""
    sums: dict[CostKey, CostLine] = {}
    for line in lines:
        _refuse(line)
        key = key_of(line)
        sums[key] = added(sums[key], line) if key in sums else line
    return [sums[key] for key in sorted(sums)]


def added(kept: CostLine, more: CostLine) -> CostLine:
    """Return what two lines of one key are together."""
    amounts = (getattr(kept, name) + getattr(more, name) for name in AMOUNTS)
    return CostLine(kept.job, kept.day, kept.purpose, kept.provider, kept.model, *amounts)


def key_of(line: CostLine) -> CostKey:
    """Return what tells a line from the others of its tenant."""
    return (line.job, line.day, line.purpose.value, line.provider, line.model)


def line_of(row: Row) -> CostLine:
    """Read a line."""
    job, day, purpose, *rest = row
    with legible("costs", job):
        return CostLine(job, day, ModelPurpose(purpose), *rest)


def line_columns(line: CostLine) -> Row:
    """Write a line."""
    return (*key_of(line), *(getattr(line, name) for name in AMOUNTS))


def _refuse(line: CostLine) -> None:
    for what in ("job", "day", "provider", "model"):
        refuse_long(what, getattr(line, what))
    for name in AMOUNTS:
        amount = getattr(line, name)
        if not 0 <= amount <= MAX_AMOUNT:
            raise StoreError(
                f"`{name}` of a cost of job `{line.job}` is {amount}",
                hint=f"an amount is from 0 to {MAX_AMOUNT}",
            )
