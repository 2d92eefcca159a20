"""`geomi seeds` as somebody uses it: run, interrupted, mended, by several processes, served."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from geomi.cli.program import main
from tests.e2e.command import GEOMI, clean_env, run
from tests.e2e.serving import Served
from tests.service.seed_web import ROBOTS, WEB, Web, seed_web
from tests.support.postgres import Cluster
from tests.support.raw_files import FOLDER, put_raw, record
from tests.support.seed_servers import CONTRACT, RECORDS, example_files
from tests.support.server import Raw, Reply, Route, Seen

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "prepare-domains.md"
TIMEOUTS = ("connect", "read", "total")
DOMAINS = ("mom.gov.sg", "moh.gov.sg", "ica.gov.sg")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    """Serve the domains of the seed document on loopback."""
    with seed_web(tmp_path, *DOMAINS, routes=WEB) as served:
        yield served


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Return a dataset with one raw file."""
    put_raw(tmp_path / "seeds", 1, *DOMAINS)
    return tmp_path / "seeds"


def seeds(
    web: Web, tmp_path: Path, *arguments: str, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run one of the commands in its own data directory."""
    return run("seeds", *arguments, "-o", str(tmp_path / "data"), env={**web.env, **env})


def last_line(done: subprocess.CompletedProcess[str]) -> Any:
    """Return the last line of what was printed, read."""
    return json.loads(done.stdout.splitlines()[-1])


@dataclass(frozen=True, slots=True)
class Said:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The last line of what was printed, read."""
        return json.loads(self.out.splitlines()[-1])


Command = Callable[..., Said]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run commands in this process: each would take a second to start."""
    monkeypatch.setattr("geomi.cli.prepare.seed_run.relax_garbage_collector", lambda: None)
    monkeypatch.chdir(tmp_path)
    for name in os.environ.keys() - clean_env().keys():
        monkeypatch.delenv(name)

    def call(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["geomi", "seeds", *arguments])
        capsys.readouterr()
        code = main()
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


@pytest.fixture
def geomi_seeds(
    here: Command, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Run commands in this process, beside the web, with a data directory."""
    for name, value in web.env.items():
        monkeypatch.setenv(name, value)
    return lambda *arguments: here(*arguments, "-o", str(tmp_path / "data"))


def test_whoever_finds_no_raw_file_is_told_where_they_lie(
    geomi_seeds: Command, here: Command, dataset: Path
) -> None:
    done = geomi_seeds("orchestrate", str(dataset), "--country", "kr")
    assert done.out == "0 of 0 raw files queued, 0 skipped\n"
    assert "raw/country=CC/category=NAME/date=YYYY-MM-DD/raw_0001.json" in done.err
    checked = here("validate", str(dataset / "raw"))
    assert "raw/country=CC/category=NAME/date=YYYY-MM-DD/raw_0001.json" in checked.err
    told = geomi_seeds("status", str(dataset))
    assert "hint: no raw file was queued yet: run geomi seeds run" in told.err
    assert geomi_seeds("status", str(dataset), "--country", "kr").err == ""


def test_a_dataset_that_cannot_be_read_is_told_on_a_terminal_as_elsewhere(
    geomi_seeds: Command, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (dataset / "raw").rename(dataset.with_name("elsewhere"))
    (dataset / "raw").symlink_to(dataset.with_name("elsewhere"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    done = geomi_seeds("run", str(dataset))
    assert done.code == 4
    assert "error: `raw/` leads out of" in done.err
    assert "hint: replace the link by its target" in done.err
    assert "fault of geomi" not in done.err


@pytest.mark.req("SED-15", "SED-35", "DAT-09")
def test_a_run_ends_when_nothing_is_left_and_the_next_asks_nobody(
    geomi_seeds: Command, web: Web, dataset: Path
) -> None:
    done = geomi_seeds("run", str(dataset), "--json")
    assert done.code == 0, done.err
    ended = done.json
    assert (ended["files_found"], ended["sent"], ended["skipped"]) == (1, 1, 0)
    assert (ended["files"], ended["domains"], ended["rejected"], ended["dead"]) == (1, 3, 0, 0)
    assert ended["processing_stats"]["domains_processed"] == 3
    assert ended["collection_stats"]["robots_txt_rate"] == 1.0
    sentences = [json.loads(line).get("sentence", "") for line in done.out.splitlines()]
    assert "Domain processed: mom.gov.sg (1 URLs)" in sentences
    for domain in DOMAINS:
        assert (dataset / f"prod/{FOLDER}/{domain}/domain_metadata.json.success").is_file()
    asked = len(web.site.log)
    again = geomi_seeds("run", str(dataset), "--date", "2026-01-28")
    assert again.code == 0 and "0 of 1 raw files queued, 1 skipped" in again.err
    assert len(web.site.log) == asked
    forced = geomi_seeds("run", str(dataset), "--force", "-q")
    assert forced == Said(0, "", "")
    assert len(web.site.log) == 2 * asked
    told = geomi_seeds("status", str(dataset), "--json").json
    assert told["processing_stats"] == ended["processing_stats"]
    empty = {"waiting": 0, "lent": 0, "dead": 0, "next_s": None}
    assert told["queues"] == {"newsfork-seed-staging": empty, "newsfork-domain-staging": empty}
    assert told["alarms"] == []


@pytest.mark.slow
def test_a_reader_that_leaves_stops_no_run(web: Web, tmp_path: Path, dataset: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*GEOMI, "seeds", "run", str(dataset), "-o", str(tmp_path / "data"), "--json"]
    with os.fdopen(writing, "wb") as pipe:
        ended = subprocess.run(
            command, stdout=pipe, stderr=subprocess.PIPE, env=clean_env() | web.env, check=False
        )
    assert (ended.returncode, b"Traceback" in ended.stderr) == (0, False), ended.stderr
    done = list((dataset / f"prod/{FOLDER}").glob("*/domain_metadata.json.success"))
    assert len(done) == len(DOMAINS)


@pytest.mark.req("SED-23", "SED-42", "SED-43", "MON-14", "MON-15")
def test_what_fails_is_a_dead_letter_and_has_its_exit_code(
    geomi_seeds: Command, dataset: Path
) -> None:
    broken = dataset / f"raw/{FOLDER}/raw_0002.json"
    broken.write_text("[{")
    quick = ("--set", "seeds.max_retries=0")
    done = geomi_seeds("run", str(dataset), *quick)
    assert done.code == 8, done.err
    assert "1 raw files or domains failed for good" in done.err
    assert "hint: geomi seeds dlq list" in done.err
    assert f"Seed processing failed: raw/{FOLDER}/raw_0002.json" in done.err
    assert "alarm file_failures: 50.0% of raw files failed" in done.err
    (letter,) = geomi_seeds("dlq", "list", str(dataset), "--json").json
    assert letter["task"] == f"raw/{FOLDER}/raw_0002.json"
    line = geomi_seeds("dlq", "list", str(dataset)).out
    assert line.startswith(f"{letter['id']}  parse_error  ") and line.count(letter["task"]) == 1
    shown = geomi_seeds("dlq", "show", str(dataset), letter["id"], "--json").json
    assert shown["original_message"]["file_path"] == letter["task"]
    assert shown["error_info"]["error_type"] == "parse_error"
    assert shown["context"]["queue_name"] == "newsfork-seed-staging"
    for command in (("list", str(dataset)), ("show", str(dataset), letter["id"])):
        assert "parse_error" in geomi_seeds("dlq", *command).out
    unknown = geomi_seeds("dlq", "retry", str(dataset), "01KA5Q2V7Z3M9X4C8B6N1D0E5F")
    assert unknown.code == 2 and "no dead letter `01KA5Q2V7Z3M9X4C8B6N1D0E5F`" in unknown.err
    told = geomi_seeds("status", str(dataset)).out
    assert re.search(r"^domains +3 of 3$", told, re.M) and "alarm file_failures" in told
    assert re.search(r"^newsfork-dlq-staging +1 dead letters$", told, re.M)
    checkpoint = json.loads((dataset / f"raw/{FOLDER}/raw_0001.json.success").read_text())
    took = rf"^mean time +[0-9,]+ ms a domain, {checkpoint['duration_ms']:,} ms a file$"
    assert re.search(took, told, re.M), told
    broken.write_text("[]")
    back = geomi_seeds("dlq", "retry", str(dataset), letter["id"])
    assert "1 dead letters are back in their queues" in back.err
    assert geomi_seeds("run", str(dataset), *quick).code == 0
    assert geomi_seeds("dlq", "drop", str(dataset), "--all", "--json").json == {"dropped": 0}


@pytest.mark.req("MON-15")
def test_a_raw_file_that_is_removed_and_dropped_is_no_alarm(
    geomi_seeds: Command, dataset: Path, tmp_path: Path
) -> None:
    broken = dataset / f"raw/{FOLDER}/raw_0002.json"
    broken.write_text("[{")
    done = geomi_seeds("run", str(dataset), "--set", "seeds.max_retries=0", "-q")
    place = f"{dataset} -o {tmp_path / 'data'}"
    assert f"hint: geomi seeds dlq list {place}, then geomi seeds dlq retry {place}" in done.err
    assert geomi_seeds("dlq", "drop", str(dataset), "--all", "--json").json == {"dropped": 1}
    again = geomi_seeds("run", str(dataset), "--set", "seeds.max_retries=0", "-q")
    assert again.code == 8 and "alarm file_failures: 50.0%" in again.err  # it is still there
    broken.unlink()
    geomi_seeds("dlq", "drop", str(dataset), "--all")
    last = geomi_seeds("run", str(dataset))
    assert last.code == 0 and "files: 1 of 1; domains: 3 of 3" in last.err
    assert "alarm" not in last.err


@pytest.mark.req("SED-18", "SED-20")
def test_a_file_that_cannot_be_sent_is_told_and_the_others_are(
    geomi_seeds: Command, tmp_path: Path, dataset: Path
) -> None:
    for number in (2, 3):
        put_raw(dataset, number, *DOMAINS)
    assert geomi_seeds("orchestrate", str(dataset), "--country", "kr").code == 0  # opens the store
    with closing(sqlite3.connect(tmp_path / "data" / "geomi.db")) as db:
        db.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON seed_messages WHEN NEW.name LIKE '%raw_0002%'"
            " BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        )
    sent = geomi_seeds("orchestrate", str(dataset), "--json")
    assert sent.code == 4, sent.err
    assert sent.json == {
        "success": False,
        "data": {"files_found": 3, "sent": 2, "skipped": 0},
    }
    assert f"Queue send failed: raw/{FOLDER}/raw_0002.json" in sent.err
    assert "1 raw files could not be queued" in sent.err


MOM, MOH = DOMAINS[:2]
PROD = f"prod/{FOLDER}"


def contract(dataset: Path, domain: str) -> Any:
    """Read the contract of a domain."""
    return json.loads((dataset / PROD / domain / "domain_metadata.json").read_text("utf-8"))


def sentences(said: Said) -> list[str]:
    """Return the sentences that a run logged."""
    told = (json.loads(line).get("sentence") for line in said.out.splitlines())
    return [sentence for sentence in told if sentence]


@pytest.mark.req("SED-25", "SED-31", "SED-32")
def test_a_domain_is_collected_written_and_marked_and_then_left_alone(
    geomi_seeds: Command, web: Web, dataset: Path
) -> None:
    """What SED-25 lists, in the files and in the log: done, skipped, failed."""
    (dataset / PROD).mkdir(parents=True)
    (dataset / PROD / MOH).write_text("no folder", "utf-8")  # what is written below it fails
    quick = ("--json", "--set", "seeds.max_retries=0")
    done = geomi_seeds("run", str(dataset), *quick)
    assert done.code == 8
    told = sentences(done)
    assert f"Domain processed: {MOM} (1 URLs)" in told
    assert f"Domain processing failed: {MOH}" in told
    folder = dataset / PROD / MOM
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(files) == [
        "domain_metadata.json", "domain_metadata.json.success", "robots.txt", "sitemap.xml",
    ]  # fmt: skip
    assert files["robots.txt"] == ROBOTS.body
    written = files["domain_metadata.json"].decode()
    assert written == json.dumps(json.loads(written), indent=2, ensure_ascii=False) + "\n"
    assert json.loads(written)["technical_metadata"]["robots_txt"]["exists"] is True

    (dataset / f"raw/{FOLDER}/raw_0001.json.success").unlink()  # the file is processed again
    asked = web.asked("/robots.txt")
    again = geomi_seeds("run", str(dataset), *quick)
    assert f"Already processed, skipping: {MOM}" in sentences(again)
    assert web.asked("/robots.txt") == asked + 1, f"only {MOH} is not done"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.req("STO-03")
def test_every_file_of_a_dataset_lies_where_the_layout_has_it(
    geomi_seeds: Command, dataset: Path
) -> None:
    assert geomi_seeds("run", str(dataset), "-q").code == 0
    day = "country=sg/category=news/date=2026-01-28"
    raw, main_file = f"raw/{day}/raw_0001.json", "domain_metadata.json"
    parts = (main_file, f"{main_file}.success", "robots.txt", "sitemap.xml")
    collected = {f"prod/{day}/{domain}/{part}" for domain in DOMAINS for part in parts}
    found = {path.relative_to(dataset).as_posix() for path in dataset.rglob("*") if path.is_file()}
    assert found == {raw, f"{raw}.success"} | collected


@pytest.mark.req("SED-24", "SED-22", "SED-23")
def test_where_a_groups_domain_id_and_paths_come_from(
    geomi_seeds: Command, web: Web, dataset: Path
) -> None:
    """The message of a domain, as a dead letter shows it, and the contract that comes of one."""
    records = [
        record(f"https://{name}{domain}{tail}", domain) | {"domain_id": f"{kind}:sg:{domain}"}
        | {"source_type": kind, "title": tail}
        for domain in (MOM, MOH)
        for kind, name, tail in (
            ("news", "", "/a%20b/c?d=e"), ("gov", "www.", "/"), ("gov", "", "/f"),
        )
    ]  # fmt: skip
    (dataset / f"raw/{FOLDER}/raw_0001.json").write_text(json.dumps(records), "utf-8")
    (dataset / PROD).mkdir(parents=True)
    (dataset / PROD / MOH).write_text("no folder", "utf-8")
    quick = ("--set", "seeds.max_retries=0", "--set", "seeds.max_hosts=1")
    done = geomi_seeds("run", str(dataset), *quick, "--json")
    assert done.code == 8
    assert f"Processed raw/{FOLDER}/raw_0001.json: 2 domains" in sentences(done)
    (letter,) = geomi_seeds("dlq", "list", str(dataset), "--json").json
    shown = geomi_seeds("dlq", "show", str(dataset), letter["id"], "--json").json
    for told, domain in ((shown["original_message"], MOH), (contract(dataset, MOM), MOM)):
        assert (told["domain"], told["domain_id"]) == (domain, f"news:sg:{domain}")
        assert [one["path"] for one in told["urls"]] == ["/a%20b/c", "/", "/f"]
    assert contract(dataset, MOM)["registrable_domain"] == MOM


@pytest.mark.req("SED-05", "SED-06", "SED-38", "SED-40", "SED-41")
def test_where_everything_lies_after_a_run(
    geomi_seeds: Command, here: Command, tmp_path: Path
) -> None:
    """The tree of a dataset to the last file; a record may write its domain as it likes."""
    root, folder = tmp_path / "tree", "country=sg/category=news/date=2026-01-28"
    raw = root / "raw" / folder
    raw.mkdir(parents=True)
    records = [record(f"https://{MOM}/", MOM), record(f"https://{MOH}/", MOH.upper())]
    (raw / "raw_0001.json").write_text(json.dumps(records), "utf-8")
    described = {"country": "sg", "category": "news", "date": "2026-01-28"}
    counts = {"file_count": 1, "record_count": 2, "created_at": "2026-01-28T15:30:00Z"}
    (raw / "raw_metadata.json").write_text(json.dumps(described | counts), "utf-8")
    assert geomi_seeds("run", str(root), "-q").code == 0
    made = ("domain_metadata.json", "domain_metadata.json.success", "robots.txt", "sitemap.xml")
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*.*") if path.is_file()) == [
        *(f"prod/{folder}/{domain}/{name}" for domain in (MOH, MOM) for name in made),
        f"raw/{folder}/raw_0001.json",
        f"raw/{folder}/raw_0001.json.success",
        f"raw/{folder}/raw_metadata.json",
    ]
    assert here("validate", str(root)).code == 0


@pytest.mark.req("SED-07", "SED-08", "SED-21")
def test_a_record_has_its_eleven_fields_or_is_rejected(
    geomi_seeds: Command, web: Web, dataset: Path
) -> None:
    good = record(f"https://{MOM}/", MOM)
    lacking = [{key: value for key, value in good.items() if key != name} for name in good]
    wrong = [
        good | {"domain_id": f"gov:my:{MOM}"},
        good | {"domain_id": f"com:sg:{MOM}"},
        good | {"domain_id": f"gov:sg:{MOH}"},
        good | {"discovered_at": "2026-01-28 10:00"},
    ]
    assert len(lacking) == 11
    raw = dataset / f"raw/{FOLDER}"
    (raw / "raw_0001.json").write_text(json.dumps([*lacking, *wrong, good]), "utf-8")
    (raw / "raw_0002.json").write_text("[{", "utf-8")
    assert geomi_seeds("run", str(dataset), "-q", "--set", "seeds.max_retries=0").code == 8
    rejects = (dataset / f"rejects/{FOLDER}/raw_0001.jsonl").read_text("utf-8").splitlines()
    reasons = [json.loads(line)["reason"] for line in rejects]
    assert reasons[:11] == [f"{name} is missing" for name in good]
    assert [reason.partition(" ")[0] for reason in reasons[11:]] == [
        "domain_id", "domain_id", "domain_id", "discovered_at",
    ]  # fmt: skip
    told = contract(dataset, MOM)
    assert (told["domain_id"], len(told["urls"])) == (f"gov:sg:{MOM}", 1)
    (letter,) = geomi_seeds("dlq", "list", str(dataset), "--json").json
    message = geomi_seeds("dlq", "show", str(dataset), letter["id"], "--json").json[
        "original_message"
    ]
    assert (
        message.items()
        >= {
            "file_path": f"raw/{FOLDER}/raw_0002.json",
            "partition_info": {"country": "sg", "category": "news", "date": "2026-01-28"},
        }.items()
    )


@pytest.mark.req("SED-04", "SED-34")
def test_a_rerun_writes_fresh_metadata(
    here: Command, tmp_path: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--force` asks again, and `prod/` is what the servers say now; `raw/` stays."""
    routes = dict(WEB)
    with seed_web(tmp_path, *DOMAINS, routes=routes) as served:
        for name, value in served.env.items():
            monkeypatch.setenv(name, value)
        raw = (dataset / f"raw/{FOLDER}/raw_0001.json").read_bytes()
        run_it = ("run", str(dataset), "-q", "-o", str(tmp_path / "data"))
        assert here(*run_it).code == 0
        first = contract(dataset, MOM)
        routes["/robots.txt"] = Reply(b"User-agent: *\nDisallow: /\n", content_type="text/plain")
        del routes["/sitemap.xml"]
        assert here(*run_it).code == 0
        assert contract(dataset, MOM) == first, "nothing is asked without --force"
        assert here(*run_it, "--force").code == 0
    second = contract(dataset, MOM)["technical_metadata"]
    assert first["technical_metadata"]["robots_txt"]["allows_crawling"] is True
    assert second["robots_txt"]["allows_crawling"] is False
    assert (dataset / PROD / MOM / "robots.txt").read_bytes().endswith(b"Disallow: /\n")
    assert first["technical_metadata"]["sitemap_xml"]["exists"] is True
    assert second["sitemap_xml"]["exists"] is False
    assert not (dataset / PROD / MOM / "sitemap.xml").exists()
    assert (dataset / f"raw/{FOLDER}/raw_0001.json").read_bytes() == raw


def compressed(seen: Seen) -> Reply:
    """Answer a GET for a page as servers do: in the coding that the request accepts."""
    coding = "gzip" if "gzip" in seen.headers.get("accept-encoding", "") else ""
    body, headers = b"<h1>home</h1>" * 100, (("Server", "nginx/1.18.0"),)
    if coding and seen.method == "GET":
        return Reply(gzip.compress(body), headers=(*headers, ("Content-Encoding", coding)))
    return Reply(body, headers=headers)


@pytest.mark.req("SED-12", "SED-30", "SED-45")
@pytest.mark.parametrize(
    ("routes", "encoding", "asked"),
    [
        ({"/": compressed}, "gzip", ["/robots.txt", "/sitemap.xml", "/"]),
        (
            {"/": Reply(status=302, headers=(("Location", "/en"),)), "/en": compressed},
            "gzip",
            ["/robots.txt", "/sitemap.xml", "/", "/en"],
        ),
        (
            {"/": compressed, "/robots.txt": Reply(b"User-agent: *\nDisallow: /\n")},
            None,
            ["/robots.txt"],
        ),
        (
            {"/": Reply(status=302, headers=(("Location", "https://moh.gov.sg/"),))},
            None,
            ["/robots.txt", "/sitemap.xml", "/"],
        ),
        ({"/sitemap.xml": compressed}, "gzip", ["/robots.txt", "/sitemap.xml"]),
    ],
    ids=["home", "redirected", "forbidden", "elsewhere", "shown by the sitemap"],
)
def test_a_request_that_can_show_it_shows_the_content_encoding(
    here: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    routes: dict[str, Route],
    encoding: str | None,
    asked: list[str],
) -> None:
    put_raw(tmp_path / "seeds", 1, MOM)
    with seed_web(tmp_path, MOM, routes={**WEB, **routes}) as served:
        for name, value in served.env.items():
            monkeypatch.setenv(name, value)
        done = here("run", str(tmp_path / "seeds"), "-q", "-o", str(tmp_path / "data"))
        assert done.code == 0, done.err
        assert [seen.path for seen in served.site.log] == asked
        assert {seen.method for seen in served.site.log} == {"GET"}
    told = contract(tmp_path / "seeds", MOM)["technical_metadata"]["server_info"]
    assert told["content_encoding"] == encoding
    assert told["supports_https"] is True
    assert told["server"] == ("nginx/1.18.0" if encoding else None)


@pytest.mark.slow
def test_several_processes_share_the_work_and_ask_nobody_twice(
    web: Web, tmp_path: Path, dataset: Path
) -> None:
    for number in range(2, 6):
        put_raw(dataset, number, *DOMAINS)
    done = seeds(web, tmp_path, "run", str(dataset), "--workers", "3", "--json")
    assert done.returncode == 0, done.stderr
    told = last_line(done)
    assert (told["files"], told["processing_stats"]["domains_processed"]) == (5, 3)
    assert web.asked("/robots.txt") == len(DOMAINS)
    contract = json.loads(
        (dataset / f"prod/{FOLDER}/{DOMAINS[0]}/domain_metadata.json").read_text()
    )
    assert [url["path"] for url in contract["urls"]] == [f"/{number}" for number in range(1, 6)]


@pytest.mark.slow
@pytest.mark.req("DAT-09", "SED-37")
def test_processes_share_the_queues_of_a_database(
    web: Web, tmp_path: Path, dataset: Path, cluster: Cluster
) -> None:
    db = cluster.new_schema()
    put_raw(dataset, 2, *DOMAINS)
    done = seeds(web, tmp_path, "run", str(dataset), "--workers", "2", "--db", db, "--json")
    assert done.returncode == 0, done.stderr
    assert web.asked("/robots.txt") == len(DOMAINS)
    told = seeds(web, tmp_path, "status", str(dataset), "--json", GEOMI_DB=db)
    assert json.loads(told.stdout)["processing_stats"] == last_line(done)["processing_stats"]
    assert not (tmp_path / "data" / "geomi.db").exists()


@pytest.mark.slow
def test_whoever_serves_the_queues_works_on_what_others_send(
    web: Web, tmp_path: Path, dataset: Path
) -> None:
    command = [*GEOMI, "seeds", "work", str(dataset), "-o", str(tmp_path / "data"), "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=clean_env() | web.env
    ) as worker:
        try:
            sent = seeds(web, tmp_path, "orchestrate", str(dataset), "--country", "sg", "--json")
            assert json.loads(sent.stdout) == {
                "success": True,
                "data": {"files_found": 1, "sent": 1, "skipped": 0},
            }
            assert worker.stdout is not None
            seen: Counter[str] = Counter()
            for line in worker.stdout:
                seen[json.loads(line)["event"]] += 1
                if seen["seed_domain"] == len(DOMAINS):
                    break
            os.kill(worker.pid, signal.SIGTERM)
            assert worker.wait(timeout=30) == 0
        finally:
            worker.kill()


@pytest.mark.slow
def test_ctrl_c_finishes_what_is_in_hand_and_the_next_run_goes_on(
    tmp_path: Path, dataset: Path
) -> None:
    asked, gate = threading.Event(), threading.Event()

    def slow(_: object) -> Reply:
        asked.set()
        gate.wait(20)
        return ROBOTS

    with seed_web(tmp_path, *DOMAINS, routes={**WEB, "/robots.txt": slow}) as web:
        command = [*GEOMI, "seeds", "run", str(dataset), "-o", str(tmp_path / "data"), "-q"]
        one = ("--set", "seeds.domain_batch=1")
        with subprocess.Popen(
            [*command, *one], stderr=subprocess.PIPE, text=True, env=clean_env() | web.env
        ) as process:
            try:
                assert asked.wait(30)
                os.kill(process.pid, signal.SIGINT)
                assert process.stderr is not None
                assert process.stderr.readline().startswith("finishing the current work")
                gate.set()
                assert process.wait(timeout=30) == 130
                assert "the same command continues" in process.stderr.read()
            finally:
                process.kill()
        done = list((dataset / f"prod/{FOLDER}").glob("*/domain_metadata.json.success"))
        assert len(done) == 1  # what was in hand, and nothing more
        again = seeds(web, tmp_path, "run", str(dataset), "--json")
        assert again.returncode == 0
        assert last_line(again)["processing_stats"]["domains_processed"] == len(DOMAINS)
        assert web.asked("/robots.txt") == len(DOMAINS)


@pytest.mark.slow
def test_a_second_ctrl_c_stops_a_run_whose_bucket_does_not_answer(web: Web, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(30)
        place = f"s3://bucket/seeds?endpoint=http://127.0.0.1:{silent.getsockname()[1]}&region=x"
        keys = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
        with subprocess.Popen(
            [*GEOMI, "seeds", "run", place, "-o", str(tmp_path / "data"), "-q"],
            stderr=subprocess.PIPE,
            text=True,
            env=clean_env() | web.env | keys,
        ) as process:
            try:
                connection, _ = silent.accept()
                with connection:
                    os.kill(process.pid, signal.SIGINT)
                    assert process.stderr is not None
                    assert process.stderr.readline().startswith("finishing the current work")
                    os.kill(process.pid, signal.SIGINT)
                    assert process.wait(timeout=30) == 130
                    assert "the same command continues" in process.stderr.read()
            finally:
                process.kill()


@pytest.mark.slow
def test_a_process_that_dies_is_told_and_its_domain_is_done_by_another(
    tmp_path: Path, dataset: Path
) -> None:
    asked: set[str] = set()
    both = threading.Event()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n"

    def slow(seen: Seen) -> Raw:
        asked.add(seen.host)
        if len(asked) == 2:
            both.set()
        return Raw((head, 1.5, b"# -"))

    with seed_web(tmp_path, *DOMAINS, routes={**WEB, "/robots.txt": slow}) as web:
        command = [*GEOMI, "seeds", "run", str(dataset), "-o", str(tmp_path / "data")]
        # A dead worker's host comes back when the longest request would be over.
        short = [f"{part}.{name}_timeout_s=3" for part in ("http", "robots") for name in TIMEOUTS]
        sets = [flag for one in ("seeds.domain_batch=1", *short) for flag in ("--set", one)]
        flags = ("--workers", "2", "--json", *sets)
        with subprocess.Popen(
            [*command, *flags],
            stdout=subprocess.PIPE,
            text=True,
            env=clean_env() | web.env | {"GEOMI_SILENCE_S": "1"},
        ) as process:
            try:
                assert both.wait(30)
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
                (child,) = children.read_text().split()
                os.kill(int(child), signal.SIGKILL)
                said, _ = process.communicate(timeout=60)
                assert process.returncode == 0, said
            finally:
                process.kill()
    lines = [json.loads(line) for line in said.splitlines()]
    told = [line["message"] for line in lines if line["event"] == "warning"]
    assert "a process that worked on seeds died" in told
    assert lines[-1]["processing_stats"]["domains_processed"] == len(DOMAINS)


@pytest.mark.req("SED-03")
def test_validate_names_what_is_wrong_and_changes_nothing(
    here: Command, tmp_path: Path, dataset: Path
) -> None:
    good = here("validate", str(dataset))
    assert good.code == 0 and re.search(r"^problems +0$", good.out, re.M), good.err
    (dataset / f"raw/{FOLDER}/raw_0002.json").write_text("[{")
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    bad = here("validate", str(dataset), "--country", "sg", "--json")
    (problem,) = bad.json["problems"]
    assert bad.code == 1 and problem["key"] == f"raw/{FOLDER}/raw_0002.json"
    shown = here("validate", str(dataset))
    assert shown.code == 1 and f"{problem['key']}: {problem['what']}" in shown.out
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.req("SED-16", "SED-37")
def test_the_service_does_it_by_itself(web: Web, tmp_path: Path, dataset: Path) -> None:
    (tmp_path / "other").mkdir()
    env = {**web.env, "GEOMI_DATASETS": f"default={dataset},acme={tmp_path / 'other'}"}
    with Served(tmp_path / "served", env=env) as served:
        assert "GEOMI_DATASETS names tenant `acme`, which does not exist" in served.greeting
        assert "tenant `default`" not in served.greeting
        assert served.post("/seeds/orchestrate", {})["data"]["sent"] == 1
        path = dataset / f"prod/{FOLDER}"
        for _ in range(600):
            stats = served.get("/seeds/status")["processing_stats"]
            if stats["domains_processed"] == len(DOMAINS):
                break
            time.sleep(0.1)  # another process tells nobody
        assert sorted(one.name for one in path.iterdir()) == sorted(DOMAINS)
        # The command line speaks for the tenant whose dataset it is.
        told = run(
            "seeds", "status", str(dataset), "--json", "-o", str(tmp_path / "served"), env=env
        )
        assert json.loads(told.stdout)["processing_stats"] == stats
        # Whoever works in another process is counted here, too.
        request = urllib.request.Request(f"{served.url.rstrip('/')}/metrics")
        request.add_header("Authorization", f"Bearer {served.key}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            metrics = answer.read().decode()
        assert f"geomi_seed_domain_seconds_count {len(DOMAINS)}" in metrics
        assert "geomi_seed_file_seconds_count 1" in metrics
        served.stop()


def commands() -> str:
    """Return every command of the how-to, in order."""
    blocks = re.findall(r"```sh\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.S)
    return "\n".join(blocks)


TIMES = ("processed_at", "processing_duration_ms", "response_time_avg_ms")


def without_times(told: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that another contract has, without those that a clock fills in."""
    return {
        name: without_times(told[name], value) if isinstance(value, dict) else told[name]
        for name, value in like.items()
        if name not in TIMES
    }


@pytest.mark.slow
@pytest.mark.req("SED-01", "SED-02", "SED-09")
def test_the_how_to_makes_the_contract_of_the_seed_of_the_records_of_the_seed(
    tmp_path: Path,
) -> None:
    (given,) = re.findall(r"<<'JSON'\n(.*?)JSON\n", commands(), re.S)
    assert tuple(json.loads(given)) == RECORDS
    text = Reply(f"<html><title>News</title><p>{'All the news. ' * 30}".encode())
    paths = [one["url"].removeprefix("https://mom.gov.sg") for one in RECORDS]
    routes: dict[str, Route] = {**example_files("mom.gov.sg"), **dict.fromkeys(paths, text)}
    with seed_web(tmp_path, "mom.gov.sg", routes=routes) as web:
        _follow_the_how_to(web, tmp_path)
        assert web.asked("/robots.txt") == 1, "the crawl asked for none"
        assert [web.asked(path) for path in paths] == [1, 1]
    written = tmp_path / "desk/seeds/prod" / FOLDER / "mom.gov.sg" / "domain_metadata.json"
    told = json.loads(written.read_text("utf-8"))
    assert without_times(told, CONTRACT) == without_times(CONTRACT, CONTRACT)
    for name in TIMES[1:]:
        assert f'"{name}": ' in written.read_text("utf-8")
    assert told["processing_metadata"]["processed_at"].endswith("Z")


def _follow_the_how_to(web: Web, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "geomi"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m geomi "$@"\n')
    program.chmod(0o755)
    (tmp_path / "desk").mkdir()
    path = f"{program.parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands()],
        cwd=tmp_path / "desk",
        # What is broken stays so: nobody here waits for three more tries.
        env=clean_env() | web.env | {"PATH": path, "GEOMI_CRAWL_SEEDS__MAX_RETRIES": "0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"domain_id": "gov:sg:mom.gov.sg"' in done.stdout
    assert "parse_error" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("run", "/nowhere/at/all"), 4, "/nowhere/at/all"),
        (("run", "ftp://example.org/x"), 2, "ftp://example.org/x"),
        (("run", ".", "--country", "Singapore"), 2, "Singapore"),
        (("status", ".", "--date", "2026-02-30"), 2, "2026-02-30"),
        (("status", "."), 4, "has no geomi data"),
        (("dlq", "retry", "."), 2, "no dead letter is named"),
        (("dlq", "drop", ".", "01K", "--all"), 2, "both given"),
        (("dlq", "show", "."), 2, "Missing argument"),
        (("run", ".", "--set", "seeds.domain_batch=0"), 2, "seeds.domain_batch"),
        (("run", ".", "--profile", "nope"), 2, "nope"),
        (("run", ".", "--set", "seeds.seed_queue=newsfork-domain-staging"), 2, "both be called"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    here: Command, tmp_path: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    done = here(*arguments)
    assert done.code == code, done.err
    assert told in done.err and "Traceback" not in done.err
    assert done.err.startswith("error: ") and done.out == ""
    assert list(tmp_path.iterdir()) == []
