"""Registrations as seed 000 has them, posted to a service; and the how-to, followed with curl."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from tests.conftest import missing_part
from tests.e2e.serving import Served

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "register-a-provider.md"
# What stands there for a reader to fill in.
FILLED_IN = "export GEOMI="
# Seed 000 §3.1 and §6.1, letter for letter.
EXAMPLE = """{
  "provider_id": "openai-uuid",
  "seed_url": "https://platform.openai.com/docs",
  "allowed_path_patterns": ["/docs/**"],
  "blocked_path_patterns": ["/docs/changelog/**", "/docs/deprecations/**"],
  "max_depth": 3,
  "max_pages": 200,
  "request_delay_ms": 1500,
  "custom_selectors": {
    "content": "article.docs-content",
    "remove": [".sidebar", ".nav-header", ".feedback-widget"]
  },
  "sitemap_url": null,
  "spa_rendering": false
}"""
POLICY = """{
  "provider_id": "uuid",
  "seed_urls": ["https://platform.openai.com/docs"],
  "allowed_path_patterns": ["/docs/**"],
  "blocked_path_patterns": ["/docs/changelog/**", "/blog/**"],
  "max_depth": 3,
  "max_pages": 200,
  "request_delay_ms": 1500,
  "custom_selectors": {
    "content": "article.docs-content",
    "remove": [".sidebar", ".nav-header"]
  },
  "sitemap_url": null,
  "spa_rendering": false
}"""
KEY = "platform-openai-com-docs"
ANOTHER = f" and its ID: another provider is `{KEY}`"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Serve on a fresh directory."""
    contact = {"GEOMI_CONTACT": "https://crawler.test/about"}
    with Served(tmp_path / "served", env=contact) as one:
        yield one


@pytest.mark.slow
@pytest.mark.req("API-14", "CFG-03", "CFG-04", "LEG-03", "G-21")
def test_the_literal_registrations_are_accepted(served: Served) -> None:
    registered = []
    for text, told_id in ((EXAMPLE, "openai-uuid"), (POLICY, "uuid")):
        given = json.loads(text)
        status, made = served.ask("POST", "/admin/providers", given)
        assert status == 201, made
        assert UUID(made["provider_id"])
        registered.append(made)
        assert made["derived"] == {
            "key": "its first seed" + (ANOTHER if len(registered) > 1 else ""),
            "name": "its key",
            "provider_id": f"`{told_id}`, which is no UUID",
        }
        assert (made["tos_reviewed_at"], made["tos_allows_crawling"]) == (None, None)
        for name, value in given.items():
            if name not in ("provider_id", "seed_url"):
                assert made[name] == value, name
        assert made["seed_urls"] == ["https://platform.openai.com/docs"]
        assert served.post("/admin/providers", given) == made, "again, it is the same"
    assert registered[0]["key"] == KEY
    assert re.fullmatch(f"{KEY}-[0-9a-f]{{8}}", registered[1]["key"])
    for made in registered:  # both remain
        for name in (made["provider_id"], made["key"]):
            assert served.get(f"/admin/providers/{name}") == made | {"derived": {}}
    without = {name: value for name, value in given.items() if name != "provider_id"}
    again = served.post("/admin/providers", without)
    assert again["provider_id"] == registered[0]["provider_id"]
    assert again["derived"]["provider_id"] == f"the provider that was known as `{KEY}`"
    status, refused = served.ask("POST", "/admin/providers", given | {"provider_id": "x" * 201})
    assert (status, "provider_id" in json.dumps(refused)) == (400, True)
    half = given | {"tos_allows_crawling": True}
    status, refused = served.ask("POST", "/admin/providers", half)
    assert (status, "lacks `tos_reviewed_at`" in refused["detail"]) == (422, True)


@pytest.mark.slow
def test_the_how_to_works_with_curl_alone(served: Served, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        missing_part("curl")
    blocks = re.findall(r"```sh\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.S)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(b for b in blocks if FILLED_IN not in b)],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "GEOMI": f"{served.url}api/v1", "KEY": served.key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    registered = json.loads((tmp_path / "registered.json").read_text("utf-8"))
    assert registered["key"] == KEY and registered["tos_allows_crawling"] is None
    assert EXAMPLE in HOW_TO.read_text("utf-8")
    assert '"tos_allows_crawling":true' in done.stdout
    assert '"title":"all providers"' in done.stdout
