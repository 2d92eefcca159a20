"""External documents: choose a provider's library, name its documents, write one of them.

Rules kept:
- A library belongs to a provider only where its title or its id has every word of the provider's
  name: a search always offers something, and another product's documents are worse than none.
- A code fence that one passage leaves open is closed before the next passage.
- A document has an address below its source, so that it is an entry like any page (adr 26).
- A document names the pages that its passages come from. Each is a topic to ask about, unless it is
  one already: so a large library is asked more questions than a small one, within limits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote, urlsplit

from geomi.model.external_docs import ExternalDocument, LibraryCandidate, LibrarySection

MAX_LIBRARY_CHARS = 200
# What somebody who uses an API wants to know, by the name that it has in an address. A source
# answers questions and lists nothing, so these are what a provider is asked for.
TOPICS: dict[str, str] = {
    "getting-started": "getting started: installation, setup and the first request",
    "authentication": "authentication: keys, tokens and permissions",
    "reference": "API reference: endpoints, parameters and responses",
    "errors": "errors, status codes and retries",
    "limits": "rate limits, quotas and pagination",
    "events": "webhooks, events and callbacks",
    "clients": "client libraries and SDKs",
    "examples": "complete examples of common tasks",
}

ABOUT = "about-"  # begins the name of a topic that a library's own answers have named
MAX_QUESTIONS = 40  # to one library in one run
MAX_ROUNDS = 4  # of questions that answers lead to
MAX_NAMED = 10  # topics that one document names
MAX_TOPIC_CHARS = 80

_SOURCE = "Source: "
_ORIGIN = re.compile(rf"^{_SOURCE}(https?://\S+)$", re.MULTILINE)
_NOT_IN_TOPIC = re.compile(r"[\W_]+")
_LIBRARY = re.compile(r"(?:/[A-Za-z0-9_~@-][A-Za-z0-9._~@-]*){2,4}")
_WORD = re.compile(r"[^\W_]+")
_BACKTICKS = re.compile(r"`{3,}")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def is_library(text: str) -> bool:
    """Return whether a text can be the id of a library: two to four names, each after a slash."""
    return len(text) <= MAX_LIBRARY_CHARS and _LIBRARY.fullmatch(text) is not None


def choose_library(name: str, candidates: Sequence[LibraryCandidate]) -> LibraryCandidate | None:
    """Choose the library of a provider: one with its very name, else the first that has it."""
    wanted = _words(name)
    usable = [one for one in candidates if one.is_final and one.snippets != 0]
    exact = [one for one in usable if wanted and _words(one.title) == wanted]
    near = [one for one in usable if wanted and wanted <= _words(f"{one.title} {one.library}")]
    return next(iter(exact or near), None)


def document_urls(source: str, library: str) -> tuple[str, ...]:
    """Return where the documents of a library are."""
    return tuple(f"{source}{library}/{topic}" for topic in TOPICS)


def topic_of(url: str) -> str | None:
    """Return which topic an address is about; None where it is no such address."""
    name = unquote(url.rpartition("/")[2])
    is_named = name.startswith(ABOUT) and len(name) > len(ABOUT)
    return name if name in TOPICS or is_named else None


def question_of(topic: str) -> str:
    """Return what a library is asked about a topic."""
    return TOPICS.get(topic) or _readable(topic)


def topic_pattern(url: str) -> str:
    """Return the pattern of topics that answers name, given the address of any document."""
    return f"{urlsplit(url).path.rpartition('/')[0]}/{ABOUT}*"


def origins_of(texts: Sequence[str]) -> list[str]:
    """Return the page that each part of a document comes from; empty where none is named.

    The page is named at the end of a passage, which may lie in a later part.
    """
    found = [match[1] if (match := _ORIGIN.search(text)) else "" for text in texts]
    for at in reversed(range(len(found) - 1)):
        found[at] = found[at] or found[at + 1]
    for at in range(1, len(found)):
        found[at] = found[at] or found[at - 1]
    return found


def write_document(name: str, topic: str, source: str, document: ExternalDocument) -> str:
    """Write a document as a markdown file, with what it is and where it comes from in front.

    Args:
        name: that of the provider.
    """
    title = f"{' '.join(name.split())}: {_readable(topic)}"
    front = {"title": title, "source": source, "library": document.library}
    lines = ["---", *(f"{key}: {value}" for key, value in front.items()), "---", "", f"# {title}"]
    for section in document.sections:
        lines += ["", f"## {' '.join(section.heading.split()) or topic}", "", section.text.strip()]
        if section.origin:
            lines += ["", f"{_SOURCE}{section.origin}"]
    if named := _named_topics(topic, document.sections):
        lines += ["", "## More topics", ""]
        lines += [f"- [{_readable(one)}]({quote(one)})" for one in named]  # beside this document
    return "\n".join(lines) + "\n"


def fenced(code: str, language: str) -> str:
    """Write code between fences that are longer than any inside it."""
    longest = max((len(found) for found in _BACKTICKS.findall(code)), default=2)
    fence = "`" * (longest + 1)
    word = _WORD.match(language)
    return f"{fence}{word[0] if word else ''}\n{code.strip(chr(10))}\n{fence}"


def close_fence(text: str) -> str:
    """Close a fence that a text leaves open, or all that follows it would be code."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if found is None:
            continue
        if not fence:
            is_inline = found[1][0] == "`" and "`" in found[2]  # CommonMark 0.31 §4.5
            fence = "" if is_inline else found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text


def _named_topics(topic: str, sections: Sequence[LibrarySection]) -> list[str]:
    """Return the topics that a document's passages name, without its own and the usual ones."""
    found: dict[str, None] = {}
    for section in sections:
        slug = _NOT_IN_TOPIC.sub("-", section.page.casefold()[:MAX_TOPIC_CHARS]).strip("-")
        if slug and slug not in TOPICS and f"{ABOUT}{slug}" != topic:
            found[f"{ABOUT}{slug}"] = None
    return list(found)[:MAX_NAMED]


def _readable(topic: str) -> str:
    return topic.removeprefix(ABOUT).replace("-", " ")


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
