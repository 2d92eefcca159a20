"""The scanner's own file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit import glob
from geomi.errors import ConfigError
from geomi.settings import files
from geomi.settings.layers import file_layer, flags_layer, resolve_under_profile
from geomi.url.parse import parse

# Seed 001 §12, as it stands there.
SCAN = r"""
crawler:
  respectRobots: true
  robotsTtlMinutes: 30
  robotsFailTtlMinutes: 10
  robotsMaxRedirects: 3
  robotsTimeoutMs: 3000
  robotsUa: "WebKillerAI"
  robotsFallbackAllowAll: true
excludePaths:
  - "/admin"
  - "*/*logout*"
  - "re:\\?.*token=.+"
"""


def written(tmp_path: Path, text: str, name: str = "scan.yml") -> Path:
    """Write a file."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.req("CFG-19")
def test_the_file_of_the_seed_is_a_crawl_under_the_scanner_profile(tmp_path: Path) -> None:
    path = written(tmp_path, SCAN)
    layer, process = file_layer(path)
    resolved = resolve_under_profile([layer])
    robots = resolved.config.robots
    assert process == {}
    assert resolved.run.profile == "scanner"
    assert (robots.respect, robots.on_unreachable) == (True, "allow")
    assert (robots.ttl_s, robots.fail_ttl_s) == (1800.0, 600.0)
    assert (robots.max_redirects, robots.read_timeout_s) == (3, 3.0)
    assert resolved.config.http.user_agent == "WebKillerAI"
    assert dict(resolved.origins)["robots.ttl_s"] == f"file {path} robotsTtlMinutes"


@pytest.mark.req("CFG-19")
def test_each_key_changes_its_setting(tmp_path: Path) -> None:
    text = (
        "crawler:\n  respectRobots: false\n  robotsTtlMinutes: 5\n  robotsFailTtlMinutes: 1\n"
        "  robotsMaxRedirects: 0\n  robotsTimeoutMs: 500\n  robotsUa: 'my bot''s'\n"
        "  robotsFallbackAllowAll: false\n"
    )
    config = resolve_under_profile([file_layer(written(tmp_path, text, "s.yaml"))[0]]).config
    robots = config.robots
    assert (robots.respect, robots.on_unreachable) == (False, "disallow")
    assert (robots.ttl_s, robots.fail_ttl_s) == (300.0, 60.0)
    assert (robots.max_redirects, robots.read_timeout_s) == (0, 0.5)
    assert config.http.user_agent == "my bot's"


@pytest.mark.req("CFG-20")
@pytest.mark.parametrize(
    ("url", "excluded"),
    [
        ("https://a.test/admin", True),
        ("https://a.test/admin/users", True),
        ("https://a.test/administrator", False),
        ("https://a.test/user/logout/now", True),
        ("https://a.test/p?x=1&token=abc", True),
        ("https://a.test/p?x=1", False),
        ("https://a.test/token=", False),
    ],
)
def test_the_three_forms_of_excluded_paths(url: str, excluded: bool) -> None:
    values, _ = files.read_scan(SCAN, "scan.yml")
    patterns = values["scope.exclude"]
    assert patterns == ["/admin", "*/*logout*", r"re:\?.*token=.+"]
    parsed = parse(url)
    assert parsed is not None
    assert (glob.compile(tuple(patterns)).first(parsed) is not None) is excluded


def test_a_flag_beats_the_file(tmp_path: Path) -> None:
    layers = [flags_layer({"profile": "default"}), file_layer(written(tmp_path, SCAN))[0]]
    assert resolve_under_profile(layers).run.profile == "default"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('  - "/a # b"   # why', "/a # b"),
        ("  - /a#b", "/a#b"),
        ("- /a", "/a"),
        ("  - /a   # why", "/a"),
        (r'  - "say \"a\" \\d"', r"say" + r' "a" \d'),
        ("  - '/it''s'", "/it's"),
    ],
)
def test_quotes_and_comments(line: str, value: str) -> None:
    values, _ = files.read_scan(f"# top\n\nexcludePaths:  # these\n{line}\n", "f")
    assert values["scope.exclude"] == [value]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("crawlers:\n", "unknown key in `f`: `crawlers`"),
        ("crawler:\n  respectRobot: true\n", "`respectRobot`"),
        ("respectRobots: true\n", "line 1 of `f` is not understood"),
        ("crawler:\nrespectRobots: true\n", "line 2"),
        ("crawler:\n  - /a\n", "line 2"),
        ("excludePaths:\n  - [a, b]\n", "line 2"),
        ("excludePaths: [a]\n", "line 1"),
        ("excludePaths:\n  - *logout*\n", "line 2"),
        ('excludePaths:\n  - "a\n', "line 2"),
        ("excludePaths:\n  - |\n    a\n", "line 2"),
        ("crawler: &x\n", "line 1"),
        ("\tcrawler:\n", "line 1"),
        ("crawler:\n  robotsUa:\n", "line 2"),
        ('excludePaths:\n  - "a\\n"\n', "line 2"),
    ],
)
def test_what_is_not_understood_is_refused_by_its_line(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        files.read_scan(text, "f")
    assert told in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", ["sameDomainOnly", "respectRobots", "robotsFallbackAllowAll"])
@pytest.mark.parametrize(
    ("word", "is_yes"),
    [
        ("true", True), ("True", True), ("TRUE", True), ("yes", True), ("on", True),
        ('"true"', True),
        ("false", False), ("False", False), ("no", False), ("Off", False),
        ("perhaps", None), ("host", None), ("any", None), ("allow", None), ("2", None),
    ],
)  # fmt: skip
def test_every_answer_of_yes_or_no_is_read_alike(
    tmp_path: Path, name: str, word: str, is_yes: bool | None
) -> None:
    path = written(tmp_path, f"crawler:\n  {name}: {word}\n")
    if is_yes is None:
        with pytest.raises(ConfigError) as caught:
            file_layer(path)
        assert f"`{name}: {word}` in `{path}` is neither true nor false" in caught.value.message
        assert caught.value.hint == f"write `{name}: true` or `{name}: false`"
        return
    (value,) = [one for key, one in file_layer(path)[0].values.items() if key != "run.profile"]
    assert (
        value
        == {
            "sameDomainOnly": ("domain", "host"),
            "respectRobots": (False, True),
            "robotsFallbackAllowAll": ("disallow", "allow"),
        }[name][is_yes]
    )


@pytest.mark.parametrize("line", ["robotsTtlMinutes: many", "respectRobots: perhaps"])
def test_a_value_that_is_none_is_refused_by_its_setting(tmp_path: Path, line: str) -> None:
    path = written(tmp_path, f"crawler:\n  {line}\n")
    with pytest.raises(ConfigError, match=line.partition(":")[0]):
        resolve_under_profile([file_layer(path)[0]])


@given(st.text(alphabet="crawle:xudPths- \"'\\#\n\ta1", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        files.read_scan(text, "f")
    except ConfigError as error:
        assert error.message
