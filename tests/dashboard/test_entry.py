"""Signing in and out: what a browser keeps, whose session it is, and when it is over."""

from __future__ import annotations

from dataclasses import replace
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from geomi.dashboard.form import MAX_FIELDS, own_path
from geomi.errors import KeyRefused
from geomi.service.access import keys, sessions
from geomi.service.access.keys import KeyRole, KeyScope, NewKey
from geomi.service.access.sessions import LASTS_S, MAX_SESSIONS, open_session, resume
from tests.api.asking import LOCAL, TENANT
from tests.dashboard.visiting import Person, form_token, seen, serving, text
from tests.support.waiting import waits

PAGES = (
    "/",
    "/crawls",
    "/crawls/new",
    "/documents",
    "/search",
    "/sites",
    "/alerts",
    "/schedules",
    "/webhooks",
    "/settings",
)


@pytest.mark.req("FUT-17")
@waits
async def test_whoever_has_not_signed_in_is_led_there_and_back(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        stranger = house.stranger()
        for page in PAGES:
            answer = await stranger.get(page)
            assert answer.status == 303
            assert answer.headers["location"].startswith("/sign-in")
        answer = await stranger.get("/documents?state=failed")
        assert answer.headers["location"] == "/sign-in?next=/documents%3Fstate%3Dfailed"
        asked = await stranger.get(answer.headers["location"])
        aims = [one for one in seen(asked).named("input") if one["name"] == "next"]
        assert aims[0]["value"] == "/documents?state=failed"
        sent = {"form_token": form_token(text(asked)), "key": house.mine.key}
        entered = await stranger.post("/sign-in", {**sent, "next": "/documents?state=failed"})
        assert (entered.status, entered.headers["location"]) == (303, "/documents?state=failed")
        log = (await house.ground.mine.get("/audit")).json["entries"]
        assert {one["operation"] for one in log} == {"signIn"}


@waits
async def test_a_browser_keeps_no_key_and_no_script_can_read_what_it_keeps(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        somebody = Person(house.app, house.mine.key)
        answer = await somebody.sign_in()
        cookie = SimpleCookie(answer.headers["set-cookie"])["geomi_session"]
        assert cookie["httponly"] and cookie["samesite"] == "strict" and not cookie["secure"]
        assert int(cookie["max-age"]) == LASTS_S
        secret = house.mine.key.rpartition("_")[2]
        assert secret not in cookie.value
        kept = await house.ground.service.office.named_values.list(sessions.NAMESPACE, limit=100)
        token_secret = cookie.value.partition(".")[2]
        assert kept and all(token_secret not in named.name for named in kept)
        assert all(secret.encode() not in named.body for named in kept)


@pytest.mark.parametrize("key", ["", "geomi_0a1b2c3d4e5f_wrong", "nonsense", "geomi_" + "x" * 500])
@waits
async def test_a_wrong_key_is_told_so_and_opens_nothing(tmp_path: Path, key: str) -> None:
    async with serving(tmp_path) as house:
        stranger = Person(house.app, key)
        answer = await stranger.sign_in()
        assert answer.status == 401 and "not valid" in text(answer)
        assert "geomi_session" not in stranger.cookies
        assert (await stranger.get("/")).status == 303


@waits
async def test_a_form_of_another_site_signs_nobody_in(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        stranger = house.stranger()
        page = text(await stranger.get("/sign-in"))
        for sent in ("", "x" * 43, form_token(page) + "x", "토큰"):
            fields = {"key": house.mine.key, "form_token": sent}
            assert (await stranger.post("/sign-in", fields)).status == 403
        stranger.cookies.clear()
        fields = {"key": house.mine.key, "form_token": form_token(page)}
        assert (await stranger.post("/sign-in", fields)).status == 403


@waits
async def test_a_token_that_somebody_planted_signs_nobody_in(tmp_path: Path) -> None:
    """A neighbouring host name can set our cookie, and then knows what the form must carry."""
    async with serving(tmp_path) as house:
        service, stranger = house.ground.service, house.stranger()
        ours = form_token(text(await stranger.get("/sign-in")))
        words, _, seal = ours.rpartition(".")
        nonce, _, until = words.rpartition(".")
        late = f"{nonce}.{int(until) + 9}.{seal}"
        for planted in ("x" * 43, "a.9999999999.b", late, f"{words}.{'0' * 64}", "토큰.9.9"):
            stranger.cookies = {"geomi_form": planted}
            fields = {"key": house.mine.key, "form_token": planted}
            answer = await stranger.post("/sign-in", fields)
            assert answer.status == 403 and "geomi_session" not in stranger.cookies, planted
            shown = await stranger.get("/sign-in")
            assert form_token(text(shown)) != planted
        assert await sessions.is_form_token(service, ours)
        stranger.cookies = {"geomi_form": ours}
        fields = {"key": house.mine.key, "form_token": ours}
        assert (await stranger.post("/sign-in", fields)).status == 303


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@waits
async def test_a_form_that_another_site_sends_is_refused(tmp_path: Path, site: str) -> None:
    """Even with a token that this site has drawn from us for itself."""
    async with serving(tmp_path) as house:
        for somebody, form in ((house.stranger(), "/sign-in"), (house.mine, "/sign-out")):
            token = form_token(text(await somebody.get("/sign-in" if form == "/sign-in" else "/")))
            somebody.headers["sec-fetch-site"] = site
            fields = {"key": house.mine.key, "form_token": token}
            assert (await somebody.post(form, fields)).status == 403
            somebody.headers["sec-fetch-site"] = "same-origin"
            assert (await somebody.post(form, fields)).status == 303


@waits
async def test_signing_out_ends_the_session_wherever_it_is_kept(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        somebody, kept = house.mine, dict(house.mine.cookies)
        forged = await somebody.post("/sign-out", {"form_token": "forged"})
        assert forged.status == 303 and (await somebody.get("/")).status == 200
        assert (await somebody.send("/", "/sign-out")).status == 303
        assert "geomi_session" not in somebody.cookies
        somebody.cookies = kept
        assert (await somebody.get("/")).status == 303


@waits
async def test_a_revoked_key_takes_its_sessions_with_it(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        service = house.ground.service
        minted = await keys.create(service, NewKey(TENANT))
        somebody = await house.person(minted.text)
        assert (await somebody.get("/")).status == 200
        await keys.revoke(service, TENANT, minted.key.id)
        assert (await somebody.get("/")).status == 303
        assert (await house.mine.get("/")).status == 200


@waits
async def test_a_session_is_over_in_time_and_a_key_has_so_many(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        service, key = house.ground.service, house.mine.key
        first = await open_session(service, key)
        for _ in range(MAX_SESSIONS):
            last = await open_session(service, key)
        with pytest.raises(KeyRefused):
            await resume(service, first.token)
        assert (await resume(service, last.token))[0].tenant == TENANT
        namespace = sessions._values(service)
        (kept,) = [
            one
            for one in await namespace.every()
            if one.value.form_token == last.session.form_token
        ]
        over = replace(kept.value, expires_at_s=service.office.wall_s)
        assert await namespace.change(kept, over)
        with pytest.raises(KeyRefused):
            await resume(service, last.token)


@pytest.mark.parametrize(
    "token", ["", ".", "a.", "-.x", "가.x", "0a1b2c3d4e5f.x", "x" * 200 + ".y"]
)
@waits
async def test_a_token_that_nobody_was_given_opens_nothing(tmp_path: Path, token: str) -> None:
    async with serving(tmp_path) as house:
        with pytest.raises(KeyRefused):
            await resume(house.ground.service, token)


@pytest.mark.parametrize(
    ("text_", "path"),
    [
        ("/crawls?state=failed", "/crawls?state=failed"),
        (None, "/"),
        ("", "/"),
        ("//evil.test/", "/"),
        ("/\\evil.test", "/"),
        ("https://evil.test/", "/"),
        ("/a\r\nSet-Cookie: x=1", "/"),
        ("/" + "a" * 1999, "/" + "a" * 1999),
        ("/" + "a" * 2000, "/"),
    ],
)
def test_a_link_leads_nowhere_else(text_: str | None, path: str) -> None:
    assert own_path(text_) == path


@pytest.mark.parametrize("what", ["missing", "wrong", "of another session", "none at all"])
@waits
async def test_no_form_works_without_the_token_of_its_session(tmp_path: Path, what: str) -> None:
    async with serving(tmp_path) as house:
        fields = {"name": "umbrella-2", "title": "x"}
        if what == "wrong":
            fields["form_token"] = "x" * 43
        elif what == "of another session":
            fields["form_token"] = form_token(text(await house.mine.get("/")))
        elif what == "none at all":
            fields = {}
        answer = await house.admin.post("/settings/tenants", fields)
        assert answer.status == 403
        assert "umbrella-2" not in text(await house.admin.get("/settings"))


@waits
async def test_a_form_has_so_many_fields_and_is_text(tmp_path: Path) -> None:
    async with serving(tmp_path) as house:
        token = form_token(text(await house.mine.get("/")))
        fields = {"form_token": token} | {f"f{n}": "x" for n in range(MAX_FIELDS)}
        assert (await house.mine.post("/schedules", fields)).status == 422
        del fields["f0"]
        assert "need a change" in text(await house.mine.post("/schedules", fields))
        assert (await house.mine._ask("POST", "/schedules", b"\xff\xfe")).status == 422


@pytest.mark.parametrize(
    ("scopes", "page", "status"),
    [
        ((KeyScope.READ,), "/", 200),
        ((KeyScope.READ,), "/crawls/new", 403),
        ((KeyScope.WRITE,), "/", 403),
        ((KeyScope.READ, KeyScope.ADMIN), "/settings", 200),
    ],
)
@waits
async def test_a_session_may_do_what_its_key_may(
    tmp_path: Path, scopes: tuple[KeyScope, ...], page: str, status: int
) -> None:
    async with serving(tmp_path) as house:
        minted = await keys.create(house.ground.service, NewKey(TENANT, KeyRole.TENANT, scopes))
        somebody = await house.person(minted.text)
        assert (await somebody.get(page)).status == status


@waits
async def test_a_session_may_send_no_more_than_its_key(tmp_path: Path) -> None:
    async with serving(tmp_path, replace(LOCAL, api_rate_per_minute=3)) as house:
        answers = [(await house.mine.get("/")).status for _ in range(4)]
        assert answers == [200, 200, 200, 429]
