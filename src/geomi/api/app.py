"""Build the ASGI app: all routes, the middleware before them, and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI

from geomi import __version__
from geomi.api import openapi, problems
from geomi.api.guard import AppState, LimitsAndHeaders
from geomi.api.openapi import describe
from geomi.api.routes import (
    crawls,
    health,
    keys,
    knowledge,
    monitoring,
    preview,
    providers,
    schedules,
    seeds,
    sign_ins,
    tenants,
    traffic,
)

PREFIX = "/api/v1"
CONTRACT = "/crawler"  # the catalogue's own paths (API-01…API-12)

_ROUTERS = (
    crawls.starting,
    crawls.router,
    preview.previewing,
    preview.router,
    knowledge.router,
    schedules.router,
    seeds.router,
    tenants.router,
    keys.router,
    providers.router,
    sign_ins.router,
    traffic.router,
    monitoring.router,
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def make_app(*, lifespan: Lifespan | None = None) -> FastAPI:
    """Make an app that serves nothing yet; `app_state_of(app).open` lets it."""
    app = FastAPI(
        title="geomi",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # ours is behind no key, and says so itself
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.geomi = AppState()
    problems.install(app)
    for router in _ROUTERS:
        app.include_router(router, prefix=PREFIX)
    for prefix in (CONTRACT, PREFIX + CONTRACT):
        for router in (crawls.contract, preview.contract):
            app.include_router(router, prefix=prefix, include_in_schema=prefix == CONTRACT)
    app.include_router(health.router)
    app.include_router(monitoring.scraping)
    app.include_router(openapi.router)
    describe(app)
    app.add_middleware(LimitsAndHeaders)
    return app


def app_state_of(app: FastAPI) -> AppState:
    """Return what an app serves."""
    state = app.state.geomi
    assert isinstance(state, AppState)
    return state
