"""Under `redact` no value is in any file, nor in anything that a command prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.command import LOCAL, records, run
from tests.support.private_site import EMAIL, NEEDLES, large, routes, traces
from tests.support.server import Site

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
    done = run("config", "show", "--set", "safety.pii_types=email,name")
    assert done.returncode == 2
    assert "safety.pii_types = `name`" in done.stderr
    assert EMAIL not in done.stderr
