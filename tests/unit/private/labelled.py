"""The labelled examples: lines of text in which what is to be found is marked `⟦kind:value⟧`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from geomi.model.personal_data import PiiKind, Sighting

LABELLED = ("labelled_en.txt", "labelled_ko.txt")
HELD_OUT = ("held_out.txt",)
PEOPLE_AND_PLACES = ("people_and_places.txt", "people_and_places_more.txt")
BLIND_PEOPLE_AND_PLACES = ("people_and_places_blind.txt",)
# A find may take a bracket or a word in passing, but not its neighbours.
MAX_EXCESS_CHARS = 3

_MARK = re.compile("⟦([a-z_]+):([^⟧]+)⟧")


@dataclass(frozen=True, slots=True)
class Example:
    """A text, and what is to be found in it."""

    text: str
    gold: tuple[Sighting, ...]


@dataclass(slots=True)
class Score:
    """How often something was found, found where there is nothing, and missed."""

    found: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """The share of the finds that are right."""
        return self.found / ((self.found + self.wrong) or 1)

    @property
    def recall(self) -> float:
        """The share of what is there that was found."""
        return self.found / ((self.found + self.missed) or 1)


def examples(files: Sequence[str] = LABELLED) -> Iterator[Example]:
    """Read every example of some files."""
    for name in files:
        for line in (Path(__file__).parent / name).read_text("utf-8").splitlines():
            if line and not line.startswith("# "):
                yield _example(line)


def score(
    find: Callable[[str], Sequence[Sighting]],
    files: Sequence[str],
    told: list[str],
) -> dict[PiiKind, Score]:
    """Count finds by kind; `told` gets a line for each mistake."""
    scores = {kind: Score() for kind in PiiKind}
    for example in examples(files):
        left = list(example.gold)
        for place in find(example.text):
            hit = next((gold for gold in left if _is_hit(place, gold)), None)
            if hit is not None:
                left.remove(hit)
                scores[place.kind].found += 1
            else:
                scores[place.kind].wrong += 1
                _tell(told, f"wrong {place.kind}", example, place)
        for gold in left:
            scores[gold.kind].missed += 1
            _tell(told, f"missed {gold.kind}", example, gold)
    return scores


def _example(line: str) -> Example:
    text, gold, at = "", [], 0
    for mark in _MARK.finditer(line):
        text += line[at : mark.start()]
        gold.append(Sighting(len(text), len(text) + len(mark[2]), PiiKind(mark[1])))
        text += mark[2]
        at = mark.end()
    return Example(text + line[at:], tuple(gold))


def _is_hit(place: Sighting, gold: Sighting) -> bool:
    if place.kind is not gold.kind or place.start > gold.start or place.end < gold.end:
        return False
    return (place.end - place.start) - (gold.end - gold.start) <= MAX_EXCESS_CHARS


def _tell(told: list[str], what: str, example: Example, place: Sighting) -> None:
    told.append(f"{what}: `{example.text[place.start : place.end]}` in `{example.text}`")
