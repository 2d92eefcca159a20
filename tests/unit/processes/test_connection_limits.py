"""Connections leave file handles for everything else."""

from __future__ import annotations

import pytest

from geomi.errors import ConfigError
from geomi.processes.server import MAX_CONNECTIONS, RESERVED_HANDLES, connection_limits
from geomi.settings.options import Settings


@pytest.mark.parametrize(
    ("handles", "asked", "most"),
    [
        (1024, None, 1024 - RESERVED_HANDLES),
        (65_536, None, MAX_CONNECTIONS),
        (65_536, 20_000, 20_000),
        (RESERVED_HANDLES + 1, None, 1),
        (1024, 1024 - RESERVED_HANDLES, 1024 - RESERVED_HANDLES),
    ],
)
def test_what_is_reserved_is_left(handles: int, asked: int | None, most: int) -> None:
    assert connection_limits(Settings(max_connections=asked), handles=handles).most == most


@pytest.mark.parametrize(
    ("handles", "asked", "told"),
    [
        (1024, 1024 - RESERVED_HANDLES + 1, "769 connections (GEOMI_MAX_CONNECTIONS)"),
        (RESERVED_HANDLES, None, "exceed the 256 that this process may open"),
    ],
)
def test_more_than_the_handles_allow_is_refused(handles: int, asked: int | None, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        connection_limits(Settings(max_connections=asked), handles=handles)
    assert told in refused.value.message and "LimitNOFILE" in refused.value.hint
