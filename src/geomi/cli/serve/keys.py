"""`geomi keys`: create, list, revoke and rotate the API keys of a service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from geomi.cli import flags
from geomi.cli.console import conclude, moment, note, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import find_data_directory
from geomi.errors import ConfigError
from geomi.service.access import keys, tenants
from geomi.service.access.keys import ApiKey, CreatedKey, KeyRole, KeyScope, NewKey
from geomi.service.access.tenants import DEFAULT
from geomi.service.service import Service

commands = typer.Typer(help="Create, list, revoke and replace API keys.", no_args_is_help=True)

DAY_S = 86_400.0
T = TypeVar("T")

KeyId = Annotated[
    str, typer.Argument(metavar="ID", help="The key's id, its part after `geomi_`; or all of it.")
]
TenantName = Annotated[str, typer.Option("--tenant", metavar="NAME", help="The tenant of the key.")]


@commands.command("create")
def create(  # noqa: PLR0913  # one parameter a flag is what the command line is
    tenant: TenantName = DEFAULT,
    scope: Annotated[
        list[KeyScope] | None,
        typer.Option(
            "--scope", help="What the key may do; you may repeat it.", show_default="read, write"
        ),
    ] = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="Let the key manage tenants and providers.")
    ] = False,
    label: Annotated[
        str, typer.Option("--label", metavar="TEXT", help="The purpose of the key.")
    ] = "",
    days: Annotated[
        float, typer.Option("--days", min=0, help="How long it is valid; 0: until revoked.")
    ] = 0.0,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Create a key and print it, once; create its tenant if it is missing."""
    if len(label) > keys.MAX_LABEL_CHARS:
        raise ConfigError(f"--label has more than {keys.MAX_LABEL_CHARS} characters")
    scopes = tuple(scope or (KeyScope if admin else (KeyScope.READ, KeyScope.WRITE)))
    role = KeyRole.ADMIN if admin else KeyRole.TENANT

    async def work(service: Service) -> CreatedKey:
        if tenant not in [one.name for one in await tenants.every(service)]:
            await tenants.create(service, tenant)
        until_s = service.office.wall_s + days * DAY_S if days else None
        return await keys.create(service, NewKey(tenant, role, scopes, label, until_s))

    # A key of a directory that nobody serves would open nothing; a database may be new.
    has_database = bool(find_data_directory(output, db)[1].db)
    _show(_in_service(output, db, work, create=has_database), json)


@commands.command("list")
def list_keys(
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="NAME", help="List this tenant's keys alone.")
    ] = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """List keys; geomi does not store their secrets, so it cannot show them."""
    found = _in_service(output, db, lambda service: keys.of_tenant(service, tenant))
    if json:
        print_json([_data(key) for key in found])
        return
    for key in sorted(found, key=lambda key: key.created_at_s):
        used = moment(key.used_at_s) if key.used_at_s else "never"
        state = "revoked" if key.revoked_at_s else f"used {used}"
        say(
            f"{key.id}  {key.tenant:<16}  {key.role:<6}  {','.join(key.scopes):<16}  "
            f"{moment(key.created_at_s)}  {state}  {key.label}".rstrip()
        )


@commands.command("revoke")
def revoke(
    key: KeyId,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Revoke a key; the service refuses it from now on."""
    name = keys.id_of(key)
    revoked = _in_service(output, db, lambda service: keys.revoke(service, None, name))
    conclude(_data(revoked), f"key {revoked.id} of tenant {revoked.tenant} is revoked", json=json)


@commands.command("rotate")
def rotate(
    key: KeyId,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Create a key like another, print it once, and revoke the other."""
    name = keys.id_of(key)
    _show(_in_service(output, db, lambda service: keys.rotate(service, None, name)), json)


def _in_service(
    output: Path | None,
    db: str | None,
    work: Callable[[Service], Awaitable[T]],
    *,
    create: bool = False,
) -> T:
    return in_data_directory(output, lambda home: work(Service(home)), db=db, create=create)


def _show(minted: CreatedKey, as_json: bool) -> None:
    if as_json:
        print_json(_data(minted.key) | {"text": minted.text})
        return
    say(minted.text)
    note(f"key {minted.key.id} of tenant {minted.key.tenant}; geomi shows it only now")


def _data(key: ApiKey) -> dict[str, object]:
    told = asdict(key)
    del told["digest"]
    return told
