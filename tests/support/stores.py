"""Stores that are real but for some of their parts."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

from geomi.app.directory import DataDirectory
from geomi.engine.world import World
from geomi.ports.store import Store


def with_parts(store: Any, **parts: object) -> Store:
    """Return a store that is another but for some of its parts."""
    changed: Store = copy(store)
    changed.__dict__.update(parts)
    return changed


def world_with(world: World, **parts: object) -> World:
    """Return a world whose store has other parts."""
    return replace(world, store=with_parts(world.store, **parts))


def directory_with(home: DataDirectory, **parts: object) -> DataDirectory:
    """Return a data directory whose store has other parts."""
    return replace(home, world=world_with(home.world, **parts))
