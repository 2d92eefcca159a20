"""A scanner's `scan.yml` as its owner meets it: the file of the how-to, and a crawl by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command import run
from tests.support.server import Reply, Route, Seen, Site

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "use-a-scan-file.md"
HOSTS = ("shop.test", "sub.shop.test", "other.test")
LINKS = (
    "/admin", "/admin/users", "/administrator", "/user/logout/now", "/p?x=1&token=abc", "/p?x=1",
    "/private/x", "http://sub.shop.test/below", "http://other.test/away",
)  # fmt: skip
ROBOTS = (
    b"User-agent: WebKillerAI\nCrawl-delay: 30\nDisallow: /private\n\nUser-agent: *\nDisallow: /\n"
)


def page(seen: Seen) -> Reply:
    links = "".join(f'<a href="{link}">a link</a>' for link in LINKS)
    return Reply(f"<h1>{seen.host}{seen.target}</h1>{links}".encode())


@pytest.fixture
def site() -> Iterator[Site]:
    routes: dict[str, Route] = {"/robots.txt": Reply(ROBOTS, content_type="text/plain")}
    with Site(routes, otherwise=page) as served:
        yield served


def crawl(site: Site, folder: Path, text: str) -> set[str]:
    """Crawl by a file, on loopback and without a rest; return what was asked for."""
    (folder / "scan.yml").write_text(text, "utf-8")
    env = {
        "GEOMI_RESOLVE": ",".join(f"{host}:80:127.0.0.1:{site.port}" for host in HOSTS),
        "GEOMI_MIN_DELAY_S": "0",
        "GEOMI_CRAWL_DELAY": "0",
    }
    done = run(
        "crawl", "http://shop.test/", "--config", "scan.yml", "-o", "data", "-q",
        env=env, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {f"{seen.host}{seen.target}" for seen in site.log}


@pytest.mark.req("CFG-19", "CFG-20", "LNK-06", "SCP-04")
def test_the_file_of_the_how_to_word_for_word(tmp_path: Path, site: Site) -> None:
    (text, *_) = re.findall(r"```yaml\n(.*?)```", HOW_TO.read_text("utf-8"), re.S)
    asked = crawl(site, tmp_path, text)
    assert asked == {
        "shop.test/robots.txt", "shop.test/", "shop.test/administrator", "shop.test/p?x=1",
    }  # fmt: skip
    assert {seen.headers["user-agent"] for seen in site.log} == {"WebKillerAI"}


@pytest.mark.req("LNK-06", "G-29")
@pytest.mark.parametrize(("value", "hosts"), [("true", HOSTS[:1]), ("False", HOSTS[:2])])
def test_whether_subdomains_belong_to_the_crawl(
    tmp_path: Path, site: Site, value: str, hosts: tuple[str, ...]
) -> None:
    asked = crawl(site, tmp_path, f"crawler:\n  sameDomainOnly: {value}\n")
    assert {one.partition("/")[0] for one in asked} == set(hosts)


def test_an_answer_that_is_neither_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "scan.yml").write_text("crawler:\n  sameDomainOnly: perhaps\n", "utf-8")
    done = run("crawl", "http://shop.test/", "--config", "scan.yml", cwd=tmp_path)
    assert done.returncode == 2
    assert "`sameDomainOnly: perhaps` in `scan.yml` is neither true nor false" in done.stderr
    assert "hint: write `sameDomainOnly: true` or `sameDomainOnly: false`" in done.stderr
