"""Make a document of one capture: its analysis, and the chunks by which search finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import orjson

from geomi.analyse.page import analyse, engines, limit_to_preview
from geomi.chunk.check import digests
from geomi.chunk.split import SIZES, split
from geomi.chunk.tokens import GEOMI_1
from geomi.engine.visit.identity import UrlIdentity
from geomi.engine.visit.preview_text import read_note
from geomi.engine.visit.record import RecordFields, article_of, date_of, read_line, subject_of
from geomi.model.index.analysis import Analysis, AnalysisInput, AnalysisRules
from geomi.model.index.chunk import Chunked
from geomi.model.index.document import DocumentRow, DocumentState, document_id
from geomi.model.index.search import IndexDocument, KeptText
from geomi.model.job import CrawlJob
from geomi.model.page import CaptureRow
from geomi.model.site import Channel
from geomi.seed.external_docs import origins_of
from geomi.text.identifiers import sha256_hex
from geomi.url.parse import split as split_url

VERSION_CHARS = 12
MAX_DETAIL_CHARS = 200
POISONED = "poisoned"
ONLY_PREVIEW = "geomi erased its whole text before it was indexed, so it analysed the preview alone"


@dataclass(frozen=True, slots=True)
class MadeDocument:
    """What became of a capture; without a document there is nothing to be found.

    Args:
        is_same: what was found of the page until now stays as it is.
    """

    row: DocumentRow
    document: IndexDocument | None = None
    is_same: bool = False


def version_of(rules: AnalysisRules) -> str:
    """Return a short digest of everything that decides about a page's analysis without a model."""
    told = (replace(rules, budget_usd=0.0), engines(), GEOMI_1.name, SIZES)
    return sha256_hex(repr(told))[:VERSION_CHARS]


