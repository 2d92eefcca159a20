"""What is made once a job, and how often its row is read: neither grows with its pages."""

from __future__ import annotations

import functools
import inspect
import pkgutil
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geomi.admit.rules import Admission
from geomi.engine import host, visit, worker
from geomi.engine.worker.loop import CONTROL_S
from geomi.frontier.seen import SeenUrls
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.job import CrawlJob
from tests.support.crawl import page
from tests.support.server import Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits

PAGES = 30
# A page has values of its own, and so has each turn of its host.
OF_A_PAGE = {
    "ClosedVisit", "Directives", "FoundLinks", "KeptPage", "ListReader", "PageLinks",
    "RequestTotals", "StoredPage", "Visit", "VisitFindings", "_End", "_Offer",
}  # fmt: skip
OF_A_TURN = {"HostPace", "HostSession", "RequestCounter"}
OF_SEVERAL_HELPERS = {"PatternMarks": 2, "SeenUrls": 3}  # each remembers something else


def test_the_helpers_of_a_job_are_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new class that is made for each page has to be a value of that page, and named here."""
    made, _, _ = _crawl(tmp_path, monkeypatch, delay_s=0.0)
    assert made["StoredPage"] == made["Directives"] == PAGES
    assert {"Admission", "LinkGate", "Patterns", "Privacy", "Road", "SeenUrls"} <= made.keys()
    of_the_job = made.keys() - OF_A_PAGE - OF_A_TURN
    assert {name: made[name] for name in of_the_job if made[name] > 1} == OF_SEVERAL_HELPERS


@pytest.mark.parametrize("delay_s", [0.0, 3.0])
def test_the_row_of_a_job_is_read_by_the_clock_and_not_by_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delay_s: float
) -> None:
    """Somebody may pause or cancel it at any time, and is heeded within half a second."""
    _, reads, lasted_s = _crawl(tmp_path, monkeypatch, delay_s=delay_s)
    assert lasted_s >= (PAGES - 1) * delay_s
    assert 1 <= reads <= 2 + lasted_s / CONTROL_S


@waits
async def _crawl(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, delay_s: float
) -> tuple[Counter[str], int, float]:
    """Crawl a site; count what was made of each class and the readings of the row, by the hand."""
    config = CrawlConfig(
        politeness=Politeness(delay_s=delay_s), limits=Limits(max_pages=0, max_depth=1)
    )
    names = [f"/p{number}" for number in range(1, PAGES)]
    routes = {name: page(name) for name in names} | {"/": page("home", *names)}
    made, read = Counter[str](), list[str]()

    with Site(routes) as site:
        url = site.url("/")
        async with hand_in(root) as hand:
            job = await hand.start([url], config)
            store = type(hand.world.store.jobs)
            get = store.get

            async def noted(jobs: Any, name: str) -> CrawlJob | None:
                read.append(name)
                return await get(jobs, name)

            with monkeypatch.context() as patch:
                patch.setattr(store, "get", noted)
                for kind in _classes():
                    patch.setattr(kind, "__init__", _counted(kind, made))
                await hand.work(job)
            assert (await hand.job(job)).stats.collected == PAGES
            lasted_s = hand.clock.now_s() - hand.began_s
    return made, len(read), lasted_s


def _classes() -> set[type]:
    """Return the classes that a visit is made of, and those of stages that a job has compiled."""
    modules = [
        import_module(found.name)
        for package in (visit, host, worker)
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    ]
    found = {kind for module in modules for _, kind in inspect.getmembers(module, inspect.isclass)}
    own = tuple(f"{package.__name__}." for package in (visit, host, worker))
    return {kind for kind in found if kind.__module__.startswith(own)} | {Admission, SeenUrls}


def _counted(kind: type, made: Counter[str]) -> Any:
    init = kind.__init__  # type: ignore[misc]  # of a class, and no subclass is made here

    @functools.wraps(init)
    def counted(self: object, *args: Any, **kwargs: Any) -> None:
        made[kind.__name__] += 1
        init(self, *args, **kwargs)

    return counted
