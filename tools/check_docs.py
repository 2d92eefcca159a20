"""Refuse documents that point nowhere or speak of one machine.

Three rules, for every markdown file of the project: a relative link leads to a file and, where it
names one, to a heading; a path in backticks exists; no line names a place or a word that only its
writer's machine knows. The last two rules hold for code as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "geomi"
SKIPPED = frozenset({".git", ".venv", "build", "dist", "geomi-data", "node_modules"})
CODE = frozenset({".py", ".sql", ".toml", ".sh", ".md"})

FENCE = re.compile(r"^(```|~~~)")
LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?[^)]*\)")
HEADING = re.compile(r"^#{1,6} +(.*)$")
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|md|sql|toml|sh|txt))`")
# A placeholder, or material beside the project.
NO_PATH = re.compile(r"\bNAME\b|^\.\./shared/")
# Home and mount directories of a person or a build machine; never part of what we explain.
MACHINE = re.compile(r"(?<![\w.:/-])/(?:home|root|Users|work|farm|mnt|opt)/\w")
OPEN_ENDS = re.compile(r"\b(?:TODO|FIXME|XXX)\b")


def main() -> int:
    """Print what is wrong; return 1 if anything is."""
    problems = [problem for path in _files() for problem in check(path)]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"docs: {'ok' if not problems else f'{len(problems)} problems'}")
    return 1 if problems else 0


def check(path: Path) -> Iterator[str]:
    """Yield what is wrong with one file, each with its place."""
    is_markdown = path.suffix == ".md"
    in_fence = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        place = f"{path.relative_to(ROOT)}:{number}"
        if path != Path(__file__).resolve():
            yield from (f"{place}: {problem}" for problem in _slips(line))
        in_fence ^= is_markdown and bool(FENCE.match(line))
        if not in_fence:
            yield from (f"{place}: {problem}" for problem in _dead_paths(path, line))
        if is_markdown and not in_fence:
            yield from (f"{place}: {problem}" for problem in _dead_links(path, line))


def _files() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        folders = path.relative_to(ROOT).parts[:-1]
        is_ours = SKIPPED.isdisjoint(folders) and not any(
            each.endswith("_cache") for each in folders
        )
        if path.suffix in CODE and is_ours and path.is_file():
            yield path


def _slips(line: str) -> Iterator[str]:
    if MACHINE.search(line) or str(ROOT) in line:
        yield "names a directory of one machine"
    if OPEN_ENDS.search(line):
        yield "leaves something open; finish it or write an issue"


def _dead_paths(path: Path, line: str) -> Iterator[str]:
    for mentioned in PATH.findall(line):
        bases = (ROOT, path.parent, PACKAGE)
        if not NO_PATH.search(mentioned) and not any((base / mentioned).exists() for base in bases):
            yield f"`{mentioned}` does not exist"


def _dead_links(path: Path, line: str) -> Iterator[str]:
    for target in LINK.findall(line):
        if not re.match(r"[a-z]+:", target):
            yield from _dead_link(path, unquote(target))


def _dead_link(path: Path, target: str) -> Iterator[str]:
    name, _, anchor = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    if not file.exists():
        yield f"link to `{target}`: no such file"
    elif anchor and file.suffix == ".md" and anchor not in _anchors(file):
        yield f"link to `{target}`: no such heading"


def _anchors(path: Path) -> set[str]:
    headings = (HEADING.match(line) for line in path.read_text("utf-8").splitlines())
    titles = (match[1].strip().lower() for match in headings if match)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


if __name__ == "__main__":
    sys.exit(main())
