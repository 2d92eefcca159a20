"""Count the lines and modules of the package; sizes are looked at, and nothing fails for them.

`python -m tools.census` prints how long modules are (median, 90th percentile, the largest ones),
which folders show many of them, and how many lines each room has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "geomi"
LARGEST = 10
MANY_MODULES = 12


def main() -> None:
    """Print the census of this tree."""
    print("\n".join(census(PACKAGE)))


def census(package: Path) -> Iterator[str]:
    """Yield the lines of the report; modules are `*.py`, without the `__init__.py` of folders."""
    sizes = {
        path.relative_to(package): len(path.read_text("utf-8").splitlines())
        for path in sorted(package.rglob("*.py"))
    }
    modules = {path: size for path, size in sizes.items() if path.stem != "__init__"}
    lengths = modules.values()
    yield (
        f"{len(sizes)} files, {sum(sizes.values()):,} lines; {len(modules)} modules, "
        f"median {median(lengths):.0f} lines, p90 {quantiles(lengths, n=10)[-1]:.0f}"
    )
    yield from _rows("largest modules", Counter(modules).most_common(LARGEST))
    folders = Counter(path.parent for path in modules)
    crowded = [(path, size) for path, size in folders.most_common() if size >= MANY_MODULES]
    yield from _rows(f"packages of {MANY_MODULES} modules and more", crowded)
    rooms = Counter[Path]()
    for path, size in sizes.items():
        rooms[Path(path.parts[0])] += size
    yield from _rows("lines of each room", rooms.most_common())


def _rows(title: str, rows: list[tuple[Path, int]]) -> Iterator[str]:
    yield f"\n{title}"
    yield from (f"{size:7,}  {path}" for path, size in rows)


if __name__ == "__main__":
    main()
