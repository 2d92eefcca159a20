"""How a suite opens a store: one tenant's handles on it."""

from __future__ import annotations

from collections.abc import Callable

from geomi.ports.store import Store

Stores = Callable[[str], Store]
