"""The contract's own paths, `/crawler`, of a server in a process of its own, under its defaults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.serving import Served, until
from tests.support.crawl import robots
from tests.support.prose import prose
from tests.support.server import Reply, Route, Site

pytestmark = pytest.mark.slow
Json = dict[str, Any]

LISTED = 50  # URLs in a part of a list whose length nobody names
LONGEST = 100_000  # characters of a page that are read
SENTENCES = "The ferry leaves at noon, waits for the doctor and returns before the night has come"


def of_length(chars: int) -> Reply:
    """Write a page whose whole text has so many characters."""
    text = f"{SENTENCES}, and nobody pays a fare"[: chars - 1] + "."
    assert len(text) == chars
    return Reply(f"<html lang=en><title>Ferry {chars}</title><main><p>{text}</p></main>".encode())


def long_page() -> Reply:
    """Write a page that has a xylophone before the limit, and a zeppelin behind it."""
    told = "</p><p>".join(prose(f"boat number {n}") for n in range(40))
    rest = "</p><p>".join(prose(f"barge number {n}") for n in range(7))
    body = f"<p>{told}</p><p>The ship has a xylophone.</p><p>{rest}</p><p>And a zeppelin.</p>"
    return Reply(f"<html lang=en><title>Boats</title><main>{body}</main>".encode())


SECRET = tuple(f"/secret/{n}" for n in range(LISTED))
LEADS = "".join(f'<a href="{path}">{path}</a> ' for path in ("/99", "/101", "/long", *SECRET))
WEB: dict[str, Route] = {
    "/robots.txt": robots("User-agent: *", "Disallow: /secret/"),
    "/": Reply(f"<title>Start</title><main><p>{prose('the village')}</p>{LEADS}</main>".encode()),
    "/99": of_length(99),
    "/101": of_length(101),
    "/long": long_page(),
}
# What cannot be decoded has failed at once; a 500 would be asked for again.
BROKEN = Reply(b"no gzip", headers=(("Content-Encoding", "gzip"),))
FAILING: dict[str, Route] = {
    "/": Reply("".join(f'<a href="/{n}">page {n}</a> ' for n in range(8)).encode()),
    **{f"/{n}": BROKEN if n % 2 else of_length(101) for n in range(8)},
}


@dataclass(frozen=True, slots=True)
class Crawled:
    """A server, a site, and what `/crawler` says at the end of a crawl of it."""

    served: Served
    site: Site
    job: Json

    def get(self, path: str) -> Json:
        """Ask for something by the paths of the contract."""
        return self.served.get(path, prefix="/crawler")


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Crawled]]:
    """Crawl both sites at once, under the defaults; each waits for its own host alone."""
    root = tmp_path_factory.mktemp("contract") / "data"
    with Site(WEB) as web, Site(FAILING, address="127.0.0.2") as failing, Served(root) as served:
        sites, paths = {"village": web, "failing": failing}, dict[str, str]()
        for name, site in sites.items():
            asked = {"collectionId": name, "seedUrls": [site.url("/")]}
            started = served.post("/crawls", asked, prefix="/crawler")
            paths[name] = f"/crawls/{started['jobId']}"
        yield {
            name: Crawled(served, site, ended(served, paths[name])) for name, site in sites.items()
        }


def ended(served: Served, path: str) -> Json:
    """Wait for the end of a crawl, and return it."""
    crawl: Json = until(
        lambda: (told := served.get(path, prefix="/crawler"))["completedAt"] and told
    )
    return crawl


@pytest.mark.req("ROB-28", "CFG-16", "CTY-09", "CTY-10", "API-11")
def test_a_crawl_under_the_defaults_tells_what_became_of_each_url(
    crawls: dict[str, Crawled],
) -> None:
    village = crawls["village"]
    site, job = village.site, village.job
    assert not {seen.path for seen in site.log} & set(SECRET)
    assert job["status"] == "completed", job
    path = f"/crawls/{job['jobId']}/urls"
    first = village.get(path)
    assert (len(first["urls"]), bool(first["nextCursor"])) == (LISTED, True)
    rest = village.get(f"{path}?cursor={first['nextCursor']}")
    urls = {row["url"].removeprefix(site.url("")): row for row in first["urls"] + rest["urls"]}
    assert len(urls) == len(SECRET) + 4

    for secret in SECRET:
        row = urls[secret]
        assert (row["status"], row["outcome"], row["httpStatus"]) == ("blocked", "robots", None)
        assert row["error"] == "line 2: Disallow: /secret/ (User-agent: *)"
    assert job["stats"]["urlsBlocked"] == len(SECRET)
    blocked = village.get(f"{path}?status=blocked&limit=100")["urls"]
    assert {row["url"] for row in blocked} == set(map(site.url, SECRET))

    short, enough, long = urls["/99"], urls["/101"], urls["/long"]
    assert (short["status"], enough["status"], long["status"]) == (
        "skipped", "skipped", "completed",
    )  # fmt: skip
    assert short["error"] == "99 characters; analysis.min_chars is 100"
    assert "analysis.quality_threshold" in enough["error"]  # long enough, and thin
    document = village.served.get(f"/documents/{long['documentId']}")
    read = document["markdown"]
    assert read.index("xylophone") < LONGEST < read.index("zeppelin")
    found = {
        word: [hit["url"] for hit in village.served.post("/search", {"query": word})["results"]]
        for word in ("xylophone", "zeppelin")
    }
    assert found == {"xylophone": [site.url("/long")], "zeppelin": []}


@pytest.mark.req("JOB-10")
def test_a_crawl_fails_of_which_more_than_a_fifth_of_a_batch_fails(
    crawls: dict[str, Crawled],
) -> None:
    job = crawls["failing"].job
    assert (job["status"], job["stopReason"]) == ("failed", "failed")
    assert job["error"] == "4 of 8 URLs of batch 2 failed; the job tolerates 20 %"
    assert (job["stats"]["urlsFailed"], job["stats"]["urlsProcessed"]) == (4, 9)
