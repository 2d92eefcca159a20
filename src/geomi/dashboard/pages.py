"""Render templates as pages, with every text escaped and a strict content security policy."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from geomi import __version__
from geomi.dashboard import formatting
from geomi.dashboard.form import NO_FORM, SubmittedForm
from geomi.dashboard.translations import LANGUAGES, Translations
from geomi.errors import KeyRefused
from geomi.service.access.keys import Caller, KeyRole, KeyScope
from geomi.service.access.sessions import BrowserSession
from geomi.service.service import Service, TenantService
from geomi.url.parse import displayed

REPORTS = "/csp-report"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
    f"report-uri {REPORTS}"
)
# Pages tell what is known of a tenant's data: no browser keeps one after its session.
HEADERS = {"Content-Security-Policy": CSP, "Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class DashboardRequest:
    """One request of a person: who it is, what they read, and what they sent.

    Args:
        form_token: what forms on the page carry.
    """

    request: Request
    service: Service
    words: Translations
    form_token: str = ""
    caller: Caller | None = None
    session: BrowserSession | None = None
    form: SubmittedForm = field(default=NO_FORM)

    @property
    def who(self) -> Caller:
        """Whoever has signed in."""
        if self.caller is None:
            raise KeyRefused("nobody has signed in")
        return self.caller

    @property
    def desk(self) -> TenantService:
        """The desk of whoever has signed in."""
        return self.who.desk

    @property
    def is_admin(self) -> bool:
        """Whether the system's own things may be seen and changed."""
        return self.may(KeyScope.ADMIN) and self.who.key.role is KeyRole.ADMIN

    def may(self, scope: KeyScope) -> bool:
        """Return whether the key behind the session has a scope."""
        return self.caller is not None and self.caller.may(scope)

    def asked(self, name: str) -> str:
        """Return a field of the address's query; no database takes a zero in a text."""
        return self.request.query_params.get(name, "").replace("\0", "").strip()

    @property
    def here(self) -> str:
        """Where somebody can come back to: this page, or the one whose form was sent."""
        url = self.request.url
        if self.request.method != "GET":
            return "/" + url.path.split("/")[1]
        return f"{url.path}?{url.query}" if url.query else url.path

    def render(self, template: str, **values: object) -> str:
        """Write a page, or a part of one."""
        return _templates().get_template(template).render(visit=self, t=self.words, **values)

    def page(self, template: str, *, status: int = HTTPStatus.OK, **values: object) -> HTMLResponse:
        """Answer with a page."""
        return HTMLResponse(self.render(template, **values), status, HEADERS)

    def go(self, path: str) -> RedirectResponse:
        """Answer a form that was carried out: look there now."""
        return RedirectResponse(path, HTTPStatus.SEE_OTHER, {"Cache-Control": "no-store"})


@cache
def static_file(name: str) -> bytes:
    """Return a file of the dashboard's own."""
    return resources.files("geomi.dashboard").joinpath(f"static/{name}").read_bytes()


@cache
def static_path(name: str) -> str:
    """Return where such a file is; another content is another address, so it may be kept."""
    digest = hashlib.sha256(static_file(name)).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


@pass_context
def _duration(context: Context, seconds: float) -> str:
    return formatting.duration(seconds, context["t"])


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("geomi.dashboard"),
        autoescape=True,
        auto_reload=False,  # a page is of the version that writes it
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "version": __version__,
        "languages": LANGUAGES,
        "static": static_path,
        "query": formatting.query,
        "scopes": KeyScope,
    }
    environment.filters |= {
        "count": formatting.count,
        "rate": formatting.rate,
        "size": formatting.size,
        "duration": _duration,
        "moment": formatting.moment,
        "stamp": formatting.stamp,
        "short_url": formatting.short_url,
        "displayed": displayed,
    }
    return environment
