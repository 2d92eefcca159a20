"""The seed engine of a tenant's dataset: start it, show it, retry dead letters (API-13)."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query

from geomi.api.guard import GuardedRoute, TenantServiceDep, needs
from geomi.api.paging import cut_to_limit, decode_cursor
from geomi.api.schema.seed import (
    DeadLetterListResponse,
    DeadLetterResponse,
    DeadLetterSummary,
    OrchestrateRequest,
    OrchestrateResponse,
    PartitionQuery,
    SeedStatusResponse,
)
from geomi.api.schema.wire import ListQuery
from geomi.engine.seeds.report import make_report
from geomi.service import seeds
from geomi.service.access.keys import KeyScope

router = APIRouter(route_class=GuardedRoute, tags=["seeds"])
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)
LETTER = r"^[0-9A-Za-z_-]{1,64}$"

LetterId = Annotated[
    str, Path(alias="letterId", pattern=LETTER, examples=["01KA5Q2V7Z3M9X4C8B6N1D0E5F"])
]
NOTHING = OrchestrateRequest()


@router.post(
    "/seeds/orchestrate",
    operation_id="orchestrateSeeds",
    openapi_extra=WRITE,
    summary="Process raw files",
)
async def orchestrate(
    desk: TenantServiceDep, asked: Annotated[OrchestrateRequest, Body()] = NOTHING
) -> OrchestrateResponse:
    """Put unprocessed raw files into the queue; a process of the service works on it."""
    return OrchestrateResponse.of(await seeds.orchestrate(desk, asked.which(), force=asked.force))


@router.get(
    "/seeds/status",
    operation_id="getSeedStatus",
    openapi_extra=READ,
    summary="Show the progress of the dataset",
)
async def status(
    wanted: Annotated[PartitionQuery, Query()], desk: TenantServiceDep
) -> SeedStatusResponse:
    """Count raw files and domains by state, and the facts about domains."""
    return SeedStatusResponse.from_fields(make_report(await seeds.standing(desk, wanted.which())))


@router.get(
    "/seeds/dlq",
    operation_id="listDeadLetters",
    openapi_extra=READ,
    summary="List dead letters",
)
async def list_letters(
    wanted: Annotated[ListQuery, Query()], desk: TenantServiceDep
) -> DeadLetterListResponse:
    """List messages that failed for good, and why."""
    after = decode_cursor(wanted.cursor, re.compile(LETTER))
    found = await seeds.page(desk, after=after, limit=wanted.limit + 1)
    shown, cursor = cut_to_limit(found, wanted.limit, lambda one: one.id)
    return DeadLetterListResponse(
        letters=tuple(map(DeadLetterSummary.of, shown)), next_cursor=cursor
    )


@router.get(
    "/seeds/dlq/{letterId}",
    operation_id="getDeadLetter",
    openapi_extra=READ,
    summary="Show a dead letter",
)
async def get(letter_id: LetterId, desk: TenantServiceDep) -> DeadLetterResponse:
    """Return a dead letter with its message."""
    return DeadLetterResponse.of(await seeds.dead_letter(desk, letter_id))


@router.post(
    "/seeds/dlq/{letterId}/retry",
    operation_id="retryDeadLetter",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=WRITE,
    summary="Try a dead letter again",
)
async def retry(letter_id: LetterId, desk: TenantServiceDep) -> None:
    """Put a dead letter back into its queue, with all tries."""
    await seeds.retry(desk, letter_id)


@router.delete(
    "/seeds/dlq/{letterId}",
    operation_id="dropDeadLetter",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=WRITE,
    summary="Delete a dead letter",
)
async def drop(letter_id: LetterId, desk: TenantServiceDep) -> None:
    """Delete a dead letter and its raw file; a domain stays failed."""
    await seeds.drop(desk, letter_id)
