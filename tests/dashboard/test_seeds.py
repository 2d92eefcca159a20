"""The page of a tenant's dataset: figures, queues, dead letters, and a form that sends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.app.use.datasets import seed_config
from geomi.dataset.partition import RAW_FORM
from geomi.engine.seeds import dead_letters
from geomi.engine.seeds.report import EVERYTHING
from geomi.errors import UnknownName
from geomi.model.dataset.queue import TaskResult
from geomi.service import alarms, seeds
from geomi.service.access.keys import KeyScope
from geomi.service.seeds import seeding_of
from tests.api.asking import LOCAL, TENANT
from tests.dashboard.visiting import House, seen, serving, text
from tests.support.raw_files import given_up, put_raw, worked
from tests.support.waiting import waits

RULES = seed_config(LOCAL).seeds
PROD = "prod/country=sg/category=news/date=2026-01-28"
EVIL = "<script>window.broken = 1</script>"


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[House]:
    """Serve a directory in which the first tenant has a dataset."""
    (tmp_path / "mine").mkdir(exist_ok=True)
    own = replace(LOCAL, datasets=(f"{TENANT}={tmp_path / 'mine'}",))
    async with serving(tmp_path / "data", own) as house:
        yield house


@pytest.mark.req("RPT-04")
@waits
async def test_figures_and_what_was_given_up_are_shown_in_both_languages(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        seeding = seeding_of(house.ground.desk)
        done = TaskResult(2, robots=True, sitemap=False, duration_ms=1250)
        tasks = [f"{PROD}/{name}.test" for name in "abc"]
        await worked(seeding, RULES.domain_queue, tasks, done)
        await given_up(
            seeding, RULES.domain_queue, [f"{PROD}/d.test"], why=f"{PROD}/d.test: {EVIL}"
        )
        for language, words in {
            "en": ("Domains", "of 4", "75 %", "3 found", "1,250", "Network", "Dead letters"),
            "ko": ("도메인", "/ 4", "75 %", "3개 발견", "1,250", "네트워크", "실패한 메시지"),
        }.items():
            house.mine.headers["accept-language"] = language
            answer = await house.mine.get("/seeds")
            page = seen(answer)
            assert [one for one in words if one not in page.words] == []
            assert "d.test" in page.words and "sg · news · 2026-01-28" in page.words
            assert EVIL in page.words and EVIL not in text(answer)
            assert PROD not in page.words  # its parts are told in the language of the page
            assert len(page.named("script")) == 1


@waits
async def test_the_form_sends_raw_files_and_names_what_is_wrong(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        for number in (1, 2):
            put_raw(tmp_path / "mine", number, "mom.gov.sg")
        wrong = await house.mine.send("/seeds", "/seeds", {"country": "Singapore"})
        assert wrong.status == 422 and 'id="fault-country"' in text(wrong)
        assert "country `Singapore` is not allowed (write two letters" in seen(wrong).words
        wrong = await house.mine.send("/seeds", "/seeds", {"date": "2026-02-30"})
        assert wrong.status == 422 and 'id="fault-date"' in text(wrong)
        sent = await house.mine.send(
            "/seeds", "/seeds", {"country": "sg", "category": "", "force": "on"}
        )
        assert sent.status == 200 and "2 of 2 raw files were queued" in seen(sent).words
        assert RAW_FORM not in seen(sent).words
        standing = await seeds.standing(house.ground.desk, EVERYTHING)
        assert standing.files.pending == 2
        nothing = await house.mine.send("/seeds", "/seeds", {"country": "kr"})
        assert f"The dataset has no raw file. A raw file is named {RAW_FORM}" in seen(nothing).words


@waits
async def test_dead_letters_are_retried_and_dropped_by_buttons(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        seeding = seeding_of(house.ground.desk)
        ids = await given_up(seeding, RULES.seed_queue, ["raw/a", "raw/b"])
        answer = await house.mine.send("/seeds", f"/seeds/{ids[0]}/retry")
        assert (answer.status, answer.headers["location"]) == (303, "/seeds")
        assert (await house.mine.send("/seeds", f"/seeds/{ids[1]}/drop")).status == 303
        assert (await house.mine.send("/seeds", f"/seeds/{ids[1]}/drop")).status == 404
        standing = await seeds.standing(house.ground.desk, EVERYTHING)
        assert (standing.seed_queue.waiting, standing.dead_letters) == (1, 0)
        for ask in (dead_letters.find, dead_letters.retry, dead_letters.drop):
            with pytest.raises(UnknownName, match="no dead letter"):  # off a command line
                await ask(seeding, "\udcff")
        assert "There are no dead letters." in seen(await house.mine.get("/seeds")).words


@waits
async def test_whoever_only_reads_sees_no_button_and_others_no_dataset(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        (letter,) = await given_up(seeding_of(house.ground.desk), RULES.seed_queue, ["raw/a"])
        reader = await house.person((await house.ground.somebody(KeyScope.READ)).key)
        actions = [one["action"] for one in seen(await reader.get("/seeds")).named("form")]
        assert actions == ["/sign-out"]
        assert (await reader.send("/seeds", "/seeds")).status == 403
        assert (await house.other.send("/seeds", f"/seeds/{letter}/drop")).status == 404
        assert "has no dataset" in seen(await house.other.get("/seeds")).words
        refused = await house.other.send("/seeds", "/seeds")
        assert refused.status == 404 and "has no dataset" in seen(refused).words


@pytest.mark.req("MON-15")
@waits
async def test_an_alarm_of_the_dataset_is_listed_and_said_to_be_over(tmp_path: Path) -> None:
    async with opened(tmp_path) as house:
        seeding = seeding_of(house.ground.desk)
        (letter,) = await given_up(seeding, RULES.seed_queue, ["raw/a"])
        await alarms.check_datasets(house.ground.service)
        for path in ("/alerts", "/"):
            page = seen(await house.mine.get(path))
            assert "100.0% of raw files failed" in page.words
            assert "/seeds" in [one["href"] for one in page.named("a")][10:]
        assert "over since" not in seen(await house.mine.get("/alerts")).words
        await seeds.retry(house.ground.desk, letter)
        await alarms.check_datasets(house.ground.service)
        assert "over since" in seen(await house.mine.get("/alerts")).words
