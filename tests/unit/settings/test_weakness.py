"""Where a configuration asks less than RFC 9309 does."""

from __future__ import annotations

import pytest

from geomi.settings.compliance import weaknesses
from geomi.settings.layers import flags_layer, resolve_under_profile


def told(profile: str, *assignments: str) -> list[str]:
    """Name the settings that are to blame."""
    resolved = resolve_under_profile([flags_layer({"profile": profile}, assignments)])
    return [text.partition("(")[2].partition(",")[0] for text in weaknesses(resolved.config)]


@pytest.mark.parametrize(
    ("profile", "blamed"),
    [
        ("default", []),
        ("docs", ["robots.on_unreachable"]),
        (
            "scanner",
            [
                "robots.on_unreachable",
                "robots.on_oversize",
                "robots.match_query",
                "robots.compare",
                "robots.blank_line_ends_group",
            ],
        ),
        ("seed-engine", []),
        ("web-scale", []),
        ("knowledge-base", []),
    ],
)
def test_of_each_profile(profile: str, blamed: list[str]) -> None:
    assert told(profile) == blamed


@pytest.mark.parametrize(
    ("assignment", "blamed"),
    [
        ("robots.respect=false", ["robots.respect"]),
        ("robots.on_unreachable=allow", ["robots.on_unreachable"]),
        ("robots.on_unreachable=allow_with_delay", ["robots.on_unreachable"]),
        ("robots.on_unreachable=record", []),
        ("robots.max_rules=1000", ["robots.max_rules"]),
        ("robots.on_oversize=allow", ["robots.on_oversize"]),
        ("robots.match_query=false", ["robots.match_query"]),
        ("robots.compare=raw_upper_hex", ["robots.compare"]),
        ("robots.blank_line_ends_group=true", ["robots.blank_line_ends_group"]),
        # what the RFC says SHOULD be done, or MAY, or nothing about
        ("robots.max_redirects=0", []),
        ("robots.same_host_redirects=true", []),
        ("robots.allow_on_429=true", []),
        ("robots.respect_crawl_delay=false", []),
        ("robots.empty_group_falls_back=true", []),
    ],
)
def test_of_one_setting(assignment: str, blamed: list[str]) -> None:
    assert told("default", assignment) == blamed
