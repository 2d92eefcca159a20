"""Under `redact` no value is in any file, nor in anything that a command prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.command import LOCAL, records, run
from tests.support.private_site import EMAIL, NEEDLES, large, routes, traces
from tests.support.server import Reply, Site

REDACT = ["--set", "safety.pii=redact"]
FORMS = "md,jsonl,warc,llms,llms-full,cdxj"


def told(*arguments: str, code: int = 0) -> bytes:
    """Run a command and return all that it said."""
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    return (done.stdout + done.stderr).encode()


@pytest.mark.slow
@pytest.mark.req("SAF-01", "C-47")
def test_no_command_shows_or_keeps_a_value(tmp_path: Path) -> None:
    folder = ["-o", str(tmp_path)]
    with Site({**routes(), "/large": large()}) as site:
        start = ["crawl", site.url("/"), *folder, *LOCAL, *REDACT, "--delay", "0"]
        said = told(*start, "-f", FORMS, "--json", "-v", "--workers", "2")
        said += told("map", site.url("/"), *REDACT, "--allow-private", *folder)
        said += told("scrape", site.url("/full"), *REDACT, "--allow-private", "--json")
        said += told("why", site.url("/moved"), *folder)
        said += told(*start, "--resume")
    for form in ("jsonl", "warc", "llms-full"):
        said += told("export", "-f", form, "--to", str(tmp_path / f"again-{form}"), *folder)
    for command in (["status"], ["report"], ["audit"], ["jobs", "show", "latest"]):
        said += told(*command, *folder)
    assert [needle for needle in NEEDLES if needle in said] == []
    assert list(traces(tmp_path)) == []
    kept = {record["url"].removeprefix(site.url("")): record for record in records(tmp_path)}
    assert kept.keys() >= {"/", "/full", "/links", "/next", "/plain.txt", "/large"}
    assert kept["/large"]["metadata"]["pii"] == {"email": 1, "phone": 1}


def test_a_kind_that_cannot_be_found_is_refused() -> None:
    done = run("config", "show", "--set", "safety.pii_types=email,passport")
    assert done.returncode == 2
    assert "safety.pii_types = `passport`" in done.stderr
    assert EMAIL not in done.stderr


PERSON = {"@type": "Article", "author": [{"@type": "Person", "name": "Ottilie Zander"}]}
RESIDENT = (
    f'<title>Ottilie Zander</title><script type="application/ld+json">{json.dumps(PERSON)}</script>'
    "<main><h1>A visit to the lighthouse</h1><p>Ottilie Zander wrote down what Dr. Balthasar "
    "Quince of 482 Petrel Street, Springfield, IL 62704 told her about the lamp and the sea.</p>"
    "<p>등대는 경기도 양평군 서종면 문호리 7311에 있고, 국세린 씨가 지킨다.</p></main>"
)
RESIDENT_NEEDLES = (
    b"Zander", b"Quince", b"Petrel", b"62704", "문호리".encode(), "국세린".encode(), b"7311",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.req("SAF-02")
def test_names_and_addresses_go_where_they_are_asked_for(tmp_path: Path) -> None:
    """Both kinds are counted or taken out of every file; nobody looks for them by default."""
    asked = ["--set", "safety.pii_types=address,name"]
    with Site({"/": Reply(RESIDENT.encode())}) as site:
        for name, rules in {"off": [], "flag": asked, "redact": [*asked, *REDACT]}.items():
            folder = ["-o", str(tmp_path / name)]
            told("crawl", site.url("/"), *folder, *LOCAL, *rules, "-f", FORMS, "--delay", "0")
    metadata = {}
    for name in ("off", "flag", "redact"):
        (record,) = records(tmp_path / name)
        metadata[name] = record["metadata"].get("pii")
    counts = {"address": 2, "name": 3}
    assert metadata == {"off": None, "flag": counts, "redact": counts}
    left = {needle for _, needle in traces(tmp_path / "flag", RESIDENT_NEEDLES)}
    assert left == set(RESIDENT_NEEDLES)
    assert list(traces(tmp_path / "redact", RESIDENT_NEEDLES)) == []
    assert "[redacted:name] of [redacted:address] told her" in record["markdown"]


WRITTEN_TO = (
    "<title>The lab of Jane Doe</title><main><h1>Who works here</h1>"
    '<p>Ask <a href="mailto:doe@lab.test">Jane Doe</a> for the keys, and '
    '<a href="mailto:mara%2Eo@lab.test?subject=Keys">Dr. Mara Oyelaran</a> for the lamps. The '
    '<a href="mailto:office@lab.test">Green Room</a> is open on weekdays.</p>'
    "<p>Since last year Jane Doe and Mara Oyelaran keep the lamps of the tower burning.</p></main>"
)
WRITTEN_TO_NEEDLES = (b"Jane", b"Doe", b"Oyelaran", b"doe@lab", b"mara%2Eo")


@pytest.mark.slow
@pytest.mark.req("SAF-02")
def test_whom_a_page_links_to_write_to_is_declared(tmp_path: Path) -> None:
    """The link itself is not in the markdown, the name is, wherever the page has it."""
    asked = ["--set", "safety.pii_types=name"]
    with Site({"/": Reply(WRITTEN_TO.encode())}) as site:
        for name, rules in {"flag": asked, "redact": [*asked, *REDACT]}.items():
            folder = ["-o", str(tmp_path / name)]
            told("crawl", site.url("/"), *folder, *LOCAL, *rules, "-f", FORMS, "--delay", "0")
    for name in ("flag", "redact"):
        (record,) = records(tmp_path / name)
        assert record["metadata"]["pii"] == {"name": 2}
    assert list(traces(tmp_path / "redact", WRITTEN_TO_NEEDLES)) == []
    assert record["title"] == "The lab of [redacted:name]"
    assert "Ask [redacted:name] for the keys" in record["markdown"]
    assert "Green Room is open" in record["markdown"]
