"""How many requests a worker may have in flight: a semaphore whose size may change under way."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType


class Slots:
    """Places for requests in flight, given in the order of asking."""

    def __init__(self, many: int) -> None:
        self._many = many
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    def resize(self, many: int) -> None:
        """Have so many places from now on; whoever has one keeps it."""
        self._many = many
        self._let_in()

    async def __aenter__(self) -> None:
        if self._taken < self._many and not self._waiting:
            self._taken += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():  # it was given at the same moment
                self._give_back()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._give_back()

    def _give_back(self) -> None:
        self._taken -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._taken < self._many and self._waiting:
            place = self._waiting.popleft()
            if not place.done():  # else who waited was cancelled
                self._taken += 1
                place.set_result(None)
