"""How well, how fast and among how many candidates near-duplicates are found.

    python -m bench.neardup                     # under a minute
    python -m bench.neardup --pages 1000000     # 5 minutes of CPU, a store of 610 MB

prints, for the sketch and beside it for the 64-bit simhash of the same pages in the same run:

1. precision, recall and F1 on the revisions set (`$GEOMI_CORPUS`, or `../shared/corpus`), where the
   label of a threshold T is `jaccard3 >= T`; a pair is found only if it also shares a band;
2. CPU time for a page, by the length of its text;
3. how many pages a look-up reads of those that its bands hold, and which part of the copies are
   found, in an index of generated pages: words drawn by Zipf's law, half of the pages on sites
   whose pages share 30 to 80 % of their text, 2 % copies with up to 3 % of their words replaced.
   All pages are in the index, also those that a crawl would leave out as copies;
4. the same look-ups in an SQLite store that holds these pages, through the store's own port.

The last line is for other programs.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.sketches import look_up
from geomi.dedup import sketch as new
from geomi.dedup import sketch as old
from geomi.dedup.decide import NEAR_SIMILARITY, fingerprint
from geomi.dedup.shingles import Numbers, join, words

THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
SIZES = (500, 2_000, 5_000, 10_000, 20_000)
ROUNDS = 5
# Of a simhash four slices of 16 bits are indexed: three differing bits spoil at most three.
NEAR_DISTANCE = 3
SLICES = 4
SLICE_BITS = 64 // SLICES
SIMHASH_PER_SLICE = 64
VOCABULARY = 50_000
# Of each site, which part of a page is its template's, and how many of the pages are its own.
SITES = ((0.0, 0.5), (0.3, 0.15), (0.5, 0.15), (0.7, 0.1), (0.8, 0.1))
SLICE_WORDS = 40  # a template comes in slices, with the page's own words between them
COPIES = 0.02
RECENT = 2_000  # pages of a site that may be copied
LOOK_UPS = 3_000

Places = NDArray[np.intp]
Row = dict[str, object]


def main() -> None:
    """Print the tables and the last line."""
    parser = argparse.ArgumentParser(description="measure near-duplicates")
    parser.add_argument("--pages", type=int, default=50_000)
    pages = parser.parse_args().pages
    pairs = list(_revisions())
    scores = _print_scores(pairs) if pairs else {}
    ratio, cost_us = _print_costs([left for left, _, _ in pairs] or _made_texts())
    web = _web(pages)
    asked = np.random.default_rng(2).integers(pages // 2, pages, LOOK_UPS).tolist()
    found = _print_candidates(web, asked)
    stored = asyncio.run(look_up(web.sketches, asked))
    print(f"{'sketch, in SQLite':<22}{stored.shown}")
    print(
        f"threshold={NEAR_SIMILARITY} f1={scores.get(NEAR_SIMILARITY, float('nan')):.4f} "
        f"cpu_us_page={cost_us:.0f} ratio_vs_simhash={ratio:.2f} {found} "
        f"store_candidates={stored.mean:.1f} store_max={stored.most} "
        f"store_cpu_us={stored.cpu_us:.0f}"
    )


def _revisions() -> Iterator[tuple[str, str, float]]:
    corpus = Path(os.environ.get("GEOMI_CORPUS", "../shared/corpus"))
    file = corpus / "neardup" / "revisions.dev.jsonl.gz"
    if not file.exists():
        print(f"no revisions set at {file}: set GEOMI_CORPUS; F1 is left out")
        return
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for pair in map(json.loads, lines):
            yield pair["a"], pair["b"], pair["jaccard3"]


def _print_scores(pairs: Sequence[tuple[str, str, float]]) -> dict[float, float]:
    """Print the scores at every threshold; return the sketch's F1 at each."""
    sketches = [(new.sketch(left), new.sketch(right)) for left, right, _ in pairs]
    alike = [
        new.similarity(*both) if set(new.bands(both[0])) & set(new.bands(both[1])) else 0.0
        for both in sketches
    ]
    apart = [_distance(_simhash(left), _simhash(right)) for left, right, _ in pairs]
    print(f"{len(pairs)} pairs       {'sketch P / R / F1':<24}simhash, distance <= 3 and <= 12")
    scores = {}
    for least in THRESHOLDS:
        labels = [truth >= least for _, _, truth in pairs]
        mine = _score([value >= least for value in alike], labels)
        strict, loose = (_score([bits <= most for bits in apart], labels) for most in (3, 12))
        print(f"jaccard3 >= {least:<6}{_shown(mine):<24}{_shown(strict):<24}{_shown(loose)}")
        scores[least] = mine[2]
    return scores


