"""A crawl for a provider: what is asked of it, what is told, and what keeps it from beginning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from geomi.app import Plan, make_plan
from geomi.app.use import providers
from geomi.errors import ConfigError
from geomi.model.site import Channel, Provider
from geomi.settings.layers import flags_layer, resolve_under_profile, settings_layer
from geomi.settings.providers import presets, provider_layer, read_provider
from tests.support.crawl import LOCAL, Crawled, Ear, crawl_in, home_in, page
from tests.support.server import Reply, Route, Site
from tests.support.waiting import waits

ID = "8d5f6f5e-7a11-4a53-9d3c-0f5ad1f0a001"
ROUTES = {
    "/docs": page("docs", "/docs/a", "/docs/changelog/1", "/blog/x"),
    "/docs/a": page("a"),
    "/docs/changelog/1": page("changelog"),
    "/blog/x": page("blog"),
}


def provider_of(site: Site, **changes: object) -> Provider:
    """Describe a provider that lives on a site."""
    payload: dict[str, object] = {
        "seed_urls": [site.url("/docs")],
        "allowed_path_patterns": ["/docs/**"],
        "blocked_path_patterns": ["/docs/changelog/**"],
        "tos_reviewed_at": "2026-01-31",
        "tos_allows_crawling": True,
    }
    return read_provider(payload | changes, key="example", provider_id=ID)


def plan_for(
    provider: Provider, *, resume: bool = False, assignments: Sequence[str] = (), **options: object
) -> Plan:
    """Plan a crawl of a provider without its pauses, as `--provider` does."""
    flags = flags_layer({"profile": "default", "delay": 0.0, **options}, assignments)
    layers = [flags, settings_layer(LOCAL), provider_layer(provider)]
    return make_plan(
        provider.seed_urls,
        resolve_under_profile(layers),
        flags,
        resume=resume,
        provider=provider.key,
    )


@waits
async def crawl_for(
    root: Path, provider: Provider, *, registers: bool = True, assignments: Sequence[str] = ()
) -> Crawled:
    """Register a provider and crawl it."""
    ear = Ear()
    async with home_in(root, ear) as home:
        if registers:
            await providers.add(home.world, provider)
        return await crawl_in(home, ear, plan_for(provider, assignments=assignments))


@pytest.mark.req("CFG-01")
def test_links_are_discovered_from_its_seeds_within_its_patterns(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        crawled = crawl_for(tmp_path, provider_of(site))
        assert sorted(crawled.urls) == [site.url("/docs"), site.url("/docs/a")]
        assert crawled.report.job.provider == "example"
        assert crawled.entries[site.url("/docs")].depth == 0
        assert crawled.exclusions["exclude"][1] == (site.url("/docs/changelog/1"),)
        assert crawled.exclusions["include"][1] == (site.url("/blog/x"),)
        assert crawled.ear.warnings == []


@pytest.mark.req("CFG-08")
@pytest.mark.parametrize("ladder", ["literal", "scored"])
def test_its_selectors_say_what_is_kept_of_a_page(tmp_path: Path, ladder: str) -> None:
    """As docs finds the content of a page, and as the other profiles do."""
    html = (
        "<title>D</title><main><p>Words around the guide, which are not wanted.</p>"
        "<div class=guide><p>How a loom is set up.</p>"
        "<p class=old>Once it stood on the floor.</p></div></main>"
    )
    selectors = {"content": "div.guide", "remove": [".old"]}
    with Site({"/docs": Reply(html.encode())}) as site:
        provider = provider_of(site, custom_selectors=selectors)
        crawled = crawl_for(tmp_path, provider, assignments=(f"extract.ladder={ladder}",))
        (record,) = crawled.records
    assert record["markdown"].strip() == "How a loom is set up."


@pytest.mark.req("FUT-05", "CFG-09", "CFG-12", "LNK-16")
def test_the_sitemap_that_it_names_is_read(tmp_path: Path) -> None:
    routes: dict[str, Route] = {**ROUTES, "/docs/hidden": page("hidden")}
    with Site(routes) as site:
        listing = "".join(
            f"<url><loc>{site.url(path)}</loc></url>" for path in ("/docs/hidden", "/blog/x")
        )
        urlset = f"<urlset>{listing}</urlset>".encode()
        routes["/map.xml"] = Reply(urlset, content_type="text/xml")
        crawled = crawl_for(tmp_path, provider_of(site, sitemap_url=site.url("/map.xml")))
        wanted = [site.url(path) for path in ("/docs", "/docs/a", "/docs/hidden")]
        assert sorted(crawled.urls) == wanted
        assert crawled.record(site.url("/docs/hidden"))["source"] == "sitemap"
        assert crawled.entries[site.url("/map.xml")].parent is None


@pytest.mark.req("LEG-03")
def test_a_preset_warns_of_terms_that_nobody_read_and_of_a_better_channel(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        preset = presets()["openai"]
        stand_in = provider_of(site, key=preset.key)
        crawled = crawl_for(tmp_path, stand_in, registers=False)
    assert preset.channel is Channel.CONTEXT7
    assert crawled.ear.warnings == [
        "the terms of provider openai have not been reviewed",
        "Context7 has the documents of provider openai; this crawl is a fallback",
    ]


@pytest.mark.req("LEG-04", "G-21")
@waits
async def test_a_provider_that_forbids_it_is_not_crawled_by_any_road(tmp_path: Path) -> None:
    """Not for it, not going on with a job of it, not from its host, not through a link."""
    with (
        Site({"/docs": page("docs")}) as site,
        Site({"/": page("elsewhere", site.url("/docs"))}, address="127.0.0.2") as elsewhere,
    ):
        provider = provider_of(site)

        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            await providers.add(home.world, provider)
            await crawl_in(home, ear, plan_for(provider))
            asked = len(site.log)
            await providers.review(home.world, "example", allows=False, reviewed_at="2026-02-01")
            for plan in (plan_for(provider), plan_for(provider, resume=True)):
                with pytest.raises(ConfigError, match="does not allow crawling") as caught:
                    await crawl_in(home, ear, plan)
                assert "review example --allows" in caught.value.hint
            flags = flags_layer({"delay": 0.0, "scope": "any"})
            resolved = resolve_under_profile([flags, settings_layer(LOCAL)])
            with pytest.raises(ConfigError, match="provider example forbids crawling"):
                await crawl_in(home, ear, make_plan([site.url("/docs")], resolved, flags))
            linked = await crawl_in(home, ear, make_plan([elsewhere.url("/")], resolved, flags))
            assert len(site.log) == asked
        assert linked.urls == [elsewhere.url("/")]
        assert linked.exclusions["site.excluded"][1] == (site.url("/docs"),)


@waits
async def test_a_registration_keeps_its_id_and_a_removed_one_uncovers_its_preset(
    tmp_path: Path,
) -> None:
    with Site(ROUTES) as site:
        described = provider_of(site, key="openai")

    async with home_in(tmp_path, Ear()) as home:
        world = home.world
        assert (await providers.add(world, described, has_own_id=True)).provider_id == ID
        await providers.remove(world, "openai")
        added = await providers.add(world, described)
        assert added.provider_id == presets()["openai"].provider_id
        assert await providers.find(world, "openai") == added
        await providers.remove(world, "openai")
        assert await providers.find(world, "openai") == presets()["openai"]
        with pytest.raises(ConfigError, match="comes with geomi and cannot be removed"):
            await providers.remove(world, "openai")
        with pytest.raises(ConfigError, match="unknown provider: `opnai`") as caught:
            await providers.find(world, "opnai")
        assert caught.value.hint == "did you mean `openai`?"


@pytest.mark.req("JOB-07")
@pytest.mark.parametrize(("most", "stop", "is_told"), [(1, "max_pages", True), (9, "done", False)])
def test_at_its_page_limit_its_crawl_ends_with_a_warning(
    tmp_path: Path, most: int, stop: str, is_told: bool
) -> None:
    with Site(ROUTES) as site:
        crawled = crawl_for(tmp_path, provider_of(site, max_pages=most))
        assert crawled.report.job.stop == stop
        assert len(crawled.urls) == min(most, 2)
        told = [text for text in crawled.ear.warnings if "reached its limit of 1 pages" in text]
        assert bool(told) is is_told and len(told) <= 1
