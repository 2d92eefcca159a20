"""The profiles reproduce the matrix of the catalogue, and keep what is asked inside ranges."""

from __future__ import annotations

import pytest

from geomi.errors import ConfigError
from geomi.model.personal_data import SURE_KINDS, PiiKind
from geomi.settings.layers import (
    Layer,
    Resolved,
    all_values,
    flags_layer,
    profile_names,
    read_profile,
    resolve,
    resolve_resumed,
    resolve_under_profile,
)

MIB = 1024 * 1024
DAY_S = 86_400.0
DEFAULT, DOCS, SCANNER = "default", "docs", "scanner"
SEED_ENGINE, WEB_SCALE, KNOWLEDGE_BASE = "seed-engine", "web-scale", "knowledge-base"
ORDER = (DEFAULT, DOCS, SCANNER, SEED_ENGINE, WEB_SCALE, KNOWLEDGE_BASE)
MARKDOWN = ("text/markdown", "text/x-markdown")
DESCRIPTIONS = (  # of an API, in JSON and in YAML
    "application/json", "application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml",
    "application/vnd.oai.openapi", "application/vnd.oai.openapi+json",
)  # fmt: skip

# A row of the matrix a line: the setting, then its value in each profile, in that order; `...` is
# the value of the first column.
MATRIX: list[tuple[str, tuple[object, ...]]] = [
    ("robots.on_unreachable", ("disallow", "allow_with_delay", "allow", "record", ..., ...)),
    ("robots.ttl_s", (DAY_S, ..., 1800.0, ..., ..., ...)),
    ("robots.fail_ttl_s", (600.0, ..., ..., ..., ..., ...)),
    ("robots.persist", (True, ..., False, False, ..., ...)),
    ("robots.cache_entries", (4096, ..., 128, ..., ..., ...)),
    ("robots.max_redirects", (5, ..., 3, ..., ..., ...)),
    ("robots.same_host_redirects", (False, ..., True, ..., ..., ...)),
    ("robots.respect_crawl_delay", (True, ..., False, ..., ..., ...)),
    ("robots.max_crawl_delay_s", (60.0, 365 * DAY_S, ..., ..., ..., 10.0)),
    ("robots.match_query", (True, ..., False, ..., ..., ...)),
    ("robots.empty_group_falls_back", (False, ..., True, ..., ..., ...)),
    ("robots.allow_on_429", (False, ..., True, ..., ..., ...)),
    ("robots.compare", ("rfc", ..., "raw_upper_hex", ..., ..., ...)),
    ("robots.blank_line_ends_group", (False, ..., True, ..., ..., ...)),
    ("robots.on_oversize", ("obey", ..., "allow", ..., ..., ...)),
    ("robots.max_rules", (0, ..., 1000, ..., ..., ...)),
    ("robots.collect_sitemaps", (True, ..., False, ..., ..., ...)),
    ("robots.connect_timeout_s", (5.0, ..., 2.0, 10.0, ..., ...)),
    ("robots.read_timeout_s", (10.0, ..., 3.0, 10.0, ..., ...)),
    ("url.force_https", (False, True, ..., True, ..., ...)),
    ("url.strip_www", (False, True, ..., ..., ..., ...)),
    ("url.query", ("strip_tracking", "strip_all", "keep", "keep", ..., "keep")),
    ("url.strip_session", (True, ..., False, False, ..., True)),
    ("url.session_values", ("random", ..., ..., ..., ..., "any")),
    ("limits.max_depth", (3, 3, ..., ..., 1000, 3)),
    ("limits.max_pages", (100, 200, ..., ..., 0, 100)),
    ("limits.max_page_bytes", (10 * MIB, 5 * MIB, ..., ..., ..., 10 * MIB)),
    ("limits.max_links_per_page", (10_000, ..., ..., ..., ..., 500)),
    ("limits.max_bytes", (0, ..., ..., ..., ..., 100 * MIB)),
    ("limits.max_time_s", (0.0, ..., ..., ..., ..., 3600.0)),
    ("politeness.base_delay_s", (1.0, 1.5, ..., ..., ..., ...)),
    ("politeness.delay_s", (None, ..., ..., ..., ..., 1.0)),
    ("politeness.requests_per_second", (None, ..., ..., ..., ..., 1.0)),
    ("politeness.concurrency", (10, 3, ..., 5, 1000, 10)),
    ("politeness.max_hosts", (0, 3, ..., 5, ..., ...)),
    ("politeness.per_ip", (4, 1, ..., ..., 4, 4)),
    ("politeness.max_per_hour", (0, 1000, ..., ..., ..., ...)),
    ("politeness.max_per_day", (0, 10_000, ..., ..., ..., ...)),
    ("politeness.batch_pause_s", (0.0, ..., ..., ..., ..., 5.0)),
    ("limits.tolerated_failures", (100.0, ..., ..., ..., ..., 20.0)),
    ("politeness.max_per_domain_hour", (0, ..., ..., ..., ..., 18_000)),
    ("safety.pii", ("flag", "redact", "off", "off", ..., ...)),
    ("safety.pii_types", (SURE_KINDS, (PiiKind.EMAIL,), ..., ..., ..., ...)),
    ("analysis.min_chars", (100, 1, ..., ..., ..., ...)),
    ("analysis.quality_threshold", (5.0, 0.0, ..., ..., ..., ...)),
    ("store.raw", (None, ..., ..., ..., ..., ...)),
    ("store.text", ("full", "preview", ..., ..., ..., ...)),  # C-39
    ("render", ("auto", "never", "never", "never", "auto", "always")),
    (
        "http.content_types",
        (
            ("text/html", "application/xhtml+xml", "text/plain", *MARKDOWN, *DESCRIPTIONS),
            ("text/html", "text/plain", *DESCRIPTIONS),
            ...,
            ...,
            ("text/html",),
            ("text/html",),
        ),
    ),
    ("http.max_redirects", (5, 3, ..., ..., ..., ...)),
    ("http.max_retries", (3, ..., ..., 3, ..., ...)),
    ("http.retry_jitter", (0.1, 0.0, ..., 0.0, 0.1, ...)),
    ("http.since", ("stored", "last_crawled", ..., ..., ..., ...)),
    ("http.refused_for_s", (30 * DAY_S, 0.0, ..., ..., ..., ...)),
    ("http.connect_timeout_s", (5.0, 30.0, ..., 15.0, 5.0, ...)),
    ("http.read_timeout_s", (30.0, 30.0, ..., 15.0, 10.0, ...)),
    ("http.total_timeout_s", (60.0, 30.0, ..., 15.0, ..., ...)),
    ("extract.ladder", ("scored", "literal", ..., ..., ..., ...)),
    ("scope.block_defaults", (True, False, False, ..., False, True)),
    ("scope.block_style", ("segments", ..., ..., ..., ..., "expressions")),
    ("scope.personal_areas", (True, False, ..., ..., ..., ...)),
    ("scope.links_of_duplicates", (False, True, ..., ..., ..., True)),
    ("scope.glob", ("repaired", ..., ..., ..., ..., ...)),
    ("order", ("score", "bfs", ..., "bfs", "weighted", "score")),
    ("limits.max_queued_per_host", (0, ..., ..., ..., 10_000, ...)),  # seed 003 §9.2: many hosts
    ("limits.max_queued_per_pattern", (0, ..., ..., ..., 1_000, ...)),
    ("recrawl.watch", (None, ..., ..., ..., ..., True)),  # seed 004 §1.1
    ("recrawl.first_interval_s", (7 * DAY_S, 7 * DAY_S, ..., ..., ..., 5 * DAY_S)),
    ("recrawl.min_interval_s", (3600.0, 7 * DAY_S, ..., ..., ..., ...)),
    ("recrawl.max_interval_s", (30 * DAY_S, 7 * DAY_S, ..., ..., ..., 5 * DAY_S)),
    ("retention.urls_days", (0.0, ..., ..., ..., ..., 7.0)),  # G-04
    ("retention.jobs_days", (0.0, ..., ..., ..., 5 * 365.25, 90.0)),
    ("seeds.seed_queue", ("seed", ..., ..., "newsfork-seed-staging", ..., ...)),  # SED-37
    ("seeds.domain_queue", ("domain", ..., ..., "newsfork-domain-staging", ..., ...)),
    ("seeds.dead_letter_queue", ("dlq", ..., ..., "newsfork-dlq-staging", ..., ...)),
    ("seeds.seed_batch_wait_s", (0.0, ..., ..., 30.0, ..., ...)),  # SED-35, C-86
    ("seeds.domain_batch_wait_s", (0.0, ..., ..., 60.0, ..., ...)),
]


