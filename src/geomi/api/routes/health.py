"""Health checks without a key: whether the process lives, and whether it can serve."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request

from geomi.api.guard import app_state_of_request, service_of
from geomi.api.schema.wire import ResponseModel
from geomi.errors import StoreBusy

router = APIRouter(tags=["health"])


class HealthResponse(ResponseModel):
    """The health of this process."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", operation_id="health", summary="Show whether the process lives")
async def healthz() -> HealthResponse:
    """Answer; a process that answers lives."""
    return HealthResponse()


@router.get("/readyz", operation_id="readiness", summary="Show whether the service can serve")
async def readyz(request: Request) -> HealthResponse:
    """Answer while geomi can read and write the data directory and its workers answer; else 503."""
    service = service_of(request)
    if silence := app_state_of_request(request).processes_trouble():
        raise StoreBusy(silence, hint="geomi ends and replaces them; the log says which")
    await service.office.named_values.count("keys")
    # Nobody here needs a key, so that nothing is written to find out: the heart does all the time.
    if (trouble := service.home.heart.trouble) is not None:
        why = trouble.__cause__
        if isinstance(why, OSError):
            raise StoreBusy(f"the system refuses what this process needs: {why.strerror}")
        raise StoreBusy("the store is read-only now; reads still work")
    if not service.home.world.disk.has_space():
        raise StoreBusy("too little disk space is free; reads still work")
    return HealthResponse()
