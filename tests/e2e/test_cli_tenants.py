"""Whoever works at the machine of a service reaches what all of its tenants have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geomi.app.use import providers
from geomi.model.request_log import RequestPurpose
from tests.app.test_providers import plan_for, provider_of
from tests.e2e.served import Command, archived, commands, serve_to
from tests.support.crawl import Ear, crawl_in, home_in, page
from tests.support.server import Site
from tests.support.waiting import waits

ROUTES = {"/": page("home", "/a"), "/a": page("next")}


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run commands in this process."""
    return commands(monkeypatch, capsys)


def test_a_backup_holds_the_pages_of_every_tenant(tmp_path: Path, command: Command) -> None:
    served, file, restored = tmp_path / "served", tmp_path / "b.tar.gz", tmp_path / "restored"
    with Site(ROUTES) as one, Site(ROUTES, address="127.0.0.2") as two:
        serve_to(served, {"a": one.url("/"), "b": two.url("/")})
    code, out, err = command("backup", "-o", str(served), str(file), "--json")
    assert code == 0, err
    assert json.loads(out)["jobs"] == 2
    code, out, err = command("restore", "-o", str(restored), str(file), "--json")
    assert code == 0, err
    assert json.loads(out)["jobs"] == 2
    for tenant in "ab":
        pages = archived(restored, tenant)
        assert len(pages) == 2
        assert pages == archived(served, tenant)


@waits
async def logged(root: Path, host: str) -> dict[str, list[str]]:
    """Read which URLs of a host the log has, robots.txt aside, by tenant."""
    found: dict[str, list[str]] = {}
    async with home_in(root, Ear()) as home:
        for row in await home.world.store.requests.of_host(host, after_s=0.0, limit=99):
            tenant = await home.world.store.roster.tenant_of(row.job) or ""
            if row.purpose is RequestPurpose.PAGE:
                found.setdefault(tenant, []).append(row.url)
    return found


@pytest.mark.req("LEG-06")
def test_a_site_is_erased_for_every_tenant(tmp_path: Path, command: Command) -> None:
    with Site(ROUTES) as site, Site(ROUTES, address="127.0.0.2") as other:
        serve_to(tmp_path, {"a": site.url("/"), "b": site.url("/"), "c": other.url("/")})
    erase = ["erase", "--site", site.address, "--reason", "asked", "-o", str(tmp_path)]
    code, _, err = command(*erase)
    assert code == 2 and "this erases 4 pages" in err and "tenants: a, b" in err
    code, out, err = command(*erase, "--yes", "--json")
    assert code == 0, err
    erased = json.loads(out)
    assert (erased["jobs"], erased["pages"]) == (2, 4)
    told = {one["tenant"]: (one["jobs"], one["pages"]) for one in erased["tenants"]}
    assert told == {"a": (1, 2), "b": (1, 2), "local": (0, 0)}
    assert [len(archived(tmp_path, tenant)) for tenant in "abc"] == [0, 0, 2]


@pytest.mark.req("LEG-06")
def test_only_what_is_erased_goes_from_the_log(tmp_path: Path, command: Command) -> None:
    with Site(ROUTES) as site:
        serve_to(tmp_path, {"a": site.url("/"), "b": site.url("/")})
    erase = ["erase", "--site", site.address, "--reason", "asked", "-o", str(tmp_path), "--yes"]
    assert command(*erase, "--tenant", "nobody")[0] == 2
    code, _, err = command(*erase, "--tenant", "a")
    assert code == 0 and "of tenant a: 1 jobs, 2 pages" in err
    assert [len(archived(tmp_path, tenant)) for tenant in "ab"] == [0, 2]
    urls = [site.url("/"), site.url("/a")]
    assert logged(tmp_path, f"{site.address}:{site.port}") == {"": ["", ""], "b": urls}


@waits
async def collect_for(root: Path, tenants: str, site: Site) -> None:
    """Let each tenant register the provider of a site and crawl it."""
    async with home_in(root, Ear()) as home:
        for tenant in tenants:
            own = home.open_for(tenant)
            await providers.add(own.world, provider_of(site))
            await crawl_in(own, Ear(), plan_for(provider_of(site)))


@pytest.mark.req("LEG-06")
def test_a_provider_is_taken_down_for_every_tenant(tmp_path: Path, command: Command) -> None:
    with Site({"/docs": page("docs")}) as site:
        collect_for(tmp_path, "ab", site)
    takedown = ["providers", "takedown", "example", "--reason", "asked", "-o", str(tmp_path)]
    code, out, err = command(*takedown, "--yes", "--json")
    assert code == 0, err
    assert (json.loads(out)["jobs"], json.loads(out)["pages"]) == (2, 2)
    assert [archived(tmp_path, tenant) for tenant in "ab"] == [[], []]


def test_an_audit_knows_every_tenants_jobs_and_what_was_erased(
    tmp_path: Path, command: Command
) -> None:
    with Site(ROUTES) as site:
        serve_to(tmp_path, {"a": site.url("/"), "b": site.url("/")})
    audit = ["audit", "-o", str(tmp_path)]
    (host,) = json.loads(command(*audit, "--json")[1])["audit"]["hosts"]
    assert (host["unknown"], host["erased"], host["broken"]) == (0, 0, 0)
    erase = ["erase", "--site", site.address, "--reason", "asked", "-o", str(tmp_path), "--yes"]
    assert command(*erase, "--tenant", "a")[0] == 0
    code, out, err = command(*audit)
    assert code == 0, err
    assert "2 of erased pages" in out and "no breach" in out
