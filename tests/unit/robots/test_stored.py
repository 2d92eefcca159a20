"""The stored rule object of the catalogue."""

from __future__ import annotations

import json

import pytest

from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.robots import report
from geomi.robots.parse import parse
from geomi.robots.report import RuleObject, rule_object

TEXT = """\
Sitemap: https://a.test/1.xml
User-agent: One
User-agent: two
Crawl-delay: 3
Allow: /open
Disallow: /
User-agent: TWO
Disallow: /more
Crawl-delay: 1.5
Sitemap: https://a.test/2.xml
"""


def stored_rules(text: str) -> RuleObject:
    copy = RobotsCopy(RobotsKey("https", "a.test:443", "geomi"), 200, text.encode(), 1000.0)
    return rule_object(copy, parse(copy.body), expires_s=1000.0 + 86_400)


@pytest.mark.req("ROB-32", "LNK-17")
def test_the_shape_of_the_catalogue() -> None:
    found = stored_rules(TEXT)
    assert json.loads(json.dumps(found)) == {
        "domain": "a.test",
        "fetchedAt": "1970-01-01T00:16:40+00:00",
        "ttl": 86_400,
        "rules": [
            {"userAgent": "one", "allow": ["/open"], "disallow": ["/"], "crawlDelay": 3.0},
            {"userAgent": "two", "allow": ["/open"], "disallow": ["/", "/more"], "crawlDelay": 3.0},
            {
                "userAgent": "*",
                "allow": [],
                "disallow": [],
                "sitemap": ["https://a.test/1.xml", "https://a.test/2.xml"],
            },
        ],
    }


def test_an_empty_file_has_no_rules() -> None:
    assert stored_rules("")["rules"] == []


@pytest.mark.parametrize("extra", [0, 1])
def test_many_agents_of_many_rules_are_not_multiplied_for_ever(
    extra: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MAX_RULES", 20)
    agents = "".join(f"User-agent: a{number}\n" for number in range(10 + extra))
    found = stored_rules(agents + "Disallow: /x\nDisallow: /y")
    assert sum(len(each["disallow"]) for each in found["rules"]) == 20