def analysis_json(analysis: Analysis, read: Mapping[str, object] | None = None) -> bytes:
    """Write the analysis of a page as JSON; an unknown flag is null.

    Args:
        read: what is noted of the text that was read, where it is not kept.
    """
    told = asdict(analysis) | ({"read": read} if read else {})
    if analysis.quality is not None:
        flags = analysis.quality.flags
        told["quality"]["flags"] = {flag.value: is_up for flag, is_up in flags}
    return orjson.dumps(told)


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page of the archive and what is understood of it without a model.

    Args:
        preview: all that is kept of it; None where everything is.
        is_whole: whether there was more to read than the preview.
    """

    fields: RecordFields
    subject: AnalysisInput
    analysis: Analysis
    preview: RecordFields | None = None
    is_whole: bool = True


def understand(record: bytes, rules: AnalysisRules) -> None:
    """Do all that is done with the text of a page, for nothing but to see whether we survive."""
    fields = read_line(record)
    analyse(subject_of(fields, now_s=0.0), rules)
    split(fields["markdown"][: rules.max_chars])


class DocumentMaker:
    """How the pages of one job become documents.

    Args:
        advisers: the names of the models that are asked, if any are.
    """

    def __init__(self, job: CrawlJob, *, advisers: str = "") -> None:
        self.job = job.id
        self._identity = UrlIdentity(job.config)
        self.rules = job.config.analysis
        self._kept = job.config.store.text
        # Its documents are made of passages of other pages, and people want to be led to those.
        self._names_origins = job.channel is Channel.CONTEXT7
        own = version_of(self.rules)
        self.version = f"{own}.{sha256_hex(advisers)[:VERSION_CHARS]}" if advisers else own

    def covers(self, version: str) -> bool:
        """Return whether a document of a version is still valid.

        A process without models does not replace the work of models.
        """
        return version == self.version or version.startswith(f"{self.version}.")

    def name(self, capture: CaptureRow) -> str:
        """Return the id of the document that a capture becomes."""
        return document_id(self.rules.collection, self.url_hash(capture))

    def read(self, record: bytes, whole: bytes | None, *, now_s: float) -> ReadPage:
        """Read a record and analyse it.

        Args:
            whole: the record with all of its text; None where a preview is all that is left. How
                good the page is can then not be told.
        """
        fields = read_line(whole or record)
        preview = read_line(record) if self._kept is KeptText.PREVIEW else None
        rules = self.rules if whole else replace(self.rules, quality=False)
        subject = subject_of(fields, now_s=now_s)
        return ReadPage(fields, subject, analyse(subject, rules), preview, whole is not None)

    def unchanged(self, capture: CaptureRow, known: DocumentRow, *, now_s: float) -> MadeDocument:
        """Return the document of a page as it was made of the same text before."""
        row = replace(known, job=self.job, capture=capture.seq, updated_at_s=now_s)
        return MadeDocument(row, is_same=True)

    def kept(self, capture: CaptureRow, page: ReadPage, analysis: Analysis) -> MadeDocument:
        """Return the document of a page, and its chunks if it is to be found."""
        decision, kind, fields = analysis.decision, analysis.classification, page.fields
        state = DocumentState.INDEXED if decision.should_index else DocumentState.SKIPPED
        page_type = kind.page_type if kind else ""
        chunked = self._split(fields) if decision.should_index else None
        document = self._document(capture, fields, page_type, chunked) if chunked else None
        read = None
        if page.preview is not None:
            analysis = limit_to_preview(analysis, article_of(page.preview))
            read = read_note(fields["content_hash"], is_whole=page.is_whole)
        row = replace(
            self._row(capture, page.subject.now_s),
            state=state,
            reason=decision.reason,
            detail=decision.detail if page.is_whole else f"{decision.detail}; {ONLY_PREVIEW}",
            title=fields["title"],
            page_type=page_type,
            language=fields["language"],
            quality=analysis.quality.overall if analysis.quality else None,
            chunks=len(document.chunks) if document else 0,
            analysis=analysis_json(analysis, read),
        )
        if chunked and page.is_whole:  # what is cut of a preview says nothing of the page
            row = _counted(row, chunked)
        return MadeDocument(row, document)

    def failed(self, capture: CaptureRow, error: Exception, *, now_s: float) -> MadeDocument:
        """Return the document of a page that could not be understood."""
        detail = f"{type(error).__name__}: {error}"[:MAX_DETAIL_CHARS]
        return MadeDocument(replace(self._row(capture, now_s), detail=detail))

    def poisoned(self, capture: CaptureRow, why: str, *, now_s: float) -> MadeDocument:
        """Return the document of a page that kills whatever reads it."""
        row = self._row(capture, now_s)
        return MadeDocument(replace(row, reason=POISONED, detail=why[:MAX_DETAIL_CHARS]))

    def url_hash(self, capture: CaptureRow) -> bytes:
        """Return the identity of a capture's URL."""
        return self._identity.hash(split_url(capture.url))

    def document(self, capture: CaptureRow, fields: RecordFields, page_type: str) -> IndexDocument:
        """Return a page as an index takes it."""
        return self._document(capture, fields, page_type, self._split(fields))

    def _split(self, fields: RecordFields) -> Chunked:
        chunked = split(fields["markdown"][: self.rules.max_chars])
        if not self._names_origins:
            return chunked
        urls = origins_of([chunk.text for chunk in chunked.chunks])
        named = zip(chunked.chunks, urls, strict=True)
        return replace(chunked, chunks=tuple(replace(chunk, url=url) for chunk, url in named))

    def _document(
        self, capture: CaptureRow, fields: RecordFields, page_type: str, chunked: Chunked
    ) -> IndexDocument:
        return IndexDocument(
            id=self.name(capture),
            url=fields["final_url"],
            title=fields["title"],
            collection=self.rules.collection,
            site=split_url(fields["final_url"]).host,
            job=self.job,
            chunks=chunked.chunks,
            page_type=page_type,
            language=fields["language"],
            date_s=date_of(fields),
            kept=self._kept,
        )

    def _row(self, capture: CaptureRow, now_s: float) -> DocumentRow:
        """Return the row of a page of which nothing is known."""
        return DocumentRow(
            id=self.name(capture),
            url_hash=self.url_hash(capture),
            url=capture.url,
            title="",
            collection=self.rules.collection,
            site=split_url(capture.url).host,
            job=self.job,
            capture=capture.seq,
            version=self.version,
            state=DocumentState.FAILED,
            reason="error",
            detail="",
            page_type="",
            language="",
            quality=None,
            chunks=0,
            analysis=b"{}",
            updated_at_s=now_s,
        )


def _counted(row: DocumentRow, chunked: Chunked) -> DocumentRow:
    """Add to a row how its chunks came out; a single chunk has no neighbour to be merged with."""
    sizes = [chunk.tokens for chunk in chunked.chunks]
    return replace(
        row,
        chunk_tokens=sum(sizes),
        empty_chunks=chunked.empty,
        repeated_chunks=chunked.duplicates,
        smallest_chunk=min(sizes) if len(sizes) > 1 else None,
        chunk_digests=digests(chunked),
    )
