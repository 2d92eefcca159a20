"""Hold the domains of all subscribed lists, once in a process for all its jobs (SCP-07).

Lists have hundreds of thousands of names, and every link is compared with them. So they are one
dictionary, and a host is looked up by each of its parents, which takes about a microsecond. A
hundred thousand names take about 10 MB. `read` asks the store which editions there are, and loads
the names only if one of them is another. All holders of this object then see the new names.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from geomi.admit.domain_list import unpack
from geomi.model.verdict import Verdict
from geomi.ports.store import Store

RULE = "domain_list."  # how the names of these rules begin: `domain_list.NAME`


class ListedDomains:
    """The names of all lists, and the list that each is on; the first by name, if on several."""

    __slots__ = ("_editions", "_lists")

    def __init__(self) -> None:
        self._editions: Mapping[str, int] = {}
        self._lists: Mapping[str, str] = {}

    async def read(self, store: Store) -> None:
        """Take over what the lists of a store name by now."""
        lists = await store.domain_lists.list()
        editions = {one.name: one.edition for one in lists}
        if editions == self._editions:
            return
        bodies = [(one.name, await store.domain_lists.body(one.name)) for one in lists]
        self._lists = await asyncio.to_thread(_merged, bodies)
        self._editions = editions

    def refusal(self, host: str) -> Verdict | None:
        """Refuse a host that a list names, or that lies below such a name."""
        lists = self._lists
        if not lists:
            return None
        name = host
        while name not in lists:
            _, dot, name = name.partition(".")
            if not dot:
                return None
        listed = lists[name]
        detail = f"the list `{listed}` names {name}"
        return Verdict(False, RULE + listed, detail, f"geomi blocked unsubscribe {listed}")


def _merged(bodies: Sequence[tuple[str, bytes | None]]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for listed, body in reversed(bodies):
        merged.update(dict.fromkeys(unpack(body), listed) if body else {})
    return merged
