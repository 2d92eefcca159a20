"""`llms.txt`, a map of a site for language models, and `llms-full.txt`, all its text in one file.

Rules kept:
- llms.txt follows llmstxt.org: the site's name as H1, a summary as a quotation, then sections of
  links, each with the page's own description.
- Sections are the folders of the site where a crawl began: the part of a path that comes after what
  all its pages share. A folder of one page is no section; pages of other hosts have one a host.
- llms-full.txt has pages one after the other in the order of commits, each with a heading and the
  line `Source:`, as the sites that publish one have it.
- A page whose text and links another page of the job has already is in neither.
- What a site says about the use of a page stands with the page's text.
- No title or description can start a line of its own, or end a link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import unquote

import orjson

from geomi.adapters.machine.sorting import SortedLines
from geomi.adapters.outlet.appended_file import AppendedFile
from geomi.url.parse import DEFAULT_PORTS, display, split

MAX_TITLE_CHARS = 200
MAX_SUMMARY_CHARS = 500
MAX_DESCRIPTION_CHARS = 300

PAGES = "Pages"  # the section of pages that belong to no other


def llms_full_file(path: Path) -> AppendedFile:
    """Make `llms-full.txt`."""
    return AppendedFile("llms-full", path, llms_full_passage)


def llms_full_passage(record: bytes) -> bytes:
    """Write one page of llms-full.txt; nothing for a duplicate."""
    page = orjson.loads(record)
    if not _is_original(page):
        return b""
    title = _one_line(page["title"], MAX_TITLE_CHARS) or display(page["final_url"])
    head, content = f"# {title}", page["markdown"].strip()
    if content.startswith("# "):  # the page has a heading of its own
        head, _, content = content.partition("\n")
    signals = page["metadata"].get("signals") or {}
    reserved = ", ".join(
        name if answer is True else f"{name}={answer}" for name, answer in signals.items()
    )
    lines = [head, f"Source: {page['final_url']}", *([f"Signals: {reserved}"] if reserved else [])]
    return "\n".join((*lines, "", content.strip(), "", "")).encode("utf-8", "replace")


class LlmsTxt:
    """Gathers pages, and writes llms.txt of them at the end: its order needs them all.

    Args:
        folder: where pages may lie meanwhile.
        seed: the URL whose site the file is about; without it, that of the least deep page.
    """

    def __init__(self, folder: Path, seed: str = "") -> None:
        self._lines = SortedLines(folder)
        self._seed = seed
        self._home: _Home | None = None

    def __enter__(self) -> LlmsTxt:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.__exit__(None, None, None)

    def add(self, record: bytes) -> None:
        """Take one page."""
        page = orjson.loads(record)
        if not _is_original(page):
            return
        url = split(page["final_url"])
        site = url.authority.removesuffix(f":{DEFAULT_PORTS[url.scheme]}")
        rank = (page["url"] != self._seed, page["depth"])
        if self._home is None or rank < self._home.rank:
            self._home = _home(page, site, rank)
        title = _one_line(page["title"], MAX_TITLE_CHARS)
        told = (url.href, title, _one_line(page["description"], MAX_DESCRIPTION_CHARS))
        # Neither a control character nor a newline is in a parsed URL or in JSON.
        key = _LEVEL.join((site, *_names(url.path)))
        self._lines.add(key.encode() + _KEY_ENDS + orjson.dumps(told) + b"\n")

    def write(self, file: BinaryIO) -> int:
        """Write the file and return how many pages it names."""
        if self._home is None:
            return 0
        count = 0
        file.write(_heading(self._home))
        depth = self._shared_depth(self._home.site)
        for is_wanted in (_is_single, _is_folder, _is_foreign):
            for section, links in self._sections(depth, is_wanted):
                file.write(f"\n## {section}\n\n".encode("utf-8", "replace"))
                for link in links:
                    file.write(link.encode("utf-8", "replace"))
                    count += 1
        return count

    def _shared_depth(self, site: str) -> int:
        """Return how many folders all pages of the first site share."""
        shared: list[str] | None = None
        for page in self._pages():
            if page.site == site:
                folders = _names(split(page.url).path.rpartition("/")[0])
                shared = folders if shared is None else _common(shared, folders)
        return len(shared or ())

    def _sections(
        self, depth: int, is_wanted: Callable[[_Section], bool]
    ) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield some of the sections; single pages are one section together."""
        assert self._home is not None
        home = self._home.site
        places = groupby(self._pages(), key=lambda page: _place(page, home, depth))
        found = (_section(place, pages, home) for place, pages in places)
        wanted = (section for section in found if is_wanted(section))
        if is_wanted is not _is_single:
            yield from ((section.title, map(_link, section.pages)) for section in wanted)
        elif (first := next(wanted, None)) is not None:
            rest = chain.from_iterable(section.pages for section in wanted)
            yield PAGES, map(_link, chain(first.pages, rest))

    def _pages(self) -> Iterator[_Page]:
        for line in self._lines:
            key, _, told = line.partition(_KEY_ENDS)
            site, *names = key.decode().split(_LEVEL)
            yield _Page(site, names, *orjson.loads(told))


