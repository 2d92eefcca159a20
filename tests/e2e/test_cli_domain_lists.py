"""Lists of bad domains: subscribed to, refreshed, and kept out of every crawl (SCP-07)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from geomi.admit import domain_list
from geomi.app.use import domain_lists
from geomi.model.verdict import Outcome
from tests.api.asking import LOCAL, OTHER, TENANT, serving
from tests.api.filling import worked_off
from tests.e2e.served import Command, commands
from tests.support.crawl import Ear, crawl_in, home_in, plan
from tests.support.server import Reply, Seen, Site
from tests.support.waiting import waits

BAD, BELOW, GOOD = "bad.example", "ads.bad.example", "good.example"
FIRST = b"# hosts\n127.0.0.1 localhost\n0.0.0.0 0.0.0.0\n0.0.0.0 bad.example worse.example # x\n"
SECOND = b"||worse.example^\n||bad.example^$third-party\n@@||fine.example^\n"
DAY_S = 86_400


class Source:
    """A server that publishes a list, and is a site whose links lead to listed domains."""

    def __init__(self) -> None:
        self.text = FIRST
        self.status = 200
        self.page = ""
        self.on_bad: Callable[[], object] = lambda: None
        self.site = Site({"/robots.txt": Reply(b"", content_type="text/plain")}, self.answer)

    def answer(self, seen: Seen) -> Reply:
        if seen.path == "/moved":
            return Reply(b"", 302, headers=(("location", "/list"),))
        if seen.path == "/list":
            tag = f'"{len(self.text)}"'
            if seen.headers.get("if-none-match") == tag and self.status == 200:
                return Reply(b"", 304)
            kind = "text/plain"
            return Reply(self.text, self.status, content_type=kind, headers=(("etag", tag),))
        if seen.host.startswith(BAD):
            self.on_bad()
        if self.page:
            return Reply(self.page.encode())
        names = (BAD, BELOW, GOOD)
        links = "".join(f'<a href="{self.site.url("/p", host=name)}">x</a>' for name in names)
        return Reply(f"<p>A page of links to other places, good and bad.</p>{links}".encode())

    @property
    def resolve(self) -> tuple[str, ...]:
        port = urlsplit(self.site.url("/")).port
        return tuple(f"{name}:{port}:127.0.0.1" for name in (BAD, BELOW, GOOD))

    def asked(self, path: str) -> list[Seen]:
        return [seen for seen in self.site.log if seen.path == path]

    def hosts(self) -> set[str]:
        return {seen.host.partition(":")[0] for seen in self.site.log}


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    made = Source()
    with made.site:
        monkeypatch.setenv("GEOMI_RESOLVE", ",".join(made.resolve))
        monkeypatch.setenv("GEOMI_ALLOW_PRIVATE", "1")
        yield made


@pytest.fixture
def geomi(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return commands(monkeypatch, capsys)


def told(command: Command, *arguments: str) -> Any:
    code, out, err = command(*arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def crawl(command: Command, source: Source, folder: str) -> str:
    seed = source.site.url("/")
    some = ("--scope", "any", "-d", "1", "--delay", "0", "-q", "-f", "jsonl", "--max-time", "60")
    code, out, err = command("crawl", seed, *some, "-o", folder)
    assert code == 0, err
    return out + err


def put_back_a_day(folder: Path) -> None:
    """Let a day pass since the lists were read."""
    with closing(sqlite3.connect(folder / "geomi.db")) as db, db:
        db.execute("UPDATE domain_lists SET tried_s = tried_s - ?", (DAY_S,))


@pytest.mark.slow
@pytest.mark.req("SCP-07")
def test_no_crawl_visits_a_listed_domain(geomi: Command, source: Source, tmp_path: Path) -> None:
    """A list is read from a URL; what it kept out is counted and explained."""
    folder = str(tmp_path)
    kept = told(geomi, "blocked", "subscribe", "evil", source.site.url("/moved"), "-o", folder)
    assert (kept["domains"], kept["problem"]) == (2, "")
    crawl(geomi, source, folder)
    assert source.hosts() == {"127.0.0.1", GOOD}

    rule = told(geomi, "status", "-o", folder)["exclusions"]["domain_list.evil"]
    assert rule["count"] == 2
    assert source.site.url("/p", host=BELOW) in rule["examples"]
    why = told(geomi, "why", source.site.url("/p", host=BELOW), "-o", folder)
    assert why["decided_by"] == "domain_list.evil"
    assert why["detail"] == f"the list `evil` names {BAD}"
    assert why["hint"] == "geomi blocked unsubscribe evil"
    code, _, err = geomi("crawl", source.site.url("/", host=BAD), "-o", folder)
    assert code == 2 and "excluded by rule domain_list.evil" in err

    told(geomi, "blocked", "unsubscribe", "evil", "-o", folder)
    crawl(geomi, source, folder)
    assert source.hosts() == {"127.0.0.1", GOOD, BAD, BELOW}
    code, _, err = geomi("blocked", "unsubscribe", "evil", "-o", folder)
    assert code == 2 and "no list is called `evil`" in err


@pytest.mark.slow
@pytest.mark.req("SCP-07")
def test_a_list_is_read_again_each_day(geomi: Command, source: Source, tmp_path: Path) -> None:
    """Once a day, only if it has changed; a refresh that fails keeps the list and tells."""
    folder, lists = str(tmp_path), ("blocked", "lists", "-o", str(tmp_path))
    told(geomi, "blocked", "subscribe", "evil", source.site.url("/list"), "-o", folder)
    crawl(geomi, source, folder)
    assert len(source.asked("/list")) == 1  # not again on the same day

    put_back_a_day(tmp_path)
    crawl(geomi, source, folder)
    assert len(source.asked("/list")) == 2
    assert source.asked("/list")[-1].headers["if-none-match"] == f'"{len(FIRST)}"'
    assert told(geomi, *lists)[0]["domains"] == 2

    source.text, source.status = SECOND, 500
    put_back_a_day(tmp_path)
    said = crawl(geomi, source, folder)
    assert "list `evil` stays with its 2 domains" in said and "HTTP 500" in said
    assert "HTTP 500" in told(geomi, *lists)[0]["problem"]
    source.text, source.status = b"<html>\n<p>No such list</p>\n<p>Sorry</p>\n", 200
    code, out, err = geomi("blocked", "refresh", "-o", folder)
    assert code == 5 and "is no list of domains: 3 of its 3 lines are none" in out
    assert "not refreshed: evil" in err
    assert BAD not in source.hosts()

    source.text = SECOND
    (fresh,) = told(geomi, "blocked", "refresh", "evil", "-o", folder)
    assert (fresh["domains"], fresh["problem"]) == (1, "")
    crawl(geomi, source, folder)
    assert BAD in source.hosts()  # the list no longer names it


@pytest.mark.slow
@pytest.mark.req("SCP-07")
@waits
async def test_every_tenant_of_a_service_keeps_away(source: Source, tmp_path: Path) -> None:
    """What the operator subscribes to holds for all tenants, and for what waits already."""
    file = tmp_path / "list.txt"
    file.write_text("*.bad.example\n")
    config = {"followExternalLinks": True, "delayBetweenRequests": 0, "maxDepth": 1}
    async with serving(tmp_path / "data", replace(LOCAL, resolve=source.resolve)) as ground:
        for client, tenant in ((ground.mine, TENANT), (ground.other, OTHER)):
            body = {"collectionId": "c", "seedUrls": [source.site.url("/")], "config": config}
            waiting = await client.post("/crawls", body)
            assert waiting.status == 202, waiting.json
            await domain_lists.subscribe(ground.service.home, "mine", str(file))
            await worked_off(ground.service.desk(tenant), waiting.json["jobId"])
            bad = {**body, "seedUrls": [source.site.url("/", host=BELOW)]}
            refused = await client.post("/crawls", bad)
            assert refused.status == 422 and b"domain_list.mine" in refused.body, refused.json
    assert source.hosts() == {"127.0.0.1", GOOD}


@pytest.mark.slow
@pytest.mark.req("SCP-07")
@waits
async def test_a_crawl_that_runs_leaves_alone_what_is_listed_meanwhile(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits already is judged again when its turn comes."""
    monkeypatch.setattr(domain_lists, "LOOK_EVERY_S", 0.05)
    (tmp_path / "list").write_text(BAD)
    links = "".join(
        f'<a href="{source.site.url(f"/{number}", host=BAD)}">x</a>' for number in range(40)
    )
    source.page = f"<p>A page that leads to many others on one host.</p>{links}"
    met, loop = asyncio.Event(), asyncio.get_running_loop()
    source.on_bad = lambda: loop.call_soon_threadsafe(met.set)
    settings = replace(LOCAL, resolve=source.resolve)
    ear = Ear()
    async with home_in(tmp_path / "data", ear, settings) as home:

        async def subscribe_in_time() -> None:
            await met.wait()
            await domain_lists.subscribe(home, "late", str(tmp_path / "list"))

        order = plan([source.site.url("/")], scope="any", delay=0.1)
        crawled, _ = await asyncio.gather(crawl_in(home, ear, order), subscribe_in_time())
    excluded = [one for one in crawled.entries.values() if one.outcome is Outcome.EXCLUDED]
    assert len(excluded) > 20
    assert {one.host.partition(":")[0] for one in excluded} == {BAD}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "names no domain"),
        (b"# nothing\n! here\n", "names no domain"),
        (b"com\ngithub.io\nlocalhost\n10.0.0.1\n::1 ip6-localhost\n", "names no domain"),
        (b"a.example\nnot a name\nneither is this\n", "is no list of domains: 2 of its 3 lines"),
        (b"a.example\nb.example\nc.example\n", "more than 2 domains"),
        (b"#" * 200, "more than 0 MiB"),
    ],
    ids=["empty", "comments", "suffixes", "prose", "many", "large"],
)
def test_what_is_no_list_is_refused(
    geomi: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    problem: str,
) -> None:
    """Nothing is kept of a file that cannot be read as a list, or that is too large."""
    monkeypatch.setattr(domain_list, "MAX_DOMAINS", 2)
    monkeypatch.setattr(domain_list, "MAX_LIST_BYTES", 100)
    file = tmp_path / "list"
    file.write_bytes(content)
    folder = str(tmp_path / "data")
    code, _, err = geomi("blocked", "subscribe", "evil", str(file), "-o", folder)
    assert code == 2 and problem in err, err
    assert told(geomi, "blocked", "lists", "-o", folder) == []


