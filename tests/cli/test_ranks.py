"""`geomi ranks`: rank lists and own tables, read, refreshed, looked up and obeyed (PRI-06)."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zipfile
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from geomi.app.use import own_traffic, ranks
from geomi.app.use.ranks import RankFile
from geomi.cli.program import main
from geomi.errors import ConfigError
from tests.e2e.command import LOCAL
from tests.support.crawl import page
from tests.support.server import End, Raw, Reply, Route, Seen, Site

LISTED = "1,busy.test\r\n2,example.co.uk\r\n"
MAJESTIC = (
    "GlobalRank,TldRank,Domain,TLD,RefSubNets,RefIPs,IDN_Domain,IDN_TLD,PrevGlobalRank\n"
    "1,1,busy.test,test,5,9,busy.test,test,1\n2,1,example.co.uk,uk,4,8,example.co.uk,uk,3\n"
)
CRUX = "origin,rank\nhttps://busy.test,1\nhttp://busy.test,1000\nhttps://example.co.uk,2\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run commands in this process, on a data directory; return code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GEOMI_CONFIG", raising=False)
    monkeypatch.setenv("GEOMI_ALLOW_PRIVATE", "1")
    monkeypatch.setenv("GEOMI_MIN_DELAY_S", "0")

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["geomi", *arguments, "-o", str(tmp_path / "data")])
        code = main()
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return command


def zipped(text: str, *names: str) -> bytes:
    """Return a zip file with this text under each name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names or ("top-1m.csv",):
            packed.writestr(name, text)
    return file.getvalue()


def asked(run: Run, command: str, *arguments: str) -> dict[str, Any]:
    """Run a command of `geomi ranks` that must succeed, and return its JSON."""
    code, out, err = run("ranks", command, *arguments, "--json")
    assert code == 0, err
    return dict(json.loads(out))