_LEVEL = "\x01"  # sorts before any character of a name: a folder is one run of lines
_KEY_ENDS = b"\x00"
# What could end the words of a link, or swallow it: brackets, a backslash, a code span.
_IN_A_LINK = str.maketrans({"[": "(", "]": ")", "\\": "/", "`": "'"})
_NO_PROSE = ("#", "|", "-", "*", ">", "`", "[", "!", "~", "+", "<")


@dataclass(frozen=True, slots=True)
class _Home:
    """What the page where it all began says of its site; the lowest rank is the nearest."""

    site: str
    rank: tuple[bool, int]
    name: str
    summary: str


class _Page(NamedTuple):
    site: str
    names: list[str]
    url: str
    title: str
    description: str


class _Section(NamedTuple):
    title: str
    pages: Iterator[_Page]
    is_home: bool
    is_several: bool


def _home(page: dict[str, Any], site: str, rank: tuple[bool, int]) -> _Home:
    site_name = page["metadata"].get("og:site_name") or page["title"]
    name = _one_line(str(site_name), MAX_TITLE_CHARS) or site
    prose = (line for line in page["markdown"].splitlines() if line.strip())
    first = next((line for line in prose if not line.startswith(_NO_PROSE)), "")
    summary = _one_line(page["description"] or first, MAX_SUMMARY_CHARS)
    return _Home(site, rank, name, summary)


def _heading(home: _Home) -> bytes:
    summary = f"\n> {home.summary}\n" if home.summary else ""
    return f"# {home.name}\n{summary}".encode("utf-8", "replace")


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def _common(one: list[str], other: list[str]) -> list[str]:
    pairs = zip(one, other, strict=False)
    size = next((at for at, (left, right) in enumerate(pairs) if left != right), None)
    return one[: min(len(one), len(other)) if size is None else size]


def _place(page: _Page, home: str, depth: int) -> tuple[str, str]:
    return page.site, "".join(page.names[depth : depth + 1]) if page.site == home else ""


def _section(place: tuple[str, str], pages: Iterator[_Page], home: str) -> _Section:
    site, folder = place
    first, second = next(pages), next(pages, None)
    several = second is not None and (folder != "" or site != home)
    known = (first,) if second is None else (first, second)
    title = _folder_title(folder) if site == home else site
    return _Section(title, chain(known, pages), site == home, several)


def _is_single(section: _Section) -> bool:
    return section.is_home and not section.is_several


def _is_folder(section: _Section) -> bool:
    return section.is_home and section.is_several


def _is_foreign(section: _Section) -> bool:
    return not section.is_home


def _folder_title(name: str) -> str:
    words = _one_line(unquote(name).replace("-", " ").replace("_", " "), MAX_TITLE_CHARS)
    return words[:1].upper() + words[1:] or name


def _link(page: _Page) -> str:
    title = (page.title or display(page.url)).translate(_IN_A_LINK)
    url = page.url.replace("(", "%28").replace(")", "%29")
    description = page.description.replace("`", "'")
    return f"- [{title}]({url})" + (f": {description}\n" if description else "\n")


def _is_original(page: dict[str, Any]) -> bool:
    # Other duplicates may repeat a page of an earlier job, which would then be in neither file.
    return bool(page["metadata"].get("duplicate_reason") != "exact")


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