def under(name: str, *assignments: str) -> Resolved:
    """Resolve some assignments under a profile."""
    return resolve_under_profile([flags_layer({"profile": name}, assignments)])


def test_there_are_six() -> None:
    assert profile_names() == sorted(ORDER)


@pytest.mark.req("C-24", "C-26", "C-27", "C-28", "CTY-08")
@pytest.mark.parametrize(("key", "row"), MATRIX)
def test_a_row_of_the_matrix(key: str, row: tuple[object, ...]) -> None:
    found = [all_values(under(name).config)[key] for name in ORDER]
    assert found == [row[0] if value is ... else value for value in row]


def test_what_a_profile_changes_stands_in_the_matrix_or_is_a_header() -> None:
    """A value that no row speaks of would be a behaviour that nobody asked for."""
    spoken = {key for key, _ in MATRIX} | {
        *("http.user_agent", "http.accept", "http.accept_language", "http.accept_encoding"),
        *("robots.total_timeout_s", "robots.max_bytes"),
        *("extract.links", "extract.images", "extract.tables", "extract.template"),
    }
    changed = {key for name in ORDER for key in read_profile(name).layer.values}
    assert changed - spoken == set()


@pytest.mark.req("STO-04", "C-39")
def test_pages_at_web_scale_are_kept_five_years_and_others_for_ever() -> None:
    assert under(WEB_SCALE).config.retention.jobs_days >= 5 * 365
    assert under(DEFAULT).config.retention.jobs_days == 0


