"""Share a worker's event loop between pages whose links take long to judge.

Links are judged in slices. Nearly every page needs less than one. A page that needs more waits for
its next slice: one page of the process at a time has one, and rests before it for three times as
long as its last one took. So all others keep three quarters of the loop, whatever patterns a job
has and however many pages such a job visits; a cancel, a drain and a signal take effect between two
slices. What a page has not judged when its budget is spent is counted as `links.time`, and told by
`geomi why`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType

SLICE_S = 0.02  # of CPU; a page with a hundred links and usual patterns needs a tenth of it
# Of CPU, for one page or list. A sitemap of 50,000 URLs with usual patterns needs two seconds.
BUDGET_S = 60.0
RESTS = 3

Rest = Callable[[float], Awaitable[None]]


class LoopShare:
    """What the pages of one process share."""

    def __init__(self, *, slice_s: float = SLICE_S, budget_s: float = BUDGET_S) -> None:
        self.slice_s = slice_s
        self.budget_s = budget_s
        self.door = asyncio.Lock()

    def of_page(self, rest: Rest = asyncio.sleep) -> JudgingTime:
        """Begin the first slice of a page.

        Args:
            rest: waits between two slices; whatever it raises ends the judging.
        """
        return JudgingTime(self, rest)


class JudgingTime:
    """The slices of one page; used in a `with`, so that the next page gets its own."""

    def __init__(self, share: LoopShare, rest: Rest) -> None:
        self._share = share
        self._rest = rest
        self._has_door = False
        self._began_s = time.thread_time()
        self._before_s = 0.0

    @property
    def spent_s(self) -> float:
        """The CPU time of all slices so far."""
        return self._before_s + time.thread_time() - self._began_s

    @property
    def is_slice_over(self) -> bool:
        """Whether others should have their turn."""
        return time.thread_time() - self._began_s >= self._share.slice_s

    async def next_slice(self) -> bool:
        """Let all others have their turn; False if the page's budget is spent."""
        if self.spent_s >= self._share.budget_s:
            return False
        took_s = time.thread_time() - self._began_s
        self._before_s += took_s
        self._began_s = time.thread_time()
        self._give_back()
        await self._share.door.acquire()
        self._has_door = True
        await self._rest(RESTS * took_s)
        self._began_s = time.thread_time()
        return True

    def _give_back(self) -> None:
        if self._has_door:
            self._has_door = False
            self._share.door.release()

    def __enter__(self) -> JudgingTime:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._give_back()
