"""Endless spaces end, and every real page beside them is collected (TRP-01…TRP-08).

Each site has some real pages and one trap, which links to itself, and to real pages as every page
of a site does. What counts is what the server saw: how often the trap was asked for, and that each
real page was.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from itertools import count, product
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest

from geomi.model.verdict import Outcome
from tests.support.crawl import Crawled, crawl_site, paths
from tests.support.server import Answer, Reply, Seen, Site
from tests.support.webs import WORDS

MOST_FETCHES = 200
REAL = tuple(f"/docs/{word}" for word in WORDS[:12])
SAME = "There is nothing here yet, so come again on another day, please. " * 3

Trap = Callable[[str, str], tuple[str, Sequence[str]]]  # path, query -> text, links


def leaf(text: str, links: Sequence[str]) -> Reply:
    """Make a page as a site makes them: its text, and a list of links beside it."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    html = f"<!doctype html><title>x</title><nav><ul>{items}</ul></nav><main><p>{text}</p></main>"
    return Reply(html.encode())


def prose(seed: str) -> str:
    """Write a text that is like no other."""
    digest = hashlib.blake2b(seed.encode(), digest_size=60).digest()
    return " ".join(f"{WORDS[byte % 30]}{WORDS[byte // 30]}" for byte in digest)


def day(path: str) -> date:
    return date(*map(int, path.split("/")[-3:]))


def calendar(path: str, query: str) -> tuple[str, list[str]]:
    """One page a day, with the weeks and months around it."""
    steps = [day(path) + timedelta(by) for by in (-30, -7, -1, 1, 7, 30)]
    return f"{day(path):%A %d %B %Y}: {SAME}", [f"/cal/{one:%Y/%m/%d}" for one in steps]


def talkative_calendar(path: str, query: str) -> tuple[str, list[str]]:
    return prose(path), [f"/cal/{day(path) + timedelta(by):%Y/%m/%d}" for by in (-1, 1)]


def weekdays(path: str, query: str) -> tuple[str, list[str]]:
    """Some texts that take turns."""
    return prose(f"{day(path):%A}"), calendar(path, query)[1]


def months(path: str, query: str) -> tuple[str, list[str]]:
    asked = dict(parse_qsl(query))
    at = int(asked["year"]) * 12 + int(asked["month"]) - 1
    links = [f"/cal?year={n // 12}&month={n % 12 + 1}" for n in (at - 1, at + 1, at + 12)]
    return f"{asked['month']} {asked['year']}: {SAME}", links


def month_and_days(path: str, query: str) -> tuple[str, list[str]]:
    """Each month leads to its days and to other months, a day only back."""
    year, month, *rest = path.split("/")[2:]
    if rest:
        return SAME, [f"/cal/{year}/{month}"]
    at = int(year) * 12 + int(month) - 1
    days = [f"/cal/{year}/{month}/{n:02}" for n in range(1, 29)]
    return SAME, [*days, *(f"/cal/{n // 12}/{n % 12 + 1:02}" for n in (at - 1, at + 1))]


def months_elsewhere(path: str, query: str) -> tuple[str, list[str]]:
    """The same, but months and days are two patterns, and days do not lead to days."""
    if not query:
        return SAME, [f"/months?month={path[-10:-3].replace('/', '-')}"]
    text, links = month_and_days(f"/cal/{query[-7:].replace('-', '/')}", "")
    return text, [
        link if link.count("/") > 3 else f"/months?month={link[5:].replace('/', '-')}"
        for link in links
    ]


def pagination(path: str, query: str) -> tuple[str, list[str]]:
    number = int(path.rpartition("/")[2])
    around = range(number - 2, number + 3)
    return f"Page {number}. {SAME}", [f"/list/page/{n}" for n in around if n > 0]


def talkative_pagination(path: str, query: str) -> tuple[str, list[str]]:
    number = int(query.rpartition("=")[2])
    return prose(query), [f"/list?page={n}" for n in (number - 1, number + 1) if n > 0]


def cursors(path: str, query: str) -> tuple[str, list[str]]:
    return SAME, [f"/feed/list?cursor={hashlib.sha256(query.encode()).hexdigest()[:20]}"]


FACETS = {"colour": 8, "size": 6, "brand": 9, "sort": 4}


