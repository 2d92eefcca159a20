"""How long a hostile robots.txt takes to judge one URL: 1,000 rules of stars, a path of 2 KB.

    python -m bench.robots

prints a line for each kind of file, and how much more that is than one plain `str.find` of each
rule's text in the same path, which is the least that any matcher does. No rule matches, so every
rule is tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from geomi.robots.match import judge
from geomi.robots.parse import parse

RULES = 1000
PATH_CHARS = 2048
ROUNDS = 20
LIMIT_MS = 5.0

PATH = ("/z" + "/shop/item-a/b-c" * PATH_CHARS)[:PATH_CHARS]
# What the rules of each file look like; each ends in something that the path does not have.
KINDS: dict[str, Callable[[int], str]] = {
    "no star": lambda number: f"/z/shop/item-a/{number}!",
    "one star": lambda number: f"/*/{number}!",
    "ten stars": lambda number: "/" + "*item*b" * 5 + f"*{number}!",
    "ten rare stars": lambda number: "/" + "*m-a/b-c/sh" * 10 + f"*{number}!",
    "twenty stars": lambda number: "/" + "*a*b*c*i" * 5 + f"*{number}!",
    "fifty stars": lambda number: "/" + "*a" * 50 + f"*{number}!",
    # Every piece is in the path, but the last but one only at its beginning: the walk must tell.
    "ten stars in vain": lambda _: "/" + "*a*b*c*i" * 2 + "*z/*c",
    "twenty stars in vain": lambda _: "/" + "*a*b*c*i" * 5 + "*z/*c",
    "fifty stars in vain": lambda _: "/" + "*a" * 50 + "*z/*c",
}


def main() -> None:
    """Measure each kind of file."""
    print(f"{RULES} rules, {PATH_CHARS} characters, best of {ROUNDS}; the limit is {LIMIT_MS} ms")
    for name, rule in KINDS.items():
        rules = [rule(number) for number in range(RULES)]
        file = parse(
            "\n".join(["User-agent: *", *(f"Disallow: {each}" for each in rules)]).encode()
        )
        assert judge(file, "geomi", PATH).line is None
        took_ms = _best_ms(partial(judge, file, "geomi", PATH))
        plain_ms = _best_ms(partial(_find_each, rules))
        print(f"{name:<30} {took_ms:6.2f} ms  ratio_vs_find={took_ms / plain_ms:.1f}")


def _find_each(rules: list[str]) -> list[int]:
    return [PATH.find(rule) for rule in rules]


def _best_ms(work: Callable[[], object]) -> float:
    best_s = float("inf")
    for _ in range(ROUNDS):
        started_s = time.perf_counter()
        work()
        best_s = min(best_s, time.perf_counter() - started_s)
    return best_s * 1000


if __name__ == "__main__":
    main()
