"""`origins` of a job holds dotted names of settings and where they came from, and nothing else.

What a job is stands in its fields. A name that says anything else by how it begins has to be parsed
wherever that is asked.
"""

from __future__ import annotations

import ast
import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.store.store import open_sqlite
from geomi.app import DATABASE, TENANT
from geomi.app.use.recrawl import recrawl
from geomi.cli.program import main
from geomi.engine.recrawl import RecrawlRequest
from geomi.model.job import CrawlJob, JobKind
from geomi.model.site import Channel
from geomi.seed.external_docs import TOPICS
from geomi.settings.layers import setting_types
from geomi.settings.options import RunOptions
from tests.api.asking import CRAWL, serving
from tests.architecture.tree import modules
from tests.engine.test_external_docs import ACME, collected, play
from tests.support.crawl import LOCAL, Ear, crawl_in, home_in, page, plan
from tests.support.ready import Stock
from tests.support.server import Site
from tests.support.waiting import waits

URL = "http://127.0.0.1:9/"
NETWORK = ("--allow-private", "--resolve", "a.test:80:127.0.0.1:8080")
CUTS = {"startswith", "removeprefix"}


def names_settings(job: CrawlJob) -> bool:
    """Say whether a job's origins are about settings alone."""
    return {name for name, _ in job.origins} <= setting_types().keys()


def stored_jobs(root: Path) -> Sequence[CrawlJob]:
    """Read a data directory's jobs, newest first."""
    with closing(open_sqlite(root / DATABASE, tenant=TENANT)) as store:
        return asyncio.run(store.jobs.list(limit=10))


def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Run a command in this process and return what it writes."""
    monkeypatch.setattr(sys, "argv", ["geomi", *words])
    assert main() == 0
    return capsys.readouterr().out


def test_of_a_job_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    here = ("-o", str(tmp_path))
    asked = ("--profile", "docs", "-d", "3", "--set", "url.query=keep", "-f", "jsonl")
    told(capsys, monkeypatch, "crawl", URL, "--detach", *NETWORK, *asked, *here)
    (job,) = stored_jobs(tmp_path)
    assert names_settings(job) and {"limits.max_depth", "url.query"} <= dict(job.origins).keys()
    assert (job.kind, job.channel, job.profile) == (JobKind.CRAWL, Channel.CRAWL, "docs")
    assert job.network == ("--allow-private", "--resolve a.test:80")
    shown = json.loads(told(capsys, monkeypatch, "jobs", "show", "--json", *here))["origins"]
    assert dict(job.origins).items() <= shown.items()
    assert shown["network --allow-private"] == shown["network --resolve a.test:80"] == "flag"


@waits
async def test_of_a_job_of_a_service_and_of_one_like_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        name = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        assert (await ground.mine.post(f"/crawls/{name}/cancel")).status == 200
        again = (await ground.mine.post(f"/crawls/{name}/retry")).json["jobId"]
        jobs = [await ground.desk.world.store.jobs.get(one) for one in (name, again)]
        first, second = filter(None, jobs)
        assert names_settings(first) and dict(first.origins)["limits.max_pages"] == "service"
        assert second.origins == first.origins
        assert first.network == second.network == ("--allow-private",)


@waits
async def test_of_a_recrawl(tmp_path: Path) -> None:
    ear = Ear()
    settings = replace(LOCAL, resolve=("a.test:80:127.0.0.1",))
    with Site({"/": page("start")}) as site:
        async with home_in(tmp_path, ear, settings) as home:
            soon = ("recrawl.first_interval_s=0", "recrawl.min_interval_s=0")
            first = (await crawl_in(home, ear, plan([site.url("/")], assignments=soon))).report.job
            again = await recrawl(home, first.id, RecrawlRequest(), RunOptions())
    assert again is not None
    job = again.report.job
    assert names_settings(job) and dict(job.origins)["recrawl.min_interval_s"] == "flag --set"
    assert (first.kind, job.kind, job.crawl) == (JobKind.CRAWL, JobKind.RECRAWL, first.id)
    assert job.network == first.network == ("--allow-private", "--resolve a.test:80")


@pytest.mark.parametrize("is_empty", [False, True])
@waits
async def test_of_a_job_of_ready_documents_and_of_its_fallback(
    tmp_path: Path, *, is_empty: bool
) -> None:
    async with play(tmp_path, Stock({ACME: "Acme"}, empty=is_empty)) as (scene, home):
        job = (await collected(scene, home)).report.job
        assert names_settings(job)
        if is_empty:
            assert (job.channel, job.library) == (Channel.CRAWL, "")
            assert "empty result" in job.channel_why
        else:
            assert (job.channel, job.library, job.library_name) == (Channel.CONTEXT7, ACME, "Acme")
            assert job.stats.collected == len(TOPICS)


def test_nothing_reads_origins_by_how_a_name_begins() -> None:
    """A function that reads them cuts no text."""
    found = [
        f"{module.name}: {function.name}"
        for module in modules()
        for function in ast.walk(module.tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        if {"origins"} & (attributes := _attributes(function)) and CUTS & attributes
    ]
    assert found == []


def _attributes(function: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
