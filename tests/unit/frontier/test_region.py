"""Which regions serve a host, and rules that cannot be read."""

from __future__ import annotations

import pytest

from geomi.errors import ConfigError
from geomi.frontier.region import (
    ANYWHERE,
    MAX_REGIONS,
    MAX_RULES,
    RegionMap,
    check_region,
    regions_of,
)
from geomi.model.config import Regions


@pytest.mark.req("FUT-20")
@pytest.mark.parametrize(
    ("host", "regions"),
    [
        ("shop.co.kr:443", ("kr",)),
        ("kr:80", ()),
        ("notkr:80", ()),
        ("seoul.go.kr:443", ("kr-1", "kr-2")),  # a longer suffix is stronger
        ("www.seoul.go.kr:443", ("eu",)),  # and a host the strongest
        ("www.seoul.go.kr.:443", ("eu",)),
        ("[2001:db8::1]:80", ("eu",)),
        ("example.com:80", ()),
    ],
)
def test_the_strongest_rule_names_the_regions_of_a_host(
    host: str, regions: tuple[str, ...]
) -> None:
    rules = Regions(
        hosts=(".kr=kr", ".go.kr = kr-2+kr-1", "WWW.Seoul.go.kr=eu", "[2001:db8::1]=eu")
    )
    found = RegionMap(rules)
    assert regions_of(found.label(host)) == regions
    assert (found.label(host) in found.served_by("")) == (not regions)
    assert all(found.label(host) in found.served_by(region) for region in regions)
    assert (found.label(host) in found.served_by("us")) == (not regions)


def test_a_job_may_name_regions_of_all_its_hosts() -> None:
    found = RegionMap(Regions(job=("kr", "jp"), hosts=("a.test=us",)))
    assert found.served_by("") == (ANYWHERE,)
    assert found.label("b.test:80") in found.served_by("jp")
    assert found.label("a.test:80") not in found.served_by("jp")


@pytest.mark.parametrize(
    "rules",
    [
        Regions(hosts=("kr",)),
        Regions(hosts=("=kr",)),
        Regions(hosts=(".kr=",)),
        Regions(hosts=("*.kr=kr",)),
        Regions(hosts=("a b=kr",)),
        Regions(hosts=(".kr=Kr/1",)),
        Regions(hosts=(f"{'a' * 255}=kr",)),
        Regions(hosts=(".kr=" + "+".join(f"r{n}" for n in range(MAX_REGIONS + 1)),)),
        Regions(hosts=tuple(f"h{n}.test=kr" for n in range(MAX_RULES + 1))),
        Regions(job=("",)),
        Regions(job=("south pole",)),
        Regions(job=("r" * 33,)),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(rules: Regions) -> None:
    with pytest.raises(ConfigError, match=r"regions\.(hosts|job)"):
        RegionMap(rules)


def test_a_worker_has_one_region_or_none() -> None:
    for region in ("", "kr", "eu-west-1", "r" * 32):
        check_region(region)
    for region in ("KR", "-kr", "kr-", "a b", "r" * 33, "*", "?"):
        with pytest.raises(ConfigError):
            check_region(region)
