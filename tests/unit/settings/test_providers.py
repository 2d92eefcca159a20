"""Providers: the presets, what a registration has to say, and what one says about a crawl."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest

from geomi.engine.jobs import admitted, read_seeds
from geomi.engine.visit.rules import JobRules
from geomi.errors import ConfigError
from geomi.model.site import Channel, Provider
from geomi.settings.layers import Resolved, flags_layer, resolve_under_profile
from geomi.settings.providers import (
    MAX_ID_CHARS,
    MAX_PATTERNS,
    MAX_TEXT_CHARS,
    check_date,
    presets,
    provider_layer,
    read_provider,
    read_registration,
    refuse_forbidden,
    refuse_terms,
)
from geomi.settings.values import MAX_FAULTS
from geomi.url.parse import parse as parse_url

NOW_S = 1_772_366_400.0  # 2026-03-01 12:00Z
ID = "8d5f6f5e-7a11-4a53-9d3c-0f5ad1f0a001"
DEVSITE = ("article.devsite-article-body", (".devsite-nav", ".devsite-toc", ".devsite-banner"))

# Seed 000 §6.2: key, category, seed, allowed, blocked, content, removed, depth, pages, delay in ms;
# all but two are served by Context7 first.
TABLE = [
    (
        "openai", "ai-llm", "https://platform.openai.com/docs",
        ("/docs/**",), ("/docs/changelog/**", "/docs/deprecations/**"),
        "article.docs-content", (".sidebar", ".nav-header", ".feedback-widget"), 3, 200, 1500,
    ),
    (
        "anthropic", "ai-llm", "https://docs.anthropic.com/en/docs",
        ("/en/docs/**",), ("/en/docs/about-claude/models-overview/**",),
        "article.prose", (".sidebar", ".header-nav", ".toc"), 3, 150, 1500,
    ),
    (
        "google-gemini", "ai-llm", "https://ai.google.dev/gemini-api/docs",
        ("/gemini-api/docs/**",), ("/gemini-api/docs/changelog/**",), *DEVSITE, 3, 200, 2000,
    ),
    (
        "stripe", "payments", "https://docs.stripe.com/api",
        ("/api/**", "/payments/**", "/connect/**"), ("/changelog/**", "/upgrades/**", "/cli/**"),
        "article.content", (".sidebar", ".feedback", ".method-list-group"), 4, 300, 1500,
    ),
    (
        "tosspayments", "payments", "https://docs.tosspayments.com/reference",
        ("/reference/**", "/guides/**"), ("/reference/release-notes/**",),
        ".docs-content", (".sidebar", ".toc", ".gnb"), 3, 150, 1500,
    ),
    (
        "paypal", "payments", "https://developer.paypal.com/docs/api/overview",
        ("/docs/api/**", "/docs/checkout/**"), ("/docs/api/release-notes/**", "/docs/archive/**"),
        ".contentColumn", (".leftNav", ".feedback-section", ".breadcrumb"), 3, 200, 2000,
    ),
    (
        "auth0", "auth", "https://auth0.com/docs",
        ("/docs/**",), ("/docs/videos/**", "/docs/quickstarts/**"),
        "article.content-area", (".sidebar", ".breadcrumbs", ".edit-page"), 3, 200, 1500,
    ),
    (
        "firebase-auth", "auth", "https://firebase.google.com/docs/auth",
        ("/docs/auth/**",), ("/docs/auth/release-notes/**",), *DEVSITE, 3, 150, 2000,
    ),
    (
        "clerk", "auth", "https://clerk.com/docs",
        ("/docs/**",), ("/docs/changelog/**", "/docs/upgrade-guides/**"),
        "main article", (".sidebar", ".toc", ".breadcrumb"), 3, 150, 1500,
    ),
    (
        "twilio", "messaging-email", "https://www.twilio.com/docs/messaging",
        ("/docs/messaging/**", "/docs/sms/**", "/docs/voice/**"),
        ("/docs/messaging/changelog/**", "/docs/tutorials/**"),
        "article.css-0", (".sidebar", ".breadcrumb", ".feedback"), 3, 200, 1500,
    ),
    (
        "sendgrid", "messaging-email", "https://docs.sendgrid.com/for-developers",
        ("/for-developers/**",), ("/for-developers/release-notes/**",),
        "main.content", (".sidebar", ".toc", ".breadcrumb"), 3, 150, 1500,
    ),
    (
        "aws-ses", "messaging-email", "https://docs.aws.amazon.com/ses/latest/dg",
        ("/ses/latest/dg/**", "/ses/latest/APIReference/**"),
        ("/ses/latest/dg/release-notes/**",),
        "#main-content", ("#left-nav", ".breadcrumb", "#feedback"), 3, 200, 2000,
    ),
    (
        "pinecone", "vector-db", "https://docs.pinecone.io/guides",
        ("/guides/**", "/reference/**"), ("/guides/release-notes/**",),
        "article.rm-Article", (".sidebar", ".rm-TableOfContents", ".rm-Feedback"), 3, 150, 1500,
    ),
    (
        "qdrant", "vector-db", "https://qdrant.tech/documentation",
        ("/documentation/**",), ("/documentation/changelog/**",),
        ".docs-content", (".sidebar", ".toc", ".breadcrumb"), 3, 150, 1500,
    ),
    (
        "weaviate", "vector-db", "https://weaviate.io/developers/weaviate",
        ("/developers/weaviate/**",), ("/developers/weaviate/release-notes/**",),
        "article.docs-content", (".sidebar", ".toc", ".breadcrumb", ".pagination"), 3, 150, 1500,
    ),
]  # fmt: skip


def registration(**changes: object) -> dict[str, object]:
    """Return what a registration has to say at least, changed; None leaves a field out."""
    payload: dict[str, object] = {
        "seed_urls": ["https://docs.example.test/guide"],
        "allowed_path_patterns": ["/guide/**"],
        "tos_reviewed_at": "2026-01-31",
        "tos_allows_crawling": True,
    }
    payload |= changes
    return {name: value for name, value in payload.items() if value is not None}


def read(**changes: object) -> Provider:
    """Read a registration."""
    return read_provider(registration(**changes), key="example", provider_id=ID)


def crawl_of(provider: Provider, *assignments: str) -> Resolved:
    """Resolve what a crawl of a provider does."""
    return resolve_under_profile([flags_layer({}, assignments), provider_layer(provider)])


class TestPresets:
    """What comes with geomi."""

    @pytest.mark.req("PRV-01", "JS-08", "C-61")
    def test_they_are_those_of_the_table(self) -> None:
        found = [
            (
                one.key, one.category, *one.seed_urls,
                one.allowed_path_patterns, one.blocked_path_patterns,
                one.custom_selectors.content, one.custom_selectors.remove,
                one.max_depth, one.max_pages, one.request_delay_ms,
            )
            for one in presets().values()
        ]  # fmt: skip
        assert found == TABLE
        assert {(one.spa_rendering, one.sitemap_url) for one in presets().values()} == {
            (False, None)
        }

    @pytest.mark.req("PRV-02")
    def test_three_a_category_and_2700_pages(self) -> None:
        assert set(Counter(one.category for one in presets().values()).values()) == {3}
        assert len({one.category for one in presets().values()}) == 5
        assert sum(one.max_pages for one in presets().values()) == 2700

    @pytest.mark.req("PRV-03")
    def test_each_says_why(self) -> None:
        assert all(len(one.rationale) > 40 for one in presets().values())

    @pytest.mark.req("C7-05")
    def test_context7_comes_first_for_thirteen(self) -> None:
        others = {one.key: one.channel for one in presets().values() if one.channel != "context7"}
        assert others == {
            "tosspayments": Channel.CRAWL,
            "aws-ses": Channel.CRAWL_PENDING_CONTEXT7_CHECK,
        }
        kept = [provider_layer(one).values for one in presets().values() if one.key not in others]
        assert len(kept) == 13
        for values in kept:
            assert values["scope.include"] and values["scope.exclude"]
            assert values["extract.content"] and values["extract.remove"]
            assert values["limits.max_pages"] and values["politeness.base_delay_s"]

    def test_ids_are_the_same_everywhere_and_terms_are_nobodys_yet(self) -> None:
        assert presets()["openai"].provider_id == "129e0937-3b82-5ee6-97bc-642fa254b49b"
        assert len({UUID(one.provider_id) for one in presets().values()}) == 15
        assert {one.tos_allows_crawling for one in presets().values()} == {None}
        assert presets()["tosspayments"].name == "토스페이먼츠"

    @pytest.mark.req("C-23")
    @pytest.mark.parametrize("key", [row[0] for row in TABLE])
    def test_a_crawl_of_each_admits_its_own_seeds_and_blocks_the_index_it_blocks(
        self, key: str
    ) -> None:
        provider = presets()[key]
        config = crawl_of(provider).config
        rules = JobRules(config, provider.seed_urls, now_year=2026)
        for seed in read_seeds(provider.seed_urls):
            assert admitted(rules, seed).depth == 0
            for blocked in provider.blocked_path_patterns:
                index = f"https://{seed.host}{blocked.removesuffix('/**')}"
                with pytest.raises(ConfigError, match="excluded by rule exclude"):
                    admitted(rules, read_seeds([index])[0])


class TestRegistration:
    """What is taken, and what is refused as a whole."""

    @pytest.mark.req("CFG-03", "CFG-05", "CFG-06", "CFG-07", "CFG-10")
    def test_what_is_left_out_has_its_default(self) -> None:
        provider = read()
        assert provider.provider_id == ID
        assert (provider.key, provider.name) == ("example", "example")
        assert (provider.max_depth, provider.max_pages, provider.request_delay_ms) == (3, 200, 1500)
        assert provider.blocked_path_patterns == ()
        assert (provider.sitemap_url, provider.spa_rendering) == (None, False)

    @pytest.mark.req("CFG-03", "CFG-08", "CFG-09", "CFG-10")
    def test_every_field_can_be_given(self) -> None:
        """The example of seed 000 §6.1, with its terms."""
        other = "11111111-2222-4333-8444-555555555555"
        provider = read(
            provider_id=other,
            blocked_path_patterns=["/docs/changelog/**", "/blog/**"],
            max_depth=5,
            max_pages=500,
            request_delay_ms=5000,
            custom_selectors={"content": "article.docs-content", "remove": [".sidebar"]},
            sitemap_url="https://docs.example.test/sitemap.xml",
            spa_rendering=True,
        )
        assert provider.provider_id == other
        assert provider.custom_selectors.content == "article.docs-content"
        assert provider.custom_selectors.remove == (".sidebar",)
        assert provider.sitemap_url == "https://docs.example.test/sitemap.xml"
        assert provider.spa_rendering

    @pytest.mark.req("CFG-04", "C-60")
    def test_one_seed_may_be_given_alone(self) -> None:
        provider = read(seed_urls=None, seed_url="https://docs.example.test/")
        assert provider.seed_urls == ("https://docs.example.test/",)
        with pytest.raises(ConfigError, match="both given"):
            read(seed_url="https://docs.example.test/")

    @pytest.mark.req("CFG-05", "CFG-06", "CFG-07")
    @pytest.mark.parametrize(
        ("field", "low", "high"),
        [("max_depth", 1, 5), ("max_pages", 1, 500), ("request_delay_ms", 1000, 5000)],
    )
    def test_ranges_hold_at_both_ends(self, field: str, low: int, high: int) -> None:
        for value in (low, high):
            assert getattr(read(**{field: value}), field) == value
        for value in (low - 1, high + 1):
            with pytest.raises(
                ConfigError, match=f"`{field}` of provider `example` is `{value}`"
            ) as caught:
                read(**{field: value})
            assert caught.value.hint == f"{field}: {low} to {high}"

    @pytest.mark.req("CFG-11")
    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"seed_urls": None}, "lacks `seed_urls`"),
            ({"allowed_path_patterns": None}, "lacks `allowed_path_patterns`"),
            ({"seed_urls": []}, "`seed_urls`"),
            ({"seed_urls": ["https://a.test/"] * 101}, "`seed_urls`"),
            ({"allowed_path_patterns": []}, "`allowed_path_patterns`"),
            ({"seed_urls": "https://a.test/"}, "`seed_urls`"),
            ({"seed_urls": ["ftp://a.test/"]}, "`ftp://a.test/` is not an http(s) URL"),
            ({"seed_urls": ["docs.example.test"]}, "is not an http(s) URL"),
            ({"seed_url": 5, "seed_urls": None}, "`seed_urls`"),
            ({"max_depth": "3"}, "`max_depth`"),
            ({"max_depth": True}, "`max_depth`"),
            ({"max_depth": 2.5}, "`max_depth`"),
            ({"spa_rendering": "yes"}, "`spa_rendering`"),
            ({"sitemap_url": "sitemap.xml"}, "`sitemap.xml` is not an http(s) URL"),
            ({"allowed_path_patterns": ["re:("]}, "pattern `re:(`"),
            ({"allowed_path_patterns": ["docs/**"]}, "pattern `docs/**` can never match"),
            ({"blocked_path_patterns": ["/{a,b"]}, "pattern `/{a,b`"),
            ({"blocked_path_patterns": ["/x/**"] * (MAX_PATTERNS + 1)}, "more than 100 patterns"),
            ({"blocked_path_patterns": ["/guide/**"]}, "excluded by the provider's own"),
            ({"max_dept": 3}, "unknown field of a provider: `max_dept`"),
            ({"custom_selectors": {"contents": "x"}}, "unknown field of custom_selectors"),
            ({"custom_selectors": "article"}, "`custom_selectors`"),
            ({"channel": "rpc"}, "`channel`"),
            ({"channel": "api"}, "has the channel `api`, and names none"),
            ({"provider_id": "17"}, "provider_id `17` is not a UUID"),
            ({"key": "No Key"}, "`No Key` cannot be a provider's key"),
            ({"key": "x" * 65}, "cannot be a provider's key"),
            ({"key": "all"}, "`all` stands for all providers"),
            ({"rationale": "x" * (MAX_TEXT_CHARS + 1)}, "more than 2000 characters"),
            ({"tos_reviewed_at": "31.1.2026"}, "`31.1.2026` is not a date"),
        ],
    )  # fmt: skip
    def test_anything_else_is_refused_by_name(self, changes: dict[str, object], told: str) -> None:
        with pytest.raises(ConfigError) as caught:
            read(**changes)
        assert told in caught.value.message

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"tos_reviewed_at": None}, "lacks `tos_reviewed_at`"),
            ({"tos_allows_crawling": None}, "lacks `tos_allows_crawling`"),
            ({"tos_allows_crawling": False}, "does not allow crawling"),
        ],
    )
    def test_half_a_review_and_terms_that_forbid_it_are_refused(
        self, changes: dict[str, object], told: str
    ) -> None:
        refuse_terms(read(), now_s=NOW_S)
        refuse_terms(read(tos_reviewed_at=None, tos_allows_crawling=None), now_s=NOW_S)
        with pytest.raises(ConfigError, match=told) as caught:
            refuse_terms(read(**changes), now_s=NOW_S)
        assert "providers review" not in caught.value.hint, "nothing is stored to review"

    @pytest.mark.parametrize(
        ("seed", "key"),
        [
            ("https://platform.openai.com/docs", "platform-openai-com-docs"),
            ("https://www.twilio.com/docs/messaging/", "twilio-com-docs-messaging"),
            ("http://127.0.0.1:8080/", "127-0-0-1"),
            ("https://a.test/" + "x" * 57, "a-test-" + "x" * 57),
            ("https://a.test/" + "x" * 58, "a-test-" + "x" * 48 + "-"),
        ],
    )
    def test_a_key_is_made_of_the_first_seed(self, seed: str, key: str) -> None:
        made = read_registration(registration(seed_urls=[seed]), new_id=ID, now_s=NOW_S)
        assert made.provider.key.startswith(key) and len(made.provider.key) <= 64
        assert made.provider.name == made.provider.key
        told = {"key": "its first seed", "name": "its key"}
        assert made.derived == told | {"provider_id": "nothing: geomi chose it"}

    def test_an_id_that_is_no_uuid_has_one_of_its_own(self) -> None:
        def provider_id(told: object, key: str = "a") -> str:
            payload = registration(key=key, provider_id=told)
            return read_registration(payload, new_id=ID, now_s=NOW_S).provider.provider_id

        assert provider_id(ID.upper()) == ID
        assert UUID(provider_id("openai-uuid")).version == 5
        assert provider_id("uuid") == provider_id("uuid") != provider_id("uuid", key="b")
        assert UUID(provider_id("x" * MAX_ID_CHARS))
        for wrong in ("", "x" * (MAX_ID_CHARS + 1), 17):
            with pytest.raises(ConfigError, match="provider_id"):
                provider_id(wrong)

    def test_every_fault_is_told_at_once(self) -> None:
        payload = registration(max_depth=9, max_pages=0, max_dept=1)
        with pytest.raises(ConfigError) as caught:
            read_registration(payload, key="example", new_id=ID, now_s=NOW_S)
        for told in ("`max_dept`", "is `9`", "is `0`"):
            assert told in caught.value.message
        assert "max_depth: 1 to 5; max_pages: 1 to 500" in caught.value.hint
        with pytest.raises(ConfigError) as caught:
            read(key="No Key", seed_urls=["x:y"], allowed_path_patterns=["a", "re:("])
        for told in ("`No Key`", "`x:y`", "pattern `a`", "pattern `re:(`"):
            assert told in caught.value.message

    def test_a_file_of_faults_is_told_in_part(self) -> None:
        patterns = [f"p{number}" for number in range(MAX_FAULTS + 1)]
        with pytest.raises(ConfigError, match=r"and 1 more$"):
            read(allowed_path_patterns=patterns)

    def test_only_a_clear_no_keeps_a_crawl_away(self) -> None:
        refuse_forbidden(presets()["openai"])
        with pytest.raises(ConfigError, match="does not allow crawling") as caught:
            refuse_forbidden(read(tos_allows_crawling=False))
        assert "geomi providers review example --allows" in caught.value.hint

    @pytest.mark.parametrize("text", ["", "today", "2026-02-30", "2026-1-1"])
    def test_a_date_is_one(self, text: str) -> None:
        assert check_date("2026-02-28", now_s=NOW_S) == "2026-02-28"
        with pytest.raises(ConfigError, match="is not a date"):
            check_date(text)

    def test_nobody_has_read_terms_in_the_future(self) -> None:
        """A day ahead is today somewhere."""
        assert check_date("2026-03-02", now_s=NOW_S) == "2026-03-02"
        with pytest.raises(ConfigError, match="`2026-03-03` is in the future"):
            check_date("2026-03-03", now_s=NOW_S)
        with pytest.raises(ConfigError, match="is in the future"):
            refuse_terms(read(tos_reviewed_at="2026-03-03"), now_s=NOW_S)


class TestLayer:
    """What a provider says about a crawl of it."""

    @pytest.mark.req("CFG-01", "CFG-05", "CFG-06", "CFG-08", "C-31")
    def test_the_crawl_is_bounded_by_it_under_the_docs_profile(self) -> None:
        resolved = crawl_of(presets()["stripe"])
        config, origins = resolved.config, dict(resolved.origins)
        assert resolved.run.profile == "docs"
        assert config.scope.include == ("/api/**", "/payments/**", "/connect/**")
        assert config.scope.exclude == ("/changelog/**", "/upgrades/**", "/cli/**")
        assert (config.limits.max_depth, config.limits.max_pages) == (4, 300)
        assert (config.politeness.delay_s, config.politeness.base_delay_s) == (None, 1.5)
        assert config.politeness.min_delay_s == 1.0
        assert config.extract.content == "article.content"
        assert config.extract.remove == (".sidebar", ".feedback", ".method-list-group")
        assert config.render == "never"
        assert origins["limits.max_depth"] == "provider stripe"
        assert origins["url.query"] == "profile docs"

    @pytest.mark.req("CFG-07", "CFG-09", "CFG-10", "FUT-05")
    def test_its_pace_its_sitemap_and_its_wish_to_be_rendered(self) -> None:
        map_url = "https://docs.example.test/map.xml"
        provider = read(request_delay_ms=2500, sitemap_url=map_url, spa_rendering=True)
        config = crawl_of(provider).config
        assert config.politeness.base_delay_s == 2.5
        assert config.scope.sitemap_urls == (map_url,)
        assert config.render == "always"

    @pytest.mark.req("LEG-10", "SCP-14")
    @pytest.mark.parametrize(
        "path",
        ["/users/ada", "/profile/ada", "/forum/t/7", "/community/x", "/blog/x", "/comments/7"],
    )
    def test_places_where_people_speak_for_themselves_are_left_out(self, path: str) -> None:
        """Of documentation; what the provider's own patterns name is official all the same."""
        config = resolve_under_profile([flags_layer({"profile": "docs"})]).config
        url = parse_url(f"https://example.test{path}")
        assert url is not None
        verdict = JobRules(config, ["https://example.test/"], now_year=2026).verdict(url, 1)
        assert verdict.rule.startswith("personal.")

    def test_a_flag_beats_it(self) -> None:
        resolved = crawl_of(presets()["stripe"], "limits.max_pages=5", "run.profile=default")
        assert resolved.config.limits.max_pages == 5
        assert resolved.run.profile == "default"
