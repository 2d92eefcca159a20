"""`geomi why` names the rule that decided, and a change that turns the answer round."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.command import run
from tests.support.server import Reply, Site

ROBOTS = b"User-agent: *\nAllow: /\nDisallow: /secret/\n"


def page(*links: str) -> Reply:
    items = "".join(f'<li><a href="{link}">{link}</a>' for link in links)
    return Reply(f"<title>A page</title><p>Some words of {links}.</p><ul>{items}</ul>".encode())


ROUTES = {
    "/robots.txt": Reply(ROBOTS, content_type="text/plain"),
    "/": page("/a", "/secret/x", "/private/y", "/login", "/l/l/l/l", "/missing", "http://b.test/"),
    "/a": page("/deep/b"),
    "/deep/b": page("/"),
    "/private/y": page("/"),
    "/login": page("/"),
    "/l/l/l/l": page("/"),
}


@dataclass(frozen=True, slots=True)
class Crawled:
    """A finished crawl and the site it was of."""

    folder: Path
    site: Site

    def why(self, path: str) -> dict[str, object]:
        told = run("why", self.url(path), "-o", str(self.folder), "--json")
        assert told.returncode == 0, told.stderr
        answer: dict[str, object] = json.loads(told.stdout)
        return answer

    def url(self, path: str) -> str:
        return path if "://" in path else self.site.url(path)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("why")
    with Site(ROUTES) as site:
        done = _crawl(site, folder)
        assert done == 0
        yield Crawled(folder, site)


def _crawl(site: Site, folder: Path, *more: str) -> int:
    return run(
        "crawl", site.url("/"), "-o", str(folder), "-q", "--allow-private", "--delay", "0",
        "--depth", "1", "--exclude", "/private/**", *more,
    ).returncode  # fmt: skip


@pytest.mark.parametrize(
    ("path", "answer", "rule", "detail"),
    [
        ("/a", "fetched and kept", "outcome.ok", "HTTP 200"),
        ("/missing", "fetched, but failed", "outcome.gone", "HTTP 404"),
        ("/secret/x", "not fetched: not allowed", "robots", "line 3: Disallow: /secret/"),
        ("/private/y", "not fetched", "exclude", "/private/**"),
        ("/login", "not fetched", "block.login", "login"),
        ("/l/l/l/l", "not fetched", "trap.repeating_path", "/l"),
        ("/deep/b", "not fetched", "depth", "2; the limit is 1"),
        ("/never/linked", "not fetched", "never_seen", "none of the 2 collected pages links to it"),
        ("http://b.test/", "not fetched", "scope.host", "b.test"),
    ],
)
@pytest.mark.req("ROB-28", "SCP-13")
def test_the_deciding_rule_is_named(
    crawled: Crawled, path: str, answer: str, rule: str, detail: str
) -> None:
    told = crawled.why(path)
    assert (told["answer"], told["decided_by"]) == (answer, rule)
    assert detail in str(told["detail"])


@pytest.mark.parametrize("path", ["/private/y", "/login", "/l/l/l/l", "/deep/b"])
@pytest.mark.slow
def test_the_hint_turns_the_answer_round(crawled: Crawled, tmp_path: Path, path: str) -> None:
    hint = str(crawled.why(path)["hint"])
    change = shlex.split(hint)
    folder = tmp_path / "again"
    if change[0] == "take":
        assert hint == "take '/private/**' out of scope.exclude (set by flag --exclude)"
        change = ["--set", "scope.exclude="]
    if change[0] == "geomi":  # a decision about the site, kept in the data directory
        assert run(*change[1:], "-o", str(folder)).returncode == 0
        change = []
    assert _crawl(crawled.site, folder, *change) == 0
    assert Crawled(folder, crawled.site).why(path)["answer"] == "fetched and kept"


def test_people_see_the_chain_in_order(crawled: Crawled) -> None:
    told = run("why", crawled.url("/secret/x"), "-o", str(crawled.folder))
    first, *chain, decided, hint = told.stdout.splitlines()
    assert first.endswith("/secret/x: not fetched: not allowed")
    names = [line.split()[1] for line in chain]
    assert names == [
        "url_length", "blocked_host", "scope", "exclude", "block", "personal", "include",
        "extension", "trap", "depth", "robots", "frontier", "visit",
    ]  # fmt: skip
    marks = {line.split()[1]: line[0] for line in chain}
    assert (marks["scope"], marks["robots"]) == ("✓", "✗")
    assert decided.startswith("decided by: robots: line 3: Disallow: /secret/")
    assert hint.startswith("to change it: ")


def test_a_url_of_no_crawl_and_a_job_of_no_store(crawled: Crawled, tmp_path: Path) -> None:
    nowhere = run("why", "http://a.test/", "-o", str(tmp_path))
    assert (nowhere.returncode, nowhere.stdout) == (4, "")
    assert "has no geomi data" in nowhere.stderr
    unknown = run("why", "http://a.test/", "-o", str(crawled.folder), "--job", "nonsense")
    assert unknown.returncode == 2
    assert "no job is called `nonsense`" in unknown.stderr
