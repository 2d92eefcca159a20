"""Two sets of rules on the same pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.analyse.page import analyse
from geomi.engine.inspect import index_report as room
from geomi.engine.inspect.export import records
from geomi.engine.inspect.index_report import RulesComparison, compare_rules
from geomi.engine.visit.record import read_line, subject_of
from geomi.model.index.analysis import AnalysisRules, IndexReason, OnFinding, WantedType
from geomi.model.index.document import DocumentFilter
from tests.support.advising import TEXT
from tests.support.crawl import Ear, crawl_in, home_in, page, plan
from tests.support.server import Reply, Site
from tests.support.waiting import waits

ALL = AnalysisRules(quality_threshold=0, min_chars=0)
CASINO = "Casino, roulette, blackjack, baccarat and a jackpot; a casino, a jackpot. "
PARAGRAPHS = "".join(f"<p>{part}</p>" for part in TEXT.split("\n\n")[1:])
ROUTES: dict[str, Reply] = {
    "/": page("start", "/thin", "/good", "/casino", text="Short."),
    "/thin": page("thin", text="One word after another, and then no more of them."),
    "/good": page("The old bridge at Langwies", text=PARAGRAPHS),
    "/casino": page("casino", text=CASINO * 8),
}


@waits
async def compared(root: Path, first: AnalysisRules, second: AnalysisRules) -> RulesComparison:
    """Crawl the site and compare; make sure that nothing was asked, stored or paid."""
    ear = Ear()
    async with home_in(root, ear) as home:
        with Site(ROUTES) as site:
            crawled = await crawl_in(home, ear, plan([site.url("/")]))
            asked = len(site.log)
            found = await compare_rules(home.world, crawled.report.job.id, first, second)
            assert len(site.log) == asked
        assert await home.world.store.documents.list(DocumentFilter(), after="", limit=9) == []
        assert await home.world.store.costs.list() == []
        return found


def places(found: RulesComparison) -> dict[str, tuple[IndexReason, IndexReason]]:
    """Return the pages that change by the last part of their URLs, with both reasons."""
    return {
        one.url.rpartition("/")[2]: (one.first.reason, one.second.reason) for one in found.changes
    }


@pytest.mark.req("FUT-18", "ANA-13")
def test_thresholds_of_quality(tmp_path: Path) -> None:
    found = compared(tmp_path, ALL, AnalysisRules(quality_threshold=10, min_chars=0))
    assert found.pages == 4
    assert (found.first, found.second) == ((("accepted", 4),), (("quality", 4),))
    assert found.changed == len(found.changes) == 4
    assert set(places(found).values()) == {(IndexReason.ACCEPTED, IndexReason.QUALITY)}
    assert all(one.first.should_index > one.second.should_index for one in found.changes)


@pytest.mark.req("FUT-18")
def test_only_what_changes_is_listed(tmp_path: Path) -> None:
    strict = AnalysisRules(quality_threshold=0, min_chars=100, sensitive=OnFinding.SKIP)
    found = compared(tmp_path, ALL, strict)
    assert places(found) == {
        "": (IndexReason.ACCEPTED, IndexReason.TOO_SHORT),
        "thin": (IndexReason.ACCEPTED, IndexReason.TOO_SHORT),
        "casino": (IndexReason.ACCEPTED, IndexReason.SENSITIVE),
    }
    assert found.second == (("accepted", 1), ("sensitive", 1), ("too_short", 2))


@pytest.mark.req("FUT-18")
def test_another_reason_for_the_same_decision_is_no_change(tmp_path: Path) -> None:
    short = AnalysisRules(min_chars=1_000_000)
    found = compared(tmp_path, short, AnalysisRules(quality_threshold=10, min_chars=0))
    assert (found.changed, found.changes) == (0, ())
    assert (found.first, found.second) == ((("too_short", 4),), (("quality", 4),))


def test_the_same_rules_change_nothing(tmp_path: Path) -> None:
    rules = AnalysisRules(page_types=(WantedType.ARTICLE,))
    found = compared(tmp_path, rules, rules)
    assert found.first == found.second
    assert found.changed == 0


def test_what_is_listed_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_CHANGES", 3)
    found = compared(tmp_path, ALL, AnalysisRules(quality_threshold=10))
    assert (found.changed, len(found.changes)) == (4, 3)


@waits
async def test_decisions_are_those_of_the_loop(tmp_path: Path) -> None:
    """Each page is decided upon as if it were alone."""
    ear = Ear()
    rules = AnalysisRules()
    async with home_in(tmp_path, ear) as home:
        with Site(ROUTES) as site:
            job = (await crawl_in(home, ear, plan([site.url("/")]))).report.job.id
        found = await compare_rules(home.world, job, rules, ALL)
        now_s = home.world.clock.wall_s()
        alone = [
            analyse(subject_of(read_line(record), now_s=now_s), rules).decision.reason
            async for record in records(home.world, job)
        ]
        assert dict(found.first) == {reason: alone.count(reason) for reason in set(alone)}
