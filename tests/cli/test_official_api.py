"""A provider whose documents come from its official API, as commands show it (LEG-05)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from geomi.cli.program import main
from geomi.engine import external_docs
from geomi.recrawl.report import MARK
from geomi.seed.repository_docs import MAX_DOCUMENT_BYTES
from tests.e2e.command import records
from tests.e2e.test_cli_recrawl import age
from tests.support.crawl import page
from tests.support.github import Hub, Repository, limited
from tests.support.server import Reply, Seen, Site

TOKEN = "ghp_0123456789abcdef"
FILES = {
    "README.md": "# Acme\n\nAcme takes payments. Read [the guide](docs/guide.md).\n",
    "docs/guide.md": "# Guide\n\n" + "How a payment is made, from its order to its receipt. " * 20,
    "docs/api/errors.rst": "Errors\n======\n\nWhat a refusal means, and when to try again.\n",
    "docs/logo.svg": "<svg/>",
    "docs/link.md": "->guide.md",
    "src/main.py": "print('code')",
    "CHANGELOG.md": "# Changes\n",
}
BLOB = "https://github.test/acme/docs/blob/main"
PAGES = [f"{BLOB}/README.md", f"{BLOB}/docs/api/errors.rst", f"{BLOB}/docs/guide.md"]
ROUTES = {"/docs": page("Docs", "/docs/a"), "/docs/a": page("A")}


@dataclass
class Scene:
    """A provider's API and its own site, and the commands that know them."""

    hub: Hub
    api: Site
    site: Site
    folder: Path
    command: Callable[..., tuple[int, str, str]]
    notes: str = ""

    def run(self, *arguments: str) -> tuple[str, str]:
        """Run a command that succeeds; return stdout and stderr."""
        code, out, err = self.command(*arguments)
        assert code == 0, err
        return out, err

    def crawl(self, *flags: str) -> dict[str, Any]:
        """Crawl the provider; return what was told at the end."""
        here = ("--allow-private", "--profile", "default", "--delay", "0", "--json")
        out, self.notes = self.run("crawl", "--provider", "acme", *here, *flags)
        return dict(json.loads(out.splitlines()[-1]))

    def asked(self) -> list[Seen]:
        """Return what the API was asked since the last time."""
        seen = list(self.api.log)
        self.api.log.clear()
        return seen

    def records(self) -> dict[str, dict[str, Any]]:
        """Return the records of the newest crawl by URL."""
        return {record["url"]: record for record in records(self.folder / "data")}


