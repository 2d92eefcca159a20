"""Write a static web to crawl: the stand-in where the peers' own generator is absent.

    python bench/generate.py OUT [PAGES=5000] [HOSTS=50] [SEED=7]

Page i lives on 127.0.0.(2 + i mod HOSTS), port 8800, under OUT; `urls.txt` beside OUT lists all
pages in order. Pages are documentation-like, about 50 kB with about 100 links, three quarters of
them to the same host. Every page links its host's next page and the next host's, so that any seed
reaches everything. The same arguments write the same bytes.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path

PORT = 8800
SECTIONS = ("guide", "reference", "tutorial", "notes", "howto", "release")
VOCABULARY = """
anchor arc autumn balance beam bend bridge bundle calm carry centre circle clear cord corner count
cross curve damp dew distance draw drop early edge even fall fibre field fine follow frame garden
gather gentle glue grain green grow harvest hold hub keep knot lace late lean length level light
line load long loom loose loop measure mend middle moss narrow needle night order outer pale
patient pattern pluck point pull quiet rain ray rest ring root rope round row shade shake sharp
silk slack slow small soft span spin spiral spoke spool stem step still strand strong taut tear
tension thin thread tie tight turn twist under wait walk warm warp water weave web weft weight
whole wide wind wood wrap
"""
WORDS = VOCABULARY.split()
GLUE = ("the", "a", "of", "and", "to", "in", "is", "with", "on", "by", "for", "that", "it", "from")
GLUE_SHARE = 0.4
SAME_HOST_SHARE = 0.75
TOP_LINKS, SIDE_LINKS, FOOT_LINKS = 12, 45, 20
TEXT_LINK_SHARE = 0.35  # of the paragraphs
AROUND_BYTES = 9_000  # what the links around the text take
MIN_BYTES, MEAN_BYTES, MAX_BYTES = 6_000, 50_000, 400_000


@dataclass(frozen=True, slots=True)
class Web:
    """How many pages on how many hosts, and which of the possible webs."""

    pages: int
    hosts: int
    seed: int

    def path(self, page: int) -> str:
        rng = random.Random(f"{self.seed}/{page}")
        name = "-".join(rng.choices(WORDS, k=3))
        return f"/{rng.choice(SECTIONS)}/{name}-{page}.html"

    def url(self, page: int) -> str:
        return f"http://127.0.0.{2 + page % self.hosts}:{PORT}{self.path(page)}"


def write_web(web: Web, out: Path) -> int:
    """Write every page and `urls.txt`; return the bytes written."""
    total = 0
    paths = [web.path(page) for page in range(web.pages)]
    for section in SECTIONS:
        (out / section).mkdir(parents=True, exist_ok=True)
    for page, path in enumerate(paths):
        body = PageWriter(web, paths, page).write().encode()
        (out / path.lstrip("/")).write_bytes(body)
        total += len(body)
    (out / "robots.txt").write_text("User-agent: *\nDisallow:\n")
    urls = "".join(f"{web.url(page)}\n" for page in range(web.pages))
    out.with_name("urls.txt").write_text(urls)
    return total


class PageWriter:
    """One page, from its own stream of random numbers."""

    def __init__(self, web: Web, paths: list[str], page: int) -> None:
        self.web, self.paths, self.page = web, paths, page
        self.rng = random.Random(f"{web.seed}:{page}")

    def write(self) -> str:
        """Return the whole document."""
        title = self.phrase(4).title()
        blocks, size = [], 0
        wanted = min(max(self.rng.gauss(MEAN_BYTES, MEAN_BYTES / 3), MIN_BYTES), MAX_BYTES)
        while size < wanted - AROUND_BYTES:
            blocks.append(self.block())
            size += len(blocks[-1])
        following = ((self.page + step) % self.web.pages for step in (1, self.web.hosts))
        ring = "".join(self.link(page) for page in following)
        return (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{title}</title>\n"
            f'<link rel="canonical" href="{self.web.url(self.page)}">\n</head>\n<body>\n'
            f'<header><nav aria-label="Main"><ul>\n{self.links(TOP_LINKS)}</ul></nav></header>\n'
            f'<aside class="sidebar"><ul>\n{ring}{self.links(SIDE_LINKS)}</ul></aside>\n'
            f"<main><article>\n<h1>{title}</h1>\n{''.join(blocks)}</article></main>\n"
            f"<footer><ul>\n{self.links(FOOT_LINKS)}</ul></footer>\n</body>\n</html>\n"
        )

    def block(self) -> str:
        kind = self.rng.random()
        if kind < 0.12:
            return f"<h2>{self.phrase(4).title()}</h2>\n"
        if kind < 0.72:
            return self.paragraph()
        if kind < 0.84:
            return f'<pre><code class="language-python">{self.program()}</code></pre>\n'
        if kind < 0.92:
            return f"<table>\n{''.join(self.row() for _ in range(8))}</table>\n"
        return f"<ul>\n{''.join(f'<li>{self.sentence()}</li>' for _ in range(5))}</ul>\n"

    def paragraph(self) -> str:
        text = " ".join(self.sentence() for _ in range(self.rng.randint(3, 7)))
        if self.rng.random() < TEXT_LINK_SHARE:
            target = self.target()
            text += f' See <a href="{self.href(target)}">{self.phrase(3)}</a>.'
        return f"<p>{text}</p>\n"

    def program(self) -> str:
        lines = (
            f'<span class="n">{self.rng.choice(WORDS)}</span> <span class="o">=</span> '
            f'{self.rng.choice(WORDS)}(<span class="mi">{self.rng.randint(0, 99)}</span>)'
            for _ in range(self.rng.randint(4, 14))
        )
        return "\n".join(lines)

    def row(self) -> str:
        return "<tr>" + "".join(f"<td>{self.phrase(3)}</td>" for _ in range(4)) + "</tr>\n"

    def sentence(self) -> str:
        words = [
            self.rng.choice(GLUE if self.rng.random() < GLUE_SHARE else WORDS)
            for _ in range(self.rng.randint(8, 22))
        ]
        return " ".join(words).capitalize() + "."

    def phrase(self, count: int) -> str:
        return " ".join(self.rng.choices(WORDS, k=count))

    def links(self, count: int) -> str:
        return "".join(self.link(self.target()) for _ in range(count))

    def link(self, target: int) -> str:
        return f'<li><a class="reference" href="{self.href(target)}">{self.phrase(3)}</a></li>\n'

    def target(self) -> int:
        if self.rng.random() < SAME_HOST_SHARE:
            hops = self.rng.randrange(max(self.web.pages // self.web.hosts, 1))
            return (self.page + self.web.hosts * hops) % self.web.pages
        return self.rng.randrange(self.web.pages)

    def href(self, target: int) -> str:
        if (target - self.page) % self.web.hosts:
            return self.web.url(target)
        shape = self.rng.random()
        if shape < 0.3:
            return f"..{self.paths[target]}"
        return self.paths[target] + ("#part" if shape > 0.9 else "")


def main(arguments: list[str]) -> None:
    """Read OUT and up to three numbers, and write."""
    numbers = [int(word) for word in arguments[1:]]
    pages, hosts, seed = numbers + [5000, 50, 7][len(numbers) :]
    total = write_web(Web(pages, hosts, seed), Path(arguments[0]))
    print(f"{pages} pages, {total} bytes, mean {total // pages}")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(sys.argv[1:])
