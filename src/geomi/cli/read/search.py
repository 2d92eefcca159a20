"""`geomi search`: find passages in collected pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from geomi.app.index import SearchResult, search_pages
from geomi.cli import flags
from geomi.cli.console import note, one_line, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.engine.enrich.search import MAX_HITS
from geomi.errors import ConfigError
from geomi.model.index.analysis import PageType
from geomi.model.index.search import Filters, Hit, Snippet
from geomi.search.tokens import MAX_QUERY_CHARS
from geomi.url.parse import parse as parse_url


def search(  # noqa: PLR0913  # one parameter a flag is what the command line is
    query: Annotated[str, typer.Argument(help='Words, and "phrases in quotes".', metavar="QUERY")],
    site: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Only pages of this host; repeat.")
    ] = None,
    page_type: Annotated[
        list[PageType] | None, typer.Option("--type", help="Only pages of this type; repeat.")
    ] = None,
    collection: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this collection; repeat.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Only this language; repeat.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only pages changed since this day.")
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, max=MAX_HITS)] = 10,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Search the index as it is; put nothing there first.")
    ] = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    json: flags.AsJson = False,
) -> None:
    """Search collected pages; first index the pages that are not in the index yet."""
    if not query.strip() or len(query) > MAX_QUERY_CHARS:
        raise ConfigError(
            f"a query has 1 to {MAX_QUERY_CHARS:,} characters, this one {len(query):,}",
            hint="geomi search 'how to install'",
        )
    filters = Filters(
        collections=tuple(collection or ()),
        sites=tuple(map(site_name, site or ())),
        page_types=tuple(page_type or ()),
        languages=tuple(language or ()),
        since_s=_day(since) if since else None,
    )
    searched = in_data_directory(
        output,
        lambda home: search_pages(home, query, filters, limit=limit, is_as_is=as_is),
        db=db,
        blobs=blobs,
    )
    if json:
        print_json(as_data(searched))
        return
    print_hits(searched)
    if searched.found.problem:
        note(f"the search used words alone:  {searched.found.problem}")
    if not searched.is_whole:
        note("some collected pages are not in the index yet")


def as_data(searched: SearchResult) -> dict[str, object]:
    """Return answers as JSON has them."""
    return {
        "hits": [_hit_data(hit) for hit in searched.found.hits],
        "searched": {
            "documents": searched.counts.documents,
            "chunks": searched.counts.chunks,
            "left_out": searched.left_out,
        },
        "is_whole": searched.is_whole,
        "problem": searched.found.problem,
    }


def print_hits(searched: SearchResult) -> None:
    """Print answers for people: title, link and a quotation of each."""
    for number, hit in enumerate(searched.found.hits, 1):
        where = " › ".join((hit.passage.title or hit.passage.url, *hit.passage.headings))
        say(f"{number}. {where}", style="bold")
        say(f"   {hit.passage.url}")
        _quote(hit.snippet)
    if not searched.found.hits:
        left = f"; {searched.left_out:,} pages are not indexed" if searched.left_out else ""
        say(f"nothing found in {searched.counts.documents:,} documents{left}")


def _hit_data(hit: Hit) -> dict[str, object]:
    passage = hit.passage
    return {
        "url": passage.url,
        "title": passage.title,
        "headings": passage.headings,
        "snippet": hit.snippet.text,
        "marks": hit.snippet.marks,
        "score": round(hit.score, 6),
        "ranks": dict(hit.ranks),
        "collection": passage.collection,
        "site": passage.site,
        "type": passage.page_type,
        "language": passage.language,
        "date": datetime.fromtimestamp(passage.date_s, UTC).isoformat(),
        "document": passage.key.document,
        "chunk": passage.key.chunk,
    }


def _quote(snippet: Snippet) -> None:
    """Print a quotation with the words that were looked for standing out."""
    text, at = Text("   "), 0
    for start, end in snippet.marks:
        text.append(one_line(snippet.text[at:start]))
        text.append(one_line(snippet.text[start:end]), style="bold yellow")
        at = end
    text.append(one_line(snippet.text[at:]))
    Console(soft_wrap=True, highlight=False).print(text)


def site_name(text: str) -> str:
    """Read the name of a host, also out of a URL or with a port."""
    url = parse_url(text if "://" in text else f"https://{text}")
    return url.host if url is not None else text


def _day(text: str) -> float:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"`{text}` is not a date", hint="--since 2026-01-31") from error
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
