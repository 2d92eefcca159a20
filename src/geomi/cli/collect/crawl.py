"""`geomi crawl`: start or resume a crawl, and show its progress."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.bucket_url import names_bucket
from geomi.adapters.machine.processes import StartedProcess, fork_workers, relax_garbage_collector
from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, Plan, make_plan, open_directory, start_detached
from geomi.app import crawl as run_crawl
from geomi.app.use import providers
from geomi.app.use.channels import ProviderRun, run_provider
from geomi.app.use.crawl import refuse_failure
from geomi.app.use.datasets import admitted_seeds, open_contracts
from geomi.cli import INTERRUPTED, flags
from geomi.cli.collect.session import SessionOrder, names_session, run_once
from geomi.cli.console import note, print_json, say
from geomi.cli.event_output import CrawlPrinter, leave_on_signals, stop_on_signals, waiting_texts
from geomi.cli.options import Configured, configure, process_flags, warn_about_settings
from geomi.engine.inspect.status import seed_leading_out
from geomi.engine.seeds.handover import keep_copies, read_handover
from geomi.errors import ConfigError
from geomi.model.dataset.contract import Handover, SkippedDomain
from geomi.model.job import StopReason
from geomi.model.site import Provider
from geomi.ports.dataset import Dataset
from geomi.processes.crawl import live
from geomi.processes.index import crawl_and_index
from geomi.settings.layers import Layer, Resolved, resolve, resolve_under_profile
from geomi.settings.options import Settings
from geomi.settings.providers import provider_layer, refuse_forbidden
from geomi.settings.seeds import contracts_layer

MAX_LISTED = 10  # of what is left out; the rest is counted


def crawl(  # noqa: PLR0913  # one parameter a flag is what the command line is
    urls: Annotated[
        list[str] | None,
        typer.Argument(help="The start URLs; you may leave out https://.", metavar="URL"),
    ] = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    profile: flags.Profile = None,
    provider: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="Start from a provider's seeds, within its patterns and limits; you may repeat "
            "it; `all`: every provider, in one session.",
            rich_help_panel=flags.WHAT,
        ),
    ] = None,
    from_prod: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Start from a dataset's contracts, such as DATASET/prod/country=sg.",
            rich_help_panel=flags.WHAT,
        ),
    ] = None,
    max_pages: flags.MaxPages = None,
    depth: flags.Depth = None,
    include: flags.Include = None,
    exclude: flags.Exclude = None,
    scope: flags.ScopeName = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            help="Stop after this many seconds of work; 0: no limit.",
            show_default="0",
            rich_help_panel=flags.WHAT,
        ),
    ] = None,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            help="Stop after this many received bytes; 0: no limit.",
            show_default="0",
            rich_help_panel=flags.WHAT,
        ),
    ] = None,
    delay: flags.Delay = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            help="Requests at once over all hosts; a host gets one at a time.",
            show_default="10",
            rich_help_panel=flags.PACE,
        ),
    ] = None,
    workers: flags.Workers = None,
    user_agent: flags.UserAgent = None,
    header: flags.Header = None,
    format_: flags.Format = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the newest job of the same start URLs.")
    ] = False,
    index: Annotated[
        bool, typer.Option("--index", help="Index pages during the crawl, for `geomi search`.")
    ] = False,
    detach: Annotated[
        bool, typer.Option("--detach", help="Create the job; `geomi worker` crawls it.")
    ] = False,
    assignments: flags.Assignments = None,
    region: flags.Region = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = False,
) -> None:
    """Crawl websites into a data directory; --resume continues an interrupted crawl."""
    configure_with = partial(
        configure,
        {
            "output": output,
            "profile": profile,
            "max_pages": max_pages,
            "depth": depth,
            "include": include,
            "exclude": exclude,
            "scope": scope,
            "delay": delay,
            "concurrency": concurrency,
            "workers": workers,
            "max_time": max_time,
            "max_bytes": max_bytes,
            "user_agent": user_agent,
            "header": header,
            "format": format_,
        },
        assignments=assignments,
        process=process_flags(allow_private, resolve, ca_file, db, blobs, region),
        config=config,
    )
    keys = provider or []
    if detach and index:
        raise ConfigError(
            "--detach and --index exclude each other: nobody would wait to index the pages",
            hint="run `geomi enrich` beside `geomi worker`",
        )
    if keys and names_session(keys):
        _refuse_beside_session(urls or [], from_prod, is_detached=detach)
        order = SessionOrder(
            lambda source: configure_with(source=source),
            keys,
            resume=resume,
            is_indexed=index,
            json=json,
            quiet=quiet,
            verbose=verbose,
        )
        run_once(order)
        return
    named = CrawlSource(keys[0] if keys else None, from_prod)
    configured = configure_with(source=named.layer if named else None)
    plan = named.plan(urls or [], configured, resume=resume)
    if not quiet:
        named.tell()
        warn_about_settings(configured, is_verbose=verbose)
    if detach:
        asyncio.run(_begin(plan, configured.settings, named, json=json))
        return
    show = CrawlPrinter(json=json, quiet=quiet, verbose=verbose)
    _crawl_one(plan, configured.settings, named, show, is_indexed=index, quiet=quiet)


def _crawl_one(
    plan: Plan,
    settings: Settings,
    named: CrawlSource,
    show: CrawlPrinter,
    *,
    is_indexed: bool,
    quiet: bool,
) -> None:
    relax_garbage_collector()
    workers = plan.resolved.run.workers
    standby = fork_workers(workers, live) if workers > 1 and named.may_fork else []
    ended, strayed = asyncio.run(_run(plan, settings, named, show, standby, is_indexed=is_indexed))
    report = ended.report
    show.conclude(report, Path(plan.resolved.run.output), ended.decision)
    hints = (strayed, "" if is_indexed else waiting_texts(report))
    for hint in filter(None, hints) if not quiet else ():
        note(f"hint: {hint}")
    if report.stop is StopReason.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    refuse_failure(report, settings)


def _refuse_beside_session(
    urls: Sequence[str], contracts: str | None, *, is_detached: bool
) -> None:
    """Raise for what a session over several providers cannot have."""
    if urls or contracts:
        given = f"`{urls[0]}`" if urls else "--from-prod"
        raise ConfigError(
            f"providers have their own start URLs; you also gave {given}",
            hint="leave out one of them",
        )
    if is_detached:
        raise ConfigError(
            "a session over several providers cannot be detached: nobody would keep its limits",
            hint="start each with --detach --provider KEY, or let `geomi serve` schedule them",
        )


async def _begin(plan: Plan, settings: Settings, named: CrawlSource, *, json: bool) -> None:
    async with open_directory(
        Path(plan.resolved.run.output), settings, lambda _: EventFanOut()
    ) as home:
        await named.hand_over(home, plan.resolved)
        job = await start_detached(home, plan)
    if json:
        print_json({"job": job.id, "state": job.state})
    else:
        say(job.id)


async def _run(
    plan: Plan,
    settings: Settings,
    named: CrawlSource,
    show: CrawlPrinter,
    standby: Sequence[StartedProcess],
    *,
    is_indexed: bool,
) -> tuple[ProviderRun, str]:
    output = Path(plan.resolved.run.output)
    async with open_directory(output, settings, show.listen) as home:
        await named.hand_over(home, plan.resolved)
        work = partial(crawl_and_index, on_end=leave_on_signals) if is_indexed else run_crawl
        with show.live():
            ended = await run_provider(
                home,
                plan,
                lambda one: work(home, one, standby=standby, on_start=stop_on_signals),
            )
        return ended, await seed_leading_out(home.world, ended.report.job)


class CrawlSource:
    """The provider, or the contracts, that the command line names; empty where it names none."""

    def __init__(self, provider: str | None, contracts: str | None) -> None:
        if provider and contracts:
            raise ConfigError(
                "--provider and --from-prod both name the start URLs", hint="leave out one of them"
            )
        self._key = provider or ""
        self._place = contracts or ""
        self._provider: Provider | None = None
        self._handover: Handover | None = None
        self._dataset: Dataset | None = None
        self._taken = 0
        self.left_out: list[SkippedDomain] = []

    def __bool__(self) -> bool:
        return bool(self._key or self._place)

    @property
    def may_fork(self) -> bool:
        """Whether this process has no thread: the client of a bucket has some once it was used."""
        return not names_bucket(self._place)

    def layer(self, above: Sequence[Layer], settings: Settings) -> Layer:
        """Find what was named and return what it says about a crawl."""
        if self._key:
            stored = providers.stored_providers(Path(resolve(above).run.output), settings)
            self._provider = providers.provider_named(self._key, providers.with_presets(stored))
            refuse_forbidden(self._provider)
            return provider_layer(self._provider)
        self._dataset, which = open_contracts(self._place)
        below = resolve_under_profile(above)
        self._handover = asyncio.run(read_handover(self._dataset, which, below.config))
        return contracts_layer(self._handover, below)

    def plan(self, urls: Sequence[str], configured: Configured, *, resume: bool) -> Plan:
        """Plan the crawl of what was named, or of the URLs that were given."""
        return make_plan(
            self.seeds(urls, configured.resolved, configured.settings),
            configured.resolved,
            configured.flags,
            resume=resume,
            provider=self._key,
        )

    def seeds(self, urls: Sequence[str], resolved: Resolved, settings: Settings) -> Sequence[str]:
        """Return where to start: the URLs that were given, or those of what was named."""
        if not self:
            return urls
        if urls:
            own = f"provider `{self._key}` has its" if self._key else "contracts have their"
            raise ConfigError(
                f"{own} own start URLs; you also gave `{urls[0]}`",
                hint="leave out one of them",
            )
        if self._provider is not None:
            return self._provider.seed_urls
        assert self._handover is not None, "the layer is made before anybody asks for start URLs"
        reviews, listed = providers.stored_reviews(Path(resolved.run.output), settings)
        taken, excluded = admitted_seeds(self._handover, resolved.config, reviews, listed)
        self._taken = len(taken)
        self.left_out = [*self._handover.left_out, *excluded]
        if not taken:
            first = self.left_out[0] if self.left_out else None
            told = f": {first.domain}: {first.reason}" if first else ""
            raise ConfigError(
                f"geomi can crawl no contract below {self._handover.source}{told}",
                hint="run `geomi seeds run DATASET`, or `geomi seeds validate DATASET`",
            )
        return taken

    def tell(self) -> None:
        """Print what was taken, and what was left out."""
        handover = self._handover
        if handover is None:
            return
        note(f"contracts: {handover.contracts}, with {self._taken} start URLs")
        for one in self.left_out[:MAX_LISTED]:
            note(f"left out: {one.domain}: {one.reason}")
        if len(self.left_out) > MAX_LISTED:
            note(f"left out: {len(self.left_out) - MAX_LISTED} more")
        if handover.unread:
            note(f"left out: {handover.unread} contracts after these; name a smaller partition")

    async def hand_over(self, home: DataDirectory, resolved: Resolved) -> None:
        """Let the crawl know the robots.txt of hosts that were asked for it already."""
        if self._handover is not None and self._dataset is not None:
            robots = self._handover.robots
            await keep_copies(home.world, self._dataset, robots, resolved.config)
