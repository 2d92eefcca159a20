"""`geomi audit`: check from the request log that every host was asked politely."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from geomi.app.directory import DataDirectory, TenantDirectories
from geomi.cli import flags
from geomi.cli.console import print_json, say, say_check
from geomi.cli.data_directory import in_data_directory
from geomi.engine.audit.audit import Audit
from geomi.engine.audit.audit import audit as look
from geomi.engine.audit.checks import AddressProof, Breach, CapProof
from geomi.engine.audit.replay import HostProof
from geomi.errors import RuleBroken
from geomi.model.request_log import SentRequest

NOT_LOGGED = (
    "Not in the log: requests that a killed worker had in flight or had not settled yet, and "
    "those of jobs with store.request_log off."
)


def audit(
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="HOST", help="Check only this host, with or without its port."
        ),
    ] = "",
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Check the request log: were delays, concurrency, robots.txt and caps kept?"""

    async def work(home: DataDirectory) -> Audit:
        homes = TenantDirectories(home)
        return await look(
            home.world, host=host, jobs_of=lambda name: homes.of(name).world.store.jobs
        )

    found = in_data_directory(output, work, db=db)
    if json:
        print_json({"is_clean": not found.broken, "not_logged": NOT_LOGGED, "audit": found})
    else:
        _tell(found)
    if found.broken:
        raise RuleBroken(
            f"requests broke rules of politeness {found.broken} times",
            hint="the lines marked ✗ name the requests; if nobody changed the log, this is a fault "
            "of geomi: please report it",
        )


def _tell(found: Audit) -> None:
    for host in found.hosts:
        say_check(f"{host.host}  {_of_host(host)}", is_good=not host.broken)
        _tell_breaches(host.breaches, host.broken)
    _tell_more(found.more_hosts, "hosts")
    for address in found.addresses:
        if address.hosts > 1 or address.broken:
            say_check(f"{address.ip}  {_of_address(address)}", is_good=not address.broken)
            _tell_breaches(address.breaches, address.broken)
    _tell_more(found.more_addresses, "addresses")
    for cap in found.caps:
        say_check(_of_cap(cap), is_good=not cap.broken)
    requests = f"{found.requests} requests"
    verdict = f"{found.broken} breaches in {requests}" if found.broken else f"{requests}, no breach"
    say(verdict, style="bold")
    if found.gone.requests:
        gone = f"{found.gone.requests:,} requests before {_when(found.gone.before_s)}"
        say(f"{gone} are no longer in the log (`request_log_days`): nothing is proven of them")
    say(NOT_LOGGED)


def _of_host(proof: HostProof) -> str:
    gap = ""
    if proof.least_gap_s is not None:
        gap = f"shortest gap {proof.least_gap_s:.3f} s, owed {proof.owed_s:.3f} s"
    times = "once" if proof.robots == 1 else f"{proof.robots} times"
    return _joined(
        f"{proof.requests} requests",
        gap,
        f"at most {proof.most_at_once} in flight",
        f"robots.txt fetched {times}, {proof.judged} requests judged again by it",
        f"{proof.unlogged} rest on one whose fetch is not in the log" if proof.unlogged else "",
        f"{proof.unread} of jobs that ignore robots.txt" if proof.unread else "",
        f"{proof.unknown} of no known job (the seed engine has none)" if proof.unknown else "",
        f"{proof.erased} of erased pages" if proof.erased else "",
        _older(proof.older),
    )


def _of_address(proof: AddressProof) -> str:
    now = " now" if proof.older else ""
    allowed = f" ({proof.allowed} allowed{now})" if proof.allowed else ""
    told = f"{proof.hosts} hosts, at most {proof.most_at_once} at once{allowed}"
    return _joined(told, _older(proof.older))


def _of_cap(proof: CapProof) -> str:
    to = f" to {proof.domain}" if proof.domain else ""
    told = f"at most {proof.most} requests{to} in any {proof.window}; {proof.allowed} allowed"
    broken = ""
    if proof.first_s is not None:
        broken = f"{proof.broken} too many, the first at {_when(proof.first_s)}"
    older = f"{_older(proof.older)} and are not counted" if proof.older else ""
    return _joined(told, broken, older)


def _older(count: int) -> str:
    return f"{count} requests were sent under earlier settings" if count else ""


def _tell_breaches(breaches: Sequence[Breach], count: int) -> None:
    for breach in breaches:
        say(f"    {breach.rule}: {breach.detail}", style="red")
        for asked in breach.requests:
            say(f"      {_request(asked)}")
    if count > len(breaches):
        say(f"    and {count - len(breaches)} more", style="red")


def _request(asked: SentRequest) -> str:
    times = f"{_when(asked.started_s)} to {_when(asked.ended_s)}"
    return f"{times}  {asked.purpose} {asked.url} (job {asked.job}, worker {asked.owner})"


def _tell_more(count: int, what: str) -> None:
    if count:
        say(f"and {count} more {what}")


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _when(time_s: float) -> str:
    """Write scheduling time as the time of day that it is laid at; a damaged one has none."""
    try:
        return datetime.fromtimestamp(time_s, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return f"{time_s:g} s"
