"""The chain of admission: which rule decides, what it says, and in which order."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.rules import ADMITTED, Admission
from geomi.errors import ConfigError
from geomi.model.config import (
    BlockStyle,
    CrawlConfig,
    GlobStyle,
    HttpRules,
    Limits,
    Scope,
    Within,
)
from geomi.model.verdict import Verdict
from geomi.url.parse import Url, parse

SEED = "https://docs.example.com/"
NAMES = (
    "url_length", "blocked_host", "scope", "exclude", "block", "personal", "include", "extension",
    "trap", "depth",
)  # fmt: skip


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
@pytest.mark.req("LNK-05", "LNK-06", "LNK-07", "SCP-06", "SEC-04")
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
        ("/blog/x", "include", "no include pattern matches"),
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


# Each of the twenty regular expressions of SCP-10, and what it finds; all ignore upper case.
EXPRESSIONS = [
    (r"/logout", "/user/logout-now"),
    (r"/signout", "/SignOut"),
    (r"/login", "/logins"),
    (r"/signin", "/signing"),
    (r"/register", "/registered-marks"),
    (r"/signup", "/signups"),
    (r"/cart", "/cartoons"),
    (r"/checkout", "/docs/checkout/start"),
    (r"/account", "/accounting"),
    (r"/admin", "/administration"),
    (r"/wp-admin", "/wp-admin/x.php"),
    (r"/feed/?$", "/blog/feed/"),
    (r"/rss/?$", "/rss"),
    (r"\?replytocom=", "/post?replytocom=5"),
    (r"/trackback/?$", "/post/trackback"),
    (r"/xmlrpc\.php", "/xmlrpc.php"),
    (r"/wp-json", "/wp-json/v2"),
    (r"calendar", "/library/Calendar.html"),
    (r"\?s=", "/?s=query"),
    (r"/search", "/searching"),
]


@pytest.mark.parametrize(("expression", "text"), EXPRESSIONS)
@pytest.mark.req("SCP-10")
def test_expressions(expression: str, text: str) -> None:
    """Word for word: each expression finds what its regular expression finds."""
    scope = Scope(block_style=BlockStyle.EXPRESSIONS)
    assert re.search(expression, url(text).href, re.IGNORECASE)
    assert judge(text, scope).rule.startswith("block.")


@given(st.text(alphabet="/?=&sacrtlogindefrx.-", max_size=30))
def test_expressions_mean_their_regular_expressions(tail: str) -> None:
    """On any URL the fast test and the twenty expressions agree, host and query included."""
    scope = Scope(Within.ANY, block_style=BlockStyle.EXPRESSIONS, avoid_traps=False)
    target = url(("https://login.test/" if tail.startswith("s") else SEED) + tail)
    expected = any(re.search(each, target.href, re.IGNORECASE) for each, _ in EXPRESSIONS)
    rule = Admission(CrawlConfig(scope=scope), [SEED], 2026).judge(target, 1).rule
    assert rule.startswith("block.") is expected


@pytest.mark.parametrize("text", ["/feed/how-it-works", "/?a=1&s=q", "/post?a=1&replytocom=5"])
def test_what_expressions_let_through(text: str) -> None:
    """The seed's list has gaps, and they are kept (C-66); an include changes nothing."""
    scope = Scope(block_style=BlockStyle.EXPRESSIONS)
    assert judge(text, scope) is ADMITTED
    included = Scope(block_style=BlockStyle.EXPRESSIONS, include=("/docs/checkout/**",))
    refused = judge("/docs/checkout/start", included)
    assert (refused.rule, refused.hint) == ("block.checkout", "--set scope.block_style=segments")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("https://spam.test/", "blocked_host"),
        ("https://a.b.spam.test/x", "blocked_host"),
        ("https://SPAM.test:8443/", "blocked_host"),
        ("https://spam.test.evil.test/", "admitted"),
        ("https://notspam.test/", "admitted"),
        ("https://xn--bcher-kva.test/", "blocked_host"),
        ("https://192.0.2.7/", "blocked_host"),
    ],
)
@pytest.mark.req("SCP-07", "SCP-11")
def test_blocked_hosts(text: str, rule: str) -> None:
    """A host and everything below it; nothing that only ends in the same letters."""
    names = ("Spam.test", "bücher.test", "192.0.2.7")
    scope = Scope(Within.ANY, blocked_hosts=names, include=("**",))
    assert judge(text, scope).rule == rule
    assert judge(text, scope, depth=0, is_seed=True).rule == rule


