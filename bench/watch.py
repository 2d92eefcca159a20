"""A process tree, watched from outside through /proc: memory while it runs, CPU when it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

SAMPLE_S = 0.1
RUN_LIMIT_S = 120.0  # tuned Scrapy needs 20 s; what takes six times as long is stuck


@dataclass(frozen=True, slots=True)
class Sample:
    """The largest process of the tree at one moment: what it had at most, and what it has."""

    peak_bytes: int
    now_bytes: int


def watch(process: subprocess.Popen[bytes]) -> tuple[list[Sample], float]:
    """Sample until the process ends; return the samples and its tree's CPU seconds.

    The process must lead a session of its own: whatever ends the watch early ends all of it.
    """
    try:
        return _watch(process)
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)


def tree_cpu_s(root: int) -> float:
    """Return the CPU seconds that the living processes under `root` have used so far."""
    return sum(_cpu_ticks(pid, 11, 12) for pid in _tree(root)) / os.sysconf("SC_CLK_TCK")


def family_cpu_s(root: int) -> float:
    """Return the same with what children of `root` had used when they ended, for a server."""
    return tree_cpu_s(root) + _cpu_ticks(root, 13, 14) / os.sysconf("SC_CLK_TCK")


def machine_cpu_s() -> float:
    """Return the seconds all cores were busy, idle and waiting left out."""
    user, nice, system, _idle, _waiting, *rest = map(
        int, Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]
    )
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def _watch(process: subprocess.Popen[bytes]) -> tuple[list[Sample], float]:
    samples: list[Sample] = []
    deadline_s = time.monotonic() + RUN_LIMIT_S
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            process.returncode = os.waitstatus_to_exitcode(status)
            return samples, usage.ru_utime + usage.ru_stime
        if time.monotonic() > deadline_s:
            os.killpg(process.pid, signal.SIGKILL)
        samples.append(_sample(process.pid))
        time.sleep(SAMPLE_S)


def _sample(root: int) -> Sample:
    memory = [_memory_bytes(pid) for pid in _tree(root)]
    return Sample(max(peak for peak, _ in memory), max(now for _, now in memory))


def _cpu_ticks(pid: int, *places: int) -> int:
    """Return fields of proc(5) behind the name in parentheses: 11 utime, 13 that of the reaped."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(int(fields[place]) for place in places)
    return 0


def _tree(root: int) -> list[int]:
    found = [root]
    for pid in found:  # grows while it is walked
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found.extend(map(int, task.read_text().split()))
    return found


def _memory_bytes(pid: int) -> tuple[int, int]:
    """Return a process's peak and present resident size; zeros once it is gone."""
    sizes = {"VmHWM": 0, "VmRSS": 0}
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in sizes:
                sizes[name] = int(value.split()[0]) * 1024
    return sizes["VmHWM"], sizes["VmRSS"]
