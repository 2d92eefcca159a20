"""What Context7 answers, read with suspicion: every list and every text has an end.

`ValueError` says in which way an answer has another form. One candidate whose id is no id costs
itself alone; the answer as a whole has to be what it should be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from geomi.model.ready import Candidate, Section
from geomi.seed.ready import closed, fenced, is_library

MAX_CANDIDATES = 100
MAX_SECTIONS = 200  # of each kind
MAX_CODES = 20  # of one section
MAX_TEXT_CHARS = 200_000
MAX_LINE_CHARS = 500
FINAL = "finalized"


def read_candidates(told: Mapping[str, Any]) -> tuple[Candidate, ...]:
    """Read what a search offers, best first."""
    found = _dicts(told, "results", MAX_CANDIDATES)
    return tuple(_candidate(one) for one in found if is_library(_line(one, "id")))


def read_sections(told: Mapping[str, Any]) -> tuple[Section, ...]:
    """Read the passages of a document: prose first, then code."""
    if not ("codeSnippets" in told or "infoSnippets" in told):
        raise ValueError("neither `codeSnippets` nor `infoSnippets`")
    prose = (_prose(one) for one in _dicts(told, "infoSnippets", MAX_SECTIONS))
    code = (_code(one) for one in _dicts(told, "codeSnippets", MAX_SECTIONS))
    return tuple(section for section in (*prose, *code) if section.text)


def read_move(told: Mapping[str, Any], source: str) -> str:
    """Read the id under which a library is found now; never one on another server."""
    target = _line(told, "redirectUrl")
    if target.startswith(("http://", "https://")):
        here, there = urlsplit(source), urlsplit(target)
        if (here.scheme, here.netloc) != (there.scheme, there.netloc):
            raise ValueError("a move to another server")
        target = there.path.removeprefix(here.path)
    if not is_library(target):
        raise ValueError("a move to nowhere")
    return target


def _candidate(one: Mapping[str, Any]) -> Candidate:
    snippets = one.get("totalSnippets")
    state = _line(one, "state")
    return Candidate(
        library=_line(one, "id"),
        title=_line(one, "title"),
        snippets=max(0, snippets) if isinstance(snippets, int) else None,
        is_final=state in ("", FINAL),
    )


def _prose(one: Mapping[str, Any]) -> Section:
    heading = _line(one, "breadcrumb").rpartition(">")[2].strip()
    return Section(heading, closed(_text(one, "content").strip()), _line(one, "pageId"))


def _code(one: Mapping[str, Any]) -> Section:
    parts = [closed(_text(one, "codeDescription").strip())]
    for code in _dicts(one, "codeList", MAX_CODES):
        if body := _text(code, "code"):
            parts.append(fenced(body, _line(code, "language")))
    heading = _line(one, "codeTitle") or _line(one, "pageTitle")
    return Section(heading, "\n\n".join(filter(None, parts)), _line(one, "codeId"))


def _dicts(told: Mapping[str, Any], name: str, most: int) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list, which may be missing where it is empty."""
    found = told.get(name)
    if found is None and name != "results":
        return
    if not isinstance(found, list):
        raise ValueError(f"`{name}` is a {type(found).__name__}, not a list")
    for one in found[:most]:
        if not isinstance(one, dict):
            raise ValueError(f"`{name}` holds a {type(one).__name__}, not an object")
        yield one


def _line(one: Mapping[str, Any], name: str) -> str:
    return " ".join(_text(one, name)[:MAX_LINE_CHARS].split())


def _text(one: Mapping[str, Any], name: str) -> str:
    """Return a text, which may be missing; it ends where the limit is."""
    found = one.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise ValueError(f"`{name}` is a {type(found).__name__}, not a text")
    return found[:MAX_TEXT_CHARS]
