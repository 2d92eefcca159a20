"""Keep a tenant's own table of views or shares, which counts in place of the rank list (PRI-06).

The table lies in parts beside one value that names its edition. The parts are written first, and
those of the table before are removed last: a reader meanwhile finds one table or the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

import orjson
from pydantic import TypeAdapter

from geomi.app.directory import DataDirectory
from geomi.engine.visit.traffic import NAMESPACE, TABLE, part_name
from geomi.errors import ConfigError
from geomi.frontier.own_traffic import MAX_PLACE_CHARS, read_amount, read_place
from geomi.model.named_value import MAX_LISTED_VALUES
from geomi.model.site import TrafficTable
from geomi.text.identifiers import new_ulid

MAX_PLACES = 100_000  # each worker of a job holds them all; about 20 MB
MAX_TABLE_BYTES = 32 * 1024 * 1024
# The longest places with their numbers stay below the limit of a named value.
PLACES_PER_PART = 500
PLACE_NAMES = ("place", "host", "url")
AMOUNT_NAMES = ("views", "shares", "share")
FORM = "CSV: `host or URL prefix,views`; JSON: {place: views}, or a list of {place, views}"

Amount = tuple[str, float]
Pair = tuple[str, object, object]  # where it stands, the place, and the number


async def put_own_traffic(
    home: DataDirectory, table: Iterable[Amount], origin: str
) -> TrafficTable:
    """Put a table in place of the tenant's table before; nothing is written of a broken one.

    Args:
        origin: where it came from, as it is shown.
    """
    amounts = list(table)
    if not amounts:
        raise ConfigError(f"`{origin}` has no place", hint=FORM)
    now_s, values = home.world.clock.wall_s(), home.store.named_values
    edition = new_ulid(now_s, home.world.rng)
    parts = range(0, len(amounts), PLACES_PER_PART)
    for number, start in enumerate(parts):
        part = orjson.dumps(amounts[start : start + PLACES_PER_PART])
        await values.add(NAMESPACE, part_name(edition, number), part)
    places = len({place for place, _ in amounts})
    shown = TrafficTable(origin, places, len(parts), now_s, edition)
    await _name_edition(home, shown)
    await _remove_parts(home, but=edition)
    return shown


async def remove_own_traffic(home: DataDirectory) -> None:
    """Remove the tenant's table, so that ranks count again."""
    named = await home.store.named_values.get(NAMESPACE, TABLE)
    if named is not None:
        await home.store.named_values.remove(named)
    await _remove_parts(home, but="")


async def stored_table(home: DataDirectory) -> TrafficTable | None:
    """Return what is known of the tenant's table; None if it has none."""
    named = await home.store.named_values.get(NAMESPACE, TABLE)
    return _adapter().validate_json(named.body) if named else None


def read_table(body: bytes, origin: str) -> Iterator[Amount]:
    """Return (place, amount) of a table in CSV or JSON; what is neither is refused."""
    if len(body) > MAX_TABLE_BYTES:
        raise ConfigError(f"`{origin}` has more than {MAX_TABLE_BYTES >> 20} MiB")
    is_json = body.lstrip()[:1] in (b"{", b"[")
    return read_amounts(_json_pairs(body, origin) if is_json else _csv_pairs(body, origin), origin)


def read_amounts(pairs: Iterable[Pair], origin: str) -> Iterator[Amount]:
    """Yield (place, amount) of what a table says; anything else is refused by where it stands."""
    for number, (where, name, value) in enumerate(pairs, 1):
        if number > MAX_PLACES:
            raise ConfigError(f"`{origin}` has more than {MAX_PLACES:,} places")
        place, amount = read_place(name) if isinstance(name, str) else None, read_amount(value)
        if place is None:
            told = f"`{origin}`, {where}: `{str(name)[:80]}` is no host and no URL prefix"
            raise ConfigError(told, hint=f"at most {MAX_PLACE_CHARS:,} characters; {FORM}")
        if amount is None:
            told = f"`{origin}`, {where}: `{str(value)[:80]}` is no number of views"
            raise ConfigError(told, hint="give a number from 0")
        yield place, amount


def _csv_pairs(body: bytes, origin: str) -> Iterator[Pair]:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"`{origin}` is no UTF-8: {error}", hint=FORM) from error
    for number, line in enumerate(text.splitlines(), 1):
        name, _, value = line.rpartition(",")  # a URL may have commas
        is_heading = number == 1 and read_amount(value.strip()) is None
        if line.strip() and not is_heading:
            yield f"line {number}", name.strip().strip('"'), value.strip().strip('"')


def _json_pairs(body: bytes, origin: str) -> Iterator[Pair]:
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"`{origin}` is no JSON: {error}", hint=FORM) from error
    if isinstance(told, dict):
        yield from ((f"`{name[:80]}`", name, value) for name, value in told.items())
        return
    for number, one in enumerate(told, 1):
        if not isinstance(one, dict):
            raise ConfigError(f"`{origin}`, entry {number} is no object", hint=FORM)
        name, value = _only(one, PLACE_NAMES), _only(one, AMOUNT_NAMES)
        if len(one) != 2 or name is None or value is None:
            told = f"`{origin}`, entry {number} has the fields {', '.join(one)[:80] or 'none'}"
            raise ConfigError(told, hint=f"one of {PLACE_NAMES}, and one of {AMOUNT_NAMES}")
        yield f"entry {number}", one[name], one[value]


def _only(one: dict[str, object], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in one), None)


async def _name_edition(home: DataDirectory, table: TrafficTable) -> None:
    values, body = home.store.named_values, _adapter().dump_json(table)
    while not await values.add(NAMESPACE, TABLE, body):
        named = await values.get(NAMESPACE, TABLE)
        if named is not None and await values.change(replace(named, body=body)):
            return


async def _remove_parts(home: DataDirectory, *, but: str) -> None:
    values, after = home.store.named_values, ""
    while found := await values.list(NAMESPACE, after=after, limit=MAX_LISTED_VALUES):
        after = found[-1].name
        for named in found:
            if named.name != TABLE and named.name.partition("-")[0] != but:
                await values.remove(named)


@cache
def _adapter() -> TypeAdapter[TrafficTable]:
    return TypeAdapter(TrafficTable)