@pytest.mark.req("PRI-06")
@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("top.csv", ("rank,domain\n" + LISTED).encode(), "tranco"),
        ("top-1m.csv.gz", gzip.compress(LISTED.encode()), "tranco"),
        ("umbrella-top-1m.csv.zip", zipped(LISTED), "umbrella"),
        ("majestic_million.csv", MAJESTIC.encode(), "majestic"),
        ("current.csv.gz", gzip.compress(CRUX.encode()), "crux"),
    ],
)
def test_a_list_is_recognised_and_domains_are_found_in_it(
    run: Run, tmp_path: Path, name: str, content: bytes, kind: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    read = asked(run, "import", str(file))
    assert (read["domains"], read["kind"], read["origin"]) == (2, kind, str(file))
    assert asked(run, "show", "https://docs.example.co.uk/x") == {
        "domain": "docs.example.co.uk",
        "listed_as": "example.co.uk",
        "rank": 2,
        "traffic": 0.957,
        "domains": 2,
        "own": False,
    }
    assert asked(run, "show", "quiet.test")["rank"] is None
    assert asked(run, "show", "busy.test")["rank"] == 1


@pytest.mark.req("PRI-06")
def test_a_list_must_be_of_the_kind_that_is_named(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "top.csv"
    file.write_text(LISTED)
    refused = run("ranks", "import", str(file), "--kind", "majestic")
    assert refused[0] == 2
    assert "is no list of majestic: it begins `1,busy.test`" in refused[2]
    assert asked(run, "import", str(file), "--kind", "umbrella")["kind"] == "umbrella"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "has no domain"),
        (b"rank,domain\n", "has no domain"),
        (b"1,a.test\nnonsense\n", "line 2: `nonsense` is not a rank"),
        (b"1,a.test\n2," + b"b" * 700, "more than 600 bytes"),
        (b"\x1f\x8bnot gzip at all", "cannot be read"),
        (gzip.compress(b"1,a.test\n" * 999)[:-9], "cannot be read"),
        (b"PK\x03\x04not zip at all", "cannot be read"),
        (zipped(LISTED, "a.csv", "b.csv"), "it holds 2 .csv files, not one"),
        (zipped(LISTED, "readme.txt"), "it holds 0 .csv files, not one"),
        (zipped(LISTED, *(f"{number}.csv" for number in range(20_000))), "its directory has more"),
    ],
    ids=[
        "empty", "heading", "nonsense", "long", "broken", "cut-off", "no-zip", "two", "none", "many"
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_read_changes_nothing(
    run: Run, tmp_path: Path, content: bytes, told: str
) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(LISTED)
    bad.write_bytes(content)
    assert run("ranks", "import", str(good))[0] == 0
    refused = run("ranks", "import", str(bad))
    assert refused[0] == 2
    assert told in refused[2]
    assert "rank 1 " in run("ranks", "show", "busy.test")[1]


def test_a_list_that_is_not_there(run: Run, tmp_path: Path) -> None:
    refused = run("ranks", "import", str(tmp_path / "none.csv"))
    assert refused[0] == 2
    assert "cannot be read: No such file" in refused[2]


@pytest.mark.parametrize("limit", ["MAX_NAMES", "MAX_LIST_BYTES", "MAX_FILE_BYTES"])
def test_lists_have_limits(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    file = tmp_path / "top.csv"
    file.write_text("1,a.test\n2,b.test\n3,c.test\n")
    size = file.stat().st_size
    most = {"MAX_NAMES": 3, "MAX_LIST_BYTES": size, "MAX_FILE_BYTES": size}
    monkeypatch.setattr(ranks, limit, most[limit])
    assert len(list(RankFile(file, "top.csv").read()[1])) == 3
    monkeypatch.setattr(ranks, limit, most[limit] - 1)
    with pytest.raises(ConfigError, match="more than"):
        list(RankFile(file, "top.csv").read()[1])


def test_a_zip_bomb_is_refused_while_it_inflates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bomb.zip"
    file.write_bytes(zipped("1,a.test\n" * 1_000_000))
    assert file.stat().st_size < 64 * 1024
    monkeypatch.setattr(ranks, "MAX_LIST_BYTES", 1024 * 1024)
    with pytest.raises(ConfigError, match="more than 1 MiB when inflated"):
        list(RankFile(file, "bomb.zip").read()[1])


@pytest.mark.slow
@pytest.mark.req("PRI-06")
def test_a_list_from_a_url_is_refreshed_only_if_it_has_changed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redirects are followed; the host's robots.txt is read first, and obeyed."""
    editions = [zipped(LISTED)]

    def listed(seen: Seen) -> Reply:
        etag = f'"{len(editions)}"'
        headers = (("ETag", etag), ("Last-Modified", formatdate(1, usegmt=True)))
        if seen.headers.get("if-none-match") == etag:
            return Reply(status=304, headers=headers)
        return Reply(editions[-1], content_type="application/zip", headers=headers)

    routes: dict[str, Route] = {
        "/robots.txt": Reply(b"User-agent: *\nDisallow: /closed\n", content_type="text/plain"),
        "/latest": Reply(status=302, headers=(("Location", "/umbrella/top-1m.csv.zip"),)),
        "/umbrella/top-1m.csv.zip": listed,
    }
    with Site(routes) as site:
        first = asked(run, "import", site.url("/latest"), "--kind", "umbrella")
        assert (first["domains"], first["kind"]) == (2, "umbrella")
        assert first["final_url"] == site.url("/umbrella/top-1m.csv.zip")
        assert site.log[0].path == "/robots.txt"
        assert site.log[1].headers["user-agent"].startswith("geomi/")
        same = asked(run, "refresh")
        assert (same["is_new"], same["imported_at_s"]) == (False, first["imported_at_s"])
        assert same["checked_at_s"] > first["checked_at_s"]
        editions.append(zipped("1,other.test\n"))
        assert asked(run, "refresh")["is_new"] is True
        shown = asked(run, "show")["list"]
        assert (shown["domains"], shown["origin"]) == (1, site.url("/latest"))
        assert "1 domains" in run("ranks", "show")[1]
        assert asked(run, "show", "busy.test")["rank"] is None

        editions.append(b"<html>we have moved</html>")
        broken = run("ranks", "refresh")
        assert (broken[0], "has no domain" in broken[2]) == (2, True)
        closed = run("ranks", "import", site.url("/closed"))
        assert (closed[0], "Disallow: /closed" in closed[2]) == (5, True)
        assert "/closed" not in [seen.path for seen in site.log]
        missing = run("ranks", "import", site.url("/none"))
        assert (missing[0], "HTTP 404" in missing[2]) == (5, True)
        monkeypatch.setenv("GEOMI_ALLOW_PRIVATE", "0")
        private = run("ranks", "refresh")
        assert (private[0], "address_refused" in private[2]) == (5, True)
    assert asked(run, "show", "other.test")["rank"] == 1


def test_a_list_from_a_file_is_not_watched(run: Run, tmp_path: Path) -> None:
    (tmp_path / "top.csv").write_text(LISTED)
    asked(run, "import", str(tmp_path / "top.csv"))
    refused = run("ranks", "refresh")
    assert (refused[0], "came from the file" in refused[2]) == (2, True)


@pytest.mark.req("PRI-06")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("views.csv", "place,views\na.test,1000\nhttps://b.test/shop/,100\nb.test,1\n"),
        ("shares.csv", "a.test,0.5\nb.test/shop/,0.05\nb.test,0.0005\n"),
        ("views.json", '{"a.test": 1000, "http://b.test/shop/": 100, "b.test": 1}'),
        (
            "list.json",
            '[{"host": "a.test", "views": 1000}, {"url": "https://b.test/shop/", "shares": 100},'
            ' {"place": "b.test", "share": "1"}]',
        ),
    ],
)
def test_an_own_table_counts_in_place_of_ranks(
    run: Run, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "top.csv").write_text(LISTED)
    (tmp_path / name).write_text(text)
    asked(run, "import", str(tmp_path / "top.csv"))
    assert asked(run, "own", str(tmp_path / name))["places"] == 3
    shown = asked(run, "show", "https://b.test/shop/item")
    assert (shown["own"], shown["listed_as"], shown["traffic"]) == (True, "b.test/shop/", 0.857)
    assert asked(run, "show", "busy.test")["traffic"] == 0
    assert asked(run, "show")["own"]["origin"] == str(tmp_path / name)
    assert asked(run, "show", "busy.test", "--tenant", "other")["traffic"] == 1
    asked(run, "own", "--remove")
    assert asked(run, "show", "busy.test")["traffic"] == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no place"),
        ("a.test,1\nb.test,many\n", "line 2: `many` is no number"),
        ("a.test,1\n two words,2\n", "line 2: `two words` is no host"),
        ("a.test,1\nb.test,-2\n", "line 2: `-2` is no number"),
        ("{", "is no JSON"),
        ('[{"host": "a.test"}]', "entry 1 has the fields host"),
        ('{"a.test": null}', "is no number"),
    ],
)
def test_an_own_table_that_cannot_be_read_changes_nothing(
    run: Run, tmp_path: Path, text: str, told: str
) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad"
    good.write_text("a.test,5\n")
    bad.write_text(text)
    asked(run, "own", str(good))
    refused = run("ranks", "own", str(bad))
    assert (refused[0], told in refused[2]) == (2, True), refused[2]
    assert asked(run, "show")["own"]["places"] == 1


