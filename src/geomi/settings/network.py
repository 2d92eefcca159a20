"""What a job was allowed of the network, remembered with it for when it is resumed."""

from __future__ import annotations

from geomi.errors import ConfigError
from geomi.model.job import CrawlJob
from geomi.settings.options import Settings


def network(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Name what the process was allowed of the network, as flags; a resumed job needs it again."""
    allowed = [("--allow-private", "")] if settings.allow_private else []
    allowed += [("--ca-file", settings.ca_file)] if settings.ca_file else []
    # A test server's own port changes from run to run; which host is redirected does not.
    allowed += [("--resolve", ":".join(text.split(":")[:2])) for text in settings.resolve]
    return tuple((f"network {flag} {value}".strip(), "flag") for flag, value in allowed)


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