def facets(path: str, query: str) -> tuple[str, list[str]]:
    """Filters that can be put together in 3,149 ways."""
    chosen = dict(parse_qsl(query))
    more = [chosen | {name: str(n)} for name, size in FACETS.items() for n in range(size)]
    return f"{query}: {SAME}", [f"/shop?{urlencode(sorted(each.items()))}" for each in more]


def talkative_facets(path: str, query: str) -> tuple[str, list[str]]:
    return prose(query), facets(path, query)[1]


def one_parameter(path: str, query: str) -> tuple[str, list[str]]:
    found = hashlib.sha256(query.encode()).hexdigest()
    return SAME, [f"/shop?x={found[:8]}", f"/shop?x={found[8:16]}"]


def identifiers(path: str, query: str) -> tuple[str, list[str]]:
    number = int(query.rpartition("=")[2])
    return SAME, [f"/view?id={number + by}" for by in (1, 2, 3)]


def relative(path: str, query: str) -> tuple[str, list[str]]:
    """Links that forget the slash, on a server that answers everything."""
    base = path.rstrip("/")
    return SAME, [f"{base}/{name}/" for name in ("about", "news", "contact")]


def repeating(path: str, query: str) -> tuple[str, list[str]]:
    return SAME, [f"{path}/foo/bar"]


def deepening(path: str, query: str) -> tuple[str, list[str]]:
    return prose(path), [f"{path}/s{path.count('/')}"]


def lengthening(path: str, query: str) -> tuple[str, list[str]]:
    return f"{path}: {SAME}", [f"{path}x"]


def talkative_lengthening(path: str, query: str) -> tuple[str, list[str]]:
    return prose(path), [f"{path}xyz"]


def questions(path: str, query: str) -> tuple[str, list[str]]:
    return SAME, [f"/ask?q={query.rpartition('=')[2]}a"]


def visitors(value: Callable[[int], str], name: str = "sid") -> Trap:
    """Every link names the visitor anew."""
    numbers = count(1)

    def trap(path: str, query: str) -> tuple[str, list[str]]:
        links = [f"/s/{word}?{name}={value(next(numbers))}" for word in WORDS[:8]]
        return f"{path}: {prose(path)}", links

    return trap


def passing_on(path: str, query: str) -> tuple[str, list[str]]:
    """Every link names the visitor anew, and no page leads to itself."""
    number, at = int(query.rpartition("=")[2]), WORDS.index(path.rpartition("/")[2])
    links = [f"/s/{WORDS[(at + by) % 8]}?session_id={number * 2 + by}" for by in (1, 2)]
    return prose(path), links


def token(number: int) -> str:
    return hashlib.sha256(b"%d" % number).hexdigest()[:24]


def in_path(path: str, query: str) -> tuple[str, list[str]]:
    page_, _, session = path.partition(";jsessionid=")
    links = [f"/s/{word};jsessionid={token(len(word) + hash_of(session))}" for word in WORDS[:8]]
    return prose(page_), links


