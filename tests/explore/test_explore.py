"""The protocol holds in every state that the short form reaches, and the explorer is not blind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.engine.audit.invariants import Invariant
from tests.explore import __main__ as command
from tests.explore.__main__ import KILLED, Mutant, explored, main, misfits, mutants, told
from tests.explore.model import Model
from tests.explore.scenarios import ONE_ADDRESS, ONE_HOST, SHORT
from tests.explore.search import Explorer
from tests.explore.shelf import Shelf
from tests.explore.state import Fault, Naming, Scenario

# Two that die soon; `make prove` and `make explore` kill all of them.
QUICK = {"a renewal is not fenced", "counters are written outside the transaction"}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SHORT, ids=lambda scenario: scenario.name)
def test_no_interleaving_breaks_an_invariant(scenario: Scenario) -> None:
    found = Explorer(scenario).run()
    assert (found.violations, found.trace) == ((), ())
    assert found.depth == scenario.depth and found.states > 100


def test_the_same_is_explored_each_time() -> None:
    short = replace(ONE_HOST, depth=5)
    first, second = Explorer(short).run(), Explorer(short).run()
    assert replace(first, cpu_s=0.0) == replace(second, cpu_s=0.0)


def test_every_mutant_fits_the_code() -> None:
    """Code that moves takes its mutants along."""
    assert len(mutants()) >= 10
    assert list(misfits(mutants())) == []
    blind = Mutant("blind", "adapters/store/hot.py", "there is no such text", "")
    assert list(misfits([blind])) == [
        "blind: `old` stands 0 times in adapters/store/hot.py, and not once"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(each, marks=() if each.name in QUICK else pytest.mark.prove)
        for each in mutants()
    ],
    ids=lambda mutant: mutant.name,
)
def test_a_mutant_of_the_protocol_dies(mutant: Mutant) -> None:
    said = explored(mutant)
    assert said.returncode == KILLED, said.stdout + said.stderr
    assert "✗" in said.stdout and "  1. " in said.stdout, "a shortest trace is told"


def test_who_is_who_makes_no_difference() -> None:
    shelf = Shelf()
    model, naming = Model(ONE_ADDRESS, shelf), Naming(ONE_ADDRESS, shelf)
    first = model.begin()
    one, other = (model.take(first, ("claim", number, "1")) for number in "01")
    assert one.crew != other.crew and naming.name(one) == naming.name(other)
    assert naming.name(one) != naming.name(first)
    later = model.take(one, ("pass", "10.0"))
    assert naming.name(later) != naming.name(one)


def test_every_moment_can_be_put_back() -> None:
    shelf = Shelf()
    model = Model(ONE_HOST, shelf)
    instants = [model.begin()]
    host = ONE_HOST.hosts[0].name
    for step in (("claim", "0", "1"), ("start", "0", host), ("end", "0", host, "ok")):
        instants.append(model.take(instants[-1], step))
    instants.append(model.take(instants[-1], ("settle", "0", host, "release", "told")))
    for instant in reversed(instants):
        shelf.put_back(instant.moment)
        shelf.forget_where()
        assert shelf.moment() == instant.moment


def test_a_page_that_nobody_can_reach_is_lost() -> None:
    shelf = Shelf()
    model = Model(ONE_HOST, shelf)
    first = model.begin()
    assert model.finishes(first) == []
    shelf.put_back(first.moment)
    shelf.transact(lambda db: db.execute("UPDATE queues SET pending = 0"))
    broken = replace(first, moment=shelf.moment())
    assert len(model.finishes(broken)) == ONE_HOST.seeds


def test_what_is_broken_is_told_with_its_trace() -> None:
    """A host that asks for more rest than jobs obey is asked too early after a death."""
    greedy = replace(ONE_HOST.hosts[0], rest_s=100.0)
    found = Explorer(replace(ONE_HOST, hosts=(greedy,), faults={Fault.CRASH: 1}, most=1)).run()
    assert {one.invariant for one in found.violations} == {Invariant.GAP}
    assert [step[0] for step in found.trace].count("start") == 2
    lines = told(found).splitlines()
    assert "✗ gap: 100.000 s were required, 80.000 s were kept" in lines[1]
    assert lines[2:] == [f"  {n}. {' '.join(step)}" for n, step in enumerate(found.trace, 1)]


@pytest.mark.slow
def test_the_command_says_how_much_it_has_seen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "SHORT", (replace(ONE_HOST, depth=4),))
    assert main(["--short", "--no-mutants"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("two workers, one host: ") and "depth 4" in lines[0]
    assert lines[-1].startswith("in all: ") and lines[-1].endswith("CPU seconds")
