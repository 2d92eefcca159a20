"""A store in plain dictionaries: the reference that the contract suites compare the real stores
with.

Values of `geomi.model` come in and go out. It gives the same answers as the durable stores and is
gone with the process. It must never differ from the SQLite store in what it lends, keeps or
counts.
"""

from __future__ import annotations

from tests.contracts.reference.store import MemoryStore, open_memory

__all__ = ["MemoryStore", "open_memory"]
