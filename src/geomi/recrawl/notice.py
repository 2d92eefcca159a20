"""The change report of a provider's run, line by line as the catalogue has it (RPT-01…RPT-03).

Rules kept:
- Seven lines: when and whose it is, then six figures, each after two spaces and a dash.
- Shares have one decimal, times to answer are whole milliseconds, durations minutes and seconds.
- A name is one line, whatever was registered: nobody can forge a line of the log with it.
"""

from __future__ import annotations

from datetime import datetime

from geomi.model.event import Reported

MARK = "[CRAWL_REPORT]"
MAX_NAME_CHARS = 200


def write_notice(run: Reported, at: datetime) -> tuple[str, ...]:
    """Write what a run of a provider has found.

    Args:
        at: when it was over, in the time that the log is kept in.
    """
    minutes, seconds = divmod(round(run.seconds), 60)
    return (
        f"[{at:%Y-%m-%d %H:%M:%S}] {MARK} Provider: {_one_line(run.provider)}",
        f"  - Total Pages: {run.total}",
        f"  - New: {run.new}, Updated: {run.updated}, Deleted: {run.deleted}",
        f"  - Change Rate: {run.change_percent:.1f}%",
        f"  - Success Rate: {run.success_percent:.1f}%",
        f"  - Avg Response Time: {run.response_ms}ms",
        f"  - Duration: {minutes}m {seconds}s",
    )


def _one_line(name: str) -> str:
    kept = "".join(char if char.isprintable() else " " for char in name)
    return " ".join(kept.split())[:MAX_NAME_CHARS]
