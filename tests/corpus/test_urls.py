"""The URL cases of the web platform tests, read where others keep them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geomi.url.parse import href

pytestmark = pytest.mark.corpus


@pytest.mark.req("URL-03", "URL-12", "URL-13")
def test_whatwg_http_cases(corpus: Path) -> None:
    """Every http case parses as the standard says, and what must fail fails."""
    file = corpus / "urls" / "wpt_parse_http.jsonl"
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    wrong = [case for case in cases if href(case["input"], case["base"]) != case["expected"]]
    assert cases
    assert wrong == []
