"""Personal data on pages: counted, taken out, or a reason not to keep a page (SAF-01, C-47)."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.engine.visit.privacy import Privacy, keeps_raw
from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, Safety, Storing
from geomi.model.page import Article
from geomi.model.personal_data import PiiAction, PiiKind
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome
from tests.engine.visit.test_revisits import tagged
from tests.support.crawl import (
    Crawled,
    Ear,
    crawl_in,
    crawl_site,
    home_in,
    page,
    paths,
    plan,
    profile_config,
)
from tests.support.private_site import EMAIL, NEEDLES, PHONE, packed, routes, traces
from tests.support.server import Site
from tests.support.waiting import waits

REDACT, SKIP = ["safety.pii=redact"], ["safety.pii=skip"]
ALL_FORMS = "md,jsonl,warc,llms,llms-full,cdxj"


@waits
async def crawled_with(root: Path, *assignments: str) -> tuple[Crawled, list[tuple[str, bytes]]]:
    """Crawl the site, and look for traces while the store is still open, with its WAL."""
    with Site(routes()) as site:
        ear = Ear()
        async with home_in(root, ear) as home:
            planned = plan([site.url("/")], assignments=assignments, format=ALL_FORMS.split(","))
            found = await crawl_in(home, ear, planned)
            return found, list(traces(root))


class TestRedact:
    """The value is taken out before anything is stored or told."""

    @pytest.mark.req("SAF-01", "C-47")
    def test_no_value_is_anywhere_on_disk_or_told(self, tmp_path: Path) -> None:
        crawled, while_open = crawled_with(tmp_path, *REDACT)
        assert while_open == []
        assert list(traces(tmp_path)) == []
        told = repr([crawled.ear.events, crawled.entries, crawled.exclusions]).encode()
        assert [needle for needle in NEEDLES if needle in told] == []
        assert {"/", "/full", "/links", "/next", "/plain.txt"} <= {
            "/" + url.partition("//")[2].partition("/")[2] for url in crawled.urls
        }

    def test_the_search_finds_what_a_flagged_crawl_leaves(self, tmp_path: Path) -> None:
        """Else the test above would prove nothing."""
        _, while_open = crawled_with(tmp_path)
        files = {name.rpartition(".")[2] for name, _ in while_open}
        assert {"gz", "jsonl", "md"} <= files
        assert {needle for _, needle in while_open} >= {b"quentin", b"9182-7364", b"212-09-7694"}
        file = tmp_path / "x" / "a.gz"
        file.parent.mkdir()
        file.write_bytes(packed(b"some words before quentin.zebra@"))
        assert ("a.gz", b"quentin") in traces(file.parent)

    def test_the_record_has_words_in_their_place_and_counts(self, tmp_path: Path) -> None:
        crawled, _ = crawled_with(tmp_path, *REDACT)
        (record,) = [one for one in crawled.records if one["url"].endswith("/full")]
        assert record["title"] == "Write to [redacted:email]"
        assert record["description"] == "Call [redacted:phone]"
        assert "[redacted:ssn]" in record["markdown"]
        assert record["metadata"]["pii"] == {
            "email": 2, "phone": 1, "ssn": 1, "credit_card": 1, "rrn": 1,
        }  # fmt: skip

    def test_a_url_that_holds_a_value_is_not_asked_for(self, tmp_path: Path) -> None:
        with Site({"/": page("home", f"/u/{EMAIL}", "/u/2"), "/u/2": page("two")}) as site:
            crawled = crawl_site(tmp_path, site.url("/"), assignments=REDACT)
            assert sorted(paths(site.log)) == ["/", "/u/2"]
        assert [link["url"] for link in crawled.record(site.url("/"))["links"]] == [
            site.url("/u/2")
        ]

    def test_a_redirect_to_such_a_url_ends_there(self, tmp_path: Path) -> None:
        crawled, _ = crawled_with(tmp_path, *REDACT)
        for path in ("/moved", "/turns"):
            (entry,) = [one for url, one in crawled.entries.items() if url.endswith(path)]
            assert entry.outcome is Outcome.REDIRECT_EXCLUDED
            assert "rule safety.pii excludes" in entry.detail
        assert crawled.exclusions["safety.pii"][0] >= 2

    def test_such_a_seed_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"excluded by rule safety\.pii"):
            crawl_site(tmp_path, f"http://127.0.0.1:9/{EMAIL}", assignments=REDACT)
        assert list(traces(tmp_path)) == []

    @pytest.mark.req("LEG-11", "C-47")
    def test_documentation_crawls_keep_no_address_and_no_raw_answer(self, tmp_path: Path) -> None:
        config = profile_config("docs")
        assert config.safety == Safety(PiiAction.REDACT, (PiiKind.EMAIL,))
        assert not keeps_raw(config)
        crawled_with(tmp_path, "safety.pii=redact", "safety.pii_types=email")
        left = {needle for _, needle in traces(tmp_path)}
        assert not left & {b"quentin", b"zebra@", b"zebra%40"}
        assert b"9182-7364" in left  # what nobody asked to take out

    @pytest.mark.req("C-47")
    def test_raw_answers_are_kept_only_if_asked_for_and_the_job_says_so(
        self, tmp_path: Path
    ) -> None:
        quiet, _ = crawled_with(tmp_path / "a", *REDACT)
        loud, _ = crawled_with(tmp_path / "b", *REDACT, "store.raw=true")
        assert not any("store.raw" in message for message in quiet.ear.warnings)
        assert any("store.raw" in message for message in loud.ear.warnings)
        assert {name.rpartition(".")[2] for name, _ in traces(tmp_path / "b")} == {"gz"}


class TestSkip:
    """A page that holds any is not kept."""

    @pytest.mark.req("SAF-01", "C-47", "LNK-12")
    def test_it_is_passed_over_and_its_links_count(self, tmp_path: Path) -> None:
        routes = {
            "/": page("home", "/kept", text=f"write to {EMAIL} or call {PHONE} about it all"),
            "/kept": page("kept"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), assignments=SKIP)
        assert crawled.urls == [site.url("/kept")]
        entry = crawled.entries[site.url("/")]
        assert entry.outcome is Outcome.PRIVATE
        assert "(email 1, phone 1)" in entry.detail
        assert list(traces(tmp_path)) == []


class TestFlag:
    """What is stored stays as it is."""

    @pytest.mark.req("SAF-01", "C-47")
    def test_counts_stand_in_the_record_and_nothing_is_changed(self, tmp_path: Path) -> None:
        text = f"write to {EMAIL} or {EMAIL.upper()}, call {PHONE}"
        with Site({"/": page("home", text=text)}) as site:
            flagged = crawl_site(tmp_path / "a", site.url("/"))
            ignored = crawl_site(tmp_path / "b", site.url("/"), assignments=["safety.pii=off"])
        assert flagged.records[0]["metadata"]["pii"] == {"email": 1, "phone": 1}
        assert "pii" not in ignored.records[0]["metadata"]
        for key in ("markdown", "title", "links", "content_hash"):
            assert flagged.records[0][key] == ignored.records[0][key]

    @pytest.mark.req("SAF-01")
    def test_only_the_kinds_that_a_job_names_are_looked_for(self, tmp_path: Path) -> None:
        with Site({"/": page("home", text=f"write to {EMAIL}, call {PHONE}")}) as site:
            kinds = ["safety.pii=redact", "safety.pii_types=phone"]
            (record,) = crawl_site(tmp_path, site.url("/"), assignments=kinds).records
        assert record["metadata"]["pii"] == {"phone": 1}
        assert EMAIL in record["markdown"] and PHONE not in record["markdown"]

    def test_a_page_without_any_says_nothing(self, tmp_path: Path) -> None:
        with Site({"/": page("home")}) as site:
            assert "pii" not in crawl_site(tmp_path, site.url("/")).records[0]["metadata"]


class TestAgain:
    """What is read back from the archive brings nothing back."""

    @pytest.mark.req("C-47")
    def test_a_page_of_a_job_that_kept_them_is_fetched_whole(self, tmp_path: Path) -> None:
        answer = tagged(page("home", text=f"write to {EMAIL} about it all"))
        with Site({"/": answer}) as site:
            crawl_site(tmp_path, site.url("/"))
            second = crawl_site(tmp_path, site.url("/"), assignments=REDACT)
            third = crawl_site(tmp_path, site.url("/"), assignments=REDACT)
        assert second.entries[site.url("/")].outcome is Outcome.OK
        assert third.entries[site.url("/")].outcome is Outcome.NOT_MODIFIED
        for crawled in (second, third):
            assert "[redacted:email]" in crawled.records[0]["markdown"]
            assert crawled.records[0]["metadata"]["pii"] == {"email": 1}

    def test_links_of_pages_kept_before_are_judged_anew(self, tmp_path: Path) -> None:
        """A job that goes on under a stricter rule asks for none of the URLs it had found."""
        first = ["limits.max_depth=0", "scope.exclude=/u/**"]
        with Site({"/": page("home", f"/u/{EMAIL}", "/u/2"), "/u/2": page("two")}) as site:
            crawl_site(tmp_path, site.url("/"), assignments=first)
            again = ["limits.max_depth=5", "scope.exclude=", *REDACT]
            crawl_site(tmp_path, site.url("/"), resume=True, assignments=again)
            assert sorted(paths(site.log)) == ["/", "/u/2"]


class TestRobotsFile:
    """A robots.txt is kept for the next worker, and its owner's words stay."""

    BODY = (
        f"# mail {EMAIL}\nContact: {EMAIL}\nUser-agent: *\nDisallow: /u/{EMAIL} # {PHONE}\n"
        f"Sitemap: https://a.test/{EMAIL}.xml\nAllow: /"
    )
    COPY = RobotsCopy(RobotsKey("http", "a.test:80", "geomi"), 200, BODY.encode(), 0.0)

    def test_comments_lose_their_values_and_rules_stay(self) -> None:
        kept = Privacy(Safety(PiiAction.REDACT)).robots(self.COPY).body.decode()
        assert kept.splitlines() == [
            "# mail [redacted:email]",
            "# Contact: [redacted:email]",
            "User-agent: *",
            f"Disallow: /u/{EMAIL} # [redacted:phone]",
            "# Sitemap: https://a.test/[redacted:email]",
            "Allow: /",
        ]

    @pytest.mark.parametrize("action", [PiiAction.OFF, PiiAction.FLAG])
    def test_where_nothing_is_taken_out_it_stays(self, action: PiiAction) -> None:
        assert Privacy(Safety(action)).robots(self.COPY) is self.COPY


@pytest.mark.parametrize(
    ("action", "raw", "kept"),
    [
        (PiiAction.OFF, None, True),
        (PiiAction.FLAG, None, True),
        (PiiAction.REDACT, None, False),
        (PiiAction.SKIP, None, False),
        (PiiAction.REDACT, True, True),
        (PiiAction.FLAG, False, False),
    ],
)
def test_when_raw_answers_are_kept(action: PiiAction, raw: bool | None, kept: bool) -> None:
    assert keeps_raw(CrawlConfig(store=Storing(raw=raw), safety=Safety(action))) is kept


def test_nothing_is_touched_where_nobody_looks() -> None:
    """Off costs nothing: the very same values come back."""
    privacy = Privacy(Safety(PiiAction.OFF))
    article = Article(title=EMAIL, markdown=EMAIL, text=EMAIL, links=())
    assert privacy.read(article) is article
    assert privacy.told(EMAIL) is EMAIL
