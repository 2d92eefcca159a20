"""The values of a page on its road, one frozen type a step: Fetched, Parsed, Article, record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from geomi.model.personal_data import PiiCounts
from geomi.model.request_log import RequestPurpose
from geomi.model.verdict import Outcome

Headers = tuple[tuple[str, str], ...]  # names in lower case, in the order they came
Sink = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Request:
    """One request, with every limit that the egress gate must keep.

    Args:
        body: what is sent along, to a server of the operator's own; empty for a GET.
        types: media types whose body is wanted; any other ends the fetch before it. Empty: all.
        truncate: keep what came inside `max_bytes` and do not refuse a longer body (C-11).
        sink: takes the decoded body of a good answer piece by piece, in place of `Fetched.body`.
        reads_redirects: keep the body of a redirect, too; where it leads is still not followed.
        signed_in: its headers show what is kept for signing in.
    """

    url: str
    headers: Headers
    connect_timeout_s: float
    read_timeout_s: float
    total_timeout_s: float
    max_bytes: int
    types: tuple[str, ...] = ()
    truncate: bool = False
    purpose: RequestPurpose = RequestPurpose.PAGE
    sink: Sink | None = None
    body: bytes = b""
    reads_redirects: bool = False
    signed_in: bool = False


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Fetched:
    """What one request brought, or why nothing came: `failure` is None when a server answered.

    Who brought a large body learns by a weak reference when nobody needs it any more.

    Args:
        body: decoded bytes; empty for redirects and for answers that were cut short.
        wire_bytes: what came over the network, headers included.
        head: status line and headers as they came, for the archive.
        sent: request line and headers as they were sent, for the archive; of a header that may be
            a secret only the name.
        ip: the checked address that was connected to.
        started_s, ended_s: scheduling time; the politeness gap runs from `ended_s`.
        is_stale: a kept connection was closed before a single byte of the answer.
        signed_in: that of the request.
    """

    url: str
    status: int = 0
    headers: Headers = ()
    body: bytes = b""
    wire_bytes: int = 0
    head: bytes = b""
    sent: bytes = b""
    ip: str = ""
    started_s: float = 0.0
    ended_s: float = 0.0
    failure: Outcome | None = None
    detail: str = ""
    is_stale: bool = False
    signed_in: bool = False

    @property
    def fetch_ms(self) -> int:
        """How long the request took, in whole milliseconds."""
        return round((self.ended_s - self.started_s) * 1000)

    def header(self, name: str) -> str:
        """Return the first header of that lower-case name, or the empty string."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""


class PageLink(NamedTuple):
    """A link as the page shows it (LNK-08); `url` is absolute, not yet normalised.

    A tuple, because a page has dozens and a dataclass takes three times as long to make.
    """

    url: str
    text: str = ""
    rel: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """What the pages of a site repeat, as far as it was learned.

    Args:
        pages: how many pages were counted since the last lesson began.
        known: marks of the sections that are the template.
        seen: marks that were seen in this lesson, and on how many pages.
    """

    pages: int = 0
    known: tuple[int, ...] = ()
    seen: tuple[tuple[int, int], ...] = ()


NO_TEMPLATE = Template()


