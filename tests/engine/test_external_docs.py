"""A provider by its channel: Context7 first, the crawl where that is not enough, and why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from geomi.app import DataDirectory, crawl, open_directory
from geomi.app.index import search_pages
from geomi.app.use import providers
from geomi.app.use.channels import (
    FINDING_HOLDS_S,
    ProviderRun,
    ask_channel,
    check_providers,
    decide_channel,
    docs_client_of,
    is_fresh,
    known_channel,
    run_provider,
    stored_finding,
    stored_findings,
    unchecked_providers,
)
from geomi.app.use.deletion import provider_holdings, take_down_provider
from geomi.app.use.recrawl import recrawl
from geomi.engine.external_docs import (
    MAX_REST_S,
    MOST_ERRORS,
    ExternalDocsClient,
    ExternalDocsFetcher,
    shortcoming,
)
from geomi.engine.recrawl import RecrawlRequest
from geomi.engine.worker.supervisor import Supervisor
from geomi.errors import ConfigError, LibraryUnknown, SourceBusy, SourceError
from geomi.frontier.state import SETTLED
from geomi.model.config import Recrawl
from geomi.model.entry import EntryKind, Source, UrlEntry
from geomi.model.external_docs import (
    ExternalDocument,
    LibraryCandidate,
    LibraryFinding,
    LibrarySection,
)
from geomi.model.index.search import NO_FILTERS
from geomi.model.job import StopReason
from geomi.model.page import Request
from geomi.model.site import Channel, Provider
from geomi.model.verdict import Outcome, State
from geomi.recrawl.report import PageChange
from geomi.seed.external_docs import MAX_QUESTIONS, TOPICS
from geomi.settings.options import RunOptions, Settings
from geomi.settings.providers import presets
from geomi.text.identifiers import sha256_hex
from tests.app.test_providers import plan_for, provider_of
from tests.support.clock import HandClock
from tests.support.crawl import LOCAL, Ear, page, paths, read_records
from tests.support.postgres import Cluster
from tests.support.ready import CONTEXT, SEARCH, Stock, busy
from tests.support.server import Raw, Reply, Site
from tests.support.waiting import waits

KEY = "ctx7sk-0123456789"
ACME = "/acme/docs"
AT_ONCE = (("Retry-After", "0"),)
ROUTES = {"/docs": page("docs", "/docs/a"), "/docs/a": page("a")}


@dataclass
class Scene:
    """A provider's own site, and a source that may have its documents."""

    root: Path
    site: Site
    stock: Stock
    source: Site
    ear: Ear

    @property
    def provider(self) -> Provider:
        """The provider."""
        return provider_of(self.site, name="Acme", channel="context7")

    @property
    def settings(self) -> Settings:
        """Settings that name the source."""
        return replace(LOCAL, context7_url=self.source.url(""), context7_key=KEY)

    def asked(self, path: str) -> int:
        """Count what the source was asked."""
        return sum(seen.path == path for seen in self.source.log)


@asynccontextmanager
async def play(
    root: Path, stock: Stock, *, db: str = ""
) -> AsyncIterator[tuple[Scene, DataDirectory]]:
    """Open a data directory where a provider is registered and a source is named."""
    with Site(ROUTES) as site, Site(stock.routes) as source:
        scene = Scene(root, site, stock, source, Ear())
        settings = replace(scene.settings, db=db)
        async with open_directory(root, settings, lambda _: scene.ear) as home:
            await providers.add(home.world, scene.provider)
            yield scene, home


async def collected(scene: Scene, home: DataDirectory, **options: Any) -> ProviderRun:
    """Run the provider by its channel."""
    return await run_provider(
        home, plan_for(scene.provider, **options), lambda plan: crawl(home, plan)
    )


