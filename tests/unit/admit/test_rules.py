"""The chain of admission: which rule decides, what it says, and in which order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.rules import ADMITTED, Admission
from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, HttpRules, Limits, Scope, Within
from geomi.model.verdict import Verdict
from geomi.url.parse import Url, parse

SEED = "https://docs.example.com/"
NAMES = ("url_length", "scope", "exclude", "block", "include", "extension", "trap", "depth")


def url(text: str) -> Url:
    """Parse text that must be a URL; a leading slash is below the seed."""
    found = parse(text, SEED)
    assert found is not None
    return found


def judge(
    text: str, scope: Scope | None = None, *, depth: int = 1, is_seed: bool = False
) -> Verdict:
    """Judge a URL in a crawl of `SEED`."""
    admission = Admission(CrawlConfig(scope=scope or Scope()), [SEED], 2026)
    return admission.judge(url(text), depth, is_seed=is_seed)


@pytest.mark.parametrize(
    ("within", "text", "rule", "hint"),
    [
        (Within.HOST, "https://docs.example.com/x", "admitted", ""),
        (Within.HOST, "http://docs.example.com/x", "admitted", ""),
        (Within.HOST, "https://docs.example.com:8443/x", "scope.host", "--scope domain"),
        (Within.HOST, "https://www.docs.example.com/", "admitted", ""),
        (Within.HOST, "https://example.com/", "scope.host", "--scope domain"),
        (Within.HOST, "https://example.org/", "scope.host", "--scope any"),
        (Within.HOST, "https://docs.example.com.evil.test/", "scope.host", "--scope any"),
        (Within.DOMAIN, "https://blog.example.com/", "admitted", ""),
        (Within.DOMAIN, "https://example.org/", "scope.domain", "--scope any"),
        (Within.DOMAIN, "https://notexample.com/", "scope.domain", "--scope any"),
        (Within.LIST, "https://docs.example.com/", "admitted", ""),
        (Within.LIST, "https://b.test/", "admitted", ""),
        (Within.LIST, "http://c.test:8080/", "admitted", ""),
        (Within.LIST, "http://c.test/", "scope.list", "--set scope.hosts=c.test"),
        (Within.LIST, "https://d.test:81/", "scope.list", "--set scope.hosts=d.test:81"),
        (Within.ANY, "https://anything.test/", "admitted", ""),
    ],
)
@pytest.mark.req("LNK-05", "LNK-06", "LNK-07", "SCP-06")
def test_scope(within: Within, text: str, rule: str, hint: str) -> None:
    """Seeds draw the border; the refusal names the next wider one (C-67)."""
    verdict = judge(text, Scope(within=within, hosts=("B.test", "c.test:8080")))
    assert (verdict.rule, verdict.hint) == (rule, hint)


@pytest.mark.parametrize(
    ("text", "rule", "detail"),
    [
        ("/docs/intro", "admitted", ""),
        ("/docs/old/x", "exclude", "/docs/old/**"),
        ("/docs/old", "exclude", "/docs/old/**"),
        ("/blog/x", "include", "no --include pattern matches"),
    ],
)
@pytest.mark.req("SCP-02")
def test_exclude_beats_include(text: str, rule: str, detail: str) -> None:
    """Block, then allow, then nothing; the pattern that decided is named."""
    scope = Scope(include=("/docs/**",), exclude=("/docs/old/**",))
    verdict = judge(text, scope)
    assert (verdict.rule, verdict.detail) == (rule, detail)


def test_seeds_are_exempt_from_include_alone() -> None:
    """A seed need not match its own allow list, but the block list counts (C-23)."""
    scope = Scope(include=("/docs/**",), exclude=("/private/**",))
    assert judge("/start", scope, depth=0, is_seed=True) is ADMITTED
    assert judge("/start", scope).rule == "include"
    assert judge("/private", scope, depth=0, is_seed=True).rule == "exclude"


def test_no_include_means_everything() -> None:
    """An empty allow list is no allow list (C-24)."""
    assert judge("/anything/at/all") is ADMITTED


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("/login", "block.login"),
        ("/x/Login/y", "block.login"),
        ("/%6cogout", "block.logout"),
        ("/wp-admin/x.php", "block.wp-admin"),
        ("/xmlrpc.php", "block.xmlrpc.php"),
        ("/blog/feed", "block.feed"),
        ("/blog/feed/", "block.feed"),
        ("/post/trackback/", "block.trackback"),
        ("/?s=query", "block.s"),
        ("/?a=1&s=q", "block.s"),
        ("/post?replytocom=5", "block.replytocom"),
        ("/calendar/", "block.calendar"),
        ("/accounting", "admitted"),
        ("/cartoons", "admitted"),
        ("/api/accounts", "admitted"),
        ("/feed/how-it-works", "admitted"),
        ("/research", "admitted"),
        ("/login-flow", "admitted"),
        ("/library/calendar.html", "admitted"),
        ("/?sort=s", "admitted"),
    ],
)
def test_default_blocks(text: str, rule: str) -> None:
    """Whole segments and whole parameter names (C-66)."""
    assert judge(text).rule == rule


def test_include_overrides_a_default_block() -> None:
    """An explicit pattern wins over the list that came with geomi (C-66)."""
    scope = Scope(include=("/docs/checkout/**", "/payments/**"))
    assert judge("/docs/checkout/start", scope) is ADMITTED
    assert judge("/payments/search", scope) is ADMITTED
    assert judge("/checkout", scope).rule == "block.checkout"
    assert judge("/login", Scope(block_defaults=False)) is ADMITTED


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("/a.pdf", "extension"),
        ("/a.ZIP", "extension"),
        ("/x/logo.svg?v=1", "extension"),
        ("/style.css", "extension"),
        ("/a.tar.gz", "extension"),
        ("/setup.exe", "extension"),
        ("/a.html", "admitted"),
        ("/v1.2", "admitted"),
        ("/a.zip/readme", "admitted"),
        ("/zip", "admitted"),
        ("/.zip", "admitted"),
        ("/openapi.json", "admitted"),
        ("/guide.md", "admitted"),
    ],
)
@pytest.mark.req("SCP-09")
def test_extensions(text: str, rule: str) -> None:
    """Files that are no pages are not asked for."""
    assert judge(text).rule == rule


def test_accepted_content_type_admits_its_files() -> None:
    """Who accepts PDF gets PDF, and nothing else."""
    config = CrawlConfig(http=HttpRules(content_types=("text/html", "application/pdf")))
    admission = Admission(config, [SEED], 2026)
    assert admission.judge(url("/a.pdf"), 1) is ADMITTED
    refused = admission.judge(url("/a.docx.zip"), 1)
    assert (refused.detail, refused.hint) == (".zip", "")
    refused = admission.judge(url("/a.css"), 1)
    types = "text/html,application/pdf,text/css"
    assert (refused.detail, refused.hint) == (".css", f"--set http.content_types={types}")


@pytest.mark.req("TRP-01")
def test_trap_switch() -> None:
    """Trap detection can be switched off."""
    assert judge("/a/a/a").rule == "trap.repeating_path"
    assert judge("/a/a/a", Scope(avoid_traps=False)) is ADMITTED


def test_depth() -> None:
    """The limit itself is admitted, the next step names the flag."""
    assert judge("/x", depth=3) is ADMITTED
    assert judge("/x", depth=4) == Verdict(False, "depth", "4; the limit is 3", "--depth 4")


@pytest.mark.req("URL-19")
def test_length_comes_first() -> None:
    """The configured limit is the first rule of all."""
    admission = Admission(CrawlConfig(limits=Limits(max_url_chars=64)), [SEED], 2026)
    assert admission.judge(url("/" + "x" * (64 - len(SEED))), 1) is ADMITTED
    assert admission.judge(url("https://other.test/" + "x" * 64), 1).rule == "url_length"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("/x/y.html", "--include '/x/**'"),
        ("/x", "--include '/x/**'"),
        ("/", "--include '/**'"),
        ("/it's/y", """--include '/it'"'"'s/**'"""),
    ],
)
def test_include_hint_works(text: str, hint: str) -> None:
    """The hint can be pasted into a shell, and obeying it admits the URL."""
    assert judge(text, Scope(include=("/docs/**",))).hint == hint
    folder = (
        hint.removeprefix("--include ").replace("""'"'"'""", "\0").strip("'").replace("\0", "'")
    )
    assert judge(text, Scope(include=("/docs/**", folder))) is ADMITTED


