"""The dashboard's routes, for an app that has a service to show."""

from __future__ import annotations

from fastapi import FastAPI

from geomi.dashboard.views import (
    alerts,
    crawls,
    documents,
    live,
    new_crawl,
    overview,
    schedules,
    search,
    seeds,
    settings,
    sign_in,
    sites,
    urls,
    webhooks,
)

# A path with a name in it comes after the paths that it would hide.
_ROUTERS = (
    sign_in.files,
    sign_in.router,
    overview.router,
    new_crawl.router,
    crawls.router,
    live.router,
    urls.router,
    documents.router,
    search.router,
    sites.router,
    seeds.router,
    alerts.router,
    schedules.router,
    webhooks.router,
    settings.router,
)


def add_dashboard(app: FastAPI) -> FastAPI:
    """Let an app show its service to people, at `/`."""
    app.state.streams = 0  # pages that are followed now
    app.state.violations = 0  # what browsers have kept pages from doing
    for router in _ROUTERS:
        app.include_router(router)
    return app
