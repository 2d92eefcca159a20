"""Data on stdout: scrape, status, export, jobs, config and backup."""

from __future__ import annotations

import gzip
import json
import os
import pty
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest

from geomi import __version__
from tests.e2e.command import GEOMI, clean_env, records, run
from tests.support.server import Reply, Site
from tests.support.webs import random_web

PAGES = 8
FOLDERS = ("raw", "extracted")
HERE = ("--allow-private", "--delay", "0", "-q", "-d", "50")


@dataclass(frozen=True, slots=True)
class Crawled:
    """A data directory with one finished job."""

    folder: Path
    seed: str

    def ask(self, *arguments: str) -> str:
        told = run(*arguments, "-o", str(self.folder))
        assert told.returncode == 0, told.stderr
        return told.stdout

    @property
    def job(self) -> str:
        (folder,) = (self.folder / "jobs").iterdir()
        return folder.name


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("crawled")
    with Site(random_web(11, pages=PAGES).routes) as site:
        assert run("crawl", site.url("/"), *HERE, "-o", str(folder)).returncode == 0
        yield Crawled(folder, site.url("/"))


@pytest.fixture
def crawled(original: Crawled, tmp_path: Path) -> Crawled:
    """A copy that a test may change."""
    shutil.copytree(original.folder, tmp_path / "copy", symlinks=True)
    return Crawled(tmp_path / "copy", original.seed)


def test_the_version_is_one_line() -> None:
    assert run("--version").stdout == f"geomi {__version__}\n"


@pytest.mark.slow
def test_scrape_prints_markdown_and_with_json_the_record() -> None:
    page = Reply("<title>T</title><h1>거미</h1><p>Some <b>bold</b> words.".encode())
    with Site({"/": page}) as site:
        text = run("scrape", site.url("/"), *HERE[:1], "-H", "X-Test: 1", "--user-agent", "bot/2")
        assert text.returncode == 0, text.stderr
        headers = site.log[-1].headers
        data = run("scrape", site.url("/"), *HERE[:1], "--json", "--set", "politeness.delay_s=0")
    assert text.stdout == "# 거미\n\nSome **bold** words.\n"
    assert text.stderr == ""
    assert (headers["x-test"], headers["user-agent"]) == ("1", "bot/2")
    record = json.loads(data.stdout)
    assert (record["title"], record["url"]) == ("T", site.url("/"))


def test_status_tells_counters_hosts_and_rules(original: Crawled) -> None:
    data = json.loads(original.ask("status", "--json"))
    assert data["job"]["state"] == "completed"
    assert data["job"]["stats"]["collected"] == PAGES
    assert data["states"] == {"completed": PAGES}
    assert data["outcomes"] == {"ok": PAGES}
    assert list(data["hosts"].values()) == [{"completed": PAGES}]
    text = original.ask("status")
    assert f"{PAGES} completed" in text
    assert "completed (done)" in text


def test_export_writes_json_lines_that_equal_the_crawls_own(
    original: Crawled, tmp_path: Path
) -> None:
    told = original.ask("export", "-f", "jsonl")
    assert told == (original.folder / "pages.jsonl").read_text("utf-8")
    file = tmp_path / "again.jsonl"
    summary = json.loads(original.ask("export", "-f", "jsonl", "--to", str(file), "--json"))
    assert (summary["count"], summary["to"]) == (PAGES, str(file))
    assert file.read_text("utf-8") == told


def test_export_writes_markdown_that_equals_the_crawls_own(
    original: Crawled, tmp_path: Path
) -> None:
    original.ask("export", "-f", "md", "--to", str(tmp_path / "md"))
    assert _tree(tmp_path / "md") == _tree(original.folder / "md")


