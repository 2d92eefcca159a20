"""The ASGI app: every route, what stands before them, and the document that describes them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI

from geomi import __version__
from geomi.api import problems, reference
from geomi.api.document import describe
from geomi.api.guard import Premises
from geomi.api.routes import (
    crawls,
    health,
    keys,
    knowledge,
    look,
    providers,
    schedules,
    seeds,
    tenants,
    watch,
)
from geomi.api.size import Threshold
from geomi.service.service import Service

PREFIX = "/api/v1"
ALIAS = "/crawler"  # the catalogue's own paths (API-01…API-12)

_ROUTERS = (
    crawls.router,
    look.previewing,
    look.router,
    knowledge.router,
    schedules.router,
    seeds.router,
    tenants.router,
    keys.router,
    providers.router,
    watch.router,
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def make_app(*, lifespan: Lifespan | None = None) -> FastAPI:
    """Make an app that serves nothing yet; `premises_of(app).open` lets it."""
    app = FastAPI(
        title="geomi",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # ours is behind no key, and says so itself
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.premises = Premises()
    problems.install(app)
    for router in _ROUTERS:
        app.include_router(router, prefix=PREFIX)
    for prefix in (ALIAS, PREFIX + ALIAS):
        for router in (crawls.router, look.previewing):
            app.include_router(router, prefix=prefix, include_in_schema=False)
    app.include_router(health.router)
    app.include_router(watch.scraping)
    app.include_router(reference.router)
    describe(app)
    app.add_middleware(Threshold)
    return app


def premises_of(app: FastAPI) -> Premises:
    """Return what an app serves."""
    premises = app.state.premises
    assert isinstance(premises, Premises)
    return premises


def serve(app: FastAPI, service: Service) -> None:
    """Let an app serve a service, until `premises_of(app).close`."""
    premises_of(app).open(service)
