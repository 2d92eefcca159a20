"""The entry point: the bytes of one page become one `Article`.

The format of a body decides about its reader: HTML, text, markdown, a description of an API, or
PDF. Links and metadata of an HTML page come from the whole tree. Then the main content is found,
everything else is removed from the tree (EXT-05), and the rest is written as text and markdown. A
page without text gives an article with empty text (EXT-06); the caller decides what that means.
Characters that nobody sees are left out of everything, and a body that is no text is no page,
whatever its label says.

For a page with little text `browser_reason` says why a browser would show more. It uses only cheap
facts: how little text there is, and which elements are beside it. A page with enough text needs no
browser, whatever scripts it loads. The engine decides whether a browser is worth its price.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.extract.content.strategy import SELECTOR, find_content
from geomi.extract.content.template import leave_out, needs_sections
from geomi.extract.document import read_document, unreadable
from geomi.extract.dom import Document, binary_problem, parse_html, text_of
from geomi.extract.links import NO_ANCHORS, base_url, read_links, read_mail_links
from geomi.extract.markdown.writer import NOTHING, Targets, Written, salvage, to_markdown
from geomi.extract.media import BodyFormat, body_format
from geomi.extract.metadata import Metadata, read_metadata
from geomi.model.config import Extraction, LinkStyle
from geomi.model.markdown import NO_RULES, MarkdownRules
from geomi.model.page import NO_TEMPLATE, Article, PageLink, Template
from geomi.text.invisible import seen
from geomi.text.language import count_words, language_of
from geomi.url.parse import absolute

DEFAULT_MAX_LINKS = 10_000
# Less text than this and a page is suspected: the shells of single-page applications have none, or
# a line that asks for JavaScript.
MIN_FINISHED_CHARS = 200
MIN_SCRIPTS = 3
_APP_ROOTS = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #q-app, app-root, [ng-app], "
    "[data-reactroot], [data-v-app], [ng-version]"
)


def extract(
    body: bytes,
    url: str,
    content_type: str,
    rules: Extraction,
    *,
    max_links: int = DEFAULT_MAX_LINKS,
    template: Template = NO_TEMPLATE,
    own: MarkdownRules = NO_RULES,
) -> Article:
    """Read a page; whatever it is, an `Article` comes back.

    Args:
        url: the final URL of the response, after redirects (C-18).
        max_links: with 0, and links as text, the page's links are not looked for at all.
        template: what the pages of this site repeat, as far as it was learned.
        own: markdown rules of the caller's own, by the name of an element (MD-12).
    """
    form = body_format(content_type, url)
    if form is not BodyFormat.HTML:
        return _as_seen(read_document(form, body, url, content_type, rules, max_links))
    if problem := binary_problem(body):
        return unreadable(problem)
    article = _as_seen(_read(parse_html(body, content_type), url, rules, max_links, template, own))
    if shows_little(article.text):
        # The tree has been pruned of what tells; pages this empty are few enough to parse again.
        return replace(article, needs_browser=browser_reason(parse_html(body, content_type)))
    return article


def _as_seen(article: Article) -> Article:
    """Leave out of all that a page says what nobody sees of it."""
    return replace(
        article,
        title=seen(article.title),
        markdown=seen(article.markdown),
        text=seen(article.text),
        description=seen(article.description),
        author=seen(article.author),
        links=tuple(_link_as_seen(link) for link in article.links),
        outline=tuple((level, seen(words)) for level, words in article.outline),
        types=tuple(map(seen, article.types)),
        things=tuple(map(seen, article.things)),
        people=tuple(map(seen, article.people)),
        mail_links=tuple((seen(words), address) for words, address in article.mail_links),
        metadata=tuple((name, seen(value)) for name, value in article.metadata),
    )


def _link_as_seen(link: PageLink) -> PageLink:
    text = seen(link.text)
    return link if text == link.text else link._replace(text=text)


@dataclass(frozen=True, slots=True)
class _Content:
    """What the main part of a page says; a frameset has none."""

    text: str = ""
    written: Written = NOTHING
    strategy: str = ""
    confidence: float = 0.0
    sections: tuple[int, ...] = ()
    repeated: int = 0
    kind: str = ""
    kinds: tuple[tuple[str, float], ...] = ()


def _read(
    document: Document,
    url: str,
    rules: Extraction,
    max_links: int,
    template: Template,
    own: MarkdownRules,
) -> Article:
    base = base_url(document, url)
    metadata = read_metadata(document)
    wants_links = max_links > 0 or rules.links is LinkStyle.KEEP
    anchors = read_links(document, base, max_links) if wants_links else NO_ANCHORS
    content = _content(document, base, anchors.targets, rules, template, own)
    language, detected = language_of(content.text, metadata.language)
    canonical, alternates, feeds = _resolved(metadata, base)
    written = content.written
    failed = (("markdown_rule_failed", written.failure),) if written.failure else ()
    return Article(
        title=metadata.title,
        markdown=written.markdown,
        text=content.text,
        links=anchors.links,
        description=metadata.description,
        language=language,
        canonical=canonical,
        author=metadata.author,
        published_at=metadata.published_at,
        modified_at=metadata.modified_at,
        robots=metadata.robots,
        rights=metadata.rights,
        strategy=content.strategy,
        confidence=content.confidence,
        kind=content.kind,
        kinds=content.kinds,
        detected_language=detected,
        words=count_words(content.text, language),
        outline=written.outline,
        types=metadata.types,
        things=metadata.things,
        people=metadata.people,
        mail_links=read_mail_links(document),
        alternates=alternates,
        feeds=feeds,
        metadata=metadata.pairs + failed,
        links_left_out=anchors.left_out,
        sections=content.sections,
        repeated=content.repeated,
    )


def _resolved(
    metadata: Metadata, base: str
) -> tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Make the addresses that a page gives for itself absolute; one that leads nowhere is none."""
    languages = [language for language, _ in metadata.alternates]
    hrefs = [metadata.canonical, *(href for _, href in metadata.alternates), *metadata.feeds]
    if not any(hrefs):
        return "", (), ()
    canonical, *others = absolute(hrefs, base)
    pairs = zip(languages, others, strict=False)
    feeds = [url for url in others[len(languages) :] if url]
    return (
        (canonical or "") if metadata.canonical else "",
        tuple((language, url) for language, url in pairs if url),
        tuple(feeds),
    )


