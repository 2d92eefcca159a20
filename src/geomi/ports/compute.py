"""Work that may not run on the event loop: native code that cannot be interrupted."""

from __future__ import annotations

from typing import Protocol

from geomi.model.config import Extraction
from geomi.model.page import Article


class Compute(Protocol):
    """Extraction in a process that can be killed."""

    async def extract(
        self,
        body: bytes,
        url: str,
        content_type: str,
        rules: Extraction,
        *,
        max_links: int,
        deadline_s: float,
    ) -> Article | None:
        """Extract a large page; None when it took too long or too much memory."""
        ...

    async def aclose(self) -> None:
        """End the process."""
        ...
