"""Bodies that kill what reads them, and the environment in which they do.

Nothing in geomi knows of it: `layer/sitecustomize.py` stands on the path of each process.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LAYER = Path(__file__).parent / "layer"
SPIN_LOOK_S = 0.05


def deadly(reader: str, how: str) -> str:
    """Return words of which a reader dies: `page`, `robots`, `sitemap` or `document`.

    Args:
        how: `abort`, `exit`, `memory`, `spin` or `panic`.
    """
    return f"deadly {reader} {how}"


def deadly_env(told: Path) -> dict[str, str]:
    """Return the environment in which readers die.

    Args:
        told: a folder where processes that spin say so.
    """
    path = os.pathsep.join(filter(None, (str(LAYER), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "DEADLY_TOLD": str(told)}


@contextmanager
def watchdog(told: Path) -> Iterator[None]:
    """End workers that spin, as an operator or a watchdog would; the rest ends them itself."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(SPIN_LOOK_S):
            for mark in told.glob("*.spins"):
                if not _is_child(int(mark.stem)):
                    with suppress(ProcessLookupError):
                        os.kill(int(mark.stem), signal.SIGKILL)
                mark.unlink()

    thread = threading.Thread(target=watch, name="watchdog")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _is_child(pid: int) -> bool:
    """Whether a process is one that its own parent ends in time."""
    with suppress(OSError):
        return b"child_program" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False
