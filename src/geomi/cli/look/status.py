"""`geomi status`: show a job's state, counters, hosts and excluded links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from geomi.app import DataDirectory, is_running
from geomi.cli import flags
from geomi.cli.console import moment, print_json, say, say_pairs
from geomi.cli.data_directory import in_data_directory
from geomi.engine.inspect.status import DuePages, Status
from geomi.engine.inspect.status import status as look
from geomi.engine.jobs import find
from geomi.engine.regions import describe_unserved
from geomi.model.history import Stage
from geomi.model.job import CrawlJob
from geomi.model.verdict import State

MOST_HOSTS = 10
MOST_EXAMPLES = 2


def status(
    job: flags.JobId = "latest",
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Show a job: its state, its counters, its hosts, and which rules kept links out."""
    found, is_worked_on = in_data_directory(output, lambda home: _look(home, job), db=db)
    if json:
        print_json(as_data(found) | {"is_running": is_worked_on})
    else:
        _tell(found, is_worked_on=is_worked_on)


def job_data(job: CrawlJob) -> dict[str, object]:
    """Return a job as `--json` shows it, without its configuration."""
    return {
        "id": job.id,
        "state": job.state,
        "paused": job.paused,
        "stop": job.stop,
        "error": job.error,
        "expired": job.expired,
        "seeds": job.seeds,
        "created_at_s": job.created_at_s,
        "started_at_s": job.started_at_s,
        "ended_at_s": job.ended_at_s,
        "active_s": round(job.active_s, 3),
        "stats": asdict(job.stats),
    }


def job_state(job: CrawlJob) -> str:
    """Say in a few words where a job stands."""
    words = [job.state.value, f"({job.stop})" if job.stop else "", "paused" if job.paused else ""]
    words += ["its URLs have expired"] if job.expired else []
    return " ".join(word for word in words if word)


def as_data(found: Status) -> dict[str, object]:
    """Return a status as `--json` shows it."""
    return {
        "job": job_data(found.job),
        "states": found.states,
        "leased": found.leased,
        "next_in_s": found.next_in_s,
        "outcomes": found.outcomes,
        "hosts": found.hosts,
        "problems": found.problems,
        "exclusions": {
            rule: {"count": count, "examples": examples}
            for rule, (count, examples) in found.exclusions.items()
        },
        "is_whole": found.is_whole,
        "due": found.due,
        "domains": found.requests,
        "unserved": found.unserved,
    }


async def _look(home: DataDirectory, job: str) -> tuple[Status, bool]:
    found = await find(home.world, job)
    return await look(home.world, found), await is_running(home, found)


def _tell(found: Status, *, is_worked_on: bool) -> None:
    job, stats = found.job, found.job.stats
    is_left = not (job.state.is_final or is_worked_on)
    way_on = "; no process works on it: continue with --resume" if is_left else ""
    pairs = {
        "job": job.id,
        "state": job_state(job) + way_on,
        "seeds": ", ".join(job.seeds[:MOST_HOSTS]),
        "pages": f"{stats.collected:,}, of which {stats.duplicates:,} repeat another",
        **({"poisoned": f"{stats.poisoned:,} kill what reads them"} if stats.poisoned else {}),
        "urls": _counts(found.states),
        "outcomes": _counts(found.outcomes),
        "requests": f"{stats.requests:,}, {stats.bytes_received:,} bytes, {job.active_s:.1f} s",
    }
    if job.error:
        pairs["error"] = job.error
    if found.unserved:
        pairs["regions"] = describe_unserved(found.unserved)
    if found.next_in_s is not None:
        pairs["next"] = f"in {found.next_in_s:.1f} s"
    if found.due is not None:
        pairs["due"] = _due(found.due)
    say_pairs(pairs)
    _tell_hosts(found.hosts)
    if found.requests:
        say("requests to each domain, of all jobs with such a cap", style="bold")
    for one in found.requests:
        say(f"  {one.domain}: {one.last_hour:,} in the last hour, {one.last_day:,} in a day")
    _tell_exclusions(found.exclusions)
    if not found.is_whole:
        say("the job has too many URLs to list outcomes and hosts")


def _due(due: DuePages) -> str:
    following = f", the next on {moment(due.next_s)}" if due.next_s is not None else ""
    return f"{due.pages:,} pages now{following}; rates: {_counts(due.stages)}"


def _tell_hosts(hosts: Mapping[str, Mapping[State, int]]) -> None:
    say("hosts", style="bold")
    for host, states in list(hosts.items())[:MOST_HOSTS]:
        say(f"  {host}: {_counts(states)}")
    if len(hosts) > MOST_HOSTS:
        say(f"  … and {len(hosts) - MOST_HOSTS:,} more")


def _tell_exclusions(exclusions: Mapping[str, tuple[int, tuple[str, ...]]]) -> None:
    if exclusions:
        say("links kept out", style="bold")
    for rule, (count, examples) in exclusions.items():
        say(f"  {rule}: {count:,}, such as {' '.join(examples[:MOST_EXAMPLES])}")


def _counts(counts: Mapping[str, int] | Mapping[State, int] | Mapping[Stage, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"