def _score(found: Sequence[bool], labels: Sequence[bool]) -> tuple[float, float, float]:
    hits = sum(one and other for one, other in zip(found, labels, strict=True))
    return hits / max(1, sum(found)), hits / sum(labels), 2 * hits / (sum(found) + sum(labels))


def _shown(score: tuple[float, float, float]) -> str:
    return " / ".join(f"{part:.3f}" for part in score)


def _print_costs(texts: Sequence[str]) -> tuple[float, float]:
    """Print CPU time by length; return the sketch's ratio to the simhash, and all of it, at 5 KB.

    "All" is the whole of a page: hashes of text and body, simhash and sketch.
    """
    print(f"\n{'characters':<14}{'simhash us':>12}{'sketch us':>12}{'ratio':>8}{'all us':>10}")
    told = (0.0, 0.0)
    for size in SIZES:
        cut = [text[:size] for text in texts if len(text) >= size][:100]
        simhash_us, sketch_us = _cpu_us(_simhash, cut), _cpu_us(new.sketch, cut)
        all_us = _cpu_us(lambda text: fingerprint(text, text.encode(), ()), cut)
        ratio = sketch_us / simhash_us
        print(f"{size:<14}{simhash_us:>12.0f}{sketch_us:>12.0f}{ratio:>8.2f}{all_us:>10.0f}")
        told = (ratio, all_us) if size == 5_000 else told
    return told


def _cpu_us(work: Callable[[str], object], texts: Sequence[str]) -> float:
    best_s = float("inf")
    for _ in range(ROUNDS):
        started_s = time.process_time()
        for text in texts:
            work(text)
        best_s = min(best_s, time.process_time() - started_s)
    return 1e6 * best_s / len(texts)


def _made_texts() -> list[str]:
    rng = np.random.default_rng(1)
    return [" ".join(f"w{n:x}" for n in rng.zipf(1.3, 8_000) % VOCABULARY) for _ in range(100)]


@dataclass(slots=True)
class _Site:
    """One generated site: its template's slices and some of its latest pages."""

    share: float
    slices: list[Places]
    recent: list[tuple[int, Places]] = field(default_factory=list)


@dataclass(slots=True)
class _Web:
    """Generated pages as the two indexes know them; `copies` are (page, original)."""

    bands: Numbers
    slices: Numbers
    sketches: list[bytes]
    simhashes: list[int]
    copies: list[tuple[int, int]]


def _print_candidates(web: _Web, asked: Sequence[int]) -> str:
    """Print what look-ups read in an index of generated pages; return the last line's part."""
    pages = f"{len(web.sketches):,} pages"
    print(f"\n{pages:<22}{'read: mean':>10}{'p99':>7}{'max':>7}{'held: mean':>13}  found")
    told = ""
    for name, keys, most in (
        ("sketch", web.bands, new.PAGES_PER_BAND),
        ("simhash", web.slices, SIMHASH_PER_SLICE),
    ):
        index = _Index(keys, most)
        read, held = np.array([(len(pages_), all_) for pages_, all_ in map(index.look_up, asked)]).T
        recall = _recall(web, index, is_sketch=name == "sketch")
        print(
            f"{name:<22}{read.mean():>10.1f}{np.percentile(read, 99):>7.0f}{read.max():>7}"
            f"{held.mean():>13.1f}{recall:>7.3f}"
        )
        told += f"{name}_candidates={read.mean():.1f} {name}_max={read.max()} "
        told += f"{name}_recall={recall:.3f} "
    return told.strip()


