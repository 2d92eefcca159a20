"""Where events go."""

from __future__ import annotations

from typing import Protocol

from geomi.model.event import Event


class EventSink(Protocol):
    """A listener that must not wait and must not fail the crawl."""

    def emit(self, event: Event) -> None:
        """Take one event."""
        ...