@pytest.mark.req("C7-01", "C7-02", "C7-03")
@waits
async def test_what_context7_has_is_collected_there_and_found_like_pages(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({"/other/thing": "Other", ACME: "Acme"})) as (scene, home):
        ended = await collected(scene, home)
        assert ended.decision is not None
        assert ended.decision.channel is Channel.CONTEXT7
        assert "Context7 had it as /acme/docs" in ended.decision.why
        job = ended.report.job
        assert (job.provider, job.stats.collected, job.library) == ("example", 8, ACME)
        assert ended.report.stop is StopReason.DONE
        assert scene.asked(SEARCH) == 1 and scene.asked(CONTEXT) == len(TOPICS)
        found = (await search_pages(home, "webhooks callbacks", NO_FILTERS, limit=10)).found.hits
        assert found[0].passage.url == "https://docs.acme.test/guide"
    assert scene.site.log == []
    assert scene.ear.warnings == []
    records = {record["url"]: record for record in read_records(tmp_path)}
    assert len(records) == len(TOPICS)
    record = records[scene.source.url("/acme/docs/errors")]
    assert record["title"] == "Acme: errors"
    assert record["metadata"]["library"] == ACME
    assert record["metadata"]["source"] == scene.source.url("")
    assert "Source: https://docs.acme.test/guide" in record["markdown"]
    assert len(list((tmp_path / "md").rglob("*.md"))) == len(TOPICS)


@pytest.mark.req("C7-01")
@waits
async def test_answers_lead_to_further_questions_until_they_name_no_more(tmp_path: Path) -> None:
    """The passages of one answer name a page, the answer about that another one."""
    chain = {"webhooks": "Signatures", "signatures": "Key Rotation"}

    def named(question: str) -> str:
        return next((page for word, page in chain.items() if word in question), "")

    async with play(tmp_path, Stock({ACME: "Acme"}, pages=named)) as (scene, home):
        ended = await collected(scene, home)
        assert (ended.report.stop, ended.report.job.stats.collected) == (StopReason.DONE, 10)
        assert scene.asked(CONTEXT) == len(TOPICS) + 2
        urls = [scene.source.url(f"{ACME}/about-{name}") for name in ("signatures", "key-rotation")]
        titles = {record["url"]: record["title"] for record in read_records(tmp_path)}
        assert [titles[url] for url in urls] == ["Acme: signatures", "Acme: key rotation"]
        assert scene.site.log == []


@waits
async def test_a_library_without_end_is_asked_so_many_questions(tmp_path: Path) -> None:
    def named(question: str) -> str:
        return f"Page {sha256_hex(question)[:8]}"

    async with play(tmp_path, Stock({ACME: "Acme"}, pages=named)) as (scene, home):
        ended = await collected(scene, home)
        assert ended.decision is not None and ended.decision.channel is Channel.CONTEXT7
        assert scene.asked(CONTEXT) == MAX_QUESTIONS


@pytest.mark.req("C7-02", "G-22")
@pytest.mark.parametrize(
    ("stock", "trouble", "why"),
    [
        (Stock({"/other/thing": "Other"}), [], "Context7 did not have it on"),
        (Stock({ACME: "Acme"}, empty=True), [], "Context7: empty result"),
        (Stock({ACME: "Acme"}), [busy()] * 5, "Context7: 5 errors in a row, the last: "),
        (Stock({ACME: "Acme"}), [Reply(b"no", 401)], "answered 401: no"),
    ],
)
@waits
async def test_what_context7_cannot_give_is_crawled(
    tmp_path: Path, stock: Stock, trouble: list[Reply | Raw], why: str
) -> None:
    async with play(tmp_path, stock) as (scene, home):
        stock.trouble = list(trouble)
        ended = await collected(scene, home)
        assert ended.decision is not None and ended.decision.channel is Channel.CRAWL
        assert why in ended.decision.why
        job = ended.report.job
        assert (job.provider, job.library) == ("example", "")
        assert job.channel_why == ended.decision.why
    assert paths(scene.site.log) == ["/docs", "/docs/a"]
    assert sorted(record["title"] for record in read_records(tmp_path)) == ["a", "docs"]
    assert scene.ear.warnings[-1:] == [
        "Context7 has the documents of provider example; this crawl is a fallback"
    ]


