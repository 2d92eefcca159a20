"""What a page links to, known or new, for the order that counts links (adr 14).

Other orders ask of a link only whether it is new. Here every link counts, so each URL is judged and
named once and then remembered, as far as there is room: forgetting costs the same work again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from geomi.model.entry import Target

CAPACITY = 100_000  # per generation; about 40 MB for both with URLs of 80 characters


class Endorsements:
    """The links of one worker's pages as the store knows them.

    Args:
        name: judges a URL as a page has it; None for one that the job does not want.
    """

    def __init__(self, name: Callable[[str], Target | None], capacity: int = CAPACITY) -> None:
        self._name = name
        self._capacity = capacity
        self._young: dict[str, Target | None] = {}
        self._old: dict[str, Target | None] = {}

    def of(self, urls: Sequence[str]) -> tuple[Target, ...]:
        """Return where some links lead, each place once."""
        targets = dict.fromkeys(map(self._target, urls))
        return tuple(target for target in targets if target is not None)

    def _target(self, url: str) -> Target | None:
        young = self._young
        if url in young:
            return young[url]
        target = self._old[url] if url in self._old else self._name(url)
        if len(young) >= self._capacity:
            self._old, self._young = young, {}
        self._young[url] = target
        return target
