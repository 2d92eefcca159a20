"""What a job was allowed of the network and where its bytes are, remembered with it."""

from __future__ import annotations

from geomi.errors import ConfigError
from geomi.model.job import CrawlJob
from geomi.settings.options import Settings

ARCHIVE = "archive --blobs "
DIRECTORY = "archive id "


def network(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Name what the process was allowed of the network, as flags; a resumed job needs it again."""
    allowed = [("--allow-private", "")] if settings.allow_private else []
    allowed += [("--ca-file", settings.ca_file)] if settings.ca_file else []
    # A test server's own port changes from run to run; which host is redirected does not.
    allowed += [("--resolve", ":".join(text.split(":")[:2])) for text in settings.resolve]
    kept = tuple((f"network {flag} {value}".strip(), "flag") for flag, value in allowed)
    return kept + (((ARCHIVE + _place(settings.blobs), "flag"),) if settings.blobs else ())


def same_network(job: CrawlJob, settings: Settings) -> None:
    """Refuse to go on without what the job was allowed: its URLs would all count as refused."""
    then = {name for name, _ in job.origins if name.startswith("network ")}
    missing = sorted(then - {name for name, _ in network(settings)})
    if missing:
        flags = ", ".join(name.removeprefix("network ") for name in missing)
        raise ConfigError(
            f"job {job.id} was started with {flags}",
            hint="give the same network flags again beside --resume",
        )


def same_archive(job: CrawlJob, settings: Settings) -> None:
    """Refuse to look for a job's bytes where they are not: all its pages would count as lost."""
    then = [name.removeprefix(ARCHIVE) for name, _ in job.origins if name.startswith(ARCHIVE)]
    now = [_place(settings.blobs)] if settings.blobs else []
    if then != now:
        there = f"in {then[0]}" if then else "in its data directory"
        raise ConfigError(
            f"the archive of job {job.id} is {there}",
            hint=f"GEOMI_BLOBS={then[0]}" if then else "leave out --blobs and GEOMI_BLOBS",
        )


def same_directory(job: CrawlJob, identity: str) -> None:
    """Refuse to keep a job's bytes in another directory: nobody could read all of them."""
    then = [name.removeprefix(DIRECTORY) for name, _ in job.origins if name.startswith(DIRECTORY)]
    if then and then != [identity]:
        raise ConfigError(
            f"the archive of job {job.id} is in another data directory",
            hint="name it with -o, on a disk that all machines share, or crawl with --blobs",
        )


def _place(blobs: str) -> str:
    """Return a bucket's URL without how to get there, which may change."""
    return blobs.partition("?")[0].rstrip("/")
