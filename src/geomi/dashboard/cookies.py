"""Cookies: for the session, for a form before there is a session, and for the chosen language."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from geomi.service.access.sessions import LASTS_S

LANGUAGE = "geomi_language"
YEAR_S = 365 * 86_400
_SESSION, _FORM = "geomi_session", "geomi_form"


def session_of(request: Request) -> str:
    """Return the token of a session, empty where there is none."""
    return request.cookies.get(_named(request, _SESSION), "")


def keep_session(request: Request, response: Response, token: str) -> None:
    """Let a browser keep a session: no script reads it, and no other site sends it."""
    _keep(request, response, _SESSION, token, int(LASTS_S))


def drop_session(request: Request, response: Response) -> None:
    """Let a browser forget a session."""
    _keep(request, response, _SESSION, "", 0)


def form_of(request: Request) -> str:
    """Return the token of the form that somebody signs in with, empty where there is none."""
    return request.cookies.get(_named(request, _FORM), "")


def new_form(request: Request, response: Response, token: str) -> None:
    """Let a browser keep the token of the form that it was given."""
    _keep(request, response, _FORM, token, int(LASTS_S))


def keep_language(request: Request, response: Response, language: str) -> None:
    """Let a browser keep the language that somebody chose."""
    _keep(request, response, LANGUAGE, language, YEAR_S)


def _keep(request: Request, response: Response, name: str, value: str, max_age_s: int) -> None:
    response.set_cookie(
        name if name == LANGUAGE else _named(request, name),
        value,
        max_age=max_age_s,
        path="/",
        secure=_is_safe(request),
        httponly=True,
        samesite="strict",
    )


def _named(request: Request, name: str) -> str:
    """Over TLS a browser holds us to it: such a name is sent to this host alone."""
    return f"__Host-{name}" if _is_safe(request) else name


def _is_safe(request: Request) -> bool:
    return request.url.scheme == "https"
