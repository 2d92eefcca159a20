"""A check of a dataset: what is as it should be, and every way in which it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.dataset.partition import metadata_path, raw_path, rejects_path, robots_path, success_path
from geomi.engine.seeds.validate import check_dataset
from geomi.model.config import CrawlConfig
from geomi.model.dataset.seed import (
    MAX_PROBLEMS,
    DatasetCheck,
    DatasetProblem,
    Partition,
    PartitionFilter,
    SeedMessage,
    SeedRules,
)
from tests.engine.seeds.test_raw_files import ground
from tests.support.seed_contracts import SG, Host, lay_contract
from tests.support.seed_dataset import record
from tests.support.waiting import waits

ALL = PartitionFilter()
FIRST, SECOND = raw_path(SG, 1), raw_path(SG, 2)
METADATA_KEY = FIRST.replace("raw_0001", "raw_metadata")
MOM, MOH = metadata_path(SG, "mom.gov.sg"), metadata_path(SG, "moh.gov.sg")


@waits
async def checked(
    root: Path, which: PartitionFilter = ALL, rules: SeedRules | None = None
) -> DatasetCheck:
    config = CrawlConfig(seeds=rules or SeedRules())
    return await check_dataset(DirectoryDataset(root), config, which)


@pytest.fixture
@waits
async def root(tmp_path: Path) -> Path:
    """Lay a dataset of two raw files that is as it should be."""
    async with ground(tmp_path) as there:
        there.drop([record("https://mom.gov.sg/a"), record("https://moh.gov.sg/")])
        there.drop([record("https://mom.gov.sg/b"), record("https://mom.gov.sg/b")], SECOND)
        for key in (FIRST, SECOND):
            await there.process(SeedMessage(key, SG))
    root = tmp_path / "dataset"
    lay_contract(
        root,
        ["https://mom.gov.sg/a", "https://mom.gov.sg/b"],
        domain="mom.gov.sg",
        files=(1, 2),
        hosts={"www.mom.gov.sg": Host()},
    )
    lay_contract(root, ["https://moh.gov.sg/"], domain="moh.gov.sg")
    write_metadata(root)
    return root


def write_metadata(root: Path, **changes: object) -> None:
    told = {
        "country": "sg",
        "category": "news",
        "date": "2026-01-28",
        "file_count": 2,
        "record_count": 4,
        "created_at": "2026-01-28T10:00:00Z",
    }
    (root / METADATA_KEY).write_text(json.dumps({**told, **changes}))


def problems(root: Path, which: PartitionFilter = ALL) -> list[tuple[str, str]]:
    found = checked(root, which)
    assert found.found == len(found.problems)
    assert all(problem.remedy for problem in found.problems)
    return [(problem.key, problem.what) for problem in found.problems]


def test_a_dataset_as_it_should_be(root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    assert checked(root) == DatasetCheck(
        files=2,
        processed=2,
        records=4,
        duplicates=1,
        domains=2,
        contracts=2,
        urls=3,
    )
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_an_empty_one(tmp_path: Path) -> None:
    assert checked(tmp_path) == DatasetCheck()


def test_what_waits_is_no_problem(root: Path) -> None:
    (root / METADATA_KEY).unlink()
    (root / raw_path(SG, 3)).write_text(json.dumps([record("https://a.sg/")]))
    found = checked(root)
    assert (found.files, found.processed, found.found) == (3, 2, 0)
    assert (found.domains, found.contracts) == (3, 2)


@pytest.mark.parametrize(
    ("spoil", "key", "what"),
    [
        (lambda root: put(root, "notes.txt"), "notes.txt", "does not belong to a dataset"),
        (lambda root: put(root, "raw/x.json"), "raw/x.json", "does not belong to a dataset"),
        (lambda root: put(root, "prod/x"), "prod/x", "does not belong to a dataset"),
        (lambda root: put(root, "rejects/x"), "rejects/x", "does not belong to a dataset"),
        (
            lambda root: put(root, f"{METADATA_KEY}.success"),
            f"{METADATA_KEY}.success",
            "does not belong to a dataset",
        ),
        (
            lambda root: put(root, rejects_path(raw_path(SG, 9))),
            rejects_path(raw_path(SG, 9)),
            "belongs to",
        ),
        (
            lambda root: write_metadata(root, file_count=3),
            METADATA_KEY,
            "it counts 3 files and 4 records of sg/news/2026-01-28; there are 2 and 4 of sg/",
        ),
        (lambda root: write_metadata(root, country="my"), METADATA_KEY, "my/news"),
        (lambda root: write_metadata(root, date=1), METADATA_KEY, "date is not text"),
        (lambda root: put(root, success_path(FIRST)), success_path(FIRST), "is not a checkpoint"),
        (
            lambda root: put(root, success_path(raw_path(SG, 3))),
            success_path(raw_path(SG, 3)),
            "its raw file is missing",
        ),
        (
            lambda root: (root / success_path(MOM)).unlink(),
            MOM,
            "it has no checkpoint: it is unfinished",
        ),
        (lambda root: (root / MOM).unlink(), MOM, "there is a checkpoint, but no contract"),
        (lambda root: put(root, success_path(MOM)), MOM, "in place of its checkpoint is not one"),
        (
            lambda root: put(root, robots_path(SG, "mom.gov.sg")),
            MOM,
            "covers other files than the present ones",
        ),
        (lambda root: put(root, f"{MOM[:-5]}.txt"), f"{MOM[:-5]}.txt", "no checkpoint covers"),
        (
            lambda root: lay_contract(root, ["https://mom.gov.sg/a"], domain="mom.gov.sg"),
            MOM,
            f"the URLs of `{SECOND}` are not in it",
        ),
    ],
)
def test_what_is_wrong_is_told_and_nothing_else(
    root: Path, spoil: Callable[[Path], object], key: str, what: str
) -> None:
    spoil(root)
    found = [problem for problem in problems(root) if "hosts/" not in problem[0]]
    assert [told for told, _ in found] == [key]
    assert what in found[0][1]


def put(root: Path, key: str) -> None:
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"not what it was")


def test_a_domain_without_contract(root: Path) -> None:
    for path in (root / MOH).parent.iterdir():
        path.unlink()
    ((key, what),) = problems(root)
    assert key == MOH.rpartition("/")[0]
    assert f"`{FIRST}` names this domain" in what


def test_a_raw_file_that_was_changed(root: Path) -> None:
    (root / SECOND).write_text(json.dumps([record("https://mom.gov.sg/new"), 1]))
    (root / METADATA_KEY).unlink()
    found = dict(problems(root))
    assert "1 of 2 records are rejected; the first is in line 1: it is no" in found[SECOND]
    assert "another file" in found[success_path(SECOND)]
    assert found[MOM] == f"it was made from another `{SECOND}`"


def test_a_raw_file_that_is_gone(root: Path) -> None:
    (root / SECOND).unlink()
    found = dict(problems(root))
    assert found[success_path(SECOND)] == "its raw file is missing"
    assert found[MOM] == f"it was made from `{SECOND}`, which is missing"


def test_a_raw_file_that_cannot_be_read(root: Path) -> None:
    (root / SECOND).write_bytes(b"[")
    found = dict(problems(root))
    assert found[SECOND] == "parse_error: line 1 column 2: a record is missing"


@pytest.fixture
@waits
async def rejected(tmp_path: Path) -> Path:
    """Lay a dataset of one raw file whose only record is rejected."""
    async with ground(tmp_path) as there:
        there.drop([1])
        await there.process()
    return tmp_path / "dataset"


def test_rejects_that_were_changed(rejected: Path) -> None:
    assert [key for key, _ in problems(rejected)] == [FIRST]
    put(rejected, rejects_path(FIRST))
    assert [key for key, _ in problems(rejected)] == [FIRST, rejects_path(FIRST)]


def test_limits_are_those_of_the_engine(root: Path) -> None:
    found = checked(root, rules=SeedRules(max_records=1))
    assert {problem.key for problem in found.problems} >= {FIRST, SECOND}
    assert all("more than 1 records" in it.what for it in found.problems if it.key == FIRST)


@pytest.mark.parametrize(
    "which", [PartitionFilter("my"), PartitionFilter(date="2026-01-29"), PartitionFilter("sg")]
)
def test_partitions_that_are_not_asked_for(root: Path, which: PartitionFilter) -> None:
    (root / success_path(MOM)).unlink()
    put(root, rejects_path(raw_path(SG, 9)))
    other = Partition("my", "law", "2026-01-29")
    (root / raw_path(other, 1)).parent.mkdir(parents=True)
    (root / raw_path(other, 1)).write_bytes(b"")
    found = [key for key, _ in problems(root, which)]
    if which.matches(SG):
        assert found == [MOM, rejects_path(raw_path(SG, 9))]
    else:
        assert found == [raw_path(other, 1)]


def test_more_problems_than_are_told(tmp_path: Path) -> None:
    (tmp_path / "prod").mkdir()
    for number in range(MAX_PROBLEMS + 1):
        (tmp_path / "prod" / f"{number:03}").touch()
    found = checked(tmp_path)
    assert found.found == MAX_PROBLEMS + 1
    assert len(found.problems) == MAX_PROBLEMS
    assert found.problems[0] == DatasetProblem(
        "prod/000",
        "it does not belong to a dataset",
        "delete it, or give it the correct name",
    )


def test_a_raw_file_of_another_name_is_told_the_right_one(tmp_path: Path) -> None:
    put(tmp_path, "raw/country=SG/category=news/date=2026-01-28/raw_1.json")
    (problem,) = checked(tmp_path).problems
    assert (
        "raw files are named raw/country=CC/category=NAME/date=YYYY-MM-DD/raw_0001"
        in problem.remedy
    )
