"""Random webs: pages with links among them, where what is reachable is known beforehand."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.support.server import Reply

WORDS = (
    "silk thread orb web spider anchor frame spiral hub radius dew morning garden stone window "
    "light patience knot loom weaver bridge line tension wind branch leaf night moth careful slow"
).split()


@dataclass(frozen=True, slots=True)
class Web:
    """A site as routes for a `Site`; `reachable` are the paths that a crawl from "/" finds."""

    routes: dict[str, Reply]
    reachable: frozenset[str]


def random_web(seed: int, *, pages: int, links: int = 6, orphans: int = 3) -> Web:
    """Make a site of `pages` connected pages and a few that nothing links to."""
    rng = random.Random(seed)
    paths = ["/", *(f"/{rng.choice(WORDS)}/{number}.html" for number in range(1, pages))]
    routes: dict[str, Reply] = {}
    for number, path in enumerate(paths):
        targets = rng.choices(paths, k=links) + paths[2 * number + 1 : 2 * number + 3]
        routes[path] = Reply(_page(rng, path, targets))
    for number in range(orphans):
        routes[f"/orphan/{number}.html"] = Reply(_page(rng, "orphan", ["/"]))
    return Web(routes, frozenset(paths))


def _page(rng: random.Random, name: str, targets: list[str]) -> bytes:
    text = " ".join(rng.choices(WORDS, k=80))
    items = "".join(f'<li><a href="{path}">{path}</a></li>' for path in targets)
    return (
        f"<!doctype html><html lang=en><title>Page {name}</title>"
        f"<main><h1>{name}</h1><p>{text}</p><ul>{items}</ul></main></html>"
    ).encode()
