"""Content safety over REST: set for a crawl, shown back, and seen in documents and search."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.asking import CRAWL, Ground, Json, serving
from tests.api.filling import EAGER, worked_off
from tests.support.contract import assert_shape
from tests.support.crawl import page
from tests.support.private_site import traces
from tests.support.server import Reply, Site
from tests.support.waiting import waits

PATHS = ("/api/v1/crawls", "/crawler/crawls")
SAFE = {
    "pii": {"enabled": True, "action": "redact", "types": ["email", "address", "name"]},
    "sensitive": {"enabled": True, "action": "skip", "categories": ["gambling"]},
    "copyright": {"detectCopyrightNotice": True, "skipCopyrightedContent": False},
}
OFF = {
    "pii": {"enabled": False, "action": "flag", "types": ["email"]},
    "sensitive": {"enabled": False, "action": "flag", "categories": ["violence"]},
    "copyright": {"detectCopyrightNotice": False, "skipCopyrightedContent": False},
}
NEEDLES = (b"quilliam@", b"Quilliam", b"Petrel Street", b"62704", "한서윤".encode())
RESIDENT = (
    "The lighthouse keeper is Dr. Edda Quilliam of 482 Petrel Street, Springfield, IL 62704. "
    "Write to quilliam@example.com or ask 한서윤 씨 about the lamp. "
)
CASINO = "Casino jackpot roulette blackjack baccarat: place bets, free spins, online betting. " * 4
NOTICE = b"<footer>\xc2\xa9 2024 Harbour Press. All rights reserved.</footer>"
WEB: dict[str, Reply] = {
    "/": page("start", "/keeper", "/casino", text="A village by the sea. " * 12),
    "/keeper": Reply(page("keeper", text=RESIDENT * 3).body + NOTICE),
    "/casino": page("casino", text=CASINO),
}


async def crawled(ground: Ground, site: Site, safety: Json) -> dict[str, Json]:
    """Crawl the village; return its documents by their titles."""
    config = EAGER | {"contentSafety": safety}
    body = {"collectionId": "village", "seedUrls": [site.url("/")], "config": config}
    answer = await ground.mine.post("/crawls", body)
    assert answer.status == 202, answer.json
    await worked_off(ground.desk, answer.json["jobId"])
    listed = await ground.mine.get("/collections/village/documents")
    return {one["title"]: one for one in listed.json["documents"]}


@pytest.mark.req("SAF-01", "SAF-02", "SAF-03", "LEG-13")
@pytest.mark.parametrize("path", PATHS)
@waits
async def test_content_safety_is_set_and_shown_back(tmp_path: Path, path: str) -> None:
    """Both roads take the catalogue's shape; what is not said is the profile's."""
    async with serving(tmp_path) as ground:
        client = ground.mine.without_prefix()
        for sent, told in (
            ({"contentSafety": SAFE}, SAFE),
            ({"contentSafety": OFF}, OFF),
        ):
            answer = await client.post(path, CRAWL | {"config": sent})
            assert answer.status == 202, answer.json
            shown = (await client.get(f"{path}/{answer.json['jobId']}")).json
            assert shown["config"]["contentSafety"] == told
            assert_shape(shown["config"]["contentSafety"], "ContentSafety")
        plain = (await client.post(path, CRAWL)).json["config"]["contentSafety"]
        assert plain["pii"] == {
            "enabled": True,
            "action": "flag",
            "types": ["email", "phone", "ssn", "credit_card", "rrn"],
        }
        one = {"contentSafety": {"copyright": {"skipCopyrightedContent": True}}}
        shown = (await client.post(path, CRAWL | {"config": one})).json["config"]["contentSafety"]
        assert shown == plain | {
            "copyright": {"detectCopyrightNotice": True, "skipCopyrightedContent": True}
        }


@pytest.mark.req("SAF-01", "SAF-02", "SAF-03")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("safety", "field"),
    [
        ({"pii": {"action": "delete"}}, "pii.action"),
        ({"pii": {"types": ["email", "passport"]}}, "pii.types.1"),
        ({"pii": {"types": []}}, "pii.types"),
        ({"pii": {"enabled": "yes"}}, "pii.enabled"),
        ({"sensitive": {"action": "redact"}}, "sensitive.action"),
        ({"sensitive": {"categories": ["hate", "boredom"]}}, "sensitive.categories.1"),
        ({"copyright": {"skip": True}}, "copyright.skip"),
        (
            {"copyright": {"detectCopyrightNotice": False, "skipCopyrightedContent": True}},
            "copyright",
        ),
        ({"names": True}, "names"),
    ],
)
@waits
async def test_what_is_no_rule_is_refused_by_its_field(
    tmp_path: Path, path: str, safety: Json, field: str
) -> None:
    async with serving(tmp_path) as ground:
        client = ground.mine.without_prefix()
        answer = await client.post(path, CRAWL | {"config": {"contentSafety": safety}})
        assert answer.status == 400, answer.json
        assert [one["field"] for one in answer.json["errors"]] == [f"config.contentSafety.{field}"]


@pytest.mark.req("SAF-01", "SAF-02", "SAF-03", "LEG-13")
@waits
async def test_flags_are_in_documents_and_in_search(tmp_path: Path) -> None:
    """Documents, lists and results tell how many values there were, and never the values."""
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            documents = await crawled(ground, site, SAFE | {"sensitive": {"action": "flag"}})
            flags = {
                "pii": [
                    {"type": "email", "count": 1},
                    {"type": "address", "count": 1},
                    {"type": "name", "count": 2},
                ],
                "sensitive": [],
                "copyrighted": True,
            }
            keeper = documents["keeper"]
            assert keeper["contentFlags"] == flags
            whole = (await ground.mine.get(f"/documents/{keeper['documentId']}")).json
            assert whole["contentFlags"] == flags
            assert "[redacted:name] of [redacted:address]" in whole["markdown"]
            found = (await ground.mine.post("/search", {"query": "lighthouse keeper lamp"})).json
            told = {one["title"]: one["contentFlags"] for one in found["results"]}
            assert told["keeper"] == flags
            assert documents["casino"]["contentFlags"] == {
                "pii": [],
                "sensitive": ["gambling"],
                "copyrighted": False,
            }
            assert NEEDLES[1].decode() not in json.dumps([whole, found, documents])
        assert list(traces(tmp_path, NEEDLES)) == []


@pytest.mark.req("SAF-03", "LEG-13", "G-15")
@waits
async def test_what_is_to_be_skipped_is_not_found(tmp_path: Path) -> None:
    """`skip` keeps no page with personal data, and indexes no sensitive or claimed one."""
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            rules = {
                "pii": {"types": ["ssn"]},
                "sensitive": {"action": "skip", "categories": ["gambling"]},
                "copyright": {"skipCopyrightedContent": True},
            }
            documents = await crawled(ground, site, rules)
            told = {title: (one["state"], one["reason"]) for title, one in documents.items()}
            assert told == {
                "start": ("indexed", "accepted"),
                "casino": ("skipped", "sensitive"),
                "keeper": ("skipped", "copyright"),
            }
            documents = await crawled(ground, site, {"pii": {"action": "skip", "types": ["name"]}})
            assert documents["keeper"]["state"] == "skipped"  # the earlier copy, not a new one
            job = (await ground.mine.get("/crawls")).json["crawls"][0]["jobId"]
            urls = (await ground.mine.get(f"/crawls/{job}/urls?outcome=private")).json["urls"]
            assert [one["url"] for one in urls] == [site.url("/keeper")]
