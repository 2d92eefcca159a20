"""A job's configuration survives the store, and stores of other versions open."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from geomi.adapters.store.rows import decode, encode
from geomi.model.config import CrawlConfig, Limits, Politeness, Scope, Within
from tests.contracts.suites.keeping import UNUSUAL


@pytest.mark.parametrize("config", [CrawlConfig(), UNUSUAL], ids=["default", "unusual"])
def test_a_config_comes_back_with_its_types(config: CrawlConfig) -> None:
    read = decode(CrawlConfig, encode(config))
    assert read == config
    assert isinstance(read.scope.within, Within)
    assert isinstance(read.scope.hosts, tuple)
    assert encode(read) == encode(config)


def test_missing_keys_get_their_defaults() -> None:
    assert decode(CrawlConfig, '{"limits": {"max_pages": 7}}') == CrawlConfig(
        limits=Limits(max_pages=7)
    )


def test_unknown_keys_are_ignored() -> None:
    later = asdict(CrawlConfig()) | {"hologram": True}
    later["scope"] = {"within": "domain", "dimension": 4}
    read = decode(CrawlConfig, json.dumps(later))
    assert read == replace(CrawlConfig(), scope=Scope(within=Within.DOMAIN))


def test_a_whole_number_of_seconds_is_a_float_again() -> None:
    read = decode(Politeness, '{"delay_s": 2, "base_delay_s": 1}')
    assert (read.delay_s, read.base_delay_s) == (2.0, 1.0)
    assert isinstance(read.delay_s, float)