class _Index:
    """Pages by band, in the order of commits; a look-up reads the newest of each before it."""

    def __init__(self, keys: Numbers, most: int) -> None:
        self._keys, self._most = keys, most
        self._orders = [np.argsort(column, kind="stable") for column in keys.T]
        self._sorted = [keys.T[at][order] for at, order in enumerate(self._orders)]

    def look_up(self, page: int) -> tuple[set[int], int]:
        """Return the earlier pages that are read for a page, and how many its bands hold."""
        read: set[int] = set()
        held = 0
        for key, column, order in zip(self._keys[page], self._sorted, self._orders, strict=True):
            first = np.searchsorted(column, key)
            members = order[first : np.searchsorted(column, key, "right")]
            earlier = members[: np.searchsorted(members, page)]
            read.update(earlier[-self._most :].tolist())
            held += earlier.size
        return read, held


def _recall(web: _Web, index: _Index, *, is_sketch: bool) -> float:
    found = 0
    for page, original in web.copies[-LOOK_UPS:]:
        if is_sketch:
            is_near = new.similarity(web.sketches[page], web.sketches[original]) >= NEAR_SIMILARITY
        else:
            is_near = _distance(web.simhashes[page], web.simhashes[original]) <= NEAR_DISTANCE
        found += is_near and original in index.look_up(page)[0]
    return found / max(1, len(web.copies[-LOOK_UPS:]))


def _web(pages: int) -> _Web:
    """Generate pages and put them into both indexes."""
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, VOCABULARY, np.uint64)
    zipf = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    sites = [
        _Site(share, [_drawn(rng, zipf, SLICE_WORDS) for _ in range(round(10 * share))])
        for share, _ in SITES
    ]
    chosen = rng.choice(len(SITES), pages, p=[part for _, part in SITES])
    web = _Web(
        np.empty((pages, new.BANDS), np.uint64), np.empty((pages, SLICES), np.uint64), [], [], []
    )
    for page, site in enumerate(sites[number] for number in chosen):
        if site.recent and rng.random() < COPIES:
            original, text = site.recent[rng.integers(len(site.recent))]
            text = _edited(rng, zipf, text)
            web.copies.append((page, original))
        else:
            text = _page(rng, zipf, site)
            if len(site.recent) < RECENT:
                site.recent.append((page, text))
            elif rng.random() < COPIES:
                site.recent[rng.integers(RECENT)] = (page, text)
        numbers = words[text]
        web.sketches.append(new.draw(join(numbers)))
        web.simhashes.append(old.simhash(numbers))
        web.bands[page] = new.bands(web.sketches[-1])
        web.slices[page] = _slices(web.simhashes[-1])
    return web


def _simhash(text: str) -> int:
    return old.simhash(words(text))


def _distance(left: int, right: int) -> int:
    return (left ^ right).bit_count()


def _slices(simhash: int) -> list[int]:
    mask = (1 << SLICE_BITS) - 1
    return [place << SLICE_BITS | simhash >> place * SLICE_BITS & mask for place in range(SLICES)]


def _drawn(rng: np.random.Generator, zipf: NDArray[np.float64], count: int) -> Places:
    found: Places = np.searchsorted(zipf, rng.random(count) * zipf[-1])
    return found


def _page(rng: np.random.Generator, zipf: NDArray[np.float64], site: _Site) -> Places:
    framed = SLICE_WORDS * len(site.slices)
    typical = framed * (1 - site.share) / site.share if framed else 300
    own = _drawn(rng, zipf, int(typical * rng.uniform(0.5, 1.5)))
    cuts = np.sort(rng.integers(0, own.size + 1, len(site.slices)))
    parts = np.split(own, cuts)
    between = [part for pair in zip(parts, site.slices, strict=False) for part in pair]
    return np.concatenate([*between, parts[-1]])


def _edited(rng: np.random.Generator, zipf: NDArray[np.float64], text: Places) -> Places:
    """Replace up to 3 % of the words, each of which is in three shingles of both texts."""
    edited = text.copy()
    count = max(1, int(text.size * rng.uniform(0.0, 0.03)))
    edited[rng.integers(0, text.size, count)] = _drawn(rng, zipf, count)
    return edited


if __name__ == "__main__":
    main()
