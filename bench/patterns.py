"""What the dearest patterns that are allowed cost: to compile, and to match with one URL of 2 KB.

    python -m bench.patterns

prints a line for each kind of list, with as many patterns as `admit/glob.py` allows for a job, in
CPU time. Each URL is met for the first time, so that nothing of its way is remembered.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from geomi.admit.glob import MAX_ALTERNATIVES, UrlPatterns
from geomi.errors import ConfigError
from geomi.model.config import GlobStyle
from geomi.url.parse import parse

MOST_PATTERNS = 200
PATH_CHARS = 2048
VERSIONS = ",".join(f"v{number}" for number in range(MAX_ALTERNATIVES))
# Which characters the paths are made of, and what the patterns of each kind look like.
ALPHABETS = ("a", "ab", "ab/", "/a", "abcdefghijklmnopqrstuvwxyz0123456789-./")
KINDS: dict[str, Callable[[int], str]] = {
    "folders": lambda number: f"/docs{number}/**",
    "words": lambda number: f"*/*logout{number}*",
    "braces": lambda number: (
        f"/{{{','.join(f'v{one}' for one in range(MAX_ALTERNATIVES))}}}/{number}/**"
    ),
    "usual expressions": lambda number: rf"re:^/([a-z]{{2}})/(docs|api)/v\d+(\.\d+)*/{number}",
    "(a?){450}": lambda number: f"re:(a?){{450}}a{{450}}b{number}",
    "(a|b)*a(a|b){60}": lambda number: f"re:(a|b)*a(a|b){{60}}c{number}",
    "[ab]?{300}": lambda number: f"re:([ab]?){{300}}[ab]{{300}}c{number}",
    "fifty stars": lambda number: f"/**/{'*a' * 50}b{number}",
    "questions": lambda number: f"/**/*a{'?' * 400}c{number}",
    "wide": lambda number: f"/{'**/*a*/' * 50}b{number}",
}


def main() -> None:
    """Measure each kind of list."""
    rng = random.Random(1)
    paths = ["".join(rng.choice(letters) for _ in range(PATH_CHARS)) for letters in ALPHABETS]
    for name, pattern in KINDS.items():
        patterns, compiled_ms = _largest([pattern(number) for number in range(MOST_PATTERNS)])
        worst_ms = max(_cpu_ms(_matching(patterns, path)) for path in paths)
        size, reach = patterns.cost.size, patterns.cost.reach
        print(
            f"{name:<18} {len(patterns.texts):3} patterns  size {size:6,}  reach {reach:5,}"
            f"  compile {compiled_ms:6.1f} ms  match_ms_2kb={worst_ms:.2f}"
        )


def _largest(texts: list[str]) -> tuple[UrlPatterns, float]:
    """Compile as many patterns as are allowed."""
    while True:
        began_s = time.thread_time()
        try:
            patterns = UrlPatterns(texts, GlobStyle.REPAIRED)
        except ConfigError:
            texts = texts[:-1]
            continue
        return patterns, (time.thread_time() - began_s) * 1000


def _matching(patterns: UrlPatterns, path: str) -> Callable[[], object]:
    url = parse(f"https://a.test/{path}")
    assert url is not None
    return lambda: patterns.first(url)


def _cpu_ms(work: Callable[[], object]) -> float:
    began_s = time.thread_time()
    work()
    return (time.thread_time() - began_s) * 1000


if __name__ == "__main__":
    main()
