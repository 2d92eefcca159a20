"""The process's own settings: flag, then environment, then file, then default."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig
from geomi.model.job import CrawlJob, JobState
from geomi.settings.compliance import (
    allowed_network,
    archive_place,
    same_archive,
    same_directory,
    same_network,
)
from geomi.settings.options import Settings
from geomi.settings.process import read_settings, unknown_variables


def test_defaults_are_safe() -> None:
    """Nothing said: no private address, a second between requests."""
    settings = read_settings({}, {}, {})
    assert settings == Settings()
    assert not settings.allow_private
    assert settings.min_delay_s == 1.0


def test_the_stronger_place_wins() -> None:
    """One setting from each place."""
    settings = read_settings(
        {"GEOMI_CONTACT": "env", "GEOMI_CA_FILE": "env.pem", "GEOMI_MIN_DELAY_S": "2"},
        {"contact": "file", "ca_file": "file.pem", "min_free_bytes": 5},
        {"contact": "flag", "ca_file": None, "resolve": ()},
    )
    assert settings.contact == "flag"
    assert settings.ca_file == "env.pem"
    assert settings.min_delay_s == 2.0
    assert settings.min_free_bytes == 5


@pytest.mark.parametrize(
    ("env", "proxy"),
    [
        ({"http_proxy": "http://low:1", "HTTP_PROXY": "http://up:1"}, "http://low:1"),
        ({"HTTP_PROXY": "http://up:1"}, "http://up:1"),
        ({"http_proxy": "", "HTTP_PROXY": "http://up:1"}, "http://up:1"),
        ({"GEOMI_HTTP_PROXY": "http://own:1", "http_proxy": "http://low:1"}, "http://own:1"),
        ({}, ""),
    ],
)
def test_proxies_are_those_of_every_program(env: dict[str, str], proxy: str) -> None:
    """Lower case wins, ours before both, an empty one is none."""
    assert read_settings(env, {}, {}).http_proxy == proxy


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("no", False), ("0", False)]
)
def test_switches_are_read_as_people_write_them(text: str, value: bool) -> None:
    """An environment has only text."""
    assert read_settings({"GEOMI_ALLOW_PRIVATE": text}, {}, {}).allow_private is value


def test_lists_are_separated_by_commas() -> None:
    """Several overrides in one variable."""
    settings = read_settings({"GEOMI_RESOLVE": "a:80:1.2.3.4, b:80:1.2.3.5"}, {}, {})
    assert settings.resolve == ("a:80:1.2.3.4", "b:80:1.2.3.5")


@pytest.mark.parametrize(
    ("env", "table", "flags", "place"),
    [
        ({"GEOMI_MIN_DELAY_S": "-1"}, {}, {}, "GEOMI_MIN_DELAY_S = `-1`"),
        ({"GEOMI_ALLOW_PRIVATE": "perhaps"}, {}, {}, "GEOMI_ALLOW_PRIVATE = `perhaps`"),
        ({}, {"min_delay_s": 3601}, {}, "[geomi] min_delay_s = `3601`"),
        ({}, {}, {"min_free_bytes": -1}, "--min-free-bytes = `-1`"),
    ],
)
def test_a_wrong_value_names_its_place(
    env: dict[str, str], table: dict[str, object], flags: dict[str, object], place: str
) -> None:
    """As the person wrote it."""
    with pytest.raises(ConfigError) as caught:
        read_settings(env, table, flags)
    assert caught.value.message.startswith(place)


def test_an_unknown_key_of_the_file_is_refused() -> None:
    """With the nearest known one."""
    with pytest.raises(ConfigError, match="contatc") as caught:
        read_settings({}, {"contatc": "me"}, {})
    assert caught.value.hint == "did you mean `contact`?"


def test_a_resumed_job_needs_the_network_it_was_started_with() -> None:
    """Without it every URL that waits would count as refused."""
    private = Settings(allow_private=True, resolve=("a.test:80:127.0.0.1:8080",), ca_file="ca.pem")
    job = CrawlJob(
        "j", "local", (), CrawlConfig(), JobState.PROCESSING, 0.0, network=allowed_network(private)
    )
    same_network(job, replace(private, resolve=("a.test:80:127.0.0.1:9090",)))
    with pytest.raises(
        ConfigError, match=r"--allow-private, --ca-file ca\.pem, --resolve a\.test:80"
    ):
        same_network(job, Settings())


def test_a_resumed_job_needs_the_archive_it_was_started_with() -> None:
    """How to get to a bucket may change, which one it is may not."""
    bucket = Settings(blobs="s3://bucket/here/?endpoint=http://a.test")
    job = CrawlJob("j", "local", (), CrawlConfig(), JobState.PROCESSING, 0.0)
    kept = replace(job, archive=archive_place(bucket))
    same_archive(job, Settings())
    same_archive(kept, replace(bucket, blobs="s3://bucket/here"))
    with pytest.raises(ConfigError, match="the archive of job j is in s3://bucket/here"):
        same_archive(kept, Settings())
    with pytest.raises(ConfigError, match="the archive of job j is in its data directory"):
        same_archive(job, bucket)


def test_a_resumed_job_needs_the_directory_it_was_started_in() -> None:
    """A job whose database is in its directory has only that one."""
    job = CrawlJob("j", "local", (), CrawlConfig(), JobState.PROCESSING, 0.0)
    same_directory(job, "here")
    same_directory(replace(job, directory="here"), "here")
    with pytest.raises(ConfigError, match="the archive of job j is in another data directory"):
        same_directory(replace(job, directory="there"), "here")


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("GEOMI_CONTATC", "GEOMI_CONTACT"),
        ("GEOMI_MIN_DELAY", "GEOMI_MIN_DELAY_S"),
        ("GEOMI_ALLOWPRIVATE", "GEOMI_ALLOW_PRIVATE"),
        ("GEOMI_MAX_PAGES", "GEOMI_CRAWL_MAX_PAGES"),
        ("GEOMI_OUTPUT", "GEOMI_CRAWL_OUTPUT"),
    ],
)
def test_a_misspelled_variable_is_refused_with_what_was_meant(variable: str, near: str) -> None:
    """It would be ignored without a word otherwise."""
    with pytest.raises(ConfigError, match=variable) as caught:
        read_settings({variable: "x"}, {}, {})
    assert caught.value.hint == f"did you mean `{near}`?"


def test_a_variable_that_is_nothing_of_ours_is_only_named() -> None:
    """Others may have theirs."""
    env = {
        "GEOMI_HOME": "x", "GEOMI_BENCH_DIR": "x", "GEOMI_LOG_LEVEL": "x",
        "GEOMI_CORPUS": "x", "GEOMI_CONFIG": "x", "GEOMI_CRAWL_DEPTH": "1", "GEOMI_CONTACT": "me",
    }  # fmt: skip
    assert read_settings(env, {}, {}).contact == "me"
    assert unknown_variables(env) == ["GEOMI_BENCH_DIR", "GEOMI_HOME", "GEOMI_LOG_LEVEL"]
