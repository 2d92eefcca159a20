"""A store in plain dictionaries: the same answers as the durable ones, gone with the process.

Values of `geomi.model` come in and go out. It is the reference that the contract suites compare
with, and what tests and one-off crawls use. It must never differ from the SQLite store in what it
lends, keeps or counts.
"""

from __future__ import annotations

from geomi.adapters.memory.store import MemoryStore, open_memory

__all__ = ["MemoryStore", "open_memory"]