def _content(
    document: Document,
    base: str,
    targets: Targets,
    rules: Extraction,
    template: Template,
    own: MarkdownRules,
) -> _Content:
    body = document.select_one("body")
    if body is None:
        return _Content()
    salvage(document)
    choice = find_content(document, body, rules)
    wants_all = choice.strategy == SELECTOR or not (rules.template and needs_sections(template))
    sections, repeated = ((), 0) if wants_all else leave_out(choice.content, template)
    return _Content(
        text=seen(text_of(choice.content))[: rules.max_markdown_chars],
        written=to_markdown(choice.content, base, targets, rules, own),
        strategy=choice.strategy,
        confidence=choice.confidence,
        sections=sections,
        repeated=repeated,
        kind=choice.kind,
        kinds=choice.kinds,
    )


def shows_little(text: str) -> bool:
    """Return whether a page shows so little that `unfinished` should look at it."""
    return len(text) < MIN_FINISHED_CHARS


def browser_reason(document: Document) -> str:
    """Return why a page that shows little needs a browser, or the empty string when it does not."""
    if any("javascript" in note.text.lower() for note in document.select("noscript")):
        return "noscript asks for JavaScript"
    root = document.select_one(_APP_ROOTS)
    if root is not None and shows_little(root.text.strip()):
        return "empty application root"
    if len(document.select("script")) >= MIN_SCRIPTS:
        return "scripts without text"
    return ""
