"""Which space the finds of a page belong to, by what the page told and where it leads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.admit.trap import BUDGETS
from geomi.admit.url_pattern import SpaceKind, kind_of
from geomi.engine.visit import lineage as room
from geomi.engine.visit.lineage import DEEP, MIN_PLACES, Lineage, PageLinks, novelty_of_find
from geomi.engine.visit.patterns import Patterns
from geomi.engine.visit.rules import JobRules
from geomi.model.config import CrawlConfig
from geomi.model.entry import Discovered, EntryKind, Source, Tally, UrlEntry
from geomi.model.verdict import State
from geomi.url.parse import url_hash

HOST = "a.test:443"


def entry(path: str, *, depth: int = 1, pattern: str = "", visited: int = 0) -> UrlEntry:
    url = f"https://a.test{path}"
    return UrlEntry(
        "job", url_hash(url), url, HOST, depth, 0, Source.LINK, EntryKind.PAGE, None, None, 0,
        State.PENDING, 0, 0.0, 0.0, pattern=pattern, tally=Tally(visited, visited, visited),
    )  # fmt: skip


def find(path: str, *, depth: int = 2, pattern: str = "", host: str = HOST) -> Discovered:
    url = f"https://{host.partition(':')[0]}{path}"
    return Discovered(url_hash(url), url, host, depth, 0, Source.LINK, pattern=pattern)


def visit(
    memory: Lineage, page: UrlEntry, *finds: Discovered, known: tuple[str, ...] = (),
    tells_nothing: bool = False,
) -> list[str]:  # fmt: skip
    """Return the patterns of what a page leads to."""
    urls = [*(one.url for one in finds), *(f"https://a.test{path}" for path in known)]
    placed, _ = memory.place(page, urls, finds, tells_nothing=tells_nothing)
    return [one.pattern for one in placed]


def test_a_page_that_tells_nothing_founds_a_space() -> None:
    """Its finds on other hosts do not belong to it, nor do lists that end by themselves."""
    memory = Lineage()
    listed = find("/list?page=1", pattern="pagination:/list?page")
    visit(memory, entry("/first"), listed)
    finds = (find("/x"), find("/y", host="b.test:443"), replace(listed, url=listed.url + "2"))
    told = visit(memory, entry("/second"), *finds, tells_nothing=True)
    assert told == ["copies:/*", "", "pagination:/list?page"]


def test_a_branch_is_passed_on() -> None:
    """From a page that leads to two new ones; not from the start page, and not by a row."""
    assert visit(Lineage(), entry("/", depth=0), find("/a"), find("/b")) == ["", ""]
    assert visit(Lineage(), entry("/a"), find("/b")) == [""]
    memory = Lineage()
    assert visit(memory, entry("/a"), find("/b"), find("/c")) == ["branch:/a"] * 2
    below = entry("/b", depth=2, pattern="branch:/a")
    assert visit(memory, below, find("/d", depth=3)) == ["branch:/a"]


def test_who_leads_aside_founds_no_branch() -> None:
    """To a page that is known and as deep; what is near the start is the frame of the site."""
    memory = Lineage()
    visit(memory, entry("/", depth=0), find("/menu", depth=1))
    visit(memory, entry("/menu"), find("/beside", depth=2))
    page = entry("/a", depth=2)
    assert visit(memory, page, find("/x"), find("/y"), known=("/menu",)) == ["branch:/a"] * 2
    assert visit(memory, page, find("/v"), find("/w"), known=("/beside",)) == ["", ""]


def test_what_lies_deep_is_a_space_where_pages_lead_aside() -> None:
    memory = Lineage()
    visit(memory, entry("/a", depth=DEEP - 1), find("/beside", depth=DEEP))
    for depth, pattern in ((DEEP - 1, ""), (DEEP, "deep:/*")):
        page = entry(f"/{depth}", depth=depth)
        found = find(f"/{depth}/x", depth=depth + 1)
        assert visit(memory, page, found, known=("/beside",)) == [pattern]


def test_what_is_deep_founds_no_branch() -> None:
    """Each branch would have a budget of its own."""
    page = entry("/a", depth=DEEP + 1, pattern="deep:/*")
    assert visit(Lineage(), page, find("/b"), find("/c")) == ["deep:/*"] * 2


def test_names_that_wander_make_facets() -> None:
    """In as many places as the limit; one fewer, and it may be an edition of a real site."""
    for places, pattern in ((MIN_PLACES - 1, ""), (MIN_PLACES, "facets:/*")):
        memory = Lineage()
        for at in range(places):
            page = entry(f"/page{at}", depth=0)
            visit(memory, page, find("/" + "x/" * at + "red/small/end"))
        assert visit(memory, entry("/", depth=0), find("/x/small/red")) == [pattern]
        assert visit(memory, entry("/", depth=0), find("/x/small/red/unheard-of")) == [""]


@pytest.mark.parametrize("path", ["/Docs/USE", "/docs/use.html", "/docs/use;v=1", "/docs/use/"])
def test_another_spelling_is_a_variant(path: str) -> None:
    memory = Lineage()
    assert visit(memory, entry("/", depth=0), find("/docs/use")) == [""]
    assert visit(memory, entry("/", depth=0), find(path)) == ["variants:/*"]


def test_what_an_ordinary_page_leads_to_is_in_no_space() -> None:
    """It is fetched, even where the space is over; what only the space leads to is not."""
    patterns = Patterns(JobRules(CrawlConfig(), ["https://a.test/"], now_year=2026))
    finds = (find("/x"), find("/y"))
    urls = [one.url for one in finds]
    patterns.weigh(entry("/a"), urls, finds, "text", repeats=True)
    many = BUDGETS[SpaceKind.COPIES].visits
    x, y = (entry(path, pattern="copies:/*", visited=many) for path in ("/x", "/y"))
    assert patterns.exhausted(x) is not None
    inside = entry("/b", pattern="copies:/*")
    patterns.weigh(inside, urls, (), "more", repeats=True)
    assert patterns.exhausted(x) is not None
    patterns.weigh(entry("/real"), urls[:1], (), "something else", repeats=False)
    assert patterns.exhausted(x) is None
    assert patterns.exhausted(y) is not None


def test_variants_end_where_they_are_most_of_what_comes() -> None:
    patterns = Patterns(JobRules(CrawlConfig(), ["https://a.test/"], now_year=2026))
    many = BUDGETS[SpaceKind.VARIANTS].visits
    page = replace(entry("/x", pattern="variants:/*"), tally=Tally(many, many))
    assert patterns.exhausted(page) is None
    for _ in range(room.RECENT_VISITS):
        patterns.weigh(page, [], (), "text", repeats=False)
    assert patterns.exhausted(page) is not None


@pytest.mark.parametrize(
    ("kind", "links", "expected"),
    [
        (SpaceKind.BRANCH, PageLinks(frozenset("ab")), False),
        (SpaceKind.BRANCH, PageLinks(frozenset("a")), None),
        (SpaceKind.BRANCH, PageLinks(), True),
        (SpaceKind.BRANCH, PageLinks(frozenset("ab"), leads_aside=True), True),
        (SpaceKind.DEEP, PageLinks(frozenset("a"), leads_aside=True), False),
        (SpaceKind.DEEP, PageLinks(frozenset("a")), None),
        (SpaceKind.DEEP, PageLinks(), True),
        (SpaceKind.FACETS, PageLinks(frozenset("a")), False),
        (SpaceKind.FACETS, PageLinks(), True),
        (SpaceKind.VARIANTS, PageLinks(), False),
        (SpaceKind.COPIES, PageLinks(), False),
    ],
)
def test_what_counts_against_a_space(
    kind: SpaceKind, links: PageLinks, expected: bool | None
) -> None:
    """Whether a visit speaks for the space; None where it is not counted."""
    told = novelty_of_find(entry("/x", pattern=f"{kind}:/*"), [], links, tells_nothing=False)
    assert (told.links if told else None) is expected


def test_memories_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more than the limit, and the oldest is forgotten: it costs fetches and no page."""
    for limit in ("MAX_SUSPECTS", "MAX_MET", "MAX_NAMES_KNOWN", "MAX_HOSTS"):
        monkeypatch.setattr(room, limit, 3)
    memory = Lineage()
    for at in range(5):
        page = replace(entry(f"/p{at}"), host=f"{at}.test:443")
        found = find(f"/n{at}", pattern=f"path:/{at}", host=page.host)
        visit(memory, page, found, tells_nothing=True)
    assert len(memory._suspects) == len(memory._met) == 3
    assert len(memory._places) == len(memory._variants) == 3
    assert {kind_of(name) for name in memory._suspects.values()} == {SpaceKind.COPIES}