@pytest.mark.req("C7-02", "G-22")
@waits
async def test_five_errors_in_the_middle_end_it_and_four_do_not(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):
        await ask_channel(home, "example")
        scene.stock.trouble = [busy(status) for status in (503, 429, 500, 202)]
        ended = await collected(scene, home)
        assert ended.decision is not None and ended.decision.channel is Channel.CONTEXT7
        assert ended.report.job.stats.collected == len(TOPICS)
        assert scene.asked(CONTEXT) == len(TOPICS) + MOST_ERRORS - 1
        assert scene.site.log == []
        scene.stock.trouble = [busy()] * MOST_ERRORS
        ended = await collected(scene, home)
        assert ended.decision is not None and ended.decision.channel is Channel.CRAWL
        assert "5 errors in a row" in ended.decision.why
        assert scene.asked(CONTEXT) == len(TOPICS) + MOST_ERRORS - 1 + MOST_ERRORS
        assert scene.asked(SEARCH) == 1, "what was found holds for a day"


@pytest.mark.req("C7-02")
@waits
async def test_the_rules_of_its_crawl_hold_for_pages_alone(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):
        strict = replace(scene.provider, max_pages=1, blocked_path_patterns=("/acme/**",))
        await providers.add(home.world, strict)
        plan = plan_for(strict)
        ready = await run_provider(home, plan, lambda one: crawl(home, one))
        assert ready.report.job.stats.collected == len(TOPICS)
        scene.stock.empty = True
        crawled = await run_provider(home, plan, lambda one: crawl(home, one))
        assert crawled.report.job.stats.collected == 1
        assert paths(scene.site.log) == ["/docs"]


@pytest.mark.req("G-22")
@waits
async def test_a_library_that_is_gone_since_is_crawled(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):
        await ask_channel(home, "example")
        del scene.stock.libraries[ACME]
        ended = await collected(scene, home)
        assert ended.decision is not None
        assert ended.decision.why == "Context7: library not found"


@waits
async def test_without_a_source_it_is_the_crawl_as_ever(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):
        ended = await collected(scene, replace(home, docs_source=None))
        assert ended.decision is not None
        assert (ended.decision.channel, ended.decision.why) == (
            Channel.CRAWL,
            "GEOMI_CONTEXT7_URL is not set",
        )
        with pytest.raises(ConfigError, match="no external source is configured"):
            await check_providers(replace(home, docs_source=None), None)
    assert scene.source.log == []
    assert len(read_records(tmp_path)) == 2


@waits
async def test_the_source_may_be_private_where_pages_may_not(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, _):
        settings = replace(scene.settings, allow_private=False)
        async with open_directory(tmp_path / "public", settings, lambda _: scene.ear) as public:
            await providers.add(public.world, scene.provider)
            ended = await collected(scene, public)
            assert ended.report.job.stats.collected == len(TOPICS)


@waits
async def test_the_key_is_nowhere(tmp_path: Path) -> None:
    """Not in what is kept, told or logged, although the server repeats it wherever it can."""
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):
        scene.stock.libraries[ACME] = f"Acme {KEY}"
        scene.stock.trouble = [busy(), Reply(f"who is {KEY}?".encode(), 500, headers=AT_ONCE)]
        await collected(scene, home)
        scene.stock.trouble = [Reply(f"who is {KEY}?".encode(), 500, headers=AT_ONCE)] * 9
        ended = await collected(scene, home)
        assert ended.decision is not None and "[key]" in ended.decision.why
        assert KEY not in ended.decision.why
    assert scene.source.log[-1].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(scene.ear.events)
    files = _files_in(tmp_path)
    assert len(files) > len(TOPICS)
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def _files_in(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


@waits
async def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):

        def stop(supervisor: Supervisor) -> None:
            asyncio.get_running_loop().call_soon(supervisor.interrupt)

        plan = plan_for(scene.provider)
        first = await run_provider(home, plan, lambda one: crawl(home, one, on_start=stop))
        assert first.report.stop is StopReason.INTERRUPTED
        again = await collected(scene, home, resume=True)
        assert again.report.job.id == first.report.job.id
        assert again.decision is not None and "continues" in again.decision.why
        assert again.report.job.stats.collected == len(TOPICS)
        assert scene.asked(SEARCH) == 1