@pytest.fixture
def scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Scene]:
    """Register a provider whose API and whose site are on loopback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GEOMI_CONFIG", raising=False)
    hub = Hub(Repository("acme/docs", dict(FILES)))

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["geomi", *arguments, "-o", str(tmp_path / "data")])
        code = main()
        shown = capsys.readouterr()
        assert TOKEN not in shown.out + shown.err
        return code, shown.out, shown.err

    with Site({}, otherwise=hub.answer) as api, Site(ROUTES) as site:
        monkeypatch.setenv("GEOMI_GITHUB_URL", api.url(""))
        monkeypatch.setenv("GEOMI_GITHUB_TOKEN", TOKEN)
        (tmp_path / "acme.json").write_text(json.dumps(registration(site)))
        assert command("providers", "add", "acme.json")[0] == 0
        yield Scene(hub, api, site, tmp_path, command)


def registration(site: Site, **changes: object) -> dict[str, object]:
    """Describe a provider that names its API."""
    return {
        "name": "Acme",
        "seed_url": site.url("/docs"),
        "allowed_path_patterns": ["/docs/**"],
        "api": "github:acme/docs",
        "tos_reviewed_at": "2026-01-31",
        "tos_allows_crawling": True,
        **changes,
    }


@pytest.mark.req("LEG-05")
def test_documents_come_from_the_api_and_lead_to_their_pages(scene: Scene) -> None:
    told = scene.crawl()
    assert (told["channel"], told["collected"]) == ("api", 3)
    assert "github:acme/docs had 3 documents" in told["why"]
    found = scene.records()
    assert sorted(found) == PAGES
    assert found[PAGES[2]]["title"] == "Guide"
    assert found[PAGES[0]]["links"][0]["url"] == f"{BLOB}/docs/guide.md"
    assert scene.site.log == []
    asked = scene.asked()
    assert [seen.path for seen in asked[:2]] == [
        "/repos/acme/docs",
        "/repos/acme/docs/git/trees/main",
    ]
    assert {seen.headers["authorization"] for seen in asked} == {f"Bearer {TOKEN}"}
    assert not any("src/" in seen.path or "link" in seen.path for seen in asked)
    hits = json.loads(scene.run("search", "receipt", "--json")[0].splitlines()[0])["hits"]
    assert hits[0]["url"] == PAGES[2]
    assert "this job asked GitHub for acme/docs@main" in scene.run("why", PAGES[0])[1]
    shown = json.loads(scene.run("providers", "show", "acme", "--json")[0])
    assert (shown["channel_now"], shown["library_id"]) == ("api", "acme/docs@main")
    kept = [path.read_bytes() for path in (scene.folder / "data").rglob("*") if path.is_file()]
    assert not any(TOKEN.encode() in content for content in kept)
    assert json.loads(scene.run("config", "show", "--json")[0])["geomi.github_token"] == "***"


@pytest.mark.req("LEG-05")
def test_a_document_that_has_not_changed_is_not_sent_again(scene: Scene) -> None:
    """A check lists the documents anew; the report tells what has become of them."""
    scene.crawl()
    scene.asked()
    files = scene.hub.repository.files
    files["docs/guide.md"] += "\nAnd how it is paid back, which is new.\n"
    files["docs/new.md"] = "# New\n\nWhat nobody has read before.\n"
    del files["docs/api/errors.rst"]
    assert json.loads(scene.run("providers", "check", "acme", "--json")[0])[0]["documents"] == [
        PAGES[0],
        PAGES[2],
        f"{BLOB}/docs/new.md",
    ]
    assert [seen.path for seen in scene.asked()] == [
        "/repos/acme/docs",
        "/repos/acme/docs/git/trees/main",
    ]
    told = scene.crawl()
    assert told["channel"] == "api"
    asked = {seen.path.rpartition("/")[2]: seen.headers for seen in scene.asked()}
    assert sorted(asked) == ["README.md", "guide.md", "new.md"]
    assert ["if-none-match" in asked[name] for name in sorted(asked)] == [True, True, False]
    assert "which is new" in scene.records()[PAGES[2]]["markdown"]


def test_a_recrawl_asks_the_api_again(scene: Scene) -> None:
    scene.crawl()
    scene.asked()
    age(scene.folder / "data")
    scene.hub.repository.files["docs/guide.md"] += "\nAnd how it is paid back, which is new.\n"
    out, _ = scene.run("recrawl", "--allow-private", "--json")
    found = json.loads(out.splitlines()[-1])
    counts = {name: found[name] for name in ("new", "changed", "deleted", "unchanged")}
    assert counts == {"new": 0, "changed": 1, "deleted": 0, "unchanged": 2}
    assert all("if-none-match" in seen.headers for seen in scene.asked())
    assert scene.site.log == []


@pytest.mark.req("LEG-05")
def test_nothing_is_sent_while_the_rate_limit_is_used_up(scene: Scene) -> None:
    """The repository, its listing and one document: then the crawl of the site takes over."""
    scene.hub.limit, scene.hub.reset_s = 3, time.time() + 3600
    told = scene.crawl()
    assert told["channel"] == "crawl"
    assert "its rate limit is used up until" in told["why"]
    assert told["why"].startswith("GitHub: ")
    assert len(scene.asked()) == 3
    assert sorted(record["title"] for record in scene.records().values()) == ["A", "Docs"]
    assert scene.notes.count(MARK) == 1


def test_a_short_limit_is_waited_for(scene: Scene) -> None:
    scene.hub.trouble.append(limited("1"))
    told = scene.crawl()
    assert (told["channel"], told["collected"]) == ("api", 3)
    first, second = scene.asked()[:2]
    assert first.path == second.path
    assert second.started_s - first.started_s >= 0.9


@pytest.mark.req("LEG-05")
@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        ([Reply(b'{"message": "Bad credentials"}', 401)], "answered 401"),
        ([Reply(b"[]", content_type="application/json")] * 5, "unexpected form"),
        ([Reply(b'{"message": "Not Found"}', 404)], "github:acme/docs had no documents"),
        ([Reply(status=301, headers=(("Location", "http://127.0.0.1:9/"),))], "another server"),
    ],
    ids=["token", "form", "missing", "elsewhere"],
)
def test_the_crawl_is_what_is_left_where_the_api_fails(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, trouble: list[Reply], why: str
) -> None:
    monkeypatch.setattr(external_docs, "RESTS_S", (0.01,) * 4)
    scene.hub.trouble += trouble
    told = scene.crawl()
    assert told["channel"] == "crawl"
    assert why in told["why"]
    assert sorted(record["title"] for record in scene.records().values()) == ["A", "Docs"]


def test_a_listing_that_was_cut_short_is_read_by_folders(scene: Scene) -> None:
    scene.hub.repository.cut_above = 2
    assert scene.crawl()["collected"] == 3
    assert sorted(scene.records()) == PAGES
    assert len([seen for seen in scene.asked() if "/git/trees/" in seen.path]) == 5


def test_a_repository_that_was_renamed_is_found(scene: Scene) -> None:
    scene.hub.moved["old/name"] = "acme/docs"
    moved = registration(scene.site, api="github:old/name/docs/api")
    (scene.folder / "acme.json").write_text(json.dumps(moved))
    scene.run("providers", "add", "acme.json")
    assert scene.crawl()["channel"] == "api"
    assert sorted(scene.records()) == PAGES[:2]


@pytest.mark.req("LEG-05")
def test_a_person_may_prefer_the_crawl(scene: Scene) -> None:
    own = registration(scene.site, channel="crawl")
    (scene.folder / "acme.json").write_text(json.dumps(own))
    scene.run("providers", "add", "acme.json")
    assert scene.crawl()["channel"] == "crawl"
    assert scene.asked() == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"api": "gitlab:acme/docs"}, "`gitlab:acme/docs` names no API that geomi knows"),
        ({"api": "github:acme/docs/../x"}, "names no API"),
        ({"api": "", "channel": "api"}, "has the channel `api`, and names none"),
    ],
)
def test_an_api_that_cannot_be_asked_is_not_registered(
    scene: Scene, changes: dict[str, object], told: str
) -> None:
    (scene.folder / "other.json").write_text(json.dumps(registration(scene.site, **changes)))
    code, _, err = scene.command("providers", "add", "other.json")
    assert (code, told in err) == (2, True), err


def test_large_files_are_no_documents(scene: Scene) -> None:
    files = scene.hub.repository.files
    files["docs/large.md"] = "x" * MAX_DOCUMENT_BYTES
    files["docs/larger.md"] = "x" * (MAX_DOCUMENT_BYTES + 1)
    listed = json.loads(scene.run("providers", "check", "acme", "--json")[0])[0]["documents"]
    assert f"{BLOB}/docs/large.md" in listed
    assert f"{BLOB}/docs/larger.md" not in listed