def test_an_own_table_has_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"a.test,1\nb.test,2\n"
    for limit, most in (("MAX_PLACES", 2), ("MAX_TABLE_BYTES", len(body))):
        with monkeypatch.context() as patched:
            patched.setattr(own_traffic, limit, most)
            assert len(list(own_traffic.read_table(body, "own.csv"))) == 2
            patched.setattr(own_traffic, limit, most - 1)
            with pytest.raises(ConfigError, match="more than"):
                list(own_traffic.read_table(body, "own.csv"))


@pytest.mark.req("PRI-07")
@pytest.mark.parametrize(
    ("source", "weights", "first"),
    [
        ("ranks", ("weights.preset=shop",), "lent"),
        ("own", ("weights.preset=shop",), "lent"),
        ("ranks", ("weights.importance=1", "weights.traffic=0", "weights.freshness=0"), "linked"),
    ],
    ids=["ranks", "own-table", "importance-alone"],
)
def test_links_on_a_busy_page_are_asked_for_first(
    run: Run, tmp_path: Path, source: str, weights: tuple[str, ...], first: str
) -> None:
    """A busy page links to some pages once, quiet pages link to others often.

    Only the busy page lends its links anything; where importance alone counts, it is the others
    that come first. The target's own first page takes its time, so that all links are known when
    the next of its pages is chosen.
    """
    lent = [f"/lent-{number}" for number in range(3)]
    linked = [f"/linked-{number}" for number in range(3)]
    slow = Raw((0.7, b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"))
    routes: dict[str, Route] = {path: page(path) for path in (*lent, *linked)}
    with Site(routes) as site:
        target = [site.url(path, host="target.test") for path in linked]
        routes["/start"] = Raw(slow.parts, End.CLOSE)
        routes["/busy"] = page("busy", *(site.url(path, host="target.test") for path in lent))
        for number in range(4):
            routes[f"/quiet-{number}"] = page(f"quiet {number}", *target)
        hosts = ["target.test", "busy.test", *(f"quiet-{number}.test" for number in range(4))]
        file = tmp_path / "file.csv"
        file.write_text("1,busy.test\n" if source == "ranks" else "busy.test,1000\n")
        asked(run, "import" if source == "ranks" else "own", str(file))
        seeds = [site.url("/start", host="target.test"), site.url("/busy", host="busy.test")]
        seeds += [site.url(f"/quiet-{number}", host=f"quiet-{number}.test") for number in range(4)]
        flags = [f"--resolve={host}:{site.port}:127.0.0.1" for host in hosts]
        flags += [f"--set={one}" for one in ("order=weighted", "politeness.per_ip=10", *weights)]
        flags += ["--delay", "0", "--scope", "any", *LOCAL]
        assert run("crawl", *seeds, *flags)[0] == 0
        order = [seen.path for seen in site.log if seen.path in (*lent, *linked)]
    assert sorted(order) == sorted((*lent, *linked))
    assert {path.partition("-")[0] for path in order[:3]} == {f"/{first}"}
