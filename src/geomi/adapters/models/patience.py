"""Patience with a model server that has too much to do (ERR-16).

Whoever is throttled asks again up to three times: after a random part of 5, 10 and 20 seconds (full
jitter), so that many who were refused at once do not come back at once. Any other refusal is told
at the first word. A query that a person waits for is not patient.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from geomi.errors import ModelThrottled

RETRIES = 3
INTERVAL_S = 5.0
RATE = 2.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often one asks again, and how the time in between passes."""

    retries: int = RETRIES
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    rng: random.Random = field(default_factory=random.Random)

    async def asking(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer, or a refusal that waiting does not change."""
        for tried in range(self.retries):
            try:
                return await ask()
            except ModelThrottled:
                await self.sleep(self.rng.uniform(0.0, INTERVAL_S * RATE**tried))
        return await ask()


NONE = Patience(retries=0)
