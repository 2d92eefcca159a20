"""robots.txt files and verdicts that others wrote: floors that may rise, not fall."""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

import pytest

from geomi.robots.match import crawl_delay_s, judge
from geomi.robots.parse import RobotsFile, parse

pytestmark = pytest.mark.corpus


class Case(TypedDict):
    robots: str
    host: str
    agent: str
    url: str
    expected: object
    undisputed: bool
    kind: str
    note: str


def cases(file: Path) -> Iterator[Case]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def read(text: str) -> RobotsFile:
    return parse(text.encode("utf-8", "surrogatepass"))


def agrees(file: RobotsFile, case: Case) -> bool:
    target = re.sub(r"^\w+://[^/?#]*", "", case["url"]).partition("#")[0]
    verdict = judge(file, case["agent"], "/" + target.removeprefix("/"))
    return verdict.allowed is case["expected"]


@pytest.mark.req("ROB-14", "ROB-16", "ROB-20", "ROB-23")
def test_undisputed_cases_all_agree(corpus: Path) -> None:
    wrong = [
        case["note"]
        for case in cases(corpus / "robots" / "cases.dev.jsonl")
        if case["undisputed"] and not agrees(read(case["robots"]), case)
    ]
    assert wrong == []


def test_real_files_agree_with_the_oracle_but_where_rfc_9309_overrules_it(corpus: Path) -> None:
    """What google/robotstxt leaves to its caller and §2.2.2 asks for: escapes of unreserved
    characters are undone and other octets escaped before comparing, and /robots.txt itself is
    always allowed. docs/explanation/robots.md has the numbers."""
    with lzma.open(corpus / "robots" / "real_corpus.dev.jsonl.xz", "rt", encoding="utf-8") as lines:
        files = {row["host"]: read(row["robots"]) for row in map(json.loads, lines)}
    total = agreed = bound = 0
    for case in cases(corpus / "robots" / "real_queries.dev.jsonl"):
        total += 1
        if agrees(files[case["host"]], case):
            agreed += 1
        elif is_bound_by_the_rfc(case["url"]):
            bound += 1
    assert agreed / total >= 0.990
    assert (agreed + bound) / total >= 0.9999


def is_bound_by_the_rfc(url: str) -> bool:
    return "%2D" in url or url.endswith("/robots.txt") or not url.isascii()


@pytest.mark.req("LNK-17", "ROB-26")
def test_delays_and_sitemaps(corpus: Path) -> None:
    wrong: list[str] = []
    for case in cases(corpus / "robots" / "extra.jsonl"):
        file = read(case["robots"])
        found: object = case["expected"]  # request rates are not read
        if case["kind"] == "sitemaps":
            found = list(file.sitemaps)
        elif case["kind"] == "crawl_delay":
            found = crawl_delay_s(file, case["agent"])
        if found != case["expected"]:
            wrong.append(case["note"])
    # reppy alone lets rules and delays before any User-agent line count.
    assert wrong == ["test_no_leading_user_agent"]