def test_explain_shows_every_check() -> None:
    """Each check speaks for itself, in order, and the first refusal is the verdict."""
    admission = Admission(CrawlConfig(scope=Scope(include=("/docs/**",))), [SEED], 2026)
    target = url("https://other.test/login/a.pdf")
    explained = admission.explain(target, 9)
    assert tuple(name for name, _ in explained) == NAMES
    refused = [verdict.rule for _, verdict in explained if not verdict.admitted]
    assert refused == ["scope.host", "block.login", "include", "extension", "depth"]
    assert dict(explained)["exclude"] == Verdict(True, "exclude", "not set")
    assert admission.judge(target, 9) == dict(explained)["scope"]


@pytest.mark.parametrize(
    ("scope", "seeds", "named"),
    [
        (Scope(), ["ftp://a.test/"], "seed `ftp://a.test/`"),
        (Scope(within=Within.LIST, hosts=("a b",)), [SEED], "host `a b`"),
        (Scope(exclude=("admin",)), [SEED], "pattern `admin`"),
    ],
)
def test_broken_configuration(scope: Scope, seeds: list[str], named: str) -> None:
    """What cannot be used is named before anything starts."""
    with pytest.raises(ConfigError) as refusal:
        Admission(CrawlConfig(scope=scope), seeds, 2026)
    assert named in refusal.value.message and refusal.value.hint


PATTERNED = Scope(Within.DOMAIN, include=("/a*/**",), exclude=("/**/b", "re:c+"))
EVERYTHING = Admission(CrawlConfig(scope=PATTERNED), [SEED], 2026)


@given(st.text(alphabet="ab/.?&=s%25c-", max_size=30), st.integers(0, 9), st.booleans())
def test_judge_is_the_first_refusal(tail: str, depth: int, is_seed: bool) -> None:
    """Any URL gets a verdict, the one that `explain` shows first."""
    target = url("https://docs.example.com/" + tail)
    told = EVERYTHING.explain(target, depth, is_seed=is_seed)
    first = next((verdict for _, verdict in told if not verdict.admitted), ADMITTED)
    assert EVERYTHING.judge(target, depth, is_seed=is_seed) == first
