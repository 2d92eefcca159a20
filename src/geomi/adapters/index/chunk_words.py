"""What an index keeps of a chunk, and the words it finds the chunk by; the same in every index.

Where a document may only be kept as a preview, its words are kept in alphabetical order: nothing
of the text's order stays.
"""

from __future__ import annotations

import json

from geomi.errors import StoreError
from geomi.model.index.chunk import Chunk
from geomi.model.index.search import PREVIEW_CHARS, KeptText
from geomi.search.tokens import tokens

# Stands in the head of each chunk whose words have no order; no text has such a token.
UNORDERED = "_unordered"


def kept_text(text: str, kept: KeptText) -> str:
    """Return as much of a text as may be kept."""
    return text[:PREVIEW_CHARS] if kept is KeptText.PREVIEW else text


def body_words(text: str, kept: KeptText) -> str:
    """Return what a text is found by; in alphabetical order where nothing of its own may stay."""
    words = tokens(text)
    return " ".join(sorted(words) if kept is KeptText.PREVIEW else words)


def head_words(title: str, headings: str, kept: str) -> str:
    """Return what stands above a text, by which it is found as well."""
    words = tokens(" ".join((title, *json.loads(headings))))
    return " ".join((UNORDERED, *words) if kept == KeptText.PREVIEW else words)


def headings_text(chunk: Chunk) -> str:
    """Write a chunk's headings as one value."""
    return json.dumps(chunk.headings, ensure_ascii=False)


def check_length(embedder: str, known: int, given: int) -> None:
    """Refuse vectors of another length than those an index has of an embedder."""
    if known != given:
        raise StoreError(
            f"vectors of `{embedder}` have {known} numbers in this index; these have {given}",
            hint="give each model a name of its own",
        )
