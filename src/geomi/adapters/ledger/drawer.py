"""What all stores check before something is put into a drawer."""

from __future__ import annotations

from geomi.adapters.ledger.names import refuse_long
from geomi.adapters.ledger.rows import Row
from geomi.errors import StoreError
from geomi.model.named_value import MAX_LISTED_VALUES, MAX_NAMED_VALUE_BYTES, NamedValue


def check_slip(drawer: str, name: str, body: bytes) -> None:
    """Refuse what is too large to be kept."""
    refuse_long("drawer", drawer)
    refuse_long(f"name in the drawer `{drawer}`", name)
    if len(body) > MAX_NAMED_VALUE_BYTES:
        raise StoreError(
            f"`{name}` in `{drawer}` has {len(body):,} bytes; "
            f"the limit is {MAX_NAMED_VALUE_BYTES:,}"
        )


def slip_of(row: Row) -> NamedValue:
    """Read a slip."""
    tenant, drawer, name, body, revision, due_at_s = row
    return NamedValue(tenant, drawer, name, bytes(body), revision, due_at_s)


def slip_values(slip: NamedValue) -> dict[str, object]:
    """Write a slip; whose it is, the store knows."""
    due_at_s = None if slip.due_at_s is None else float(slip.due_at_s)
    return {
        "drawer": slip.drawer,
        "name": slip.name,
        "body": slip.body,
        "revision": slip.revision,
        "due_at_s": due_at_s,
    }


def listed_slips(limit: int) -> int:
    """Return how many slips are in one answer."""
    return max(0, min(limit, MAX_LISTED_VALUES))
