"""Crawl several providers in one session, once or every week, and tell how it went.

`geomi crawl --provider` and `geomi providers index` share it. All providers are looked up and
planned before anything is opened, so that a mistake in one of them starts nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from geomi.adapters.machine.clock import system_readings
from geomi.adapters.machine.processes import relax_garbage_collector
from geomi.app import Plan, make_plan, open_directory
from geomi.app import crawl as run_crawl
from geomi.app.use import providers
from geomi.app.use.crawl import refuse_failure
from geomi.app.use.provider_session import (
    WEEK_S,
    ProviderSession,
    SessionReport,
    due_s,
    last_runs,
)
from geomi.cli import INTERRUPTED
from geomi.cli.console import moment, note, print_json
from geomi.cli.event_output import CrawlPrinter, leave_on_signals, stop_on_signals, waiting_texts
from geomi.cli.options import Configured, warn_about_settings
from geomi.errors import ConfigError, NothingFetched, WrongState
from geomi.model.job import CrawlJob
from geomi.model.site import Provider
from geomi.processes.index import refuse_unindexed, run_session_and_index
from geomi.settings.layers import Layer, resolve
from geomi.settings.options import Settings
from geomi.settings.providers import EVERY_PROVIDER, provider_layer, refuse_forbidden

Source = Callable[[Sequence[Layer], Settings], Layer]
# A machine that slept, or whose clock was set, is noticed within this time.
LONGEST_NAP_S = 3600.0


@dataclass(frozen=True, slots=True)
class SessionOrder:
    """What was asked for.

    Args:
        configure: reads all settings, given what finds those of a provider.
        keys: the providers; empty, or with `all` among them, for every one.
    """

    configure: Callable[[Source], Configured]
    keys: Sequence[str] = ()
    resume: bool = False
    is_indexed: bool = False
    json: bool = False
    quiet: bool = False
    verbose: bool = False


def names_session(keys: Sequence[str]) -> bool:
    """Return whether such a `--provider` is about more than one."""
    return EVERY_PROVIDER in keys or len(set(keys)) > 1


def run_once(order: SessionOrder) -> None:
    """Crawl the providers, and end as the session did."""
    chosen = _choose(order)
    plans = [_plan(order, provider, resume=order.resume) for provider in chosen.providers]
    _end(order, *_crawl(order, plans, chosen))


def run_weekly(order: SessionOrder) -> None:
    """Crawl each provider a week after its last crawl, until somebody ends the command.

    One that was interrupted is resumed. What is registered and allowed is looked up each time.
    """
    began_s: dict[str, float] = {}  # also of those that the session had no pages for
    while True:
        chosen, now_s = _choose(order), system_readings().wall_s()
        newest = last_runs(chosen.root, chosen.settings)
        times = {one.key: _due_s(one.key, newest, began_s) for one in chosen.providers}
        due = [one for one in chosen.providers if times[one.key] <= now_s]
        if due:
            began_s.update(dict.fromkeys((one.key for one in due), now_s))
            plans = [_plan(order, one, resume=_is_unfinished(newest.get(one.key))) for one in due]
            report, settings = _crawl(order, plans, chosen)
            _tell_end(order, report)
            if report.is_interrupted:
                raise typer.Exit(INTERRUPTED)
            newest = last_runs(chosen.root, settings)
            times = {one.key: _due_s(one.key, newest, began_s) for one in chosen.providers}
        _wait(min(times.values()), is_told=not order.quiet)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The providers of a session, and the place where they are registered."""

    providers: tuple[Provider, ...]
    left_out: tuple[Provider, ...]
    root: Path
    settings: Settings


def _choose(order: SessionOrder) -> _Chosen:
    """Look up the providers; of all, those are left out whose terms forbid it."""
    root, settings = _place(order)
    known = providers.with_presets(providers.stored_providers(root, settings))
    if order.keys and EVERY_PROVIDER not in order.keys:
        named = tuple(providers.provider_named(key, known) for key in dict.fromkeys(order.keys))
        for provider in named:
            refuse_forbidden(provider)
        return _Chosen(named, (), root, settings)
    allowed = tuple(one for one in known.values() if one.tos_allows_crawling is not False)
    if not allowed:
        raise WrongState(
            "every provider forbids crawling, so there is none to crawl",
            hint="geomi providers list; geomi providers review KEY --allows",
        )
    left_out = tuple(one for one in known.values() if one.tos_allows_crawling is False)
    return _Chosen(allowed, left_out, root, settings)