@pytest.mark.req("HTTP-04")
@pytest.mark.parametrize(
    ("name", "user_agent"),
    [
        (DEFAULT, ""),
        (DOCS, "APIIntelBot/1.0 (+https://api-intel.vercel.app/bot)"),
        (SCANNER, "WebKillerAI"),
        (SEED_ENGINE, "NewsforkBot/1.0 (+https://newsfork.com/bot)"),
        (WEB_SCALE, ""),
        (KNOWLEDGE_BASE, "KnowledgeBaseBot/1.0 (+https://example.com/bot; bot@example.com)"),
    ],
)
def test_each_profile_has_its_own_user_agent(name: str, user_agent: str) -> None:
    assert under(name).config.http.user_agent == user_agent


@pytest.mark.req("HTTP-02", "HTTP-10")
def test_documentation_is_asked_for_with_the_headers_of_its_seed() -> None:
    http = under(DOCS).config.http
    assert http.accept == "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"
    assert http.accept_language == "en-US,en;q=0.9,ko;q=0.8"
    assert http.accept_encoding == "gzip, deflate, br"
    assert http.total_timeout_s == 30.0


@pytest.mark.req("LEG-08", "HTTP-05")
def test_the_operators_contact_takes_the_place_of_a_profiles() -> None:
    own = Layer("process settings", {"http.contact": "https://me.test/bot"})
    named = Layer("flag", {"run.profile": DOCS})
    config = resolve_under_profile([named, own]).config
    assert config.http.user_agent == "APIIntelBot/1.0 (+https://me.test/bot)"
    chosen = Layer("flag", {"run.profile": DOCS, "http.user_agent": "mine/2 (+https://x.test)"})
    assert resolve_under_profile([chosen, own]).config.http.user_agent.startswith("mine/2")