@waits
async def test_a_run_that_goes_on_and_is_not_enough_is_followed_by_a_crawl_of_its_own(
    tmp_path: Path,
) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"}, empty=True)) as (scene, home):

        def stop(supervisor: Supervisor) -> None:
            asyncio.get_running_loop().call_soon(supervisor.interrupt)

        old = (await collected(scene, home)).report.job.id  # last week's
        asked_before = len(scene.site.log)
        plan = plan_for(scene.provider)
        first = await run_provider(home, plan, lambda one: crawl(home, one, on_start=stop))
        assert first.report.stop is StopReason.INTERRUPTED
        again = await collected(scene, home, resume=True)
        assert again.decision is not None and again.decision.why == "Context7: empty result"
        assert again.report.job.id not in (old, first.report.job.id)
        assert len(scene.site.log) > asked_before
        over = await collected(scene, home, resume=True)  # nothing is left to go on with
        assert over.report.job.id == again.report.job.id


@waits
async def test_whoever_does_not_know_the_source_does_not_serve_its_jobs(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):
        plan = plan_for(scene.provider)
        soon = Recrawl(first_interval_s=0.0, min_interval_s=0.0)
        config = replace(plan.resolved.config, recrawl=soon)
        plan = replace(plan, resolved=replace(plan.resolved, config=config))
        job = (await run_provider(home, plan, lambda one: crawl(home, one))).report.job.id
        with pytest.raises(ConfigError, match="no external source is configured"):
            await recrawl(replace(home, docs_source=None), job, RecrawlRequest(), RunOptions())
        asked_before = scene.asked(CONTEXT)
        scene.stock.libraries[ACME] = "Acme, renewed"
        again = await recrawl(home, job, RecrawlRequest(), RunOptions())
        assert again is not None and again.changes.counts[PageChange.CHANGED] == len(TOPICS)
        assert scene.asked(CONTEXT) == asked_before + len(TOPICS)
        assert scene.site.log == []


@waits
async def test_a_takedown_erases_ready_documents_too(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):
        await collected(scene, home)
        line = await take_down_provider(home, await provider_holdings(home, "example"), "letter")
        assert (line.jobs, line.pages) == (1, len(TOPICS))
        with pytest.raises(ConfigError, match="does not allow crawling"):
            await collected(scene, home)
    assert list((tmp_path / "md").rglob("*.md")) == []


@waits
async def test_a_preset_is_looked_for_once_a_day_and_under_its_name(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme", "/stripe/docs": "Stripe"})) as (scene, home):
        everyone = len(presets()) + 1
        assert len(await unchecked_providers(home)) == everyone
        checked = await check_providers(home, docs_client_of(home))
        assert len(checked) == scene.asked(SEARCH) == everyone
        found = {one.provider.key for one in checked if one.finding and one.finding.library}
        assert found == {"example", "stripe"}
        assert await unchecked_providers(home) == []
        assert (await known_channel(home, "stripe")).channel is Channel.CONTEXT7
        assert (await known_channel(home, "openai")).channel is Channel.CRAWL
        assert (await known_channel(home, "aws-ses")).channel is Channel.CRAWL
        assert (await known_channel(home, "tosspayments")).why == "its registration says so"
        await providers.add(home.world, replace(scene.provider, name="Acme Two"))
        assert await unchecked_providers(home) == ["example"]
        assert await stored_finding(home, replace(scene.provider, name="Acme Two")) is None


@waits
async def test_what_could_not_be_asked_is_not_remembered(tmp_path: Path) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"})) as (scene, home):
        scene.stock.trouble = [busy()] * MOST_ERRORS
        checked = await check_providers(home, docs_client_of(home), ["example", "stripe"])
        assert [bool(one.problem) for one in checked] == [True, True]
        assert scene.asked(SEARCH) == MOST_ERRORS
        assert "example" in await unchecked_providers(home)


THERE, MISSING = LibraryFinding("k", "n", ACME, 0.0), LibraryFinding("k", "n", "", 0.0)


@pytest.mark.req("CFG-23", "C7-03", "C7-04")
@pytest.mark.parametrize(
    ("key", "finding", "has_source", "channel"),
    [
        ("openai", None, False, Channel.CRAWL),
        ("openai", THERE, False, Channel.CRAWL),
        ("openai", None, True, Channel.CONTEXT7),
        ("openai", THERE, True, Channel.CONTEXT7),
        ("openai", MISSING, True, Channel.CRAWL),
        ("aws-ses", None, True, Channel.CRAWL_PENDING_CONTEXT7_CHECK),
        ("aws-ses", THERE, True, Channel.CONTEXT7),
        ("aws-ses", MISSING, True, Channel.CRAWL),
        ("tosspayments", None, True, Channel.CRAWL),
        ("tosspayments", THERE, True, Channel.CRAWL),
    ],
)
def test_which_channel_holds(
    key: str, finding: LibraryFinding | None, has_source: bool, channel: Channel
) -> None:
    decision = decide_channel(presets()[key], finding, has_source=has_source)
    assert decision.channel is channel
    assert decision.why


class Script:
    """A source that answers from a list."""

    address = "https://c7.test"

    def __init__(self, *answers: Exception | ExternalDocument) -> None:
        self.answers = list(answers)

    async def search(self, name: str) -> Sequence[LibraryCandidate]:
        """Offer nothing."""
        return ()

    async def document(self, library: str, question: str) -> ExternalDocument:
        """Say what comes next."""
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def aclose(self) -> None:
        """Have nothing to close."""


@waits
async def rests_of(
    *answers: Exception | ExternalDocument,
) -> tuple[list[float], ExternalDocument | None]:
    """Ask once, and return how long was waited between tries, and what came."""
    clock = HandClock()
    client = ExternalDocsClient(Script(*answers), clock)
    rests: list[float] = []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_or_none(client), name="ask")
        while not task.done():
            await asyncio.sleep(0)
            if (wake_s := clock.next_wake_s) is not None:
                rests.append(wake_s - clock.now_s())
                clock.advance(rests[-1])
    return rests, task.result()


