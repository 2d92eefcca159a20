"""A configuration from its layers: who wins, where a value came from, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from geomi.analyse.fields.custom_schema import MAX_SCHEMA_CHARS
from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, ImageStyle, QueryPolicy, Within
from geomi.settings.layers import (
    Layer,
    all_values,
    env_layer,
    file_layer,
    flags_layer,
    read_profile,
    resolve,
    setting_types,
    settings_layer,
)
from geomi.settings.options import OPTIONS, RunOptions, Settings


def written(tmp_path: Path, text: str) -> Path:
    """Write a configuration file."""
    path = tmp_path / "geomi.toml"
    path.write_text(text, "utf-8")
    return path


class TestOrder:
    """flag > environment > file > process > profile > default."""

    def test_the_stronger_layer_wins_and_is_named(self, tmp_path: Path) -> None:
        """Every value that is not a default remembers its place, as that place calls it."""
        path = written(
            tmp_path,
            "[crawl]\nmax_pages = 30\ndepth = 6\nconcurrency = 5\nscope = 'domain'\n",
        )
        layers = [
            flags_layer({"max_pages": 10, "delay": None, "include": ()}),
            env_layer({"GEOMI_CRAWL_MAX_PAGES": "20", "GEOMI_CRAWL_DEPTH": "4", "PATH": "/bin"}),
            file_layer(path)[0],
            settings_layer(Settings(contact="https://me.test", min_delay_s=3)),
            read_profile("docs").layer,
        ]
        resolved = resolve(layers)
        config = resolved.config
        assert config.limits.max_pages == 10
        assert config.limits.max_depth == 4
        assert config.politeness.concurrency == 5
        assert config.scope.within is Within.DOMAIN
        assert config.http.contact == "https://me.test"
        assert config.politeness.min_delay_s == 3
        assert config.url.query is QueryPolicy.STRIP_ALL
        assert config.http.max_retries == 3
        assert dict(resolved.origins) == {
            **dict.fromkeys(read_profile("docs").layer.values, "profile docs"),
            "limits.max_pages": "flag --max-pages",
            "limits.max_depth": "environment GEOMI_CRAWL_DEPTH",
            "politeness.concurrency": f"file {path}",
            "scope.within": f"file {path}",
            "http.contact": "process settings",
            "politeness.min_delay_s": "process settings",
        }

    def test_nothing_said_is_the_default(self) -> None:
        """No layer, no origin."""
        resolved = resolve([])
        assert resolved.config == CrawlConfig()
        assert resolved.run == RunOptions()
        assert resolved.origins == ()

    @pytest.mark.parametrize("empty", [None, (), []])
    def test_a_flag_that_was_not_given_hides_nothing(self, empty: object) -> None:
        """None and an empty list come from a command line that did not name the option."""
        layers = [flags_layer({"include": empty}), Layer("file", {"scope.include": ["/a/**"]})]
        assert resolve(layers).config.scope.include == ("/a/**",)

    def test_zero_is_a_value(self) -> None:
        """`-n 0` means no limit, not "not given"."""
        resolved = resolve([flags_layer({"max_pages": 0, "delay": 0.0})])
        assert resolved.config.limits.max_pages == 0
        assert resolved.config.politeness.delay_s == 0.0

    def test_set_beats_the_named_flag(self) -> None:
        """`--set` can reach every setting and wins over its short name."""
        layer = flags_layer({"depth": 2}, ["limits.max_depth = 7", "render=never", "workers=2"])
        resolved = resolve([layer])
        assert resolved.config.limits.max_depth == 7
        assert resolved.config.render == "never"
        assert resolved.run.workers == 2
        assert dict(resolved.origins)["limits.max_depth"] == "flag --set"

    def test_a_resumed_job_is_changed_by_flags_alone(self) -> None:
        """What the job was started with stays, and is not an origin."""
        before = resolve([flags_layer({"depth": 7, "header": ("X-A: b",), "max_pages": 5})]).config
        resolved = resolve([flags_layer({"max_pages": 50, "output": "there"})], onto=before)
        assert resolved.config.limits.max_depth == 7
        assert resolved.config.http.headers == (("X-A", "b"),)
        assert resolved.config.limits.max_pages == 50
        assert resolved.run.output == "there"
        assert dict(resolved.origins) == {
            "limits.max_pages": "flag --max-pages",
            "run.output": "flag --output",
        }

    def test_a_configuration_rebuilt_is_itself(self) -> None:
        """Every value survives being written as keys and read again."""
        config = resolve([read_profile("docs").layer]).config
        assert resolve([Layer("copy", all_values(config))]).config == config
        assert resolve([], onto=config).config == config


class TestNames:
    """An unknown key is refused with the nearest known one, wherever it stands."""

    def test_in_the_environment(self) -> None:
        """The variable is named."""
        with pytest.raises(ConfigError, match="GEOMI_CRAWL_MAX_PAGE") as caught:
            env_layer({"GEOMI_CRAWL_MAX_PAGE": "5"})
        assert caught.value.hint == "did you mean `max_pages`?"

    @pytest.mark.parametrize(
        ("text", "name", "near"),
        [
            ("[crawl]\nmax_page = 5\n", "max_page", "max_pages"),
            ("[crawl.limits]\nmax_deptt = 5\n", "limits.max_deptt", "limits.max_depth"),
            ("[crawll]\n", "crawll", "crawl"),
        ],
    )
    def test_in_a_file(self, tmp_path: Path, text: str, name: str, near: str) -> None:
        """The file is named."""
        path = written(tmp_path, text)
        with pytest.raises(ConfigError, match=name) as caught:
            file_layer(path)
        assert str(path) in caught.value.message
        assert caught.value.hint == f"did you mean `{near}`?"

    def test_in_set(self) -> None:
        """--set names itself."""
        with pytest.raises(ConfigError, match=r"--set: `limits\.max_pagse`") as caught:
            flags_layer({}, ["limits.max_pagse=5"])
        assert "limits.max_page" in caught.value.hint

    def test_set_without_a_value(self) -> None:
        """A forgotten `=` is told."""
        with pytest.raises(ConfigError, match="has no value") as caught:
            flags_layer({}, ["limits.max_pages"])
        assert "KEY=VALUE" in caught.value.hint

    def test_every_option_is_a_setting(self) -> None:
        """A short name that leads nowhere would be accepted and forgotten."""
        assert set(OPTIONS.values()) <= set(setting_types())


class TestValues:
    """What comes as text becomes a value inside its bounds, or an error that names its place."""

    @pytest.mark.parametrize(
        ("key", "text", "value"),
        [
            ("scope.include", "/a/**, /b/*", ("/a/**", "/b/*")),
            ("scope.include", "/{a,b}/**,/c", ("/{a,b}/**", "/c")),
            ("scope.include", "/v{1,{2,3}}/x", ("/v{1,{2,3}}/x",)),
            ("scope.include", "", ()),
            ("scope.sitemaps", "false", False),
            ("politeness.delay_s", "2.5", 2.5),
            ("extract.images", "alt", ImageStyle.ALT),
            ("http.user_agent", "bot/1, (+x)", "bot/1, (+x)"),
            ("extract.content", "main, article", "main, article"),
        ],
    )
    def test_text_is_read_by_the_type_of_its_setting(
        self, key: str, text: str, value: object
    ) -> None:
        """Lists are separated by commas, except inside the braces of a glob."""
        resolved = resolve([flags_layer({}, [f"{key}={text}"])])
        assert all_values(resolved.config)[key] == value

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("limits.max_pages", "-1"),
            ("limits.max_depth", "1001"),
            ("limits.max_page_bytes", "1023"),
            ("politeness.delay_s", "-0.1"),
            ("politeness.delay_s", "nan"),
            ("politeness.delay_s", "inf"),
            ("politeness.concurrency", "0"),
            ("http.max_redirects", "21"),
            ("robots.ttl_s", "86401"),
            ("robots.max_bytes", "511999"),
            ("scope.within", "galaxy"),
            ("limits.max_pages", "many"),
            ("limits.max_pages", str(2**63)),
            ("robots.max_bytes", str(2**63)),
            ("run.workers", "65"),
            ("run.format", "md,docx"),
        ],
    )
    def test_a_value_out_of_bounds_is_refused(self, key: str, value: str) -> None:
        """Key, value and origin stand in the message."""
        with pytest.raises(ConfigError) as caught:
            resolve([flags_layer({}, [f"{key}={value}"])])
        assert key in caught.value.message
        assert "flag --set" in caught.value.message

    def test_the_origin_of_a_wrong_value_is_its_own(self, tmp_path: Path) -> None:
        """The layer that gave the value is to blame, not the strongest one."""
        path = written(tmp_path, "[crawl]\ndepth = -3\n")
        layers = [flags_layer({"max_pages": 5}), file_layer(path)[0]]
        with pytest.raises(ConfigError, match=r"limits\.max_depth = `-3`") as caught:
            resolve(layers)
        assert f"(file {path})" in caught.value.message

    @pytest.mark.parametrize(
        ("given", "pairs"),
        [
            (("A: b", "C:d:e"), (("A", "b"), ("C", "d:e"))),
            ("X-One: 1, 2", (("X-One", "1, 2"),)),
            ({"A": "b"}, (("A", "b"),)),
        ],
    )
    def test_headers_are_read_as_curl_reads_them(
        self, given: object, pairs: tuple[tuple[str, str], ...]
    ) -> None:
        """Lines, one line, or a table; a comma belongs to the value."""
        assert resolve([Layer("x", {"http.headers": given})]).config.http.headers == pairs

    @pytest.mark.parametrize("line", ["no colon", ": no name", "  :x"])
    def test_what_is_no_header_is_refused(self, line: str) -> None:
        """The line is shown with the right form."""
        with pytest.raises(ConfigError, match="is not a header") as caught:
            resolve([flags_layer({"header": (line,)})])
        assert "Name: value" in caught.value.hint


class TestFile:
    """A TOML file with two tables."""

    def test_both_tables(self, tmp_path: Path) -> None:
        """`[crawl]` is a layer, by option names and by sections; `[geomi]` is handed on."""
        path = written(
            tmp_path,
            "[geomi]\ncontact = 'me'\n[crawl]\nmax-pages = 3\nheader = { A = 'b' }\n"
            "include = ['/x']\n[crawl.http]\naccept_language = 'ko'\n",
        )
        layer, process = file_layer(path)
        assert process == {"contact": "me"}
        config = resolve([layer]).config
        assert config.limits.max_pages == 3
        assert config.http.headers == (("A", "b"),)
        assert config.scope.include == ("/x",)
        assert config.http.accept_language == "ko"

    def test_a_section_may_have_the_name_of_an_option(self, tmp_path: Path) -> None:
        """`scope` is both: a table is the section."""
        layer, _ = file_layer(written(tmp_path, "[crawl.scope]\nwithin = 'any'\nprobe = true\n"))
        assert layer.values == {"scope.within": "any", "scope.probe": True}

    @pytest.mark.parametrize("text", ["[crawl", "crawl = 3\n", "geomi = 'x'\n", "\x00"])
    def test_nonsense_is_refused(self, tmp_path: Path, text: str) -> None:
        """The file is named."""
        path = written(tmp_path, text)
        with pytest.raises(ConfigError, match=r"geomi\.toml"):
            file_layer(path)

    def test_bytes_that_are_no_text(self, tmp_path: Path) -> None:
        """Latin-1 is not TOML."""
        path = tmp_path / "geomi.toml"
        path.write_bytes(b"# \xff\n")
        with pytest.raises(ConfigError, match="cannot read"):
            file_layer(path)

    def test_no_file(self, tmp_path: Path) -> None:
        """A file that was named has to be there."""
        with pytest.raises(ConfigError, match="cannot read"):
            file_layer(tmp_path / "none.toml")


class TestSchema:
    """A job's own schema, as text or as a file on the command line."""

    SCHEMA = '{"type": "object", "properties": {"a": {"type": "string"}}}'

    @pytest.mark.req("FUT-14")
    def test_a_file_is_read_where_the_command_line_names_one(self, tmp_path: Path) -> None:
        path = tmp_path / "own.json"
        path.write_text(self.SCHEMA)
        for value in (self.SCHEMA, f"@{path}"):
            config = resolve([flags_layer({}, [f"analysis.schema={value}"])]).config
            assert config.analysis.schema == self.SCHEMA

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ('{"type": "object"}', "analysis.schema: at `/`"),
            ("@nowhere.json", "cannot read schema `nowhere.json`"),
            ("x" * (MAX_SCHEMA_CHARS + 1), "at most 20,000 characters"),
        ],
    )
    def test_what_is_none_is_refused(self, value: str, problem: str) -> None:
        with pytest.raises(ConfigError, match=re.escape(problem)):
            resolve([flags_layer({}, [f"analysis.schema={value}"])])

    def test_from_elsewhere_no_file_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "own.json"
        path.write_text(self.SCHEMA)
        with pytest.raises(ConfigError, match="it is not JSON"):
            resolve([env_layer({"GEOMI_CRAWL_ANALYSIS__SCHEMA": f"@{path}"})])

    def test_a_file_that_is_no_text(self, tmp_path: Path) -> None:
        path = tmp_path / "own.json"
        path.write_bytes(b"\xff\xfe")
        with pytest.raises(ConfigError, match="it is not text"):
            flags_layer({}, [f"analysis.schema=@{path}"])
