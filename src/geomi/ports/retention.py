"""What of one tenant is kept for a time only, and how it goes: a little at a time.

Every call is one short transaction, so that whoever crawls beside it does not wait. Nothing is
forgotten of a job before `begin` has written down that it is going; from then on it is never used
again, and whoever cleans next finishes what a dead one has begun.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from geomi.model.job import Expired


class Stretch(NamedTuple):
    """One stretch of a walk: where the next begins, 0 at the end, and how much has gone."""

    after: int
    gone: int


class Retention(Protocol):
    """The jobs of one tenant whose time is over.

    A crawl ages as a whole: the time of each of its jobs counts from the end of the last of them.
    """

    async def due(self, *, wall_s: float, limit: int) -> list[tuple[str, Expired]]:
        """Name jobs that have something to lose, and what: `URLS_GOING` or `JOB_GOING`."""
        ...

    async def begin(self, job: str, what: Expired, *, wall_s: float) -> bool:
        """Write down that something is going; False where it is not due any more."""
        ...

    async def forget_urls(self, job: str, *, limit: int) -> int:
        """Forget some URLs of a job that is going, and return how many; 0 when all have gone."""
        ...

    async def forget_pages(self, job: str, *, after: int, limit: int) -> Stretch:
        """Forget pages and histories whose newest copy is in a job that is going."""
        ...

    async def forget_captures(self, job: str, *, limit: int) -> int:
        """Forget some captures of a job that is going, and return how many."""
        ...

    async def forget_requests(self, job: str, *, after: int, limit: int) -> Stretch:
        """Look at a part of the request log and forget what is of a job that is going."""
        ...
