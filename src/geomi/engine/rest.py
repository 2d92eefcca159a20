"""Waiting for a while, unless something happens before."""

from __future__ import annotations

import asyncio


async def rest(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, but no longer than so; say whether it has happened."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
    return event.is_set()
