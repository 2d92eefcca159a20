"""The network, through the egress gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from geomi.model.page import Fetched, Request
from geomi.model.verdict import Outcome


@dataclass(frozen=True, slots=True)
class Resolution:
    """The checked addresses of a host, or why there are none.

    Args:
        is_public: whether every address is; the politeness floor of public hosts depends on it.
    """

    addresses: tuple[str, ...] = ()
    is_public: bool = True
    failure: Outcome | None = None
    detail: str = ""


class Resolver(Protocol):
    """Names to checked addresses."""

    async def resolve(self, host: str, port: int) -> Resolution:
        """Resolve once and check every answer; a refused address is a failure, not an exception."""
        ...


class Fetcher(Protocol):
    """One request through the egress gate."""

    async def fetch(self, request: Request) -> Fetched:
        """Send the request and read the answer inside its limits.

        Never follow a redirect, never raise for what a server or a network did.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...
