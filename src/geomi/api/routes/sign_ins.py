"""Signing in: a tenant proves that a site is its own, and keeps what crawls show to it (FUT-21)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from geomi.api.guard import GuardedRoute, TenantServiceDep, needs
from geomi.api.schema.sign_in import (
    OriginQuery,
    OriginRequest,
    SecretRequest,
    SignInListResponse,
    SignInRequest,
    SignInResponse,
)
from geomi.app.use import sign_in
from geomi.service import sign_ins
from geomi.service.access.keys import KeyScope

router = APIRouter(route_class=GuardedRoute, tags=["sign-ins"])
ADMIN = needs(KeyScope.ADMIN)


@router.post(
    "/sign-ins",
    operation_id="createSignIn",
    status_code=HTTPStatus.CREATED,
    openapi_extra=ADMIN,
    summary="Get a token for a site",
)
async def create(asked: SignInRequest, desk: TenantServiceDep) -> SignInResponse:
    """Return the token that a site has to serve; a site that has one keeps it."""
    found = await sign_in.request_token(desk.home, asked.origin, allows_http=asked.allow_http)
    return SignInResponse.of(found, wall_s=desk.wall_s)


@router.get(
    "/sign-ins", operation_id="listSignIns", openapi_extra=ADMIN, summary="List sites to sign in to"
)
async def list_sign_ins(desk: TenantServiceDep) -> SignInListResponse:
    """List sites, whether they are proved, and which kind of secret is kept."""
    found = await sign_in.every(desk.home)
    return SignInListResponse(
        sign_ins=tuple(SignInResponse.of(one, wall_s=desk.wall_s) for one in found)
    )


@router.post(
    "/sign-ins/verify", operation_id="verifySignIn", openapi_extra=ADMIN, summary="Verify a site"
)
async def verify(asked: OriginRequest, desk: TenantServiceDep) -> SignInResponse:
    """Ask a site for its token now; `verified` and `problem` say what came of it."""
    return SignInResponse.of(await sign_ins.verify(desk, asked.origin), wall_s=desk.wall_s)


@router.put(
    "/sign-ins/secret",
    operation_id="setSignInSecret",
    openapi_extra=ADMIN,
    summary="Keep a secret for a site",
)
async def set_secret(asked: SecretRequest, desk: TenantServiceDep) -> SignInResponse:
    """Encrypt the secret that crawls with `signIn` show to a verified site; it replaces another."""
    found = await sign_in.keep(desk.home, asked.origin, asked.kind, asked.secret)
    return SignInResponse.of(found, wall_s=desk.wall_s)


@router.delete(
    "/sign-ins",
    operation_id="deleteSignIn",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=ADMIN,
    summary="Forget a site's token and secret",
)
async def delete(wanted: Annotated[OriginQuery, Query()], desk: TenantServiceDep) -> None:
    """Forget a site: crawls no longer sign in to it."""
    await sign_in.remove(desk.home, wanted.origin)
