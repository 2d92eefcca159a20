"""How geomi calls a model server: it asks again when throttled, and checks what it reads.

- A throttled caller asks again up to three times, after a random part of 5, 10 and 20 seconds (full
  jitter, ERR-16), so that many callers do not return at once. Any other refusal is raised at once.
  A query that a person waits for is not asked again.
- An answer must be a JSON object. Token counts are bounded, because they end up in a bill.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from geomi.adapters.endpoint import read_json_object
from geomi.errors import ModelError, ModelThrottled

RETRIES = 3
INTERVAL_S = 5.0
RATE = 2.0
T = TypeVar("T")
# No model reads or writes more at once; what a server says beyond it is nonsense, and would end up
# in a bill.
MAX_TOKENS = 10_000_000
MAX_NAME_CHARS = 200


@dataclass(frozen=True, slots=True)
class RetryPolicy:
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


NO_RETRIES = RetryPolicy(retries=0)


def read_tokens(told: object) -> int:
    """Read how many tokens a server says it has read or written; a wrong value counts as 0."""
    if not isinstance(told, int):
        return 0
    return min(max(told, 0), MAX_TOKENS)


def read_name(told: object, asked: str) -> str:
    """Read which model a server says it has used; the requested one if it says none."""
    return told[:MAX_NAME_CHARS] if isinstance(told, str) and told.isprintable() and told else asked


def read_object(body: bytes, source: str) -> dict[str, Any]:
    """Read the JSON object of an answer; anything else is an error."""
    try:
        return read_json_object(body)
    except ValueError as error:
        raise ModelError(f"{source} answered with {error}") from error
