"""Break the behaviour that a requirement words, and see that a test carrying its ID fails.

`python -m tools.mutate` draws 60 proven IDs by the hash of the commit, so that nobody chooses them.
For each it applies the break that `tests/breaks` holds for the ID to a copy of the repository, and
runs the tests that carry the ID there. A proof is worth its name if one of them fails. The last
line counts; IDs whose break nothing noticed, and IDs for which no break is written, are named.

A break is one replacement in one file of the package: `old` stands there exactly once, and `new`
takes its place. `says` words what goes wrong then, as a user would meet it.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from sysconfig import get_path

from tools.requirements import DECISION, TESTS, read_marks

ROOT = Path(__file__).resolve().parents[1]
BREAKS = TESTS / "breaks"
DRAWN = 60
WANTED_SHARE = 0.95
LONGEST_QUOTE = 2000
LONGEST_S = 600.0  # a broken product may wait for ever; that is a failed test, too

PASSED, FAILED, NOTHING_RAN = 0, 1, 5  # of pytest's exit codes


class Finding(StrEnum):
    """What became of one break."""

    KILLED = "killed"
    SURVIVED = "survived"
    UNWRITTEN = "no break is written"
    UNSOUND = "its tests fail without any break"
    UNUSABLE = "pytest cannot run with its break"


class CannotRun(Exception):
    """A break kept pytest from collecting the tests, so nothing shows that one noticed it."""


@dataclass(frozen=True, slots=True)
class Break:
    """One replacement in one file that makes a requirement untrue."""

    id: str
    says: str
    file: str
    old: str
    new: str


def main(argv: list[str] | None = None) -> int:
    """Print what became of each drawn ID; return 1 if too many survived."""
    options = _options(argv)
    tests = carried()
    breaks = read_breaks(BREAKS)
    ids = options.ids or draw(sorted(tests), options.draw, options.seed or _commit())
    findings: dict[str, Finding] = {}
    with copied_repository() as copy:
        for name in ids:
            started_s = time.monotonic()
            findings[name] = judge(copy, tests.get(name, ()), breaks.get(name, ()))
            took_s = time.monotonic() - started_s
            print(f"{name:8} {findings[name]:36} {took_s:5.0f} s", flush=True)
    killed = sum(finding is Finding.KILLED for finding in findings.values())
    for name, finding in findings.items():
        if finding is not Finding.KILLED:
            says = "; ".join(each.says for each in breaks.get(name, ()))
            print(f"{name}: {finding}{': ' if says else ''}{says}")
    print(f"killed {killed}/{len(ids)}")
    return 0 if killed >= WANTED_SHARE * len(ids) else 1


def carried() -> dict[str, list[str]]:
    """Return the tests that carry each ID of the catalogue."""
    tests: dict[str, list[str]] = {}
    for mark in read_marks(TESTS):
        for name in mark.ids:
            if not DECISION.fullmatch(name):
                tests.setdefault(name, []).append(mark.test)
    return tests


def read_breaks(folder: Path) -> dict[str, tuple[Break, ...]]:
    """Read every break that is written, by its ID; an ID may have several."""
    breaks: dict[str, tuple[Break, ...]] = {}
    for path in sorted(folder.glob("*.toml")):
        for name, entries in tomllib.loads(path.read_text("utf-8")).items():
            breaks[name] = tuple(Break(name, **entry) for entry in entries)
    return breaks


def problems(breaks: Mapping[str, Sequence[Break]], root: Path) -> Iterator[str]:
    """Name each break that does not fit the code as it is now."""
    for each in (each for entries in breaks.values() for each in entries):
        path = root / "src" / "geomi" / each.file
        if not path.is_file():
            yield f"{each.id}: there is no file `{each.file}` in the package"
        elif (count := path.read_text("utf-8").count(each.old)) != 1:
            yield f"{each.id}: `old` stands {count} times in {each.file}, and not once"
        elif each.old == each.new:
            yield f"{each.id}: `old` and `new` are the same"


def draw(names: Sequence[str], count: int, seed: str) -> list[str]:
    """Draw names by a seed: the same for everybody who has the same commit."""
    return sorted(random.Random(seed).sample(names, min(count, len(names))))


def judge(copy: Path, tests: Sequence[str], breaks: Sequence[Break]) -> Finding:
    """Run an ID's tests as the code is, and once with each of its breaks."""
    if not breaks:
        return Finding.UNWRITTEN
    if not _pass(copy, tests):
        return Finding.UNSOUND
    for each in breaks:
        path = copy / "src" / "geomi" / each.file
        sound = path.read_text("utf-8")
        path.write_text(sound.replace(each.old, each.new), "utf-8")
        try:
            if _pass(copy, tests):
                return Finding.SURVIVED
        except CannotRun:
            return Finding.UNUSABLE
        finally:
            path.write_text(sound, "utf-8")
    return Finding.KILLED


@contextmanager
def copied_repository() -> Iterator[Path]:
    """Lend a copy of the last commit with an environment whose `geomi` is that of the copy.

    Tests start commands in processes of their own, some with a bare environment. Therefore the
    copy has a virtual environment: it names the copy first, and then everything installed here.
    """
    with tempfile.TemporaryDirectory(prefix="geomi-mutate-") as folder:
        copy = Path(folder) / "geomi"
        _git("worktree", "add", "--quiet", "--detach", str(copy), "HEAD")
        try:
            _make_environment(copy)
            yield copy
        finally:
            _git("worktree", "remove", "--force", str(copy))


def _make_environment(copy: Path) -> None:
    home = copy / ".venv"
    venv.create(home, with_pip=False, symlinks=True)
    variables = {"base": str(home), "platbase": str(home)}
    packages = Path(get_path("purelib", vars=variables))
    (packages / "copy.pth").write_text(f"{copy / 'src'}\n{get_path('purelib')}\n", "utf-8")
    command = home / "bin" / "geomi"
    python = home / "bin" / "python"
    command.write_text(f"#!{python}\nfrom geomi.cli import start\nstart()\n", "utf-8")
    command.chmod(0o755)
    # What tests start besides: a test that lacks its server is skipped, and notices nothing.
    for shared in (*Path(sys.prefix).iterdir(), *Path(sys.prefix, "bin").iterdir()):
        if not (linked := home / shared.relative_to(sys.prefix)).exists():
            linked.symlink_to(shared)


def _pass(copy: Path, tests: Sequence[str]) -> bool:
    """Return whether tests pass: the quick ones first, since most breaks show there."""
    return all(_run(copy, tests, marks) for marks in ("not slow", "slow"))


def _run(copy: Path, tests: Sequence[str], marks: str) -> bool:
    environment = {**os.environ, "GEOMI_CORPUS": str(_corpus()), "PYTHONDONTWRITEBYTECODE": "1"}
    python = str(copy / ".venv" / "bin" / "python")
    command = [python, "-m", "pytest", "-q", "-x", "-m", marks, *tests]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in {PASSED, FAILED, NOTHING_RAN}:
        sys.stderr.write(done.stdout.decode(errors="replace")[-LONGEST_QUOTE:])
        raise CannotRun
    return done.returncode != FAILED


def _corpus() -> Path:
    return Path(os.environ.get("GEOMI_CORPUS") or ROOT.parent / "shared" / "corpus")


def _commit() -> str:
    return _git("rev-parse", "HEAD").strip()


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", help="break these IDs instead of drawing some")
    parser.add_argument("--draw", type=int, default=DRAWN, help=f"how many (default: {DRAWN})")
    parser.add_argument("--seed", help="draw by this text (default: the hash of the commit)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
