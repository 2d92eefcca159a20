"""A tenant's own table of views, and the rank list in force, on the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, Field

from geomi.api.schema.wire import Number, RequestModel, ResponseModel, moment
from geomi.frontier.own_traffic import MAX_AMOUNT, MAX_PLACE_CHARS
from geomi.model.site import RankKind, RankList, TrafficTable

MAX_PLACES = 20_000  # as many as a body holds
ORIGIN = "the API"


class TrafficPlace(RequestModel):
    """A host or a URL prefix, and how often it is viewed or shared."""

    place: Annotated[str, Field(min_length=1, max_length=MAX_PLACE_CHARS)]
    views: Annotated[Number, Field(ge=0, le=MAX_AMOUNT)]


class TrafficRequest(RequestModel):
    """A table of your own."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"places": [{"place": "docs.example.com", "views": 1200}]}]}
    )

    places: Annotated[tuple[TrafficPlace, ...], Field(min_length=1, max_length=MAX_PLACES)]


class RankListResponse(ResponseModel):
    """The rank list of all tenants."""

    kind: RankKind
    origin: str
    domains: int
    imported_at: AwareDatetime
    checked_at: AwareDatetime


class TrafficTableResponse(ResponseModel):
    """The tenant's own table."""

    origin: str
    places: int
    imported_at: AwareDatetime


class TrafficResponse(ResponseModel):
    """By what geomi knows how much sites are visited; a table of your own replaces the list."""

    ranks: RankListResponse | None
    own: TrafficTableResponse | None

    @classmethod
    def of(cls, held: RankList | None, table: TrafficTable | None) -> TrafficResponse:
        """Write where both came from, and when."""
        ranks = (
            None
            if held is None
            else RankListResponse(
                kind=held.kind,
                origin=held.origin,
                domains=held.domains,
                imported_at=moment(held.imported_at_s),
                checked_at=moment(held.checked_at_s),
            )
        )
        own = (
            None
            if table is None
            else TrafficTableResponse(
                origin=table.origin, places=table.places, imported_at=moment(table.imported_at_s)
            )
        )
        return cls(ranks=ranks, own=own)
