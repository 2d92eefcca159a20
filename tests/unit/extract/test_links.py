"""The links of a page."""

from __future__ import annotations

import pytest

from geomi.extract import links
from geomi.extract.dom import parse_html
from geomi.extract.links import base_url, read_links, read_mail_links
from geomi.model.page import PageLink

URL = "http://a.test/docs/"


def read(html: str, url: str = URL, max_links: int = 100) -> tuple[PageLink, ...]:
    document = parse_html(html.encode(), "text/html")
    return read_links(document, base_url(document, url), max_links).links


@pytest.mark.req("LNK-03", "LNK-08")
def test_anchor_text_and_rel_are_kept() -> None:
    found = read('<a href="guide" rel="NoFollow ugc">The\n <b>guide</b></a><map><area href="/b">')
    assert found == (
        PageLink("http://a.test/docs/guide", "The guide", "nofollow ugc"),
        PageLink("http://a.test/b", "", ""),
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<frameset><frame src="nav.html"><frame src="/main"></frameset>',
            ["docs/nav.html", "main"],
        ),
        ('<iframe src="part"></iframe><iframe src="//ads.test/x"></iframe>', ["docs/part"]),
        ('<iframe src="about:blank"></iframe><iframe src=""></iframe><iframe></iframe>', []),
        ('<link rel="next" href="page/2"><link rel="prev" href="page/0">', ["docs/page/2"]),
        ('<link rel="Prefetch NEXT" href="two">', ["docs/two"]),
        ('<meta http-equiv="refresh" content="0; url=new">', ["docs/new"]),
        ("<META HTTP-EQUIV=Refresh CONTENT=\"5;URL='/new home'\">", ["new%20home"]),
        ('<base href="/v2/"><meta http-equiv="refresh" content="0;url=x">', ["v2/x"]),
        ('<meta http-equiv="refresh" content="30">', []),
        ('<meta http-equiv="refresh" content="0; url=javascript:f()">', []),
        ('<meta http-equiv="content-type" content="0; url=/x">', []),
        ('<a href="new">new</a><meta http-equiv="refresh" content="0; url=new">', ["docs/new"]),
    ],
)
@pytest.mark.req("LNK-03")
def test_where_a_browser_goes_by_itself_is_linked(html: str, expected: list[str]) -> None:
    """Frames, a page that sends on, and the next one of a series; an iframe of this host."""
    assert [link.url for link in read(html)] == [f"http://a.test/{path}" for path in expected]


def test_frames_have_a_limit() -> None:
    """One more than the limit is not read."""
    many = links.MAX_FRAMES + 1
    for tag in ("frame", "iframe"):
        html = "".join(f'<{tag} src="/{n}"></{tag}>' for n in range(many))
        page = f"<frameset>{html}</frameset>" if tag == "frame" else html
        assert len(read(page, max_links=many)) == many - 1


def test_what_is_left_out_is_counted() -> None:
    """Each URL once, and only what leads somewhere."""
    hrefs = ["/0", "/1", "/2", "/2#x", "/3", "mailto:x@a.test", "/3"]
    html = "".join(f'<a href="{href}">x</a>' for href in hrefs)
    document = parse_html(html.encode(), "text/html")
    counted = [read_links(document, URL, limit).left_out for limit in (2, 3, 4, 5)]
    assert counted == [2, 1, 0, 0]


@pytest.mark.req("LNK-04")
def test_links_within_the_page_and_out_of_the_web_are_left_out() -> None:
    html = '<a href="#x">a</a><a href="mailto:a@b.test">b</a><a href="javascript:f()">c</a><a>d</a>'
    assert read(html) == ()


@pytest.mark.parametrize(
    ("head", "url", "expected"),
    [
        ("", "http://a.test/docs/", "http://a.test/docs/guide"),
        ("", "http://a.test/docs", "http://a.test/guide"),
        ('<base href="/v2/">', "http://a.test/docs/", "http://a.test/v2/guide"),
        ('<base href="https://b.test/x/">', "http://a.test/docs/", "https://b.test/x/guide"),
        ('<base href="javascript:x">', "http://a.test/docs/", "http://a.test/docs/guide"),
        (
            '<base target="_top"><base href="b/">',
            "http://a.test/docs/",
            "http://a.test/docs/b/guide",
        ),
    ],
)
def test_relative_links_follow_the_final_url_and_base(head: str, url: str, expected: str) -> None:
    assert [link.url for link in read(f'{head}<a href="guide">x</a>', url)] == [expected]


def test_a_url_is_listed_once_with_its_first_words() -> None:
    found = read('<a href="/a"><img src=i></a><a href="/a">words</a><a href="/a#part">part</a>')
    assert found == (PageLink("http://a.test/a", "words"),)


def test_a_url_may_be_followed_if_one_of_its_links_may() -> None:
    found = read('<a href="/a" rel="nofollow">x</a><a href="/a" rel="noopener">y</a>')
    assert found == (PageLink("http://a.test/a", "x", "noopener"),)
    found = read('<a href="/a">x</a><a href="/a" rel="nofollow">y</a>')
    assert found == (PageLink("http://a.test/a", "x", ""),)


@pytest.mark.req("LNK-09")
def test_links_are_limited() -> None:
    html = "".join(f'<a href="/{number}">x</a>' for number in range(4))
    assert len(read(html, max_links=4)) == 4
    assert [link.url for link in read(html, max_links=3)] == [
        f"http://a.test/{number}" for number in range(3)
    ]


def test_hrefs_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MAX_HREFS", 2)
    assert len(read('<a href="/1">x</a><a href="/2">x</a><a href="/3">x</a>')) == 2


def test_long_anchor_text_is_cut() -> None:
    (link,) = read(f'<a href="/a">{"word " * 1000}</a>')
    assert len(link.text) == links.MAX_TEXT_CHARS


def mail_links(html: str) -> tuple[tuple[str, str], ...]:
    return read_mail_links(parse_html(html.encode(), "text/html"))


@pytest.mark.req("SAF-02")
def test_links_to_write_to_keep_text_and_address() -> None:
    found = mail_links(
        '<a href="MAILTO:doe%40lab.test?subject=Hi">Jane\n <b>Doe</b></a><a href="/doe">Jane</a>'
        '<a href="mailto:doe@lab.test">Jane Doe</a><a href="mailto:x@lab.test"><img src=x></a>'
    )
    assert found == (("Jane Doe", "doe@lab.test"),)


def test_links_to_write_to_are_limited() -> None:
    many = "".join(f'<a href="mailto:a{n}@x.test">x</a>' for n in range(links.MAX_MAIL_LINKS + 1))
    assert len(mail_links(many)) == links.MAX_MAIL_LINKS
    address = "a" * links.MAX_ADDRESS_CHARS
    assert len(mail_links(f'<a href="mailto:{address}">x</a>')) == 1
    assert mail_links(f'<a href="mailto:{address}a">x</a>') == ()
