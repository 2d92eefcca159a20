"""`make explore`: every scenario to its depth, then each mutant of the protocol; it has to die."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.explore.model import Step
from tests.explore.scenarios import DEEP, SHORT
from tests.explore.search import Explorer, Found
from tests.explore.state import Scenario

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
MUTANTS = Path(__file__).with_name("mutants.toml")
SURVIVED, KILLED = 0, 3


@dataclass(frozen=True, slots=True)
class Mutant:
    """One replacement in one file that makes the protocol wrong."""

    name: str
    file: str
    old: str
    new: str


def main(argv: Sequence[str] | None = None) -> int:
    """Explore what was asked for; return 1 where something is broken, or a mutant lives."""
    options = _options(argv)
    scenarios = SHORT if options.short else DEEP
    is_good = _explore(scenarios, is_mutant=options.mutant)
    if options.mutant:
        return SURVIVED if is_good else KILLED
    if is_good and not options.no_mutants:
        is_good = kill_all(mutants())
    return 0 if is_good else 1


def mutants() -> list[Mutant]:
    """Read every mutant that is written."""
    written = tomllib.loads(MUTANTS.read_text("utf-8"))["mutant"]
    return [Mutant(**one) for one in written]


def misfits(those: Iterable[Mutant], sources: Path = SOURCES) -> Iterator[str]:
    """Name each mutant that does not fit the code as it is now."""
    for each in those:
        count = (sources / "geomi" / each.file).read_text("utf-8").count(each.old)
        if count != 1:
            yield f"{each.name}: `old` stands {count} times in {each.file}, and not once"


def kill_all(those: Sequence[Mutant]) -> bool:
    """Explore each mutant in the short form; say which of them die, and by which trace."""
    killed = 0
    for each in those:
        said = explored(each)
        killed += said.returncode == KILLED
        word = {KILLED: "killed", SURVIVED: "SURVIVED"}.get(said.returncode, "CANNOT RUN")
        print(f"{word}: {each.name}", flush=True)
        print("".join(f"    {line}\n" for line in said.stdout.splitlines()), end="", flush=True)
        if said.returncode not in (KILLED, SURVIVED):
            print(said.stderr[-2000:], flush=True)
    print(f"killed {killed} of {len(those)} mutants")
    return killed == len(those)


def explored(mutant: Mutant) -> subprocess.CompletedProcess[str]:
    """Explore a copy of the package in which one replacement was made."""
    with copied(mutant) as sources:
        return subprocess.run(
            [sys.executable, "-m", "tests.explore", "--short", "--mutant"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": f"{sources}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            check=False,
        )


@contextmanager
def copied(mutant: Mutant) -> Iterator[Path]:
    """Lend a copy of the sources with one replacement."""
    with tempfile.TemporaryDirectory(prefix="geomi-explore-") as folder:
        sources = Path(folder) / "src"
        ignored = shutil.ignore_patterns("__pycache__", "static", "*.bin", "*.npz")
        shutil.copytree(SOURCES, sources, ignore=ignored)
        path = sources / "geomi" / mutant.file
        path.write_text(path.read_text("utf-8").replace(mutant.old, mutant.new), "utf-8")
        yield sources


def _explore(scenarios: Sequence[Scenario], *, is_mutant: bool) -> bool:
    cpu_s, states, transitions = 0.0, 0, 0
    for scenario in scenarios:
        found = Explorer(scenario).run()
        cpu_s, states = cpu_s + found.cpu_s, states + found.states
        transitions += found.transitions
        if found.violations or not is_mutant:
            print(told(found), flush=True)
        if found.violations:
            return False
    if not is_mutant:
        print(f"in all: {states:,} states, {transitions:,} transitions, {cpu_s:.0f} CPU seconds")
    return True


def told(found: Found) -> str:
    """Say what an exploration came to, and what led to it."""
    many = f"{found.states:,} states, {found.transitions:,} transitions, depth {found.depth}"
    whole = " (all there are)" if found.is_whole else ""
    lines = [f"{found.scenario}: {many}{whole}, {found.cpu_s:.1f} CPU seconds"]
    lines += [f"  ✗ {one.invariant}: {one.detail}" for one in found.violations]
    lines += [f"  {number}. {_step(step)}" for number, step in enumerate(found.trace, 1)]
    return "\n".join(lines)


def _step(step: Step) -> str:
    return " ".join(step)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.explore", description=__doc__)
    parser.add_argument("--short", action="store_true", help="the form that runs with the tests")
    parser.add_argument("--no-mutants", action="store_true", help="explore the protocol alone")
    parser.add_argument("--mutant", action="store_true", help="say only whether something breaks")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
