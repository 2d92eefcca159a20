"""A data directory that is served: jobs of several tenants lie in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from geomi.app import DataDirectory
from geomi.cli.program import main
from tests.support.crawl import Ear, crawl_in, home_in, plan
from tests.support.waiting import waits

Command = Callable[..., tuple[int, str, str]]


def commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Make what runs commands in this process."""
    monkeypatch.delenv("GEOMI_CONFIG", raising=False)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["geomi", *arguments])
        code = main()
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return command


@waits
async def serve_to(root: Path, seeds: Mapping[str, str]) -> None:
    """Let each tenant crawl from its own seed, to the end."""
    async with home_in(root, Ear()) as home:
        for tenant, seed in seeds.items():
            await crawl_in(home.open_for(tenant), Ear(), plan([seed]))


@waits
async def archived(root: Path, tenant: str) -> list[bytes]:
    """Read every page that a tenant has, from the archive."""
    async with home_in(root, Ear()) as home:
        return await _archived(home.open_for(tenant))


async def _archived(home: DataDirectory) -> list[bytes]:
    return [
        await home.archive.read(row.record)
        for job in await home.world.store.jobs.list(limit=9)
        for row in await home.world.store.pages.feed(job.id, after=0, limit=99)
    ]
