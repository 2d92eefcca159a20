"""Commands about providers, profiles and blocked URLs: what they print, and what they refuse."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.store.store import open_sqlite
from geomi.app import DATABASE, TENANT
from geomi.cli.program import main
from geomi.model.site import Refusal
from tests.support.crawl import page
from tests.support.ready import Stock
from tests.support.server import Reply, Site
from tests.unit.settings.test_providers import TABLE

Command = Callable[..., tuple[int, str, str]]

TERMS = "tos_reviewed_at = 2026-01-31\ntos_allows_crawling = true\n"
VALID = f"seed_url = 'https://a.test/docs'\nallowed_path_patterns = ['/docs/**']\n{TERMS}"


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run commands in this process, where no configuration lies; return code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GEOMI_CONFIG", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["geomi", *arguments])
        code = main()
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def data(command: Command, *arguments: str) -> Any:
    """Return what a command gives to programs."""
    code, out, err = command(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.fixture
def stock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stock]:
    """Name a source of external documents that has two of the providers that come with geomi."""
    stock = Stock({"/stripe/docs": "Stripe", "/aws/ses": "AWS SES"})
    with Site(stock.routes) as source:
        monkeypatch.setenv("GEOMI_CONTEXT7_URL", source.url(""))
        monkeypatch.setenv("GEOMI_CONTEXT7_KEY", "ctx7sk-0123456789")
        yield stock


@pytest.mark.req("CFG-23", "C7-03", "C7-04")
class TestCheck:
    """`geomi providers check`, and what it decides."""

    def test_all_are_looked_for_and_only_those_that_are_missing_are_crawled(
        self, command: Command, stock: Stock
    ) -> None:
        before = data(command, "providers", "show", "aws-ses")
        assert before["channel_now"] == "crawl_pending_context7_check"
        checked = {one["key"]: one for one in data(command, "providers", "check")}
        assert len(checked) == 15
        assert checked["stripe"]["library"] == "/stripe/docs"
        assert checked["openai"]["library"] == ""
        listed = data(command, "providers", "list")
        first = [one["key"] for one in listed if one["channel_now"] == "context7"]
        assert first == ["stripe", "aws-ses"]
        shown = data(command, "providers", "show", "openai")
        assert shown["channel"] == "context7", "its registration is what it was"
        assert shown["channel_now"] == "crawl"
        assert "Context7 did not have it on" in shown["channel_why"]
        _, out, _ = command("providers", "show", "stripe")
        assert "Context7 had it as /stripe/docs on" in out
        _, out, _ = command("providers", "list")
        assert "context7    Stripe" in out and "crawl       OpenAI" in out

    def test_some_can_be_named_and_each_is_told_on_a_line(
        self, command: Command, stock: Stock
    ) -> None:
        code, out, err = command("providers", "check", "stripe", "tosspayments")
        assert (code, err) == (0, "")
        assert out.splitlines() == ["stripe        /stripe/docs", "tosspayments  not there"]
        code, _, err = command("providers", "check", "strip")
        assert code == 2 and "stripe" in err

    def test_a_source_that_refuses_is_an_error_without_its_key(
        self, command: Command, stock: Stock
    ) -> None:
        stock.trouble = [Reply(b"who is ctx7sk-0123456789?", 401)]
        code, out, err = command("providers", "check", "stripe")
        assert code == 7
        assert "no answer:" in out and "answered 401: who is [key]?" in err
        assert "ctx7sk" not in out + err

    def test_without_a_source_there_is_nothing_to_check(self, command: Command) -> None:
        code, _, err = command("providers", "check")
        assert code == 2 and "GEOMI_CONTEXT7_URL=https://context7.com" in err

    def test_its_key_is_not_shown(self, command: Command, stock: Stock) -> None:
        code, out, err = command("config", "show")
        assert code == 0 and "geomi.context7_key" in out
        assert "ctx7sk" not in out + err


class TestProviders:
    """`geomi providers`."""

    def test_looking_makes_nothing(self, command: Command) -> None:
        assert len(data(command, "providers", "list")) == 15
        assert data(command, "providers", "show", "openai")["origin"] == "preset"
        _, out, _ = command("providers", "list")
        assert out.splitlines()[3].split()[:5] == ["stripe", "payments", "300", "pages", "terms"]
        _, out, _ = command("providers", "show", "stripe")
        assert "seed_urls              https://docs.stripe.com/api" in out
        assert list(Path().iterdir()) == []

    @pytest.mark.req("PRV-01", "PRV-02", "PRV-03", "C7-05")
    def test_the_presets_are_those_of_the_table(self, command: Command) -> None:
        listed = {one["key"]: one for one in data(command, "providers", "list")}
        shown = [data(command, "providers", "show", key) for key in listed]
        assert sorted(
            (
                one["key"], one["category"], *one["seed_urls"],
                tuple(one["allowed_path_patterns"]), tuple(one["blocked_path_patterns"]),
                one["custom_selectors"]["content"], tuple(one["custom_selectors"]["remove"]),
                one["max_depth"], one["max_pages"], one["request_delay_ms"],
            )
            for one in shown
        ) == sorted(TABLE)  # fmt: skip
        assert sum(one["max_pages"] for one in shown) == 2700
        assert all(len(one["rationale"]) > 40 for one in shown)
        assert sum(one["channel"] == "context7" for one in shown) == 13

    @pytest.mark.req("CFG-03", "CFG-11")
    def test_a_registration_is_kept_with_an_id_of_its_own(self, command: Command) -> None:
        Path("my-docs.toml").write_text(VALID, "utf-8")
        added = data(command, "providers", "add", "my-docs.toml")
        assert (added["key"], added["origin"]) == ("my-docs", "registered")
        assert len(added["provider_id"]) == 36
        again = data(command, "providers", "add", "my-docs.toml")
        known = {"provider_id": "the provider that was known as `my-docs`"}
        assert again == added | {"derived": added["derived"] | known}
        assert len(data(command, "providers", "list")) == 16
        Path("my-docs.toml").write_text(VALID.replace(TERMS, ""), "utf-8")
        assert data(command, "providers", "add", "my-docs.toml") == again, "it stays reviewed"
        Path("odd.toml").write_text(VALID.replace(TERMS, "provider_id = 'odd-uuid'"), "utf-8")
        code, _, err = command("providers", "add", "odd.toml")
        assert (code, err.splitlines()[0]) == (0, "provider odd is registered: terms not reviewed")
        assert err.splitlines()[1].endswith("is derived from `odd-uuid`, which is no UUID")
        command("providers", "remove", "odd")
        code, _, err = command("providers", "remove", "my-docs")
        assert (code, err) == (0, "provider my-docs is no longer registered\n")
        assert len(data(command, "providers", "list")) == 15

    @pytest.mark.req("CFG-11")
    @pytest.mark.parametrize(
        ("name", "text", "told"),
        [
            ("a.json", '{"seed_urls": [], "allowed_path_patterns": ["/**"]}', "`seed_urls`"),
            ("a.json", "{", "cannot read `a.json`"),
            ("a.json", "[]", "`a.json` has no object"),
            ("a.toml", "seed_url = 'https://a.test/'", "lacks `allowed_path_patterns`"),
            ("a.toml", "seed_url = ", "cannot read `a.toml`"),
            ("a.toml", "\xff", "cannot read `a.toml`"),
            ("a.toml", "a = " + "[" * 30_000, "cannot read `a.toml`"),
            ("a.yaml", "", "neither .json nor .toml"),
            ("none.json", None, "cannot read `none.json`: No such file or directory\nhint: give a"),
            ("a.json", " " * 65_537, "more than 65,536 bytes"),
            ("a.toml", VALID + "max_depth = 6", "`max_depth` of provider `a` is `6`"),
            ("a.toml", VALID.replace("tos_reviewed_at", "rationale"), "lacks `tos_reviewed_at`"),
            ("a.toml", VALID.replace("true", "false"), "hint: to forbid all crawls of its hosts"),
            ("a.toml", VALID.replace("2026", "2999"), "`2999-01-31` is in the future"),
            ("a.toml", VALID + "max_depth = 6\nmax_pages = 0", "is `6`"),
            ("a.toml", VALID + "max_depth = 6\nmax_pages = 0", "is `0`"),
            ("A b.toml", VALID, "`A b` cannot be a provider's key"),
        ],
        ids=lambda value: str(value)[:24].strip(),
    )
    def test_a_registration_with_an_error_stores_nothing(
        self, command: Command, name: str, text: str | None, told: str
    ) -> None:
        if text is not None:
            Path(name).write_bytes(text.encode("latin-1"))
        code, out, err = command("providers", "add", name)
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
        assert told in err
        assert not Path("geomi-data").exists()

    @pytest.mark.req("LEG-03", "LEG-04", "G-21")
    def test_a_review_is_kept_beside_the_preset_and_keeps_a_crawl_away(
        self, command: Command
    ) -> None:
        told = data(command, "providers", "review", "stripe", "--forbids", "--date", "2026-01-31")
        assert (told["tos_allows_crawling"], told["tos_reviewed_at"]) == (False, "2026-01-31")
        code, _, err = command("crawl", "--provider", "stripe")
        assert code == 2
        assert "provider `stripe` does not allow crawling (reviewed 2026-01-31)" in err
        assert "hint: if that has changed: geomi providers review stripe --allows" in err
        allowed = data(command, "providers", "review", "stripe", "--allows")
        assert (allowed["tos_allows_crawling"], len(allowed["tos_reviewed_at"])) == (True, 10)
        code, _, err = command("providers", "remove", "stripe")
        told = "the review of provider stripe is deleted; the provider is as geomi ships it\n"
        assert (code, err) == (0, told)
        assert data(command, "providers", "show", "stripe")["origin"] == "preset"

    def test_a_takedown_is_asked_for_twice(self, command: Command) -> None:
        code, _, err = command("providers", "takedown", "clerk", "--reason", "they wrote")
        assert code == 2
        assert "this erases 0 jobs with 0 pages of provider `clerk`" in err
        line = data(command, "providers", "takedown", "clerk", "--reason", "they wrote", "--yes")
        assert (line["key"], line["reason"], line["other_jobs"]) == ("clerk", "they wrote", [])
        _, out, _ = command("providers", "show", "clerk")
        assert "0 jobs, 0 pages: they wrote" in out


class TestBlocked:
    """`geomi blocked`."""

    @pytest.mark.req("C-91")
    def test_a_url_is_blocked_for_a_time_or_for_good(self, command: Command) -> None:
        url = "http://www.a.test/x?q=1"
        added = data(command, "blocked", "add", url, "--for", "2d", "--reason", "they wrote")
        assert added["until_s"] - added["since_s"] == pytest.approx(2 * 86_400)
        (listed,) = data(command, "blocked", "list")
        assert (listed["url"], listed["reason"], listed["holds"]) == (url, "they wrote", True)
        assert "blocked for good" in command("blocked", "add", url, "--forever")[2]
        _, out, _ = command("blocked", "list")
        assert out == f"{url}  by hand  for good  blocked by hand\n"
        assert data(command, "blocked", "remove", url) == {"removed": url}
        assert data(command, "blocked", "list") == []
        added = data(command, "blocked", "add", url)
        assert added["until_s"] - added["since_s"] == pytest.approx(30 * 86_400)
        command("blocked", "remove", url)
        code, _, err = command("blocked", "remove", url)
        assert (code, f"`{url}` is not blocked" in err) == (2, True)

    @pytest.mark.req("DAT-05")
    def test_what_answered_403_is_listed_and_never_asked_for_again(self, command: Command) -> None:
        routes = {"/": page("home", "/shut", "/open"), "/open": page("open")}
        with Site({**routes, "/shut": Reply(b"no", status=403)}) as site:
            local = ("--allow-private", "--delay", "0", "--set", "http.refused_for_s=0")
            assert command("crawl", site.url("/"), *local)[0] == 0
            (listed,) = data(command, "blocked", "list")
            told = {name: listed[name] for name in ("url", "status", "until_s", "holds")}
            assert told == {
                "url": site.url("/shut"), "status": 403, "until_s": None, "holds": True,
            }  # fmt: skip
            site.log.clear()
            assert command("crawl", site.url("/"), *local)[0] == 0
            assert {seen.path for seen in site.log} == {"/", "/open"}

    def test_a_reason_is_told_once(self, command: Command) -> None:
        command("blocked", "add", "http://a.test/x")
        refusal = Refusal(b"h", "http://a.test/no", 403, "HTTP 403", 1e9)
        with closing(open_sqlite(Path("geomi-data") / DATABASE, tenant=TENANT)) as store:
            asyncio.run(store.refusals.put(refusal))
        _, out, _ = command("blocked", "list")
        assert out.splitlines()[0] == "http://a.test/no  HTTP 403  for good"


class TestProfiles:
    """`geomi profiles`."""

    def test_they_are_listed_with_what_each_is_for(self, command: Command) -> None:
        listed = data(command, "profiles", "list")
        assert list(listed) == sorted(listed)
        assert len(listed) == 6
        assert "scanner         a scanner that reads" in command("profiles", "list")[1]

    def test_one_is_shown_with_origins_ranges_and_warnings(self, command: Command) -> None:
        shown = data(command, "profiles", "show", "docs")
        assert shown["values"]["limits.max_pages"] == {"value": 200, "origin": "profile docs"}
        assert shown["values"]["limits.max_time_s"] == {"value": 0.0, "origin": "default"}
        assert shown["ranges"]["limits.max_depth"] == [1, 5]
        assert len(shown["warnings"]) == 1
        service = data(command, "profiles", "show", "default")["service_ranges"]
        assert service == {"limits.max_depth": [1, 10], "limits.max_pages": [1, 10_000]}
        _, out, _ = command("profiles", "show", "docs")
        assert "range limits.max_page_bytes: locked to 5242880" in out
        assert "WARN a robots.txt that cannot be fetched allows everything" in out
        assert "1 to 10, for users of a service" in command("profiles", "show", "default")[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("crawl --provider opnai", "unknown provider: `opnai`"),
        ("crawl https://a.test/ --provider openai", "has its own start URLs"),
        ("crawl --provider openai -n 501", "under profile docs it is 1 to 500"),
        ("crawl --provider openai --user-agent Googlebot/2.1", "uses the name of another"),
        ("crawl --provider openai --provider opnai", "unknown provider: `opnai`"),
        ("crawl https://a.test/ --provider all", "you also gave `https://a.test/`"),
        ("crawl --from-prod data --provider all", "you also gave --from-prod"),
        ("crawl --provider all --detach", "cannot be detached"),
        ("crawl --provider all --workers 2", "runs in one process, without --workers"),
        ("crawl --provider all -n 501", "under profile docs it is 1 to 500"),
        ("providers index opnai", "unknown provider: `opnai`"),
        ("providers index --set analysis.index=false", "keeps these pages out of the index"),
        ("providers show opnai", "unknown provider: `opnai`"),
        ("providers review openai", "say what the terms allow"),
        ("providers review openai --allows --date x", "`x` is not a date"),
        ("providers review openai --allows --date 2999-01-01", "`2999-01-01` is in the future"),
        ("profiles show dosc", "no profile `dosc`"),
        ("blocked add https://a.test/ --for soon", "--for `soon` is not a time"),
        ("blocked add https://a.test/ --for 0d", "--for `0d` is not a time"),
        ("blocked add https://a.test/ --for 36501d", "--for `36501d` is not a time"),
        (f"blocked add https://a.test/ --reason {'x' * 2001}", "more than 2000 characters"),
        ("blocked add mailto:x", "is not a URL"),
        ("blocked add https://a.test/ --for 1d --forever", "are both given"),
        ("blocked add https://a.test/x/*", "--exclude takes patterns"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_made(
    command: Command, arguments: str, told: str
) -> None:
    code, out, err = command(*arguments.split())
    assert (code, out) == (2, "")
    assert told in err
    assert list(Path().iterdir()) == []