class TestRanges:
    """What may be asked for under a profile."""

    @pytest.mark.req("CFG-05", "CFG-06", "C-26", "C-28")
    @pytest.mark.parametrize(
        ("name", "key", "low", "high"),
        [
            (DOCS, "limits.max_depth", 1, 5),
            (DOCS, "limits.max_pages", 1, 500),
            (DOCS, "politeness.max_per_hour", 1, 1000),
            (DOCS, "politeness.max_hosts", 1, 3),
            (KNOWLEDGE_BASE, "limits.max_depth", 1, 10),
            (KNOWLEDGE_BASE, "limits.max_pages", 1, 10_000),
            (KNOWLEDGE_BASE, "limits.max_time_s", 1, 86_400),
        ],
    )
    def test_both_ends_are_allowed_and_one_further_is_refused(
        self, name: str, key: str, low: int, high: int
    ) -> None:
        for value in (low, high):
            assert all_values(under(name, f"{key}={value}").config)[key] == value
        for value in (low - 1, high + 1):
            with pytest.raises(ConfigError) as caught:
                under(name, f"{key}={value}")
            assert f"{key} = `{value}" in caught.value.message
            assert f"(flag --set): under profile {name} it is {low} to {high}" in (
                caught.value.message
            )
            assert "--profile" in caught.value.hint

    @pytest.mark.req("POL-01")
    @pytest.mark.parametrize("key", ["politeness.delay_s", "politeness.base_delay_s"])
    def test_documentation_may_be_crawled_more_patiently_and_not_less(self, key: str) -> None:
        assert all_values(under(DOCS, f"{key}=60").config)[key] == 60
        with pytest.raises(ConfigError, match="it is at least 1"):
            under(DOCS, f"{key}=0.9")
        with pytest.raises(ConfigError, match=r"it is 0\.1 to 1"):
            under(DOCS, "politeness.requests_per_second=5")

    @pytest.mark.req("CTY-07", "C-27")
    @pytest.mark.parametrize("size", [5 * MIB - 1, 5 * MIB + 1])
    def test_the_page_size_of_documentation_is_locked(self, size: int) -> None:
        with pytest.raises(ConfigError, match="locked to 5242880"):
            under(DOCS, f"limits.max_page_bytes={size}")

    @pytest.mark.req("LEG-07")
    def test_documentation_always_obeys_robots(self) -> None:
        with pytest.raises(ConfigError, match="locked to true"):
            under(DOCS, "robots.respect=false")

    def test_the_operator_is_not_bound_by_the_ranges_of_a_service(self) -> None:
        """adr 8: they are there for a service to keep."""
        service = read_profile(DEFAULT).service_ranges
        assert {key: (one.low, one.high) for key, one in service.items()} == {
            "limits.max_depth": (1, 10),
            "limits.max_pages": (1, 10_000),
        }
        config = under(DEFAULT, "limits.max_depth=0", "limits.max_pages=0").config
        assert (config.limits.max_depth, config.limits.max_pages) == (0, 0)

    @pytest.mark.parametrize(
        "layer", [Layer("file x", {"run.profile": DOCS, "limits.max_pages": 501})]
    )
    def test_a_value_is_refused_wherever_it_stands(self, layer: Layer) -> None:
        with pytest.raises(ConfigError, match=r"\(file x\)"):
            resolve_under_profile([layer])

    def test_a_resumed_job_stays_inside_the_ranges_it_was_started_under(self) -> None:
        started = under(DOCS)
        assert resolve_resumed(flags_layer({"max_pages": 500}), started.config, DOCS)
        with pytest.raises(ConfigError, match="under profile docs"):
            resolve_resumed(flags_layer({"max_pages": 501}), started.config, DOCS)
        free = under(DEFAULT)
        assert resolve_resumed(flags_layer({"max_pages": 501}), free.config, DEFAULT)


@pytest.mark.parametrize("name", ORDER)
def test_a_profiles_own_values_lie_inside_its_ranges(name: str) -> None:
    assert resolve([read_profile(name).layer]).config == under(name).config
    assert read_profile(name).about


def test_an_unknown_profile_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no profile `dosc`") as caught:
        read_profile("dosc")
    assert "docs" in caught.value.hint
