"""Signing in to a tenant's own sites on the wire; a secret comes in and never goes out."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from geomi.api.schema.wire import (
    Flag,
    RequestModel,
    ResponseModel,
    moment,
    moment_or_none,
)
from geomi.app.use.sign_in import MAX_SECRET_CHARS
from geomi.engine.host.sign_in import PLACE
from geomi.model.site import SignIn, SignInKind

Origin = Annotated[
    str,
    Field(min_length=1, max_length=300, description="Scheme, host and port of the site."),
]
_EXAMPLE = "https://intranet.example.org"


class OriginRequest(RequestModel):
    """A site of the tenant."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"origin": _EXAMPLE}]})

    origin: Origin


class OriginQuery(OriginRequest):
    """Which site is meant."""


class SignInRequest(OriginRequest):
    """A site of the tenant that is to be proved."""

    allow_http: Annotated[
        Flag, Field(description="Allow http: what is shown can be read on the way.")
    ] = False


class SecretRequest(OriginRequest):
    """What requests to a site show."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"origin": _EXAMPLE, "kind": "basic", "secret": "user:password"}]
        }
    )

    kind: SignInKind
    secret: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_SECRET_CHARS,
            description="basic: `user:password`; bearer: a token; cookie: `name=value`, or several "
            "with `; `; header: up to ten lines `Name: value`. The service never shows it again.",
            json_schema_extra={"writeOnly": True},
        ),
    ]


class SignInResponse(ResponseModel):
    """What is known of a site: whose it is, and whether a secret is kept for it."""

    origin: str
    token: Annotated[str, Field(description="The site has to serve it at `verificationUrl`.")]
    verification_url: str
    created_at: datetime
    verified: Annotated[bool, Field(description="Whether crawls may sign in now.")]
    verified_at: datetime | None
    checked_at: datetime | None
    problem: str
    kind: Annotated[SignInKind | None, Field(description="Of the secret; null where none is kept.")]

    @classmethod
    def of(cls, sign_in: SignIn, *, wall_s: float) -> SignInResponse:
        """Write one."""
        return cls(
            origin=sign_in.origin,
            token=sign_in.token,
            verification_url=sign_in.origin + PLACE,
            created_at=moment(sign_in.made_at_s),
            verified=sign_in.is_proved(wall_s),
            verified_at=moment_or_none(sign_in.proved_at_s),
            checked_at=moment_or_none(sign_in.looked_at_s),
            problem=sign_in.problem,
            kind=sign_in.kind,
        )


class SignInListResponse(ResponseModel):
    """The sites of a tenant that it signs in to."""

    sign_ins: tuple[SignInResponse, ...]