@pytest.mark.parametrize("form", ["llms", "llms-full", "cdxj", "parquet"])
def test_export_writes_every_form(original: Crawled, tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    file = tmp_path / "out"
    told = json.loads(original.ask("export", "-f", form, "--to", str(file), "--json"))
    assert (told["format"], told["count"]) == (form, PAGES)
    command = [*GEOMI, "export", "-f", form, "-o", str(original.folder)]
    piped = subprocess.run(command, capture_output=True, env=clean_env(), check=True)
    assert piped.stdout == file.read_bytes()
    assert len(piped.stdout) > PAGES


def test_export_writes_the_layout_of_a_knowledge_base(original: Crawled, tmp_path: Path) -> None:
    told = json.loads(original.ask("export", "-f", "kb", "--to", str(tmp_path / "kb"), "--json"))
    assert (told["format"], told["count"]) == ("kb", PAGES)
    pages = tmp_path / "kb" / "crawls" / "local" / original.job
    raw, extracted = ({path.stem for path in (pages / name).iterdir()} for name in FOLDERS)
    assert raw == extracted
    assert len(raw) == PAGES
    refused = run("export", "-f", "kb", "--to", "-", "-o", str(original.folder))
    assert refused.returncode == 2
    assert "has no place on stdout" in refused.stderr


def test_export_makes_markdown_again_where_it_was(crawled: Crawled) -> None:
    before = _tree(crawled.folder / "md")
    shutil.rmtree(crawled.folder / "jobs" / crawled.job / "md")
    crawled.ask("export", "-f", "md")
    assert _tree(crawled.folder / "md") == before


def test_export_writes_one_warc_file_without_what_is_not_committed(
    crawled: Crawled, tmp_path: Path
) -> None:
    (segment,) = (crawled.folder / "warc").glob("*.warc.gz")
    whole = segment.read_bytes()
    segment.write_bytes(whole + b"\x1f\x8b half a record that a dead worker left")
    file = tmp_path / "all.warc.gz"
    crawled.ask("export", "-f", "warc", "--to", str(file))
    assert file.read_bytes() == whole
    text = gzip.decompress(file.read_bytes())
    assert text.count(b"WARC-Type: response") == PAGES
    piped = subprocess.run(
        [*GEOMI, "export", "-f", "warc", "-o", str(crawled.folder)],
        capture_output=True,
        env=clean_env(),
        check=True,
    )
    assert piped.stdout == whole


def test_export_names_a_segment_that_is_lost(crawled: Crawled) -> None:
    (segment,) = (crawled.folder / "warc").glob("*.warc.gz")
    segment.unlink()
    told = run("export", "-f", "warc", "--to", "x.warc.gz", "-o", str(crawled.folder))
    assert told.returncode == 4
    assert segment.name in told.stderr
    assert not Path("x.warc.gz").exists()


def test_warc_is_not_written_to_a_terminal(original: Crawled) -> None:
    ours, theirs = pty.openpty()
    told = subprocess.run(
        [*GEOMI, "export", "-f", "warc", "-o", str(original.folder)],
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_env(),
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert told.returncode == 2
    assert "error: a WARC file is not for a terminal" in told.stderr


@pytest.mark.slow
def test_jobs_are_listed_and_shown(crawled: Crawled) -> None:
    listed = json.loads(crawled.ask("jobs", "list", "--json"))
    assert [job["id"] for job in listed] == [crawled.job]
    assert crawled.job in crawled.ask("jobs", "list")
    shown = json.loads(crawled.ask("jobs", "show", crawled.job[-6:], "--json"))
    assert shown["origins"]["limits.max_depth"] == "flag --depth"
    assert "limits.max_depth" in crawled.ask("jobs", "show")
    over = run("jobs", "pause", "latest", "-o", str(crawled.folder))
    assert (over.returncode, over.stdout) == (2, "")
    assert "only an unfinished job can pause" in over.stderr


@pytest.mark.slow
@pytest.mark.req("JOB-14")
def test_an_unfinished_job_can_be_paused_resumed_and_cancelled(tmp_path: Path) -> None:
    folder = ["-o", str(tmp_path)]
    no_room = {"GEOMI_MIN_FREE_BYTES": str(10**18)}
    assert run("crawl", "http://127.0.0.1/", *HERE, *folder, env=no_room).returncode == 3
    paused = json.loads(run("jobs", "pause", "latest", *folder, "--json").stdout)
    assert (paused["state"], paused["paused"]) == ("processing", True)
    resumed = run("jobs", "resume", "latest", *folder)
    assert resumed.returncode == 0
    assert "geomi crawl http://127.0.0.1/" in resumed.stderr
    too_early = run("jobs", "delete", "latest", "--yes", *folder)
    assert too_early.returncode == 2
    assert "hint: geomi jobs cancel" in too_early.stderr
    cancelled = json.loads(run("jobs", "cancel", "latest", *folder, "--json").stdout)
    assert (cancelled["state"], cancelled["stop"]) == ("cancelled", "cancelled")


def test_deleting_asks_first_and_then_leaves_nothing(crawled: Crawled) -> None:
    folder = ["-o", str(crawled.folder)]
    asked = run("jobs", "delete", "latest", *folder)
    assert (asked.returncode, asked.stderr.splitlines()[-1]) == (2, "hint: add --yes")
    assert len(records(crawled.folder)) == PAGES
    crawled.ask("jobs", "delete", "latest", "--yes")
    assert json.loads(crawled.ask("jobs", "list", "--json")) == []
    assert list((crawled.folder / "jobs").iterdir()) == []
    assert not (crawled.folder / "pages.jsonl").is_symlink()


def test_clean_says_what_would_go_and_lets_it_go(tmp_path: Path) -> None:
    folder = ["-o", str(tmp_path)]
    with Site(random_web(3, pages=3).routes) as site:
        kept = ["--set", "retention.urls_days=0.000001"]
        assert run("crawl", site.url("/"), *folder, *HERE, *kept).returncode == 0
    (would,) = json.loads(run("clean", *folder, "--dry-run", "--json").stdout)
    assert (would["what"], would["urls"], would["pages"]) == ("urls", 3, 3)
    assert "nothing was deleted" in run("clean", *folder, "--dry-run").stderr
    assert json.loads(run("clean", *folder, "--json").stdout) == {
        "urls_of": [would["job"]],
        "jobs": [],
        "left": {},
    }
    assert "0 jobs are gone, and the URLs of 0 others" in run("clean", *folder).stderr


def test_config_show_names_every_origin(tmp_path: Path) -> None:
    (tmp_path / "geomi.toml").write_text("[crawl]\ndepth = 4\n[geomi]\ncontact = 'me@a.test'\n")
    env = {
        "GEOMI_CRAWL_MAX_PAGES": "9",
        "GEOMI_MIN_FREE_BYTES": "1",
        "https_proxy": "http://user:word@proxy.test:3128",
        "GEOMI_CRAWL_HEADER": "Authorization: Bearer word",
    }
    told = run(
        "config", "show", "--origin", "--json", "--profile", "docs", "--set", "render=never",
        cwd=tmp_path, env=env,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert "word" not in told.stdout, "what opens doors is hidden"
    settings = json.loads(told.stdout)
    wanted = {
        "limits.max_depth": (4, "file geomi.toml"),
        "limits.max_pages": (9, "environment GEOMI_CRAWL_MAX_PAGES"),
        "politeness.concurrency": (3, "profile docs"),
        "render": ("never", "flag --set"),
        "run.profile": ("docs", "flag --profile"),
        "scope.within": ("host", "default"),
        "http.contact": ("me@a.test", "process settings"),
        "http.headers": (["Authorization: ***"], "environment GEOMI_CRAWL_HEADER"),
        "geomi.contact": ("me@a.test", "file"),
        "geomi.min_free_bytes": (1, "environment GEOMI_MIN_FREE_BYTES"),
        "geomi.https_proxy": ("http://***@proxy.test:3128", "environment https_proxy"),
        "geomi.allow_private": (False, "default"),
    }
    assert {key: (settings[key]["value"], settings[key]["origin"]) for key in wanted} == wanted
    text = run("config", "show", "--origin", cwd=tmp_path).stdout.splitlines()
    assert any(line.split("#")[1].strip() == "file geomi.toml" for line in text if "_depth" in line)
    assert "limits.max_depth = 4" in run("config", "show", cwd=tmp_path).stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["backup.tar", "backup.tar.gz"])
def test_a_backup_comes_back_whole(crawled: Crawled, tmp_path: Path, name: str) -> None:
    file, restored = tmp_path / name, tmp_path / "restored"
    packed = json.loads(crawled.ask("backup", str(file), "--json"))
    assert (packed["jobs"], packed["files"]) == (1, PAGES + 2)
    told = run("restore", str(file), "-o", str(restored), "--json")
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout)["files"] == PAGES + 2
    assert records(restored) == records(crawled.folder)
    assert _tree(restored / "md") == _tree(crawled.folder / "md")
    again = Crawled(restored, crawled.seed)
    assert again.ask("export", "-f", "jsonl") == crawled.ask("export", "-f", "jsonl")
    assert again.ask("status", "--json") == crawled.ask("status", "--json")


def test_a_backup_holds_what_is_committed_and_no_more(crawled: Crawled, tmp_path: Path) -> None:
    lines = crawled.folder / "jobs" / crawled.job / "pages.jsonl"
    before = lines.read_bytes()
    lines.write_bytes(before + b'{"url": "half a li')
    crawled.ask("backup", str(tmp_path / "b.tar"))
    with tarfile.open(tmp_path / "b.tar") as tar:
        member = tar.extractfile(f"jobs/{crawled.job}/pages.jsonl")
        assert member is not None
        assert member.read() == before


@pytest.mark.slow
def test_a_backup_and_a_restore_overwrite_nothing(crawled: Crawled, tmp_path: Path) -> None:
    file = tmp_path / "b.tar"
    crawled.ask("backup", str(file))
    size = file.stat().st_size
    twice = run("backup", str(file), "-o", str(crawled.folder))
    assert (twice.returncode, file.stat().st_size) == (2, size)
    onto = run("restore", str(file), "-o", str(crawled.folder))
    assert onto.returncode == 2
    assert "is not an empty directory" in onto.stderr


@pytest.mark.parametrize("name", ["../outside", "/tmp/geomi-outside", "jobs/../../outside"])
def test_a_backup_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "evil.tar"
    with tarfile.open(file, "w") as tar:
        for member in ("geomi.db", name):
            info = tarfile.TarInfo(member)
            info.size = 4
            tar.addfile(info, BytesIO(b"evil"))
    told = run("restore", str(file), "-o", str(tmp_path / "in" / "side"), cwd=tmp_path)
    assert told.returncode == 4
    assert "cannot be read as a backup" in told.stderr or "cannot be used" in told.stderr
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "in" / "outside").exists()
    assert not (tmp_path / "in" / "side").exists()


@pytest.mark.parametrize("content", [b"", b"no tar at all", gzip.compress(b"nor this", mtime=0)])
def test_a_file_that_is_no_backup_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.tar").write_bytes(content)
    told = run("restore", "x.tar", "-o", "data", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (4, "")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("env", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_and_no_color_switches_it_off(
    original: Crawled, env: dict[str, str], is_coloured: bool
) -> None:
    ours, theirs = pty.openpty()
    told = subprocess.run(
        [*GEOMI, "why", original.seed, "-o", str(original.folder)],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={name: it for name, it in clean_env().items() if name != "NO_COLOR"}
        | {"TERM": "xterm-256color"}
        | env,
        check=True,
    )
    os.close(theirs)
    shown = os.read(ours, 65_536)
    os.close(ours)
    assert told.stderr == b""
    assert (b"\x1b[32m" in shown) is is_coloured
    assert "✓".encode() in shown


def _tree(folder: Path) -> dict[str, bytes]:
    folder = folder.resolve()
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.md")}