async def _or_none(client: ExternalDocsClient) -> ExternalDocument | None:
    try:
        return await client.document(ACME, "how?")
    except SourceError:
        return None


def test_rests_grow_and_a_server_that_says_when_is_believed_within_a_limit() -> None:
    document = ExternalDocument(ACME)
    trouble = [SourceBusy("x") for _ in range(4)]
    assert rests_of(*trouble, document) == ([1.0, 2.0, 4.0, 8.0], document)
    told = [SourceBusy("x", retry_after_s=after) for after in (3.0, MAX_REST_S + 1, 0.0)]
    assert rests_of(*told, document) == ([3.0, MAX_REST_S], document)
    assert rests_of(*(SourceBusy("x") for _ in range(5)), document) == ([1.0, 2.0, 4.0, 8.0], None)
    assert rests_of(SourceError("no"), document) == ([], None)
    assert rests_of(LibraryUnknown("no"), document) == ([], None)


@pytest.mark.req("G-22")
@waits
async def test_only_errors_in_a_row_count() -> None:
    document = ExternalDocument(ACME)
    busy = [SourceBusy("x", retry_after_s=0.0)] * (MOST_ERRORS - 1)
    client = ExternalDocsClient(Script(*busy, document, *busy, document), HandClock())
    for _ in range(2):
        assert await client.document(ACME, "how?") == document


def test_findings_grow_old() -> None:
    assert is_fresh(THERE, wall_s=FINDING_HOLDS_S - 1)
    assert not is_fresh(THERE, wall_s=FINDING_HOLDS_S)
    assert not is_fresh(replace(THERE, at_s=10.0), wall_s=9.0), "a clock that was set back"
    assert not is_fresh(None, wall_s=0.0)


@waits
async def test_an_address_that_is_none_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="GEOMI_CONTEXT7_URL must be a plain http or https URL"):
        settings = replace(LOCAL, context7_url="nonsense")
        async with open_directory(tmp_path / "data", settings, lambda _: Ear()):
            raise AssertionError("it was opened")
    assert not (tmp_path / "data").exists()