@dataclass(frozen=True, slots=True)
class Article:
    """The main content of a page.

    Args:
        text: main text without markup, the basis of hashes.
        strategy: how the content was found, and `confidence` how sure that is (0 to 1).
        kind: what the page is by its layout (`article`, `forum`, …); empty where nothing tells.
        kinds: how likely each kind is, where the blocks of the page were weighed.
        robots: directives of the page itself (`noindex`, `nofollow`), lower case.
        rights: what its meta tags say about text and data mining, name and value.
        links_left_out: how many links there are beyond the limit.
        needs_browser: why the static page looks unfinished; empty when it does not.
        unreadable: why a body of a type that was asked for is no page; empty when it is one.
        detected_language: what the text alone shows; `language` believes what is declared.
        outline: level and text of each heading of the main content.
        types: what its structured data describes, such as `Product`.
        things: products and questions of its JSON-LD, each whole, as JSON.
        people: whom its structured data names as persons; they are not kept with it.
        mail_links: text and address of its links to write to; they are not kept either.
        alternates: language and URL of the same page in other languages.
        feeds: URLs of its feeds.
        sections: marks of its parts, by which a site's template is learned.
        repeated: how many of them were left out as the template.
        personal: how many different values of each kind of personal data were found in it.
    """

    title: str
    markdown: str
    text: str
    links: tuple[PageLink, ...]
    description: str = ""
    language: str = ""
    canonical: str = ""
    author: str = ""
    published_at: str = ""
    modified_at: str = ""
    robots: frozenset[str] = frozenset()
    rights: tuple[tuple[str, str], ...] = ()
    strategy: str = ""
    confidence: float = 0.0
    needs_browser: str = ""
    unreadable: str = ""
    detected_language: str = ""
    words: int = 0
    outline: tuple[tuple[int, str], ...] = ()
    types: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    mail_links: tuple[tuple[str, str], ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()
    feeds: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    kind: str = ""
    kinds: tuple[tuple[str, float], ...] = ()
    links_left_out: int = 0
    sections: tuple[int, ...] = ()
    repeated: int = 0
    personal: PiiCounts = ()


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The hashes and the sketch of a page's text.

    Args:
        content_hash: SHA-256 hex of the main text; decides whether a page changed (C-95).
        html_hash: SHA-256 hex of the body as it came.
        exact_key: 16 bytes over main text and outlinks (C-41); empty for short texts.
        simhash: 64 bits over the main text.
        sketch: what nearly the same texts are found and compared by; empty for short texts.
        words: how many words sketch and simhash were made of, so that thin pages can be told
            without reading them; `dedup/shingles.py` says what counts as one, and where it ends.
    """

    content_hash: str
    html_hash: str
    exact_key: bytes
    simhash: int
    sketch: bytes = b""
    words: int = 0


class DuplicateReason(StrEnum):
    """By what a page was found to repeat another."""

    EXACT = "exact"  # the same text and outlinks
    CANONICAL = "canonical"  # it names the other as the one meant
    NEAR = "near"  # much the same text


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A kept page as others are compared with it; `duplicate_of` is the page it repeats itself."""

    url: str
    sketch: bytes = b""
    duplicate_of: str = ""
    url_hash: bytes = b""
    exact_key: bytes = b""

    @property
    def representative(self) -> str:
        """The page that all its duplicates repeat."""
        return self.duplicate_of or self.url


@dataclass(frozen=True, slots=True)
class Duplicate:
    """What a page repeats, and why.

    Args:
        similarity: of the two texts, 0 where the other is not known.
        twin: the very same page in the same job, which may speak for both (C-41).
    """

    of: str
    reason: DuplicateReason
    similarity: float
    twin: KnownPage | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """The place of bytes in the archive; a segment belongs to one job and is named by it."""

    segment: str
    offset: int
    length: int

    @property
    def job(self) -> str:
        """The job whose bytes they are."""
        return self.segment.split("/")[1]


@dataclass(frozen=True, slots=True)
class Capture:
    """One page for the archive: the response as it came and the record made from it.

    Args:
        whole: the record with all of the text, where `record` has a preview; it is not archived.
    """

    url: str
    fetched_at_s: float  # wall clock
    record: bytes  # one line of pages.jsonl, without the newline
    fetched: Fetched | None  # None where raw bytes are not kept
    whole: bytes | None = None


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page as the store keeps it, one row a tenant and URL, replaced at each visit.

    Args:
        record, response: where the archive holds the JSON record and the raw response.
        due_s: when it should be visited again.
        duplicate_of: URL of the page that it repeats, and `duplicate_reason` why it counts as one.
        strategy, confidence: how its content was found, and how sure that is.
    """

    url_hash: bytes
    url: str
    final_url: str
    status: int
    content_type: str
    fetched_at_s: float
    due_s: float
    fingerprint: Fingerprint
    record: Ref
    response: Ref | None
    etag: str = ""
    last_modified: str = ""
    title: str = ""
    duplicate_of: str = ""
    duplicate_reason: DuplicateReason | None = None
    strategy: str = ""
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class CaptureRow:
    """A page that a job collected, in the order of commits; `seq` is the reader's cursor.

    Args:
        response: the raw answer; None where it is not kept, or where it lies in an earlier job's
            archive, because the page had not changed.
    """

    seq: int
    url: str
    record: Ref
    response: Ref | None = None


@dataclass(frozen=True, slots=True)
class CaptureShare:
    """Captures of a job that are lent to one process for one kind of work.

    Args:
        work: its name, which is also that of its cursor.
        after: the capture before the first.
        last: the number of the last.
    """

    job: str
    work: str
    owner: str
    after: int
    last: int
    captures: tuple[CaptureRow, ...]
