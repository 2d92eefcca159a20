"""What a job was allowed of the network and where its bytes are, remembered with it."""

from __future__ import annotations

from geomi.errors import ConfigError
from geomi.model.job import CrawlJob
from geomi.settings.options import Settings


def allowed_network(settings: Settings) -> tuple[str, ...]:
    """Name what the process was allowed of the network, as flags; a resumed job needs it again."""
    allowed = [("--allow-private", "")] if settings.allow_private else []
    allowed += [("--ca-file", settings.ca_file)] if settings.ca_file else []
    # A test server's own port changes from run to run; which host is redirected does not.
    allowed += [("--resolve", ":".join(text.split(":")[:2])) for text in settings.resolve]
    return tuple(f"{flag} {value}".strip() for flag, value in allowed)


def archive_place(settings: Settings) -> str:
    """Return the URL of the archive's bucket without how to get there, which may change."""
    return settings.blobs.partition("?")[0].rstrip("/")


def same_network(job: CrawlJob, settings: Settings) -> None:
    """Refuse to go on without what the job was allowed: its URLs would all count as refused."""
    missing = sorted(set(job.network).difference(allowed_network(settings)))
    if missing:
        raise ConfigError(
            f"job {job.id} was started with {', '.join(missing)}",
            hint="give the same network flags again beside --resume",
        )


def same_archive(job: CrawlJob, settings: Settings) -> None:
    """Refuse to look for a job's bytes where they are not: all its pages would count as lost."""
    then = job.archive
    if then != archive_place(settings):
        raise ConfigError(
            f"the archive of job {job.id} is in {then or 'its data directory'}",
            hint=f"GEOMI_BLOBS={then}" if then else "leave out --blobs and GEOMI_BLOBS",
        )


def same_directory(job: CrawlJob, identity: str) -> None:
    """Refuse to keep a job's bytes in another directory: nobody could read all of them."""
    if job.directory and job.directory != identity:
        raise ConfigError(
            f"the archive of job {job.id} is in another data directory",
            hint="name it with -o, on a disk that all machines share, or crawl with --blobs",
        )
