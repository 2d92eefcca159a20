"""`geomi providers`: register documentation providers, index them, and erase their data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import orjson
import typer

from geomi.adapters.machine.clock import system_readings
from geomi.app import TENANT, DataDirectory
from geomi.app.use import channels, providers
from geomi.app.use.channels import ProviderCheck, decide_channel
from geomi.app.use.deletion import provider_holdings, sum_takedowns, take_down_provider
from geomi.cli import flags
from geomi.cli.collect.session import SessionOrder, run_once, run_weekly
from geomi.cli.console import conclude, moment, note, print_json, say, say_pairs
from geomi.cli.data_directory import in_data_directory
from geomi.cli.options import configure, find_data_directory, process_flags
from geomi.errors import ConfigError, SourceError
from geomi.model.site import Provider, Takedown
from geomi.ports.jobs import TenantJob
from geomi.service.access import tenants
from geomi.service.service import Service
from geomi.settings.providers import (
    MAX_PROVIDER_BYTES,
    check_date,
    presets,
    read_registration,
)

commands = typer.Typer(
    help="Register documentation sources, review their terms, erase their data.",
    no_args_is_help=True,
)

Key = Annotated[str, typer.Argument(metavar="KEY", help="The provider.")]


@commands.command("list")
def list_providers(output: flags.Directory = None, json: flags.AsJson = False) -> None:
    """List providers: those that come with geomi, and the registered ones."""
    known = _known_here(output)
    if json:
        print_json([_data(provider) | told for provider, told in known.values()])
        return
    width = max(map(len, known))
    for provider, told in known.values():
        say(
            f"{provider.key:<{width}}  {provider.category or '-':<15}  "
            f"{provider.max_pages:>3} pages  {_terms(provider):<22}  "
            f"{told['channel_now']:<10}  {provider.name}"
        )


@commands.command("show")
def show(key: Key, output: flags.Directory = None, json: flags.AsJson = False) -> None:
    """Show a provider: its seeds, patterns, limits, terms, and erased data."""
    is_stored = bool(providers.stored_providers(*find_data_directory(output)))
    known = _known_here(output)
    provider = providers.provider_named(key, {name: one for name, (one, _) in known.items()})
    channel = known[key][1]
    erased = (
        [line for line in in_data_directory(output, _takedowns) if line.key == key]
        if is_stored
        else []
    )
    if json:
        print_json(_data(provider) | channel | {"takedowns": [asdict(line) for line in erased]})
        return
    told = asdict(provider) | asdict(provider.custom_selectors) | channel
    del told["custom_selectors"]
    say_pairs({name: _told(value) for name, value in told.items()} | {"terms": _terms(provider)})
    for line in erased:
        say(f"erased at {moment(line.at_s)}: {line.jobs} jobs, {line.pages:,} pages: {line.reason}")


@commands.command("check")
def check_providers(
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="KEY", help="The providers; without one, all.")
    ] = None,
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Ask Context7 and APIs which providers they have; geomi crawls only the others first."""

    async def work(home: DataDirectory) -> list[ProviderCheck]:
        return await channels.check_providers(home, channels.docs_client_of(home), keys or ())

    checked = in_data_directory(output, work, create=True)
    if json:
        print_json([_checked(one) for one in checked])
        return
    width = max(len(one.provider.key) for one in checked)
    for one in checked:
        library = one.finding.library if one.finding else ""
        told = library or (f"no answer: {one.problem}" if one.problem else "not there")
        say(f"{one.provider.key:<{width}}  {told}")
    if all(one.problem for one in checked):
        raise SourceError(f"no source answered for any provider: {checked[0].problem}")


@commands.command("index")
def index(  # noqa: PLR0913  # one parameter a flag is what the command line is
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="KEY", help="The providers; without one, all.")
    ] = None,
    weekly: Annotated[
        bool,
        typer.Option("--weekly", help="Stay, and index each provider again a week after its last."),
    ] = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    assignments: flags.Assignments = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = False,
) -> None:
    """Collect the documents of all providers in one session, and index them for `geomi search`."""
    configure_with = partial(
        configure,
        {"output": output},
        assignments=assignments,
        process=process_flags(allow_private, resolve, ca_file, db, blobs),
        config=config,
    )
    order = SessionOrder(
        lambda source: configure_with(source=source),
        keys or (),
        is_indexed=True,
        json=json,
        quiet=quiet,
        verbose=verbose,
    )
    (run_weekly if weekly else run_once)(order)


@commands.command("add")
def add(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The registration, a .json or .toml file.")
    ],
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Register a provider from a file; store nothing if the file has an error."""
    payload = _read(file)
    read = read_registration(
        payload, key=file.stem, new_id=str(uuid4()), now_s=system_readings().wall_s()
    )
    has_own_id = "provider_id" in payload
    made = in_data_directory(
        output,
        lambda home: providers.register(home.world, read, has_own_id=has_own_id),
        create=True,
    )
    added = made.provider
    data = _data(added) | {"derived": made.derived}
    conclude(data, f"provider {added.key} is registered: {_terms(added)}", json=json)
    if has_own_id and "provider_id" in made.derived and not json:
        note(f"provider_id {added.provider_id} is derived from {made.derived['provider_id']}")


@commands.command("review")
def review(
    key: Key,
    allows: Annotated[
        bool | None, typer.Option("--allows/--forbids", help="What its terms say about crawling.")
    ] = None,
    date: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="The day when you read them.", show_default="today"),
    ] = None,
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Record what a provider's terms say, and when you read them."""
    if allows is None:
        raise ConfigError("say what the terms allow", hint="--allows or --forbids")
    reviewed_at = check_date(date, now_s=system_readings().wall_s()) if date else None

    async def work(home: DataDirectory) -> Provider:
        today = moment(home.world.clock.wall_s())[:10]
        return await providers.review(
            home.world, key, allows=allows, reviewed_at=reviewed_at or today
        )

    reviewed = in_data_directory(output, work, create=True)
    conclude(_data(reviewed), f"provider {key}: {_terms(reviewed)}", json=json)


