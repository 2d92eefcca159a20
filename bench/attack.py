"""What a tenant notices while five others attack the service that they share.

    python -m bench.attack [--seconds 60]

A served geomi with one crawling process. A sixth tenant reads, as a dashboard does, and crawls a
site at the five requests a second that the API allows: first alone, then while five tenants
attack. Each of them crawls a page with 500 long links under the dearest patterns that are allowed,
and sends without a pause orders with new patterns as dear, or far beyond the limits, previews,
searches, and questions why. The last line is for other programs. `tests/e2e/test_watchdog.py` is
the short form.
"""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import quantiles

from tests.e2e.serving import Served
from tests.e2e.test_watchdog import dear_site, start_dear_crawl, tenant
from tests.support.crawl import page
from tests.support.server import Site

ATTACKERS = 5
READ_EVERY_S = 0.05
PAGES = 1000
NAMES = ",".join(f"name{number}" for number in range(64))


def main() -> None:
    """Measure alone, then under attack."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        env = {"GEOMI_SILENCE_S": "60"}
        served = stack.enter_context(Served(root, env=env))
        honest = tenant(served, "honest")
        alone = _measure(served, honest, stack, seconds / 2)
        print(f"alone:        p95 {alone[0]:6.0f} ms  {alone[1]:.2f} pages/s")
        stop, answers = threading.Event(), Counter[int]()
        threads = []
        for number in range(ATTACKERS):
            key = tenant(served, f"evil{number}")
            # Jobs stand in line for an address, so that each has one of its own.
            site = stack.enter_context(dear_site(f"127.0.1.{number + 1}"))
            job = start_dear_crawl(served, site, key)
            asks = partial(served.ask, key=key)
            preview = ("POST", "/preview", {"url": site.url("/")})  # it waits for its host's turn
            for work in (_attack(job, site.url("/"), number), itertools.repeat(preview)):
                threads.append(threading.Thread(target=_repeat, args=(work, asks, stop, answers)))
        for thread in threads:
            thread.start()
        attacked = _measure(served, honest, stack, seconds)
        stop.set()
        for thread in threads:
            thread.join()
        print(f"under attack: p95 {attacked[0]:6.0f} ms  {attacked[1]:.2f} pages/s")
        print(f"the attackers got {dict(answers)}")
        print(f"read_p95_ms={attacked[0]:.0f} pace_ratio={attacked[1] / alone[1]:.2f}")


def _measure(served: Served, key: str, stack: ExitStack, seconds: float) -> tuple[float, float]:
    """Return the 95th percentile of the reads in milliseconds, and the pages in a second."""
    paths = [f"/{at}" for at in range(PAGES)]
    web = {"/": page("home", *paths)} | {path: page(path) for path in paths}
    site = stack.enter_context(Site(web))
    config = {"maxPages": PAGES, "requestsPerSecond": 5, "delayBetweenRequests": 200}
    asked = {"collectionId": "c", "seedUrls": [site.url("/")], "config": config}
    job = served.post("/crawls", asked, key=key)["jobId"]
    while not site.log:
        time.sleep(0.01)
    reads = itertools.cycle(["/crawls", f"/crawls/{job}", f"/crawls/{job}/urls", "/collections"])
    took_s, before = [], len(site.log)
    end_s = time.monotonic() + seconds
    while (began_s := time.monotonic()) < end_s:
        served.get(next(reads), key=key)
        took_s.append(time.monotonic() - began_s)
        time.sleep(READ_EVERY_S)
    pages = len(site.log) - before
    served.post(f"/crawls/{job}/cancel", {}, key=key)
    return quantiles(took_s, n=20)[-1] * 1000, pages / seconds


Asked = tuple[str, str, object]  # method, path, body


def _attack(job: str, url: str, number: int) -> Iterator[Asked]:
    """Return requests without an end; no list of patterns comes twice."""
    rng = random.Random(number)
    path = "".join(rng.choice("ab") for _ in range(1900))
    for turn in itertools.count():
        dear = [f"re:(a|b)*a(a|b){{60}}c{turn}x{number}x{at}" for at in range(20)]
        allowed = [f"/{{{NAMES}}}/{'[a-z]' * 90}{turn}x{number}x{at}" for at in range(40)]
        beyond = [f"/{{{NAMES}}}-{turn}-{at}-*" for at in range(100)]
        for patterns in (dear, allowed, beyond):
            config = {"excludePatterns": patterns}
            order = {"collectionId": "dear", "seedUrls": [url], "config": config}
            yield "POST", "/crawls", order
        yield "GET", f"/crawls/{job}/why?url={url}{path}{turn}", None
        yield "POST", "/search", {"query": "loom " * 50}


def _repeat(
    work: Iterator[Asked],
    ask: Callable[[str, str, object], tuple[int, object]],
    stop: threading.Event,
    answers: Counter[int],
) -> None:
    for request in work:
        if stop.is_set():
            return
        try:
            answers[ask(*request)[0]] += 1
        except OSError:
            answers[0] += 1


if __name__ == "__main__":
    main()
