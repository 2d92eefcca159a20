"""Endless spaces end, whatever their URLs look like, and real sites that resemble them do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.crawl import Crawled, crawl_site, paths
from tests.support.server import Answer, Reply, Seen, Site
from tests.support.spaces import (
    SAME,
    SPACES,
    Door,
    Text,
    page,
    prose,
    real_pages,
    site_with,
    word,
)

MOST_FETCHES = 200
REAL = frozenset(real_pages())
# A few of each sort are enough to see that all do; the others are proven at full size.
QUICK = {
    "deeper": Text.NEW, "relative page": Text.NEW, "repeated": Text.SAME, "letter case": Text.NEW,
    "soft 404": Text.ECHO, "scripts": Text.SAME, "doubly escaped": Text.NEW, "matrix": Text.ECHO,
    "hexadecimal": Text.NEW, "next hexadecimal": Text.SAME, "root slugs": Text.NEW,
    "folders": Text.ECHO, "next numbers": Text.NEW, "tags": Text.NEW, "path facets": Text.SAME,
    "endings": Text.NEW, "uneven": Text.NEW, "dated": Text.NEW, "ever other": Text.SAME,
    "session": Text.NEW,
}  # fmt: skip


def check(name: str, text: Text, door: Door, root: Path, *, max_pages: int) -> None:
    """Crawl a site with one space: few fetches, every real page, and a rule that says why."""
    with site_with(SPACES[name], text, door) as site:
        crawled = crawl_site(root, site.url("/"), depth=50, max_pages=max_pages)
        seen = Counter(paths(site.log))
        collected = {url.removeprefix(site.url("")) for url in crawled.urls}
    assert collected >= REAL
    assert sum(many for path, many in seen.items() if path not in REAL) <= MOST_FETCHES


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
@pytest.mark.req("TRP-01", "TRP-08")
def test_a_space_ends(name: str, tmp_path: Path) -> None:
    """Whatever its URLs are made of."""
    check(name, QUICK[name], Door.HOME, tmp_path, max_pages=400)


@pytest.mark.prove
@pytest.mark.slow
@pytest.mark.parametrize("door", Door)
@pytest.mark.parametrize("text", Text)
@pytest.mark.parametrize("name", SPACES)
def test_every_space_ends(name: str, text: Text, door: Door, tmp_path: Path) -> None:
    """With the depth and the pages of a large crawl, and wherever one comes in."""
    check(name, text, door, tmp_path, max_pages=2000)


Pages = dict[str, list[str]]


def tree(width: int, levels: int) -> Pages:
    """Pages that lead to those below them, and to nothing else."""
    pages: Pages = {"/": []}
    level = ["/"]
    for _ in range(levels):
        below = []
        for path in level:
            pages[path] = [f"{path.rstrip('/')}/{word(f'{path}{n}')}" for n in range(width)]
            below += pages[path]
        level = below
    return pages | {path: ["/"] for path in level}


def editions() -> Pages:
    """The same names below languages and versions, and below none of them."""
    roots = [f"{a}{b}" for a in ("", "/ko", "/de") for b in ("", "/v2", "/v3")]
    parts = [f"part{letter}" for letter in "abcdefgh"]
    pages: Pages = {"/": [f"{root}/start" for root in roots]}
    for root in roots:
        pages[f"{root}/start"] = [f"{root}/{part}" for part in parts]
        for part in parts:
            leaves = [f"{root}/{part}/{name}" for name in ("set-up", "use", "limits", "faq")]
            pages[f"{root}/{part}"] = leaves
            pages |= {leaf: ["/"] for leaf in leaves}
    return pages


def forum() -> Pages:
    """Listings that lead to those around them and to ten threads; a thread leads to two more."""
    pages: Pages = {"/": ["/list/page/1"]}
    for at in range(1, 41):
        threads = [f"/thread/{word(f'{at}/{n}')}" for n in range(10)]
        around = [f"/list/page/{n}" for n in range(max(at - 2, 1), min(at + 2, 40) + 1)]
        pages[f"/list/page/{at}"] = [*around, *threads]
        pages |= {thread: ["/", *threads[:2]] for thread in threads}
    return pages


def rows() -> Pages:
    """Books whose chapters lead to the next one."""
    pages: Pages = {"/": []}
    for book in range(4):
        chapters = [f"/book{book}/{word(f'{book}/{n}')}" for n in range(45)]
        pages["/"].append(chapters[0])
        pages |= {here: ["/", after] for here, after in pairwise(chapters)}
        pages[chapters[-1]] = ["/"]
    return pages


def both_spellings() -> Pages:
    """Classes and packages whose names differ in letter case, a few on a large site."""
    names = [word(str(n)) for n in range(150)]
    classes = [f"/api/{name.title()}" for name in names[:30]]
    return {"/": [f"/api/{name}" for name in names]} | {
        f"/api/{name}": ["/", *classes[at : at + 1]] for at, name in enumerate(names)
    } | {each: ["/"] for each in classes}  # fmt: skip


REAL_SITES = {
    "tree": tree(8, 3),
    "editions": editions(),
    "forum": forum(),
    "rows": rows(),
    "both spellings": both_spellings(),
}


def crawl_real(pages: Pages, root: Path, *, mute: Sequence[str] = ()) -> tuple[set[str], Crawled]:
    def otherwise(seen: Seen) -> Answer:
        if seen.target not in pages:
            return Reply(status=404)
        text = SAME if seen.target in mute else prose(seen.target)
        return page(seen.target, text, pages[seen.target])

    with Site({}, otherwise) as site:
        crawled = crawl_site(root, site.url("/"), depth=1000)
    return {url.removeprefix(site.url("")) for url in crawled.urls}, crawled


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL_SITES)
def test_a_real_site_is_collected(name: str, tmp_path: Path) -> None:
    """However much it looks like a space."""
    collected, crawled = crawl_real(REAL_SITES[name], tmp_path)
    assert collected == set(REAL_SITES[name])
    assert not [rule for rule in crawled.exclusions if rule.startswith("trap")]


@pytest.mark.slow
def test_pages_behind_pages_that_say_nothing_are_collected(tmp_path: Path) -> None:
    """Doors that say the same, with something new behind each."""
    doors = [f"/door/{word(f'door {n}')}" for n in range(60)]
    rooms = {door: [f"{door}/{word(f'{door}{n}')}" for n in range(3)] for door in doors}
    pages: Pages = {"/": doors[:1]}
    for here, after in pairwise([*doors, "/"]):
        pages[here] = [after, *rooms[here]]
        pages |= {room: ["/"] for room in rooms[here]}
    collected, _ = crawl_real(pages, tmp_path, mute=doors)
    assert collected == set(pages)