@commands.command("remove")
def remove(key: Key, output: flags.Directory = None, json: flags.AsJson = False) -> None:
    """Delete a registration; collected pages stay (`takedown` erases them)."""
    removed = in_data_directory(output, lambda home: providers.remove(home.world, key))
    conclude(_data(removed), _forgotten(removed), json=json)


@commands.command("takedown")
def takedown(
    key: Key,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Who asked for it, and why.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Erase it; without this, only print what would be erased.")
    ] = False,
    output: flags.Directory = None,
    json: flags.AsJson = False,
) -> None:
    """Erase all collected data of a provider, and never crawl it again."""

    async def work(home: DataDirectory) -> tuple[Takedown, list[TenantJob]]:
        homes = [home.open_for(tenant) for tenant in await tenants.all_names(Service(home))]
        known = await _known(homes, key)
        found = [(one, await provider_holdings(one, key, known)) for one in homes]
        if not yes:
            jobs = [job for _, holds in found for job in holds.jobs]
            pages = sum(job.stats.collected for job in jobs)
            raise ConfigError(
                f"this erases {len(jobs)} jobs with {pages:,} pages of provider `{key}`",
                hint="add --yes",
            )
        lines = [await take_down_provider(one, holds, reason) for one, holds in found]
        others = [(one.store.tenant, job) for one, holds in found for job in holds.others]
        return sum_takedowns(lines), others

    line, others = in_data_directory(output, work, create=True)
    if json:
        print_json(asdict(line) | {"other_jobs": [job for _, job in others]})
        return
    note(f"erased at {moment(line.at_s)}: {line.jobs} jobs, {line.pages:,} pages of {key}")
    for tenant, job in others:
        told = f"geomi jobs delete {job} --yes erases it" if tenant == TENANT else "it stays"
        note(f"warning: job {job} of tenant {tenant} also crawled its hosts; {told}")


def _known_here(output: Path | None) -> dict[str, tuple[Provider, dict[str, str]]]:
    """Return every provider by key, with the channel that holds for it and why."""
    root, settings = find_data_directory(output)
    remembered = channels.stored_findings(root, settings)
    told: dict[str, tuple[Provider, dict[str, str]]] = {}
    for key, provider in providers.with_presets(providers.stored_providers(root, settings)).items():
        finding = channels.valid_finding(provider, remembered.get(key))
        by = decide_channel(provider, finding, has_source=bool(settings.context7_url))
        channel = {"channel_now": by.channel, "channel_why": by.why, "library_id": by.library}
        told[key] = provider, channel
    return told


def _checked(one: ProviderCheck) -> dict[str, object]:
    found = {"key": one.provider.key, "problem": one.problem}
    return found | (asdict(one.finding) if one.finding else {})


async def _known(homes: Sequence[DataDirectory], key: str) -> Provider:
    """Find a provider that any tenant has registered, or that comes with geomi."""
    stored = [provider for home in homes for provider in await home.world.store.providers.list()]
    return providers.provider_named(key, providers.with_presets(stored))


def _read(file: Path) -> Mapping[str, object]:
    try:
        content = file.read_bytes()
        if len(content) > MAX_PROVIDER_BYTES:
            raise ConfigError(f"`{file}` has more than {MAX_PROVIDER_BYTES:,} bytes")
        if file.suffix == ".json":
            payload = orjson.loads(content)
        elif file.suffix == ".toml":
            payload = tomllib.loads(content.decode())
        else:
            raise ConfigError(f"`{file}` is neither .json nor .toml")
    except OSError as error:
        told = f"cannot read `{file}`: {error.strerror}"
        raise ConfigError(told, hint="give a registration, .json or .toml") from error
    except (ValueError, RecursionError) as error:  # of either parser, and of no text
        raise ConfigError(f"cannot read `{file}`: {error}") from error
    if not isinstance(payload, Mapping):
        raise ConfigError(f"`{file}` has no object", hint="write one provider in a file")
    return payload


async def _takedowns(home: DataDirectory) -> list[Takedown]:
    return await home.world.store.providers.takedowns()


def _forgotten(removed: Provider) -> str:
    """Say what was deleted: a registration, or the review of a preset."""
    preset = presets().get(removed.key)
    if preset is None:
        return f"provider {removed.key} is no longer registered"
    reviewed = replace(
        preset,
        tos_reviewed_at=removed.tos_reviewed_at,
        tos_allows_crawling=removed.tos_allows_crawling,
    )
    what = "review" if removed == reviewed else "registration"
    return f"the {what} of provider {removed.key} is deleted; the provider is as geomi ships it"


def _data(provider: Provider) -> dict[str, object]:
    is_preset = provider == presets().get(provider.key)
    return asdict(provider) | {"origin": "preset" if is_preset else "registered"}


def _terms(provider: Provider) -> str:
    if provider.tos_allows_crawling is None:
        return "terms not reviewed"
    word = "allows" if provider.tos_allows_crawling else "forbids"
    return f"{word} ({provider.tos_reviewed_at})"


def _told(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return "-" if value in (None, "") else str(value)
