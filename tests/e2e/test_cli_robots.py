"""`geomi robots` names the line that decides, from a site or from a file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import GEOMI, clean_env, run
from tests.support.server import End, Raw, Reply, Site

TEXT = """\
User-agent: *
Crawl-delay: 5
Allow: /
Disallow: /private
Disallow: /*?sort=

User-agent: Googlebot
Disallow: /google

Sitemap: https://a.test/s.xml
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "robots.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def ask(*arguments: str) -> dict[str, Any]:
    told = run("robots", *arguments, "--json")
    assert told.returncode == 0, told.stderr
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def test_the_winning_line_in_words(file: str) -> None:
    told = run("robots", "a.test/private/x", "--file", file)
    assert told.returncode == 0
    assert told.stdout.splitlines() == [
        "✗ DISALLOW https://a.test/private/x for geomi",
        "decided by    line 4: Disallow: /private",
        "group         User-agent: *",
        "also matches  line 3: Allow: /",
        "crawl delay   5 s",
        "sitemap       https://a.test/s.xml",
    ]


def test_the_winning_line_as_data(file: str) -> None:
    answer = ask("https://a.test/private", "--file", file)
    stored = answer.pop("stored")
    assert answer == {
        "url": "https://a.test/private",
        "agent": "geomi",
        "decision": "DISALLOW",
        "reason": "line 4: Disallow: /private (User-agent: *)",
        "group": "*",
        "winner": {"line": 4, "rule": "Disallow: /private"},
        "match_len": 8,
        "others": [{"line": 3, "rule": "Allow: /"}],
        "crawl_delay_s": 5.0,
        "obeys_crawl_delay": True,
        "sitemaps": ["https://a.test/s.xml"],
        "status": 200,
        "notes": [],
    }
    assert [rules["userAgent"] for rules in stored["rules"]] == ["*", "googlebot"]


def test_a_file_through_a_pipe() -> None:
    told = subprocess.run(
        [*GEOMI, "robots", "https://a.test/private", "--file", "-", "--json"],
        input=TEXT.encode(),
        capture_output=True,
        env=clean_env(),
        timeout=60,
        check=True,
    )
    assert json.loads(told.stdout)["winner"]["line"] == 4


@pytest.mark.parametrize(
    ("agent", "group", "decision"),
    [
        ("Googlebot", "googlebot", "ALLOW"),
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +https://b.test)", "googlebot", "ALLOW"),
        ("someone/1.0", "*", "DISALLOW"),
    ],
)
def test_for_another_agent(file: str, agent: str, group: str, decision: str) -> None:
    answer = ask("https://a.test/private", "--file", file, "--as", agent)
    assert (answer["group"], answer["decision"]) == (group, decision)


def test_a_path_is_one_of_the_files_site(file: str) -> None:
    told = run("robots", "/private/x?y=1", "--file", file, "--profile", "scanner")
    assert told.stdout.splitlines()[0] == "✗ DISALLOW /private/x?y=1 for WebKillerAI"
    assert "crawl delay   5 s, ignored (robots.respect_crawl_delay=false)" in told.stdout
    refused = run("robots", "/private/x")
    assert (refused.returncode, "names no host" in refused.stderr) == (2, True)


def test_what_is_odd_about_a_file_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_text("User-agent: *\nDissallow: /x\nNoise\n", encoding="utf-8")
    told = run("robots", "/x", "--file", str(path))
    assert told.stdout.splitlines()[-2:] == [
        'note          line 2: "Dissallow" is read as Disallow',
        'note          line 3 is not understood: "Noise"',
    ]
    assert len(ask("/x", "--file", str(path))["notes"]) == 2


def test_by_another_profile(file: str) -> None:
    url = "https://a.test/list?sort=up"
    assert ask(url, "--file", file)["decision"] == "DISALLOW"
    scanner = ask(url, "--file", file, "--profile", "scanner")
    assert (scanner["decision"], scanner["sitemaps"]) == ("ALLOW", [])


def test_from_a_site_under_our_own_name(tmp_path: Path) -> None:
    with Site({"/robots.txt": Reply(TEXT.encode(), content_type="text/plain")}) as site:
        answer = ask(site.url("/google/x"), "--as", "Googlebot", "--allow-private")
        (seen,) = site.log
    assert answer["winner"] == {"line": 8, "rule": "Disallow: /google"}
    assert seen.headers["user-agent"].startswith("geomi/")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "decision", "reason"),
    [(404, "ALLOW", "no robots.txt: HTTP status 404"), (503, "DISALLOW", "out of reach")],
)
def test_a_server_without_a_file_decides_too(status: int, decision: str, reason: str) -> None:
    with Site({"/robots.txt": Reply(status=status)}) as site:
        answer = ask(site.url("/"), "--allow-private")
    assert (answer["decision"], answer["winner"], answer["status"]) == (decision, None, status)
    assert reason in answer["reason"]


SOON = ("--set", "robots.read_timeout_s=0.2", "--set", "robots.total_timeout_s=0.2")


def crawled(site: Site, folder: Path, *arguments: str) -> list[str]:
    """Crawl one page, and return the paths that were asked for."""
    site.log.clear()
    done = run(
        "crawl", site.url("/"), "--allow-private", "--delay", "0", "-q",
        "-o", str(folder), *arguments,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [seen.path for seen in site.log]


@pytest.mark.req("ROB-13")
def test_a_silent_server_is_answered_as_in_the_crawl(tmp_path: Path) -> None:
    with Site({"/robots.txt": Raw((), End.SILENCE), "/": Reply(b"<h1>home</h1>")}) as site:
        under = ("--profile", "scanner", *SOON)
        answer = ask(site.url("/"), "--allow-private", *under)
        assert crawled(site, tmp_path, *under) == ["/robots.txt", "/"]
        refused = run("robots", site.url("/"), "--allow-private", *SOON)
    assert (answer["decision"], answer["winner"]) == ("ALLOW", None)
    assert answer["reason"].startswith("robots.txt is out of reach: timeout")
    assert (refused.returncode, refused.stdout) == (5, ""), "a crawl by default waits for it"
    assert "timeout" in refused.stderr


@pytest.mark.req("ROB-09")
@pytest.mark.parametrize(
    ("location", "reason", "hops"),
    [
        ("/robots.txt", "too_many_redirects (robots.txt redirects more than 3 times", 4),
        ("http://other.test/robots.txt", "redirect_excluded (robots.txt redirects to `other.", 1),
    ],
)
def test_a_redirect_that_leads_to_no_file_is_told_as_one(
    tmp_path: Path, location: str, reason: str, hops: int
) -> None:
    moved = Reply(status=302, headers=(("Location", location),))
    with Site({"/robots.txt": moved, "/": Reply(b"<h1>home</h1>")}) as site:
        answer = ask(site.url("/"), "--allow-private", "--profile", "scanner")
        asked = crawled(site, tmp_path, "--profile", "scanner")
    assert (answer["decision"], answer["status"]) == ("ALLOW", 302)
    assert answer["reason"].startswith(f"no robots.txt: {reason}")
    assert asked == ["/robots.txt"] * hops + ["/"]


@pytest.mark.req("ROB-04")
def test_the_file_is_asked_for_at_the_root_of_scheme_host_and_port(tmp_path: Path) -> None:
    """A port stands in the request only where the URL has one that is not its scheme's."""
    with Site({"/robots.txt": Reply(TEXT.encode(), content_type="text/plain")}) as site:
        env = {"GEOMI_RESOLVE": f"a.test:80:127.0.0.1:{site.port},a.test:81:127.0.0.1:{site.port}"}
        for url in ("http://a.test/b/c?d=e", "http://a.test:80/", "http://a.test:81/b/c"):
            done = run("robots", url, env=env)
            assert done.returncode == 0, done.stderr
        done = run(
            "crawl", "http://a.test:81/b/", "--delay", "0", "-q", "-o", str(tmp_path), env=env
        )
    assert [f"{seen.host}{seen.target}" for seen in site.log] == [
        "a.test/robots.txt", "a.test/robots.txt", "a.test:81/robots.txt",
        "a.test:81/robots.txt", "a.test:81/b/",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        (("a.test", "--file", "no-such-file"), 2, "cannot read `no-such-file`", "`-` for stdin"),
        (("a.test", "--file", "."), 2, "cannot read `.`", "`-` for stdin"),
        (("a.test", "--file", "no-such-file", "--profile", "x"), 2, "no profile `x`", "profiles:"),
        (("http://127.0.0.1:32001/",), 5, "use --allow-private if it is your own", "--file PATH"),
    ],
)
def test_errors_are_one_line_with_a_hint(
    arguments: tuple[str, ...], code: int, error: str, hint: str
) -> None:
    told = run("robots", *arguments)
    assert (told.returncode, told.stdout) == (code, "")
    lines = told.stderr.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("error: ")
    assert error in lines[0]
    assert hint in lines[1]


def test_an_agent_without_a_name(file: str) -> None:
    told = run("robots", "a.test", "--file", file, "--as", " ")
    assert (told.returncode, "is not an agent" in told.stderr) == (2, True)
