"""Signing in by the command: a token proves whose a site is; no other origin is shown anything."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from geomi.engine.host.sign_in import PLACE, SignInBook
from geomi.model.site import PROOF_S
from tests.e2e.command import GEOMI, clean_env, records, run
from tests.support.crawl import Ear, home_in, page, to
from tests.support.server import Answer, Reply, Seen, Site

SECRET = "owner:correct horse battery"
SHOWN = "Basic " + base64.b64encode(SECRET.encode()).decode()
SIGN_IN = ["--set", "http.sign_in=true"]
LOCAL = ["--allow-private", "--delay", "0"]


@dataclass
class Intranet:
    """A site that lets in whoever shows what its owner knows."""

    header: tuple[str, str] = ("authorization", SHOWN)
    served: str = ""  # at the place of the token
    links: tuple[str, ...] = ("/inside",)
    site: Site = field(init=False)

    def __post_init__(self) -> None:
        self.site = Site({PLACE: self._token, "/robots.txt": Reply(status=404)}, self._page)

    def _token(self, _: Seen) -> Answer:
        if not self.served:
            return Reply(status=404)
        return Reply(self.served.encode(), content_type="text/plain")

    def _page(self, seen: Seen) -> Answer:
        name, value = self.header
        if seen.headers.get(name) != value:
            return Reply(b"<h1>who are you?</h1>", status=401)
        if seen.path.startswith("/to/"):
            return to(f"http://{seen.path.removeprefix('/to/')}")
        return page(f"Inside {seen.path}", *self.links)

    @property
    def signed_in(self) -> list[str]:
        """The paths that were asked for with a secret."""
        return [seen.path for seen in self.site.log if is_shown(seen)]


def is_shown(seen: Seen) -> bool:
    return bool({"authorization", "cookie", "x-key"} & seen.headers.keys())


def sign_in(root: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return run("sign-in", *arguments, "-o", str(root), env=env)


def prove(root: Path, intranet: Intranet, url: str, *flags: str) -> None:
    """Get a token, serve it, and have it looked at."""
    intranet.served = sign_in(root, "token", url, "--allow-http").stdout.strip()
    done = sign_in(root, "verify", url, "--allow-private", *flags)
    assert done.returncode == 0, done.stderr


def keep(root: Path, url: str, kind: str = "basic", secret: str = SECRET) -> None:
    done = sign_in(root, "set", url, "--kind", kind, GEOMI_SIGN_IN_SECRET=secret)
    assert done.returncode == 0, done.stderr


def crawl(root: Path, url: str, *flags: str) -> list[dict[str, Any]]:
    done = run("crawl", url, *LOCAL, *flags, "-o", str(root))
    assert done.returncode in (0, 5), done.stderr
    return records(root) if (root / "pages.jsonl").exists() else []


@contextmanager
def ready(root: Path, **changes: object) -> Iterator[Intranet]:
    """Serve a site whose owner has proved that it is his, and has kept a secret."""
    intranet = Intranet(**changes)  # type: ignore[arg-type]
    with intranet.site as site:
        prove(root, intranet, site.url())
        keep(root, site.url())
        site.log.clear()
        yield intranet


@pytest.mark.slow
@pytest.mark.req("FUT-21")
def test_the_owner_of_a_site_crawls_what_is_behind_its_door(tmp_path: Path) -> None:
    intranet = Intranet()
    with intranet.site as site:
        url, origin = site.url(), site.url("")
        token = sign_in(tmp_path, "token", url, "--allow-http").stdout.strip()
        assert sign_in(tmp_path, "token", url, "--allow-http").stdout.strip() == token
        early = sign_in(tmp_path, "verify", url, "--allow-private")
        assert early.returncode == 2 and f"{PLACE} ended with gone (HTTP 404)" in early.stderr
        refused = sign_in(tmp_path, "set", url, "--kind", "basic", GEOMI_SIGN_IN_SECRET=SECRET)
        assert refused.returncode == 2
        assert f"nothing proves now that `{origin}` is yours" in refused.stderr
        intranet.served = token[:-1]
        assert "another text" in sign_in(tmp_path, "verify", url, "--allow-private").stderr
        prove(tmp_path, intranet, url)
        given = subprocess.run(
            [*GEOMI, "sign-in", "set", url, "--kind", "basic", "-o", str(tmp_path)],
            input=f"{SECRET}\n", text=True, capture_output=True, env=clean_env(), check=False,
        )  # fmt: skip
        assert given.returncode == 0, given.stderr
        assert crawl(tmp_path / "other", url, *SIGN_IN) == []  # another directory has no secret
        assert crawl(tmp_path, url) == []  # nor does a crawl sign in that was not told to
        site.log.clear()
        pages = crawl(tmp_path, url, *SIGN_IN)
        assert [one["url"] for one in pages] == [url, site.url("/inside")]
        assert intranet.signed_in == ["/", "/inside"]
        assert "/robots.txt" not in intranet.signed_in
        assert {one["metadata"]["signed_in"] for one in pages} == {True}
        for form, count in (("jsonl", 0), ("md", 0), ("kb", 0)):
            flags = ["-f", form, "--public", "--to", str(tmp_path / form)]
            given = run("export", *flags, "-o", str(tmp_path))
            assert f"{count} pages" in given.stderr, given.stderr
        flags = ["-f", "warc", "--public", "--to", str(tmp_path / "w")]
        warc = run("export", *flags, "-o", str(tmp_path))
        assert "`warc` is the archive as it is" in warc.stderr
        told = run("why", url, "-o", str(tmp_path))
        assert "asked for as signed in" in told.stdout
        listed = sign_in(tmp_path, "list")
        assert f"{origin}  basic  proved" in listed.stdout
        assert sign_in(tmp_path, "remove", url).returncode == 0
        site.log.clear()
        crawl(tmp_path, url, *SIGN_IN)
        assert intranet.signed_in == []


@pytest.mark.slow
@pytest.mark.req("FUT-21", "SEC-09")
def test_a_secret_is_nowhere_but_in_the_request(tmp_path: Path) -> None:
    with ready(tmp_path) as intranet:
        crawl(tmp_path, intranet.site.url(), *SIGN_IN, "-f", "md,jsonl,warc")
        origin = intranet.site.url("")
        said = [
            sign_in(tmp_path, "list", "--json").stdout,
            run("why", intranet.site.url(), "-o", str(tmp_path), "--json").stdout,
            run("config", "show", env={"GEOMI_SIGN_IN_KEY": "A" * 43 + "="}).stdout,
        ]
    assert len(intranet.signed_in) == 2
    assert json.loads(said[0])[0]["origin"] == origin
    needles = [SECRET.encode(), SHOWN[6:].encode(), b"horse", b"A" * 43]
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    texts = [
        *written.values(),
        *(gzip.decompress(data) for path, data in written.items() if path.suffix == ".gz"),
        *(text.encode() for text in said),
    ]
    assert any(b"authorization: [removed]" in text for text in texts)  # in the archive
    assert [needle for needle in needles for text in texts if needle in text] == []
    (key,) = (path for path in written if path.name == "sign-in.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    done = run("backup", str(tmp_path / "copy.tar"), "-o", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert written[key] not in (tmp_path / "copy.tar").read_bytes()


@pytest.mark.slow
@pytest.mark.req("FUT-21")
def test_no_other_origin_is_shown_anything(tmp_path: Path) -> None:
    """Redirects and links lead to another host, another port and a subdomain of the same server."""
    other = Intranet()
    intranet = Intranet()
    with other.site as elsewhere, intranet.site as site:
        names = ["site.test", "sub.site.test", "other.test"]
        flags = [f"--resolve={name}:80:127.0.0.1:{site.port}" for name in names]
        flags.append(f"--resolve=site.test:8080:127.0.0.1:{elsewhere.port}")
        intranet.links = (
            "/inside",
            "/to/other.test/redirected",
            "/to/site.test:8080/redirected",
            "/to/sub.site.test/redirected",
            "http://other.test/linked",
            "http://site.test:8080/linked",
            "http://sub.site.test/linked",
        )
        prove(tmp_path, intranet, "http://site.test/", *flags)
        keep(tmp_path, "http://site.test/")
        site.log.clear()
        crawl(tmp_path, "http://site.test/", *flags, *SIGN_IN, "--scope", "any")
    asked = {(seen.host, seen.path) for seen in (*site.log, *elsewhere.log)}
    for host in ("other.test", "site.test:8080", "sub.site.test"):
        assert {(host, "/redirected"), (host, "/linked")} <= asked
    shown = {(seen.host, seen.path) for seen in (*site.log, *elsewhere.log) if is_shown(seen)}
    assert {host for host, _ in shown} == {"site.test"}
    assert ("site.test", "/inside") in shown
    assert PLACE not in {path for _, path in shown}


@pytest.mark.slow
@pytest.mark.req("FUT-21")
def test_who_owns_a_site_no_longer_is_not_let_in(tmp_path: Path) -> None:
    with ready(tmp_path) as intranet:
        url = intranet.site.url()
        asyncio.run(_age(tmp_path, intranet.site.url("")))
        assert len(crawl(tmp_path, url, *SIGN_IN)) == 2  # it is looked at again, and is theirs
        assert [seen.path for seen in intranet.site.log].count(PLACE) == 1
        asyncio.run(_age(tmp_path, intranet.site.url("")))
        intranet.served = "geomi-somebody-else"
        intranet.site.log.clear()
        done = run("crawl", url, *LOCAL, *SIGN_IN, "-o", str(tmp_path))
        assert f"geomi does not sign in to {intranet.site.url('')}" in done.stderr
        assert intranet.signed_in == []
        assert [seen.path for seen in intranet.site.log].count(PLACE) == 1
        assert "not proved" in sign_in(tmp_path, "list").stdout
        refused = sign_in(tmp_path, "set", url, "--kind", "bearer", GEOMI_SIGN_IN_SECRET="abc")
        assert "has another text than the token" in refused.stderr


async def _age(root: Path, origin: str) -> None:
    """Let the last look at an origin be a day old."""
    async with home_in(root, Ear()) as home:
        earlier_s = home.world.clock.wall_s() - PROOF_S
        await SignInBook(home.store.named_values).amend(
            origin, lambda now: replace(now, looked_at_s=earlier_s, proved_at_s=earlier_s)
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "secret", "header"),
    [
        ("bearer", "abc.DEF-1~2+/==", ("authorization", "Bearer abc.DEF-1~2+/==")),
        ("cookie", "session=a1; theme=dark", ("cookie", "session=a1; theme=dark")),
        ("header", "X-Key: k 1\nX-Other: 2", ("x-key", "k 1")),
    ],
)
@pytest.mark.req("FUT-21")
def test_each_kind_of_secret_opens_the_door(
    tmp_path: Path, kind: str, secret: str, header: tuple[str, str]
) -> None:
    intranet = Intranet(header)
    with intranet.site as site:
        prove(tmp_path, intranet, site.url())
        keep(tmp_path, site.url(), kind, secret)
        own = ["--header", f"{header[0]}: wrong"] if kind != "cookie" else []
        assert len(crawl(tmp_path, site.url(), *SIGN_IN, *own)) == 2


@pytest.mark.slow
@pytest.mark.req("FUT-21", "LEG-06")
def test_what_is_erased_leaves_no_secret(tmp_path: Path) -> None:
    with ready(tmp_path) as intranet:
        crawl(tmp_path, intranet.site.url(), *SIGN_IN)
        done = run("erase", "--site", "127.0.0.1", "--yes", "--reason", "x", "-o", str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert json.loads(sign_in(tmp_path, "list", "--json").stdout) == []
        intranet.site.log.clear()
        assert crawl(tmp_path, intranet.site.url(), *SIGN_IN) == []
        assert intranet.signed_in == []


@pytest.mark.req("FUT-21")
def test_what_cannot_be_is_refused_by_name(tmp_path: Path) -> None:
    docs = run("crawl", "https://a.test/", "--profile", "docs", *SIGN_IN, "-o", str(tmp_path))
    assert docs.returncode == 2
    assert "the profile `docs` never signs in, but http.sign_in = true demands it" in docs.stderr
    plain = sign_in(tmp_path, "token", "http://a.test/")
    assert plain.returncode == 2 and "`http://a.test` is not https" in plain.stderr
    unknown = sign_in(tmp_path, "verify", "https://a.test/")
    assert unknown.returncode != 0 and "there is no token for `https://a.test`" in unknown.stderr
