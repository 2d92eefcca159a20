"""`geomi traps`: a person looks at what seems endless, and decides (TRP-07)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import run
from tests.support.server import Reply, Seen, Site

TEXT = "Nothing happens on this day, as on every other day of the year; come again. " * 3
PATTERN = "calendar:/cal?month&year"


def answer(seen: Seen) -> Reply:
    """A calendar without an end, and a home page that leads to it."""
    if seen.path != "/cal":
        return Reply(b'<p>Home <a href="/cal?year=2024&month=1">x</a> <a href="/l/l/l">y</a>')
    year, month = (int(part.partition("=")[2]) for part in seen.target.split("?")[1].split("&"))
    at = year * 12 + month
    link = f"/cal?year={at // 12}&month={at % 12 + 1}"
    return Reply(f'<p>{TEXT}</p><a href="{link}">next</a>'.encode())


@dataclass(frozen=True, slots=True)
class Crawl:
    """A data directory and the site it is of."""

    folder: Path
    site: Site

    def again(self, *more: str) -> int:
        command = ("crawl", self.site.url("/"), "-o", str(self.folder), "-q", "--allow-private")
        limits = ("--delay", "0", "-d", "200", "-n", "0", "--max-time", "60")
        return run(*command, *limits, *more).returncode

    def ask(self, *arguments: str) -> Any:
        told = run("traps", *arguments, "-o", str(self.folder), "--json")
        assert told.returncode == 0, told.stderr
        return json.loads(told.stdout)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    robots = {"/robots.txt": Reply(b"", content_type="text/plain")}
    with Site(robots, answer) as site:
        crawled = Crawl(tmp_path_factory.mktemp("traps"), site)
        assert crawled.again() == 0
        yield crawled


@pytest.mark.slow
@pytest.mark.req("TRP-02", "TRP-07")
def test_review(crawl: Crawl) -> None:
    """List, allow, exclude, reset: each is obeyed by the next crawl."""
    found = crawl.ask("list")
    (trap,) = found["patterns"]
    assert (trap["host"], trap["pattern"], trap["standing"]) == ("127.0.0.1", PATTERN, "trap")
    assert 50 <= trap["visited"] < 200
    assert found["rules"]["trap.repeating_path"] == {
        "count": 1,
        "examples": [crawl.site.url("/l/l/l")],
    }
    assert found["reviews"] == []

    rule = crawl.ask("allow", "127.0.0.1", PATTERN, "--note", "a real archive")
    assert (rule["pattern"], rule["review"]) == (PATTERN, "allow")
    asked = len(crawl.site.log)
    assert crawl.again("-n", "90") == 0
    assert len(crawl.site.log) - asked > 80
    found = crawl.ask("list")
    assert found["patterns"][0]["standing"] == "allowed"

    crawl.ask("reset", "127.0.0.1")
    crawl.ask("exclude", "http://127.0.0.1:1/")
    asked = len(crawl.site.log)
    assert crawl.again() == 2  # its own start URL is excluded
    assert len(crawl.site.log) == asked
    assert [each["review"] for each in crawl.ask("list")["reviews"]] == ["exclude"]
    crawl.ask("reset", "127.0.0.1")


def by_day(seen: Seen) -> Reply:
    """A calendar whose days are folders, each with a link to the next, and three real pages."""
    if not (at := re.fullmatch(r"/(\d{4})/(\d\d)/(\d\d)", seen.path)):
        links = '<a href="/2024/01/01">events</a> <a href="/a">a</a> <a href="/b">b</a>'
        return Reply(f"<p>The page {seen.path} {links}".encode())
    following = date(*map(int, at.groups())) + timedelta(days=1)
    return Reply(f'<p>{TEXT}</p><a href="/{following:%Y/%m/%d}">next</a>'.encode())


@pytest.mark.slow
@pytest.mark.req("TRP-02")
def test_a_calendar_of_folders_ends(tmp_path: Path) -> None:
    """Seed 004 §4.2: `/2024/01/01`, `/2024/01/02` and so on; what else there is is collected."""
    robots = {"/robots.txt": Reply(b"", content_type="text/plain")}
    with Site(robots, by_day) as site:
        crawl = Crawl(tmp_path, site)
        assert crawl.again() == 0
        asked = {seen.path for seen in site.log}
        days = sorted(path for path in asked if path.startswith("/20"))
        assert days[:2] == ["/2024/01/01", "/2024/01/02"] and 25 < len(days) < 100
        assert asked - set(days) == {"/robots.txt", "/", "/a", "/b"}
        found = crawl.ask("list")
    (trap,) = found["patterns"]
    assert (trap["pattern"], trap["standing"]) == ("calendar:/{date}", "trap")
    assert trap["visited"] == len(days)
    assert found["rules"]["trap.calendar"]["count"] == 1


def test_people_can_read_it(crawl: Crawl) -> None:
    """One line a pattern, one a rule."""
    jobs = json.loads(run("jobs", "list", "-o", str(crawl.folder), "--json").stdout)
    told = run("traps", "list", "--job", jobs[-1]["id"], "-o", str(crawl.folder)).stdout
    assert f"trap       127.0.0.1  {PATTERN}  " in told
    assert "trap.repeating_path: 1 links kept out, such as " in told


def test_a_host_that_nobody_asked_is_noted(crawl: Crawl) -> None:
    """A decision about it is kept all the same."""
    where = ("-o", str(crawl.folder))
    told = run("traps", "allow", "a.test", PATTERN, *where)
    assert told.stderr.splitlines()[0] == "note: no request to `a.test` is in the log of this store"
    assert "note:" not in run("traps", "allow", "127.0.0.1", PATTERN, *where).stderr
    crawl.ask("reset", "a.test")
    crawl.ask("reset", "127.0.0.1")


@pytest.mark.req("LEG-04")
def test_the_host_of_a_provider_that_forbids_it_is_listed_with_its_remedy(crawl: Crawl) -> None:
    """It is no decision about the host, so that it cannot be reset there."""
    where = ("-o", str(crawl.folder))
    assert run("providers", "review", "stripe", "--forbids", *where).returncode == 0
    (review,) = crawl.ask("list")["reviews"]
    assert (review["host"], review["review"]) == ("docs.stripe.com", "exclude")
    told = "provider stripe forbids crawling; geomi providers review stripe --allows"
    listed = run("traps", "list", *where).stdout
    assert f"decided: exclude docs.stripe.com ({told})" in listed
    refused = run("traps", "reset", "docs.stripe.com", *where)
    assert (refused.returncode, "review stripe --allows" in refused.stderr) == (2, True)
    assert run("providers", "remove", "stripe", *where).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("allow", "a b"), "`a b` is not a host name"),
        (("allow", "a.test", "/x"), "`/x` is neither a pattern nor a rule"),
        (("allow", "a.test", "calendar"), "patterns begin with one of calendar, dated, "),
        (("allow", "a.test", "trap.foo"), "rules are trap.calendar, trap.deep_path, "),
        (("reset", "a.test"), "there is no decision about `a.test`"),
        (
            ("reset", "a.test", "calendar:/x"),
            "there is no decision about `calendar:/x` of `a.test`",
        ),
        (("allow", "a.test", "--note", "x" * 2001), "the note has more than 2000 characters"),
    ],
)
def test_mistakes_are_named(crawl: Crawl, arguments: tuple[str, ...], complaint: str) -> None:
    told = run("traps", *arguments, "-o", str(crawl.folder))
    assert (told.returncode, told.stdout) == (2, "")
    assert complaint in told.stderr
