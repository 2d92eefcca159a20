"""Orders with the dearest patterns: refused by name or answered, and nobody else waits for them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.admit import glob
from tests.api.asking import CRAWL, LOCAL, serving
from tests.support.waiting import waits

NAMES = ",".join(f"name{number}" for number in range(64))
GLOBS = [f"/{{{NAMES}}}-{number}-*" for number in range(100)]
EXPRESSIONS = [f"re:(a?){{450}}a{{450}}b{number}" for number in range(100)]
# As many of the dearest kind as are allowed: each character of a URL is a new state.
ALLOWED = [f"re:(a|b)*a(a|b){{60}}c{number}" for number in range(25)]

FEW = 6


def order(**config: object) -> dict[str, object]:
    """Return an order with such a configuration."""
    return CRAWL | {"config": config}


@pytest.mark.parametrize("patterns", [GLOBS, EXPRESSIONS])
@waits
async def test_too_costly_patterns_are_refused_by_name(tmp_path: Path, patterns: list[str]) -> None:
    """The answer says which field, which pattern, and what the limit is."""
    async with serving(tmp_path) as ground:
        asked = order(includePatterns=patterns, excludePatterns=patterns)
        refused = await ground.mine.post("/crawls", asked)
        assert refused.status == 422
        (fault,) = refused.json["errors"]
        assert fault["field"] == "config.includePatterns"
        assert fault["detail"].startswith("pattern `") and "the limit is" in fault["detail"]
        assert (await ground.mine.get("/crawls")).json["crawls"] == []


@waits
async def test_both_lists_count_together(tmp_path: Path) -> None:
    """A pattern costs the same, whichever list it is in."""
    async with serving(tmp_path) as ground:
        accepted = await ground.mine.post("/crawls", order(excludePatterns=ALLOWED))
        assert accepted.status == 202
        asked = order(includePatterns=ALLOWED, excludePatterns=ALLOWED)
        refused = await ground.mine.post("/crawls", asked)
        assert (refused.status, "too large together" in refused.json["detail"]) == (422, True)
        assert refused.json["errors"][0]["field"] == "config.excludePatterns"


@waits
async def test_patterns_are_compiled_once(tmp_path: Path) -> None:
    """By the order, its plan, its job, a repetition and an explanation together."""
    glob.compile.cache_clear()
    async with serving(tmp_path) as ground:
        asked = order(excludePatterns=["/archive/**", "/once/**"])
        job = (await ground.mine.post("/crawls", asked)).json["jobId"]
        why = f"/crawls/{job}/why?url=http://localhost:8080/once/x"
        told = (await ground.mine.get(why)).json
        assert told["decidedBy"] == "exclude"
        await ground.mine.post("/crawls", asked)
    assert glob.compile.cache_info().misses == 2  # this list, and the empty one


@waits
async def test_compiling_holds_nobody_up(tmp_path: Path) -> None:
    """Another tenant gets answers all the while; if it held the loop, they would be two to five."""
    patterns = [f"/{{{NAMES}}}" + "[a-z]" * 5 + str(number) for number in range(20)]
    async with serving(tmp_path, replace(LOCAL, api_rate_per_minute=0)) as ground:

        async def answers_meanwhile() -> int:
            answered = 0

            async def read() -> None:
                nonlocal answered
                while True:
                    assert (await ground.other.get("/collections")).status == 200
                    answered += 1

            async with asyncio.TaskGroup() as group:
                reading = group.create_task(read())
                accepted = await ground.mine.post("/crawls", order(excludePatterns=patterns))
                assert accepted.status == 202, accepted.json
                reading.cancel()
            return answered

        await ground.mine.post("/crawls", CRAWL)
        assert await answers_meanwhile() > FEW


@pytest.mark.req("SEC-09")
@waits
async def test_a_spent_budget_is_a_429(tmp_path: Path) -> None:
    """For whatever is costly, with the time to wait; what is cheap and other tenants go on."""
    async with serving(tmp_path, replace(LOCAL, api_cpu_per_minute=5.0)) as ground:
        job = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        await ground.other.post("/crawls", CRAWL)
        ground.desk.cpu.charge(6.0)
        why = f"/crawls/{job}/why?url=http://localhost:8080/"
        for refused in (
            await ground.mine.post("/crawls", CRAWL),
            await ground.mine.get(why),
            await ground.mine.post("/search", {"query": "word"}),
            await ground.mine.post("/preview", {"url": "http://localhost:8080/"}),
        ):
            assert refused.status == 429
            assert refused.headers["content-type"] == "application/problem+json"
            assert "5 s of CPU" in refused.json["detail"]
            assert 1 <= int(refused.headers["retry-after"]) <= 20
        assert (await ground.mine.get(f"/crawls/{job}")).status == 200
        assert (await ground.other.post("/crawls", CRAWL)).status == 202
        ground.desk.cpu.charge(-6.0)
        assert (await ground.mine.get(why)).status == 200
