"""Crawls of these tests wait for nobody, as those of the engine's tests."""

from __future__ import annotations

from tests.engine.conftest import quick_polls

__all__ = ["quick_polls"]
