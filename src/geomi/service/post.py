"""Something is sent to a URL that a tenant or the operator has named, through the egress gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geomi.model.page import Request
from geomi.ports.web import Fetcher

ANSWER_S = 10.0
MAX_ANSWER_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Posted:
    """What came back; without a status nobody answered, and `problem` says why."""

    status: int | None
    problem: str = ""

    @property
    def is_taken(self) -> bool:
        """Whether the receiver has it; a redirect is no success."""
        return self.status is not None and 200 <= self.status < 300


async def post(fetcher: Fetcher, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
    """Send a body; nothing that a receiver does is an exception."""
    fetched = await fetcher.fetch(
        Request(
            url=url,
            headers=tuple(headers.items()),
            connect_timeout_s=ANSWER_S,
            read_timeout_s=ANSWER_S,
            total_timeout_s=ANSWER_S,
            max_bytes=MAX_ANSWER_BYTES,
            truncate=True,
            body=body,
        )
    )
    if fetched.failure is not None:
        return Posted(None, fetched.detail or str(fetched.failure))
    return Posted(fetched.status)