def test_blocked_hosts_keep_sitemaps_out_too() -> None:
    """What is never asked is never asked for anything."""
    config = CrawlConfig(scope=Scope(blocked_hosts=("spam.test",)))
    admission = Admission(config, [SEED], 2026)
    assert admission.judge_host(url("https://a.spam.test/sitemap.xml")).rule == "blocked_host"
    assert admission.judge_host(url("https://other.test/sitemap.xml")) is ADMITTED
    assert Admission(CrawlConfig(), [SEED], 2026).judge_host(url("/s.xml")) is ADMITTED


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("/users/alice", "personal.users"),
        ("/en/members/42", "personal.members"),
        ("/profile/alice", "personal.profile"),
        ("/Forum/topic/7", "personal.forum"),
        ("/%66orums/x", "personal.forums"),
        ("/community/t/1", "personal.community"),
        ("/post/7/comments", "personal.comments"),
        ("/blog/2024/01/hello", "personal.blog"),
        ("/owner/repo/discussions/9", "personal.discussions"),
        ("https://forum.example.com/x", "personal.forum"),
        ("https://community.example.com/", "personal.community"),
        ("https://blog.example.com/", "personal.blog"),
        ("https://stackoverflow.com/questions/1", "personal.stackoverflow.com"),
        ("https://pt.stackoverflow.com/q/1", "personal.stackoverflow.com"),
        ("/docs/users", "admitted"),
        ("/api/v1/comments/create", "admitted"),
        ("/reference/community-edition", "admitted"),
        ("/usersguide", "admitted"),
        ("https://docs.gitlab.test/user/project/", "admitted"),
        ("https://docs.gitlab.test/forum/x", "personal.forum"),
    ],
)
@pytest.mark.req("SCP-14", "LEG-10")
def test_personal_areas(text: str, rule: str) -> None:
    """Where people speak for themselves is left out; a topic of the documentation is not."""
    start = "https://start.test/"
    target = parse(text, start)
    assert target is not None
    config = CrawlConfig(scope=Scope(Within.ANY, personal_areas=False))
    assert Admission(config, [start], 2026).judge(target, 1).rule == rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("/login", "personal.login"),
        ("/en/signin", "personal.signin"),
        ("https://docs.start.test/login", "personal.login"),
        ("https://docs.start.test/guide/login", "admitted"),
        ("/docs/authenticate/login", "admitted"),
    ],
)
@pytest.mark.req("SCP-15", "LEG-09")
def test_logins_are_left_out_of_documentation_and_what_is_said_of_them_is_not(
    text: str, rule: str
) -> None:
    """The documentation profile has no default block list, which would do it (C-66)."""
    target = parse(text, "https://start.test/")
    assert target is not None
    scope = Scope(Within.ANY, block_defaults=False, personal_areas=False)
    admission = Admission(CrawlConfig(scope=scope), ["https://start.test/"], now_year=2026)
    assert admission.judge(target, 1).rule == rule


def test_an_include_lets_a_personal_area_in() -> None:
    """An explicit pattern wins, as over every list that came with geomi; so does the switch."""
    closed = Scope(personal_areas=False)
    target = url("https://docs.example.com/blog/news")
    refused = Admission(CrawlConfig(scope=closed), [SEED], 2026).judge(target, 1)
    assert refused.hint == "--include '/blog/**'"
    assert judge("/blog/news", Scope(personal_areas=False, include=("/blog/**",))) is ADMITTED
    assert judge("/blog/news") is ADMITTED


@pytest.mark.parametrize(
    ("sent_from", "text", "rule"),
    [
        ("/docs/a", "/login?next=/docs/a", "login"),
        ("/docs/a", "https://sso.example.com/SAML/x", "login"),
        ("/docs/a", "/users/sign_in", "login"),
        ("/login", "/docs/login/", "admitted"),
        ("/docs/login", "/docs/authenticate/login", "admitted"),
        ("/docs/a", "/docs/b", "admitted"),
    ],
)
@pytest.mark.req("SCP-15", "LEG-09")
def test_a_page_behind_a_login(sent_from: str, text: str, rule: str) -> None:
    """A page that sends its visitors to a login lies behind one; one about logins does not."""
    docs = Scope(block_defaults=False, personal_areas=False)
    admission = Admission(CrawlConfig(scope=docs), [SEED], 2026)
    assert admission.judge_redirect(url(sent_from), url(text)).rule == rule
    everything = Scope(block_defaults=False)
    careless = Admission(CrawlConfig(scope=everything), [SEED], 2026)
    assert careless.judge_redirect(url(sent_from), url(text)) is ADMITTED
    wanted = Scope(personal_areas=False, include=("**",))
    asked_for = Admission(CrawlConfig(scope=wanted), [SEED], 2026)
    assert asked_for.judge_redirect(url(sent_from), url(text)) is ADMITTED


def test_minimatch_is_a_choice() -> None:
    """Patterns mean what the job's style says (C-23); seeds need no include in either."""
    strict = Scope(include=("/docs/**",), glob=GlobStyle.MINIMATCH)
    assert judge("/docs", strict).rule == "include"
    assert judge("/docs/a", strict) is ADMITTED
    assert judge("/docs", strict, depth=0, is_seed=True) is ADMITTED
    assert judge("/docs", Scope(include=("/docs/**",))) is ADMITTED


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


@pytest.mark.req("SCP-09", "SCP-11")
def test_blocked_extensions() -> None:
    """A list of one's own, with or without the dot, beats the accepted types."""
    types = HttpRules(content_types=("text/html", "application/pdf"))
    config = CrawlConfig(scope=Scope(blocked_extensions=(".PDF", "md")), http=types)
    admission = Admission(config, [SEED], 2026)
    refused = admission.judge(url("/a.pdf"), 1)
    assert (refused.rule, refused.detail) == ("extension", ".pdf")
    assert refused.hint == "take pdf out of scope.blocked_extensions"
    assert admission.judge(url("/guide.md"), 1).rule == "extension"
    assert admission.judge(url("/a.zip"), 1).rule == "extension"
    assert admission.judge(url("/a.html"), 1) is ADMITTED


@pytest.mark.req("TRP-01")
def test_trap_switch() -> None:
    """Trap detection can be switched off, for the job or for a site that was looked at."""
    trusting = Admission(CrawlConfig(), [SEED], 2026)
    assert trusting.judge(url("/a/a/a"), 1, is_trusted=True) is ADMITTED
    assert trusting.judge(url("/a/a/a"), 9, is_trusted=True).rule == "depth"
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
        (Scope(blocked_hosts=("a b",)), [SEED], "host `a b` of the blocked list"),
        (Scope(exclude=("admin",)), [SEED], "pattern `admin`"),
        (Scope(exclude=("/@(a|b)",), glob=GlobStyle.MINIMATCH), [SEED], "pattern `/@(a|b)`"),
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
