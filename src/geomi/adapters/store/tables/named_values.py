"""What all stores check before a named value is kept, and how its row is read and written."""

from __future__ import annotations

from geomi.adapters.store.keys import refuse_long
from geomi.adapters.store.rows import Row
from geomi.errors import StoreError
from geomi.model.named_value import MAX_LISTED_VALUES, MAX_NAMED_VALUE_BYTES, NamedValue


def check_named_value(drawer: str, name: str, body: bytes) -> None:
    """Refuse what is too large to be kept."""
    refuse_long("drawer", drawer)
    refuse_long(f"name in the drawer `{drawer}`", name)
    if len(body) > MAX_NAMED_VALUE_BYTES:
        raise StoreError(
            f"`{name}` in `{drawer}` has {len(body):,} bytes; "
            f"the limit is {MAX_NAMED_VALUE_BYTES:,}"
        )


def named_value_of(row: Row) -> NamedValue:
    """Read a slip."""
    tenant, drawer, name, body, revision, due_at_s = row
    return NamedValue(tenant, drawer, name, bytes(body), revision, due_at_s)


def named_value_columns(slip: NamedValue) -> dict[str, object]:
    """Write a slip; whose it is, the store knows."""
    due_at_s = None if slip.due_at_s is None else float(slip.due_at_s)
    return {
        "drawer": slip.drawer,
        "name": slip.name,
        "body": slip.body,
        "revision": slip.revision,
        "due_at_s": due_at_s,
    }


def values_listed(limit: int) -> int:
    """Return how many slips are in one answer."""
    return max(0, min(limit, MAX_LISTED_VALUES))