def hash_of(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


TRAPS: dict[str, tuple[Trap, str, int, str]] = {
    # name: (the trap, its door, at most so many fetches, the rule that ends it)
    "calendar": (calendar, "/cal/2024/01/31", MOST_FETCHES, "trap.calendar"),
    "talkative calendar": (talkative_calendar, "/cal/2024/01/31", MOST_FETCHES, "trap.calendar"),
    "weekdays": (weekdays, "/cal/2024/01/31", MOST_FETCHES, "trap.calendar"),
    "months": (months, "/cal?year=2024&month=1", MOST_FETCHES, "trap.calendar"),
    "month and days": (month_and_days, "/cal/2024/01", MOST_FETCHES, "trap.calendar"),
    "months elsewhere": (
        months_elsewhere, "/months?month=2024-01", MOST_FETCHES, "trap.calendar",
    ),
    "pagination": (pagination, "/list/page/1", MOST_FETCHES, "trap.pagination"),
    "talkative pages": (talkative_pagination, "/list?page=1", MOST_FETCHES, "trap.pagination"),
    "cursors": (cursors, "/feed/list?cursor=a", MOST_FETCHES, "trap.pagination"),
    "facets": (facets, "/shop?sort=1", MOST_FETCHES, "trap.parameters"),
    "talkative facets": (talkative_facets, "/shop?sort=1", MOST_FETCHES, "trap.parameters"),
    "one parameter": (one_parameter, "/shop?x=1", MOST_FETCHES, "trap.parameters"),
    "identifiers": (identifiers, "/view?id=1", MOST_FETCHES, "trap.identifiers"),
    "many parameters": (
        lambda _, query: (SAME, [f"/m?{query}&p{query.count('&')}=1"]),
        "/m?a=1", 8, "trap.many_parameters",
    ),
    "repeating": (repeating, "/loop", 4, "trap.repeating_path"),
    "relative links": (relative, "/about/", MOST_FETCHES, "trap.path"),
    "deepening": (deepening, "/deep", 25, "trap.deep_path"),
    "lengthening": (lengthening, "/long/x", MOST_FETCHES, "trap.copies"),
    "talkative length": (talkative_lengthening, "/long/x", MOST_FETCHES, "trap.long"),
    "questions": (questions, "/ask?q=a", MOST_FETCHES, "trap.parameters"),
    "counted visitors": (visitors(str), "/s/silk?sid=0", 100, "trap.session"),
    "short sessions": (
        visitors(lambda n: f"{n:x}ab", "sessionid"), "/s/silk?sessionid=0", 100, "trap.session",
    ),
    "visitors passed on": (
        passing_on, f"/s/{WORDS[0]}?session_id=1", MOST_FETCHES, "trap.session",
    ),
}  # fmt: skip
# Spaces that have an end all the same: each page is asked for once.
ENDING: dict[str, tuple[Trap, str]] = {
    "visitors": (visitors(token), "/s/silk?sid=0a1b2c3d4e5f6a7b"),
    "PHP": (visitors(str, "PHPSESSID"), "/s/silk?PHPSESSID=0"),
    "Java": (in_path, "/s/silk;jsessionid=0A"),
}


def trapped_site(trap: Trap, door: str) -> Site:
    """Make a site of real pages, each of which has a link into the trap."""
    routes = {
        path: leaf(prose(path), ["/", *REAL[at + 1 : at + 3], door]) for at, path in enumerate(REAL)
    }

    def otherwise(seen: Seen) -> Answer:
        if seen.path == "/robots.txt":
            return Reply(status=404)
        path, _, query = seen.target.partition("?")
        text, links = trap(path, query)
        return leaf(text, ["/", *REAL[:2], *links])

    return Site({"/": leaf(prose("/"), [*REAL[:3], door]), **routes}, otherwise)


def asked(site: Site) -> Counter[str]:
    return Counter(paths(site.log))


@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.req("TRP-01", "TRP-02", "TRP-04", "TRP-05", "TRP-06")
def test_a_trap_ends(name: str, tmp_path: Path) -> None:
    """Within 200 fetches, by its name, and no real page is lost."""
    trap, door, most, rule = TRAPS[name]
    with trapped_site(trap, door) as site:
        crawled = crawl_site(tmp_path, site.url("/"), depth=1000)
    seen = asked(site)
    real = {"/", *REAL}
    assert real <= set(seen)
    assert sum(many for path, many in seen.items() if path not in real) <= most
    assert crawled.exclusions[rule][0] > 0
    assert {record["url"] for record in crawled.records} >= {site.url(path) for path in real}


@pytest.mark.parametrize("name", ENDING)
@pytest.mark.req("TRP-03", "TRP-08")
def test_a_session_makes_no_pages(name: str, tmp_path: Path) -> None:
    """Each page is fetched once, under the form first found, and none is refused."""
    trap, door = ENDING[name]
    with trapped_site(trap, door) as site:
        crawled = crawl_site(tmp_path, site.url("/"), depth=1000)
    pages = Counter(path.partition("?")[0].partition(";")[0] for path in asked(site))
    assert set(pages) == {"/", *REAL, *(f"/s/{word}" for word in WORDS[:8])}
    assert set(pages.values()) == {1}
    assert not [rule for rule in crawled.exclusions if rule.startswith("trap")]


def test_a_trap_says_so(tmp_path: Path) -> None:
    """What was left has an outcome of its own, and counts for no limit."""
    with trapped_site(calendar, "/cal/2024/01/31") as site:
        crawled = crawl_site(tmp_path, site.url("/"))
    left = [entry for entry in crawled.entries.values() if entry.outcome is Outcome.TRAPPED]
    assert left
    assert all("trap.calendar: " in entry.detail for entry in left)
    assert crawled.report.job.stats.settled == len(asked(site))


def test_switched_off(tmp_path: Path) -> None:
    """Who wants the whole calendar gets it."""
    with trapped_site(calendar, "/cal/2024/01/31") as site:
        switch = ("scope.avoid_traps=false",)
        crawl_site(tmp_path, site.url("/"), max_pages=150, assignments=switch)
    assert sum(asked(site).values()) >= 150


def collected(site: Site, crawled: Crawled) -> set[str]:
    return {url.removeprefix(site.url("")) for url in crawled.urls}


TEMPLATE = ". ".join(prose(f"template {n}") for n in range(4))


def real_site(pages: dict[str, Sequence[str]], *, mute: bool = False) -> Site:
    """Make a site whose pages have a few words of their own in a long template, or `mute` none."""

    def otherwise(seen: Seen) -> Answer:
        if seen.target not in pages:
            return Reply(status=404)
        words = "" if mute else f"{prose(seen.target)[:60]}. "
        return leaf(words + TEMPLATE, pages[seen.target])

    return Site({}, otherwise)


def chained(
    names: Sequence[str], *more: Callable[[int], Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Let each page lead to its neighbours, and to whatever else it leads to."""
    return {
        name: [*names[max(at - 1, 0) : at + 2], *(link for find in more for link in find(at))]
        for at, name in enumerate(names)
    }


def daily(form: str, days: int) -> list[str]:
    return [format(date(2023, 9, 1) + timedelta(n), form) for n in range(days)]


def archive(listing: str, article: str, pages: int) -> dict[str, Sequence[str]]:
    """Listings that each lead to two articles."""
    names = [listing.format(n) for n in range(1, pages + 1)]
    articles = [article.format(n) for n in range(2 * pages)]
    return chained(names, lambda at: articles[2 * at : 2 * at + 2]) | {
        name: [names[0]] for name in articles
    }


def web(names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Pages that lead to one another as the pages of a real site do, in breadth."""
    return {
        name: [names[(at * 7 + by) % len(names)] for by in range(8)]
        for at, name in enumerate(names)
    }


def listed(names: Sequence[str], *, chain: bool = True) -> dict[str, Sequence[str]]:
    """Let one page lead to all others, and each of them to its neighbours or only back."""
    beside = chained(names) if chain else dict.fromkeys(names, ())
    return {"/": names, **{name: ["/", *links] for name, links in beside.items()}}


def script(first: Sequence[str], second: Sequence[str]) -> dict[str, Sequence[str]]:
    """A site behind one script: sections, parts of sections, pages of parts."""
    form = "/index.php?sec={}&name={}".format
    parts = [f"part{letter}" for letter in "abcdefghij"]
    pages: dict[str, Sequence[str]] = {"/": [form(a, "index") for a in first]}
    for a in first:
        pages[form(a, "index")] = [form(a, part) for part in parts]
        for part in parts:
            pages[form(a, part)] = [form(a, part + word) for word in second]
            pages |= {form(a, part + word): ["/"] for word in second}
    return pages


DECOYS: dict[str, dict[str, Sequence[str]]] = {
    "daily notes": chained(daily("/notes/%Y-%m-%d", 150)),
    "release notes": chained(daily("/releases/%Y/%m/%d/notes", 60)),
    "talks": chained([f"/talk?session={n}" for n in range(1, 101)]),
    "posts": web([f"/?p={n}" for n in range(1, 221)]),
    "topics": web([f"/viewtopic.php?f={f}&t={t}" for f, t in product(range(4), range(55))]),
    "wiki": web([f"/index.php?title={a}_{b}" for a, b in product(WORDS[:15], WORDS[15:29])]),
    "long names": chained(
        [f"/news/{a}-{b}-{'-'.join(WORDS[:20])}" for a, b in product(WORDS[:10], WORDS[10:21])]
    ),
    "one script": chained(
        [f"/index.php?page={a}_{b}" for a, b in product(WORDS[:14], WORDS[14:26])]
    ),
    "own names": web([f"/en/{a}/en/{b}" for a, b in product(WORDS[:8], WORDS[8:16])]),
}
# Pages that say the same, numbers aside, and are all linked from one page.
MUTE_DECOYS: dict[str, dict[str, Sequence[str]]] = {
    "rates": listed(daily("/rates/%Y-%m-%d", 150), chain=False),
    "rates in a row": listed(daily("/rates/%Y/%m/%d", 150)),
    "versions": listed(
        [f"/{a}/{n}.0/api/{b}/api/{b}.html" for a in ("en", "ko") for n in range(4) for b in WORDS]
    ),
    "teasers": listed(
        [f"/news/{a}-{b}-{'-'.join(WORDS[:20])}" for a, b in product(WORDS[:10], WORDS[10:21])]
    ),
    "pictures": listed([f"/gallery?picture={n}" for n in range(150)]),
}
LARGE_DECOYS: dict[str, dict[str, Sequence[str]]] = {
    "archive": archive("/archive/page/{}", "/story-of-{}-things", 300),
    "query archive": archive("/archive?page={}", "/article?id={}", 220),
    "dated archive": archive("/blog?page={}", "/2024/01/{:04}-days-of-silk", 220),
    "one script of two": script(WORDS[:6], WORDS[6:12]),
    "numbered web": web([f"/page/{n}" for n in range(400)]),
    "catalogue": web([f"/item/{n}" for n in range(1, 1201)]),
}


@pytest.mark.parametrize("name", DECOYS)
def test_what_only_looks_endless_is_collected(name: str, tmp_path: Path) -> None:
    """Notes, talks, topics and long names are pages."""
    check_decoy(DECOYS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE_DECOYS)
def test_a_large_archive_is_collected(name: str, tmp_path: Path) -> None:
    """Hundreds of listings, as long as each leads to something new."""
    check_decoy(LARGE_DECOYS[name], tmp_path)


@pytest.mark.parametrize("name", MUTE_DECOYS)
@pytest.mark.req("TRP-02")
def test_what_one_page_lists_is_collected(name: str, tmp_path: Path) -> None:
    """No visit adds to it, so it has an end, whatever its pages say."""
    check_decoy(MUTE_DECOYS[name], tmp_path, mute=True)


def test_short_links_are_followed(tmp_path: Path) -> None:
    """A redirect to a story that nobody else links to is news."""
    stories = {f"/story-of-{n}-things": [f"/?p={n + 1}"] for n in range(1, 151)}
    pages: dict[str, Sequence[str]] = {"/": ["/?p=1"], **stories}
    moved = {f"/?p={n}": path for n, path in enumerate(stories, 1)}

    def otherwise(seen: Seen) -> Answer:
        if seen.target in moved:
            return Reply(status=301, headers=(("Location", moved[seen.target]),))
        found = seen.target in pages
        return leaf(prose(seen.target), pages[seen.target]) if found else Reply(status=404)

    with Site({}, otherwise) as site:
        crawled = crawl_site(tmp_path, site.url("/"), depth=1000)
    assert {record["final_url"] for record in crawled.records} == set(map(site.url, pages))


def test_what_was_deleted_tells_nothing(tmp_path: Path) -> None:
    """Pages that are gone count neither as visited nor as repeated."""
    topics = [f"/viewtopic.php?t={n}" for n in range(1, 221)]
    gone = set(topics[110:160])
    alive = {topic: ["/"] for topic in topics if topic not in gone}
    check_decoy({"/": topics, **alive}, tmp_path)
    # Where they are all that was asked for, nothing was counted.
    with real_site({"/": topics}) as site:
        crawled = crawl_site(tmp_path / "none", site.url("/"))
    assert {entry.tally.visited for entry in crawled.entries.values()} == {0}


def check_decoy(pages: dict[str, Sequence[str]], tmp_path: Path, *, mute: bool = False) -> None:
    first = next(iter(pages))
    with real_site(pages, mute=mute) as site:
        crawled = crawl_site(tmp_path, site.url(first), depth=1000)
    assert collected(site, crawled) == set(pages)
    assert not [rule for rule in crawled.exclusions if rule.startswith("trap")]
