"""The eleven steps of the web-scale road, in their order (seed 003 §8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from geomi.app import crawl
from geomi.engine.visit import parsing
from geomi.engine.visit.links import LinkGate
from geomi.extract.page import extract
from geomi.model.verdict import State
from tests.support.crawl import Ear, home_in, page, paths, plan
from tests.support.server import Reply, Route, Site
from tests.support.stores import with_parts
from tests.support.waiting import waits

TWIN = "the same words on both of them, " * 30
ROUTES: dict[str, Route] = {
    "/robots.txt": Reply(status=404),
    "/": page("home", "/a", "/a", "/login", text=TWIN),
    "/a": page("home", "/a", "/a", "/login", text=TWIN),
}


@dataclass(frozen=True)
class Watched:
    """A port that notes the calls of some of its methods, by the names of their steps."""

    real: Any
    steps: dict[str, str]
    notes: list[str]

    def __getattr__(self, name: str) -> Any:
        """Return a part of the real one."""
        found = getattr(self.real, name)
        return _noting(found, self.steps[name], self.notes) if name in self.steps else found


def _noting(call: Callable[..., Any], step: str, notes: list[str]) -> Callable[..., Any]:
    def made(*args: Any, **options: Any) -> Any:
        notes.append(step)
        return call(*args, **options)

    async def awaited(*args: Any, **options: Any) -> Any:
        notes.append(step)
        return await call(*args, **options)

    return awaited if asyncio.iscoroutinefunction(call) else made


@pytest.mark.req("WF-13")
@waits
async def test_a_page_meets_the_steps_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known by its content is dropped with its links, and a known URL is not added."""
    notes: list[str] = []
    monkeypatch.setattr(parsing, "extract", _noting(extract, "parse", notes))
    admit = LinkGate.admit

    def noted(gate: LinkGate, *args: Any, **options: Any) -> Any:
        if not options["nofollow"]:
            notes.append("links")
        return admit(gate, *args, **options)

    monkeypatch.setattr(LinkGate, "admit", noted)

    with Site(ROUTES) as site:
        async with home_in(tmp_path, Ear()) as home:
            steps = {"add": "seed", "claim": "take", "settle": "store"}
            world = replace(
                home.world,
                store=with_parts(
                    home.store,
                    frontier=Watched(home.store.frontier, steps, notes),
                    pages=Watched(home.store.pages, {"twins": "seen content?"}, notes),
                ),
                resolver=Watched(home.world.resolver, {"resolve": "resolve"}, notes),
                fetcher=Watched(home.world.fetcher, {"fetch": "download"}, notes),
                archive=Watched(home.world.archive, {"append": "keep"}, notes),
            )
            report = await crawl(replace(home, world=world), plan([site.url("/")]))
            census, job = home.world.store.census, report.job.id
            entries = await census.entries(job, state=None, after=b"", limit=99)
            left = {entry.url.removeprefix(site.url("")): entry.state for entry in entries}
            assert left == {"/": State.COMPLETED, "/a": State.COMPLETED}
            assert report.job.stats.duplicates == 1
            assert [count for count, _ in (await census.exclusions(job)).values()] == [1]
        assert paths(site.log) == ["/", "/a"]
    first = notes[: notes.index("store") + 1]
    order = ("seed", "take", "resolve", "download", "parse", "seen content?", "links", "keep")
    assert [step for step in dict.fromkeys(first) if step in order] == list(order)
    assert first[-1] == "store"
    assert notes.count("links") == 1  # those of the copy are dropped with it
