"""Which providers a source of ready documents has: asked once a day at most, and remembered.

What could not be asked is not remembered: it is neither there nor missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from geomi.app import registry
from geomi.app.home import Home
from geomi.app.store import open_store
from geomi.engine.external_docs import ExternalDocsClient
from geomi.errors import ConfigError, SourceError, StoreMissing
from geomi.model.external_docs import LibraryFinding
from geomi.model.named_value import MAX_LISTED_VALUES
from geomi.model.site import Provider
from geomi.ports.drawers import Drawers
from geomi.settings.options import Settings

DRAWER = "context7"
HOLDS_S = 86_400.0  # CFG-23 asks at start; a service that runs for months asks again


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of looking for one provider.

    Args:
        finding: None where the source could not be asked.
        problem: why it could not.
    """

    provider: Provider
    finding: LibraryFinding | None
    problem: str = ""


def findings_in(root: Path, settings: Settings) -> dict[str, LibraryFinding]:
    """Return what a data directory remembers, by the key of the provider; nothing is made."""
    try:
        store = open_store(root, settings, create=False)
    except StoreMissing:
        return {}
    with closing(store):
        return asyncio.run(_every(store.drawers))


async def finding_of(home: Home, provider: Provider) -> LibraryFinding | None:
    """Return what is remembered of a provider."""
    slip = await home.store.drawers.get(DRAWER, provider.key)
    return about(provider, _adapter().validate_json(slip.body) if slip else None)


def about(provider: Provider, finding: LibraryFinding | None) -> LibraryFinding | None:
    """Return a finding that is about a provider under its present name, and no other."""
    return finding if finding and finding.name == provider.name else None


def is_fresh(finding: LibraryFinding | None, *, wall_s: float) -> bool:
    """Say whether a provider need not be looked for again."""
    return finding is not None and 0 <= wall_s - finding.at_s < HOLDS_S


async def look_for(home: Home, provider: Provider, librarian: ExternalDocsClient) -> Checked:
    """Ask for one provider's library (`resolve-library-id`) and remember the answer."""
    try:
        picked = await librarian.resolve(provider.name)
    except SourceError as error:
        return Checked(provider, None, error.message)
    library = picked.library if picked else ""
    finding = LibraryFinding(provider.key, provider.name, library, home.world.clock.wall_s())
    await _remember(home, finding)
    return Checked(provider, finding)


def librarian_of(home: Home) -> ExternalDocsClient:
    """Return who asks the source for one run; refuse where none is named."""
    if home.ready is None:
        raise ConfigError(
            "no source of ready documents is named",
            hint="GEOMI_CONTEXT7_URL=https://context7.com, and GEOMI_CONTEXT7_KEY if you have one",
        )
    return ExternalDocsClient(home.ready, home.world.clock)


async def check(
    home: Home, librarian: ExternalDocsClient, keys: Sequence[str] = ()
) -> list[Checked]:
    """Look for providers, one after the other; all of them where none is named."""
    known = registry.overlaid(await home.world.providers.list())
    wanted = [registry.named(key, known) for key in keys] or list(known.values())
    return [await look_for(home, provider, librarian) for provider in wanted]


async def due(home: Home) -> list[str]:
    """Name the providers that were not looked for within a day."""
    known = registry.overlaid(await home.world.providers.list())
    wall_s = home.world.clock.wall_s()
    found = await _every(home.store.drawers)
    return [
        key
        for key, provider in known.items()
        if not is_fresh(about(provider, found.get(key)), wall_s=wall_s)
    ]


async def _remember(home: Home, finding: LibraryFinding) -> None:
    drawers, body = home.store.drawers, _adapter().dump_json(finding)
    slip = await drawers.get(DRAWER, finding.key)
    if slip is None:
        await drawers.add(DRAWER, finding.key, body)
    else:  # whoever was faster has just asked the same
        await drawers.change(replace(slip, body=body))


async def _every(drawers: Drawers) -> dict[str, LibraryFinding]:
    found: dict[str, LibraryFinding] = {}
    after = ""
    while slips := await drawers.list(DRAWER, after=after, limit=MAX_LISTED_VALUES):
        after = slips[-1].name
        found |= {slip.name: _adapter().validate_json(slip.body) for slip in slips}
    return found


@cache
def _adapter() -> TypeAdapter[LibraryFinding]:
    return TypeAdapter(LibraryFinding)
