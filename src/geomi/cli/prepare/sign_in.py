"""`geomi sign-in`: prove that a site is yours, and keep what crawls show to it.

A secret is read from stdin or from a variable, never from the command line, where other users of
the machine and the shell's history would see it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, open_directory
from geomi.app.use import sign_in
from geomi.cli import flags
from geomi.cli.console import conclude, moment, note, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import configure, process_flags
from geomi.engine.host.sign_in import PLACE
from geomi.errors import ConfigError
from geomi.model.site import SignIn, SignInKind

SECRET_VARIABLE = "GEOMI_SIGN_IN_SECRET"

commands = typer.Typer(
    help="Sign in to your own sites: prove whose they are, keep secrets.", no_args_is_help=True
)

OriginArgument = Annotated[
    str, typer.Argument(metavar="URL", help="Scheme, host and port of the site.")
]


@commands.command("token")
def token(
    url: OriginArgument,
    allow_http: Annotated[
        bool,
        typer.Option("--allow-http", help="Allow http: what is shown can be read on the way."),
    ] = False,
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Print the token that the site has to serve, and where."""
    found = in_data_directory(
        output,
        lambda home: sign_in.request_token(home, url, allows_http=allow_http),
        create=True,
    )
    if json:
        print_json(_data(found) | {"token": found.token})
        return
    say(found.token)
    note(f"serve this line at {found.origin}{PLACE}, then: geomi sign-in verify {found.origin}")


@commands.command("verify")
def verify(
    url: OriginArgument,
    output: flags.Directory = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Ask the site for its token now."""
    configured = configure(
        {"output": output}, process=process_flags(allow_private, resolve, ca_file), config=config
    )

    async def work() -> SignIn:
        root = Path(configured.resolved.run.output)
        async with open_directory(
            root, configured.settings, lambda _: EventFanOut(), create=False
        ) as home:
            return await sign_in.verify(home, url, configured.resolved.config)

    found = asyncio.run(work())
    if found.problem:
        raise ConfigError(
            f"nothing proves that `{found.origin}` is yours: {found.problem}",
            hint=f"serve the token at {found.origin}{PLACE}",
        )
    conclude(_data(found), f"{found.origin} is yours", json=json)


@commands.command("set")
def set_(
    url: OriginArgument,
    kind: Annotated[SignInKind, typer.Option("--kind", help="What the secret is.")],
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Keep a secret for the site, from stdin or GEOMI_SIGN_IN_SECRET."""
    secret = os.environ.get(SECRET_VARIABLE) or _from_stdin()
    found = in_data_directory(output, lambda home: sign_in.keep(home, url, kind, secret))
    told = f"crawls with `http.sign_in = true` now sign in to {found.origin} ({found.kind})"
    conclude(_data(found), told, json=json)


@commands.command("list")
def list_(output: flags.Directory = None, json: flags.AsJson = False) -> None:
    """List sites, whether they are proved, and what kind of secret is kept."""
    found, wall_s = in_data_directory(output, _list)
    if json:
        print_json([_data(one) for one in found])
        return
    for one in found:
        proof = f"proved {moment(one.proved_at_s)}" if one.proved_at_s else "not proved"
        if one.proved_at_s and not one.is_proved(wall_s):
            proof += ", geomi looks again before it signs in"
        say("  ".join(filter(None, (one.origin, one.kind or "no secret", proof, one.problem))))


@commands.command("remove")
def remove(url: OriginArgument, output: flags.Directory = None, json: flags.AsJson = False) -> None:
    """Forget a site's token and its secret."""
    origin = in_data_directory(output, lambda home: sign_in.remove(home, url))
    conclude({"removed": origin}, f"geomi no longer signs in to {origin}", json=json)


async def _list(home: DataDirectory) -> tuple[list[SignIn], float]:
    return await sign_in.every(home), home.world.clock.wall_s()


def _from_stdin() -> str:
    if sys.stdin.isatty():
        note("give the secret, then Ctrl-D:")
    return sys.stdin.read(sign_in.MAX_SECRET_CHARS + 2)


def _data(found: SignIn) -> dict[str, object]:
    """Return what may be shown: neither token nor secret."""
    return {
        "origin": found.origin,
        "kind": found.kind,
        "made_at_s": found.made_at_s,
        "looked_at_s": found.looked_at_s,
        "proved_at_s": found.proved_at_s,
        "problem": found.problem,
    }
