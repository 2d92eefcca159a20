"""Hand every event to several listeners; a listener that fails cannot fail the crawl."""

from __future__ import annotations

from collections.abc import Sequence

from geomi.model.event import Event, SeedEvent, Warned
from geomi.ports.runtime import EventSink


class EventFanOut:
    """Pass each event to every sink; drop a failing sink and warn the others once.

    Args:
        wants_details: whether anybody listens at the level of debugging; otherwise such events are
            not even made.
    """

    def __init__(self, *sinks: EventSink, wants_details: bool = False) -> None:
        self.wants_details = wants_details
        self._sinks = sinks

    def emit(self, event: Event) -> None:
        """Hand on one event."""
        failures: list[tuple[EventSink, Exception]] = []
        for sink in self._sinks:
            try:
                sink.emit(event)
            # A closed pipe or a bug in a listener: whatever it is, the crawl outlives it.
            except Exception as error:
                failures.append((sink, error))
        if failures:
            self._drop(failures, "" if isinstance(event, SeedEvent) else event.job)

    def _drop(self, failures: Sequence[tuple[EventSink, Exception]], job: str) -> None:
        failed = {id(sink) for sink, _ in failures}  # one that counts may be equal to another
        self._sinks = tuple(sink for sink in self._sinks if id(sink) not in failed)
        for sink, error in failures:
            name = type(sink).__name__
            self.emit(Warned(job, f"{name} gets no more events: {type(error).__name__}: {error}"))


class EventsOnly:
    """Hands on events of some kinds alone."""

    def __init__(self, kinds: tuple[type, ...], sink: EventSink) -> None:
        self._kinds = kinds
        self._sink = sink

    def emit(self, event: Event) -> None:
        """Hand on one event, if it is of these kinds."""
        if isinstance(event, self._kinds):
            self._sink.emit(event)


class EventsExcept:
    """Hands on events of all kinds but some."""

    def __init__(self, kinds: tuple[type, ...], sink: EventSink) -> None:
        self._kinds = kinds
        self._sink = sink

    def emit(self, event: Event) -> None:
        """Hand on one event, unless it is of these kinds."""
        if not isinstance(event, self._kinds):
            self._sink.emit(event)
