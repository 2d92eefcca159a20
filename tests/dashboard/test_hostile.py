"""Pages of the web that want to be more than text: on the dashboard they are text."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from geomi.dashboard.markdown import MAX_BLOCK_CHARS, MAX_BLOCKS, DisplayBlockKind, blocks
from tests.api.filling import filled
from tests.dashboard.visiting import seen, serving, text
from tests.support.crawl import robots
from tests.support.server import Reply, Site
from tests.support.waiting import waits

SCRIPT = "<script>window.broken = 1</script>"
IMAGE = "<img src=x onerror='window.broken = 1'>"
PROSE = "The lighthouse keeper writes down every ship that passes the island. " * 8
SAID = (SCRIPT + IMAGE).replace("<", "&lt;")
PATH = quote("a\"onmouseover='x'<b>{{ 7*7 }}")
HOSTILE: dict[str, Reply] = {
    "/": Reply(
        f"<html lang=en><title>&lt;/title&gt;{SAID}</title><main><h1>{SAID}</h1><p>{PROSE}</p>"
        f"<pre>{SAID}</pre><a href='/{PATH}'>x</a><a href='javascript:alert(1)'>x</a>".encode()
    ),
    "/robots.txt": robots("User-agent: *", f"Disallow: /{SCRIPT}", f"# {IMAGE}"),
}


@pytest.mark.req("FUT-17")
@waits
async def test_hostile_titles_urls_and_texts_stay_text_on_every_page(tmp_path: Path) -> None:
    with Site(HOSTILE) as site:
        async with serving(tmp_path) as house:
            job = await filled(house.ground.mine, house.ground.desk, site)
            links = seen(await house.mine.get("/documents")).named("a")
            own = [one["href"] for one in links if one["href"].startswith("/documents/")]
            url = quote(site.url("/") + SCRIPT, safe="")
            paths = [
                "/",
                f"/crawls/{job}",
                f"/crawls/{job}/urls",
                f"/crawls/{job}/urls?url={url}&prefix={quote(IMAGE)}",
                "/documents",
                own[0],
                f"/search?q={quote('lighthouse ' + SCRIPT)}",
                f"/sites/127.0.0.1:{site.port}",
            ]
            told = ""
            for path in paths:
                answer = await house.mine.get(path)
                page = seen(answer)
                told += page.words
                assert answer.status == 200, path
                assert len(page.named("script")) == 1, path
                assert [one["src"][:8] for one in page.named("img")] == ["/static/"], path
                assert not any("onerror" in one or "onmouseover" in one for _, one in page.tags)
                assert "javascript:" not in " ".join(one.get("href", "") for _, one in page.tags)
                assert "49" not in page.words.partition("{{ 7*7 }}")[2][:4]
            assert told.count(SCRIPT) >= 4 and IMAGE in told, "it is shown, as text"


@waits
async def test_a_form_shows_what_it_was_sent_as_text(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        fields = {"seedUrls": f"</textarea>{SCRIPT}", "collectionId": f'">{IMAGE}'}
        answer = await house.mine.send("/crawls/new", "/crawls/new", fields)
        page = seen(answer)
        assert answer.status == 422 and len(page.named("script")) == 1
        assert SCRIPT not in text(answer) and IMAGE not in text(answer)
        values = [one["value"] for one in page.named("input") if one["name"] == "collectionId"]
        assert values == [f'">{IMAGE}']


@pytest.mark.parametrize(
    ("markdown", "kind", "told"),
    [
        ("## A *title* ##", DisplayBlockKind.HEADING, "A title"),
        ("- one", DisplayBlockKind.ITEM, "one"),
        ("12. twelve", DisplayBlockKind.ITEM, "twelve"),
        ("> said\n> so", DisplayBlockKind.QUOTE, "said so"),
        ("```py\nx = '<b>'\n\n# no\n```", DisplayBlockKind.CODE, "x = '<b>'\n\n# no"),
        ("```\nnever closed", DisplayBlockKind.CODE, "never closed"),
        ("| a | b |\n|---|---|", DisplayBlockKind.TABLE, "| a | b |\n|---|---|"),
        ("one\ntwo", DisplayBlockKind.TEXT, "one two"),
        ("a [link](http://evil.test/) to", DisplayBlockKind.TEXT, "a link to"),
        ("![a map](http://evil.test/pixel.gif)", DisplayBlockKind.TEXT, "[a map]"),
        ("**bold** and `code`", DisplayBlockKind.TEXT, "bold and code"),
        ("<script>x</script>", DisplayBlockKind.TEXT, "<script>x</script>"),
    ],
)
def test_markdown_is_read_as_shapes_without_addresses(
    markdown: str, kind: DisplayBlockKind, told: str
) -> None:
    (block,) = blocks(markdown)
    assert (block.kind, block.text) == (kind, told)


def test_a_document_without_end_is_shown_up_to_a_limit() -> None:
    assert len(blocks("- x\n" * MAX_BLOCKS)) == MAX_BLOCKS
    assert len(blocks("- x\n" * (MAX_BLOCKS + 1))) == MAX_BLOCKS
    (block,) = blocks("x" * (MAX_BLOCK_CHARS + 1))
    assert len(block.text) == MAX_BLOCK_CHARS
    assert blocks("") == ()
    assert blocks("[" * 50_000)[0].text and blocks("*_" * 50_000)[0].text