def _place(order: SessionOrder) -> tuple[Path, Settings]:
    """Return where providers are registered, as flags, environment and files say."""
    found: list[tuple[Path, Settings]] = []

    def look(above: Sequence[Layer], settings: Settings) -> Layer:
        found.append((Path(resolve(above).run.output), settings))
        return Layer("providers", {})

    order.configure(look)
    return found[0]


def _plan(order: SessionOrder, provider: Provider, *, resume: bool) -> tuple[Plan, Configured]:
    configured = order.configure(lambda above, settings: provider_layer(provider))
    if configured.resolved.run.workers > 1:
        raise ConfigError(
            "a session over several providers runs in one process, without --workers",
            hint="leave it out; three providers are crawled at once",
        )
    plan = make_plan(
        provider.seed_urls,
        configured.resolved,
        configured.flags,
        resume=resume,
        provider=provider.key,
    )
    if order.is_indexed:
        refuse_unindexed(plan)
    return plan, configured


def _crawl(
    order: SessionOrder, planned: Sequence[tuple[Plan, Configured]], chosen: _Chosen
) -> tuple[SessionReport, Settings]:
    configured = planned[0][1]
    if not order.quiet:
        for one in chosen.left_out:
            note(f"left out: {one.key}: its terms forbid crawling")
        warn_about_settings(configured, is_verbose=order.verbose)
    show = CrawlPrinter(json=order.json, quiet=order.quiet, verbose=order.verbose)
    relax_garbage_collector()
    plans = [plan for plan, _ in planned]
    report = asyncio.run(_run(order, plans, configured, show))
    output = Path(configured.resolved.run.output)
    runs = [part.run for part in report.parts if part.run is not None]
    for run in runs:
        show.conclude(run.report, output, run.decision)
        if run.report.nothing_reached:
            note(f"warning: provider {run.report.job.provider}: {run.report.nothing_reached}")
    hints = () if order.is_indexed or order.quiet else {waiting_texts(run.report) for run in runs}
    for hint in filter(None, hints):
        note(f"hint: {hint}")
    return report, configured.settings


async def _run(
    order: SessionOrder, plans: Sequence[Plan], configured: Configured, show: CrawlPrinter
) -> SessionReport:
    output = Path(configured.resolved.run.output)
    async with open_directory(output, configured.settings, show.listen) as home:
        session = ProviderSession(
            home,
            plans,
            lambda plan, start: run_crawl(
                home, plan, on_start=start, is_judged=not order.is_indexed
            ),
        )
        stop_on_signals(session)
        with show.live():
            if order.is_indexed:
                return await run_session_and_index(home, session, on_end=leave_on_signals)
            return await session.run()


def _tell_end(order: SessionOrder, report: SessionReport) -> None:
    """Print what the session as a whole has done."""
    missing = {part.provider: part.problem for part in report.parts if part.run is None}
    crawled = len(report.parts) - len(missing)
    if order.json:
        print_json(
            {
                "event": "session_ended",
                "providers": crawled,
                "pages": report.pages,
                "collected": report.collected,
                "not_crawled": [{"provider": key, "why": why} for key, why in missing.items()],
            }
        )
    elif not order.quiet:
        note(
            f"session: {crawled} of {len(report.parts)} providers, {report.pages:,} pages visited, "
            f"{report.collected:,} collected"
        )
        for key, why in missing.items():
            note(f"not crawled: {key}: {why}")


def _end(order: SessionOrder, report: SessionReport, settings: Settings) -> None:
    """Tell how it went; raise where no provider could be crawled at all."""
    _tell_end(order, report)
    if report.is_interrupted:
        raise typer.Exit(INTERRUPTED)
    ended = [part.run.report for part in report.parts if part.run is not None]
    if not ended:
        raise NothingFetched("no provider could be crawled", hint=report.parts[0].problem)
    for one in [one for one in ended if not one.nothing_reached] or ended:
        refuse_failure(one, settings)


def _due_s(key: str, newest: Mapping[str, CrawlJob], began_s: Mapping[str, float]) -> float:
    """Return when a provider is due; one that a session had no pages for waits a week, too."""
    return max(due_s(newest.get(key)), began_s.get(key, -WEEK_S) + WEEK_S)


def _is_unfinished(job: CrawlJob | None) -> bool:
    return job is not None and not job.state.is_final


def _wait(until_s: float, *, is_told: bool) -> None:
    if is_told:
        note(f"the next session begins at {moment(until_s)}; Ctrl-C ends the command")
    while (left_s := until_s - system_readings().wall_s()) > 0:
        time.sleep(min(left_s, LONGEST_NAP_S))
