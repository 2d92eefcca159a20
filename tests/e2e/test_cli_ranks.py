"""`geomi ranks`: a list of the busiest domains, read and looked up (PRI-06)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from geomi.app.use import ranks
from geomi.errors import ConfigError
from tests.e2e.command import run

LISTED = "1,busy.test\r\n2,example.co.uk\r\n"


@pytest.mark.req("PRI-06")
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_list_is_read_and_domains_are_found_in_it(tmp_path: Path, packed: bool) -> None:
    file = tmp_path / "top.csv"
    text = ("rank,domain\n" + LISTED).encode()
    file.write_bytes(gzip.compress(text) if packed else text)
    data = str(tmp_path / "data")
    read = run("ranks", "import", str(file), "-o", data, "--json")
    assert (read.returncode, json.loads(read.stdout)) == (0, {"domains": 2})
    shown = run("ranks", "show", "https://docs.example.co.uk/x", "-o", data, "--json")
    assert json.loads(shown.stdout) == {
        "domain": "docs.example.co.uk",
        "listed_as": "example.co.uk",
        "rank": 2,
        "traffic": 0.957,
        "domains": 2,
    }
    assert "no rank among 2 domains" in run("ranks", "show", "quiet.test", "-o", data).stdout
    assert "rank 1 " in run("ranks", "show", "busy.test", "-o", data).stdout


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "has no domain"),
        (b"rank,domain\n", "has no domain"),
        (b"1,a.test\nnonsense\n", "line 2: `nonsense` is not a rank"),
        (b"1,a.test\n2," + b"b" * 400, "more than 300 bytes"),
        (b"\x1f\x8bnot gzip at all", "cannot be read"),
        (gzip.compress(b"1,a.test\n" * 999)[:-9], "cannot be read"),
    ],
    ids=["empty", "heading", "nonsense", "long", "broken", "cut-off"],
)
def test_a_list_that_cannot_be_read_changes_nothing(
    tmp_path: Path, content: bytes, told: str
) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(LISTED)
    bad.write_bytes(content)
    data = str(tmp_path / "data")
    assert run("ranks", "import", str(good), "-o", data).returncode == 0
    refused = run("ranks", "import", str(bad), "-o", data)
    assert refused.returncode == 2
    assert told in refused.stderr
    assert "rank 1 " in run("ranks", "show", "busy.test", "-o", data).stdout


def test_a_list_that_is_not_there(tmp_path: Path) -> None:
    refused = run("ranks", "import", str(tmp_path / "none.csv"), "-o", str(tmp_path / "data"))
    assert refused.returncode == 2
    assert "cannot be read: No such file" in refused.stderr


@pytest.mark.parametrize("limit", ["MAX_NAMES", "MAX_LIST_BYTES"])
def test_lists_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    file = tmp_path / "top.csv"
    file.write_text("1,a.test\n2,b.test\n3,c.test\n")
    most = {"MAX_NAMES": 3, "MAX_LIST_BYTES": file.stat().st_size}
    monkeypatch.setattr(ranks, limit, most[limit])
    assert len(list(ranks.read_ranks(file))) == 3
    monkeypatch.setattr(ranks, limit, most[limit] - 1)
    with pytest.raises(ConfigError, match="more than"):
        list(ranks.read_ranks(file))