@waits
async def test_it_is_the_same_on_postgresql(tmp_path: Path, cluster: Cluster) -> None:
    db = cluster.new_schema()
    async with play(tmp_path, Stock({ACME: "Acme"}), db=db) as (scene, home):
        ended = await collected(scene, home)
        assert ended.report.job.stats.collected == len(TOPICS)
        scene.stock.empty = True
        ended = await collected(scene, home)
        assert ended.decision is not None and ended.decision.why == "Context7: empty result"
        assert scene.asked(SEARCH) == 1
    kept = await asyncio.to_thread(stored_findings, tmp_path, replace(LOCAL, db=db))
    assert kept["example"].library == ACME
    assert paths(scene.site.log) == ["/docs", "/docs/a"]


@waits
async def test_a_document_takes_no_longer_than_a_request_may_and_nothing_else_is_asked() -> None:
    clock = HandClock()
    # Its rest never ends: nobody turns the clock.
    client = ExternalDocsClient(Script(SourceBusy("x")), clock)
    fetcher = ExternalDocsFetcher(client, clock, library=ACME, name="Acme")
    request = Request("https://c7.test/acme/docs/errors", (), 1.0, 1.0, 0.01, 1024)
    late = await fetcher.fetch(request)
    assert (late.failure, late.detail) == (Outcome.TIMEOUT, "no document within 0.01 s")
    strange = await fetcher.fetch(replace(request, url="https://c7.test/robots.txt"))
    assert (strange.status, strange.body, strange.failure) == (404, b"", None)


@pytest.mark.req("G-22")
@pytest.mark.parametrize(
    ("endings", "why"),
    [
        (["ok", "timeout", "empty"], ""),  # what only took too long is lost alone
        (["ok", "server_error"], "said so"),
        (["ok", "connect_error"], "said so"),
        (["gone", "gone"], "library not found"),
        (["gone", "empty"], "empty result"),
        (["timeout", "empty"], "said so"),
    ],
)
def test_what_a_source_brought_may_not_be_enough(endings: list[str], why: str) -> None:
    entries = [entry_that_ended(Outcome(ending)) for ending in endings]
    assert shortcoming(entries) == why


def entry_that_ended(outcome: Outcome) -> UrlEntry:
    """Make an entry that was visited."""
    return UrlEntry(
        job="j",
        host="c7.test:443",
        url_hash=b"h",
        url="https://c7.test/acme/docs/errors",
        depth=0,
        priority=0,
        source=Source.SEED,
        kind=EntryKind.PAGE,
        parent=None,
        origin=None,
        hops=0,
        state=SETTLED[outcome],
        attempts=0,
        due_s=0.0,
        discovered_s=0.0,
        outcome=outcome,
        detail="said so",
    )


class Silent(Script):
    """A source that answers from a list, and then not at all."""

    async def document(self, library: str, question: str) -> ExternalDocument:
        """Say what comes next, or nothing ever."""
        if not self.answers:
            await asyncio.Event().wait()
        return await super().document(library, question)


@pytest.mark.req("G-22")
@waits
async def test_five_answers_in_a_row_that_never_come_are_five_errors() -> None:
    clock = HandClock()
    client = ExternalDocsClient(
        Silent(ExternalDocument(ACME, (LibrarySection("h", "text"),))), clock
    )
    fetcher = ExternalDocsFetcher(client, clock, library=ACME, name="Acme")
    request = Request("https://c7.test/acme/docs/errors", (), 1.0, 1.0, 0.01, 1024)
    failures = [(await fetcher.fetch(request)).failure for _ in range(MOST_ERRORS)]
    assert failures == [None] + [Outcome.TIMEOUT] * (MOST_ERRORS - 1)
    fifth = await fetcher.fetch(request)
    assert fifth.failure is Outcome.SERVER_ERROR
    assert fifth.detail == "5 errors in a row, the last: no answer came in time"
    entries = [entry_that_ended(one or Outcome.OK) for one in [*failures, fifth.failure]]
    assert shortcoming(entries) == "said so"


def test_what_was_not_asked_for_yet_is_no_shortcoming() -> None:
    waits = replace(entry_that_ended(Outcome.TIMEOUT), state=State.PENDING, outcome=None, detail="")
    assert shortcoming([waits]) == ""
    assert shortcoming([waits, entry_that_ended(Outcome.EMPTY)]) == ""
    assert shortcoming([waits, entry_that_ended(Outcome.SERVER_ERROR)]) == "said so"