@pytest.mark.req("SCP-07", "SEC-02")
def test_a_list_at_a_private_address_is_refused(
    geomi: Command, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only who may crawl private sites may read a list from one; nothing is sent to it."""
    folder, place = str(tmp_path), source.site.url("/list")
    monkeypatch.delenv("GEOMI_ALLOW_PRIVATE")
    code, _, err = geomi("blocked", "subscribe", "evil", place, "-o", folder)
    assert code != 0 and "127.0.0.1" in err and "allow-private" in err, err
    assert source.site.log == []
    assert told(geomi, "blocked", "lists", "-o", folder) == []


def test_what_cannot_be_subscribed_to(
    geomi: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name, a place or one list more than there may be is refused by name."""
    file = tmp_path / "list"
    file.write_text("a.example\n")
    folder = str(tmp_path / "data")
    monkeypatch.setattr(domain_lists, "MAX_LISTS", 1)
    asked = ("blocked", "subscribe")
    for name, place, problem in (
        ("No Name", str(file), "`No Name` cannot be the name of a list"),
        ("evil", str(tmp_path / "none"), "cannot be read: No such file"),
        ("evil", "ftp://a.example/list", "`ftp://a.example/list` is not an http(s) URL"),
    ):
        code, _, err = geomi(*asked, name, place, "-o", folder)
        assert code == 2 and problem in err, err
    assert geomi(*asked, "evil", str(file), "-o", folder)[0] == 0
    code, _, err = geomi(*asked, "more", str(file), "-o", folder)
    assert code == 2 and "1 lists are subscribed to already" in err
