"""Ready documents: which library is a provider's, where its documents are, how one is written."""

from __future__ import annotations

import pytest

from geomi.model.external_docs import ExternalDocument, LibraryCandidate, LibrarySection
from geomi.seed.external_docs import (
    MAX_LIBRARY_CHARS,
    MAX_NAMED,
    TOPICS,
    choose_library,
    close_fence,
    document_urls,
    fenced,
    is_library,
    origins_of,
    question_of,
    topic_of,
    topic_pattern,
    write_document,
)


@pytest.mark.req("C7-03")
@pytest.mark.parametrize(
    ("name", "candidates", "picked"),
    [
        (
            "Stripe",
            [LibraryCandidate("/stripe/stripe-node", "Stripe Node.js")],
            "/stripe/stripe-node",
        ),
        (
            "Stripe",
            [LibraryCandidate("/x/a", "Stripe Node"), LibraryCandidate("/x/b", "Stripe")],
            "/x/b",
        ),
        (
            "Google Gemini",
            [LibraryCandidate("/websites/ai_google_dev_gemini-api", "Gemini API")],
            "/w",
        ),
        ("토스페이먼츠", [LibraryCandidate("/toss/docs", "토스페이먼츠 개발자센터")], "/toss/docs"),
        # A search always offers something.
        ("토스페이먼츠", [LibraryCandidate("/stripe/payments", "Payments")], ""),
        ("AWS SES", [LibraryCandidate("/aws/sdk", "AWS SDK")], ""),
        ("Auth", [LibraryCandidate("/x/author", "Authoring tools")], ""),
        ("Stripe", [LibraryCandidate("/x/a", "Stripe", is_final=False)], ""),
        ("Stripe", [LibraryCandidate("/x/a", "Stripe", snippets=0)], ""),
        ("Stripe", [LibraryCandidate("/x/a", "Stripe", snippets=None)], "/x/a"),
        ("---", [LibraryCandidate("/x/a", "---")], ""),
        ("Stripe", [], ""),
    ],
)
def test_a_library_is_a_providers_if_it_has_its_whole_name(
    name: str, candidates: list[LibraryCandidate], picked: str
) -> None:
    found = choose_library(name, candidates)
    assert (found.library if found else "").startswith(picked)
    assert bool(found) == bool(picked)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("/vercel/next.js", True),
        ("/vercel/next.js/v14.3.0", True),
        ("/websites/stripe@2024", True),
        ("/a/" + "b" * (MAX_LIBRARY_CHARS - 3), True),
        ("/a/" + "b" * (MAX_LIBRARY_CHARS - 2), False),
        ("/one", False),
        ("/a/b/c/d/e", False),
        ("a/b", False),
        ("/a/b/", False),
        ("//a/b", False),
        ("/a/../b", False),
        ("/a/b?x=1", False),
        ("/a/b c", False),
        ("/a/b\n", False),
        ("", False),
    ],
)
def test_what_can_be_the_id_of_a_library(text: str, holds: bool) -> None:
    assert is_library(text) is holds


def test_each_topic_has_an_address_that_leads_back_to_it() -> None:
    found = document_urls("https://c7.test", "/acme/docs")
    assert [topic_of(url) for url in found] == list(TOPICS)
    assert found[0] == "https://c7.test/acme/docs/getting-started"
    assert topic_of("https://c7.test/acme/docs") is None
    assert topic_of("https://c7.test/acme/docs/cookery") is None


def test_a_document_says_what_it_is_and_where_it_comes_from() -> None:
    sections = (
        LibrarySection("Keys", "Send a key.", "https://acme.test/keys"),
        LibrarySection("", "More."),
    )
    document = ExternalDocument("/acme/docs", sections)
    assert write_document("Acme\nInc", "authentication", "https://c7.test", document) == (
        "---\n"
        "title: Acme Inc: authentication\n"
        "source: https://c7.test\n"
        "library: /acme/docs\n"
        "---\n\n"
        "# Acme Inc: authentication\n\n"
        "## Keys\n\nSend a key.\n\nSource: https://acme.test/keys\n\n"
        "## authentication\n\nMore.\n"
    )


@pytest.mark.parametrize(
    ("code", "language", "written"),
    [
        ("a = 1\n", "python", "```python\na = 1\n```"),
        ("```\nx\n```", "md", "````md\n```\nx\n```\n````"),
        ("x", "```evil", "```\nx\n```"),
        ("x", "c\n# forged", "```c\nx\n```"),
    ],
)
def test_code_cannot_leave_its_fence(code: str, language: str, written: str) -> None:
    assert fenced(code, language) == written


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("plain", ""),
        ("```\ncode\n```", ""),
        ("```\ncode", "\n```"),
        ("~~~~ python\n```\n~~~", "\n~~~~"),
        ("````\n```\n", "\n````"),
        ("   ```js\nx\n```` ", ""),
        ("    ``` is code by its indent", ""),
        ("``` `a` ``` in a line", ""),
        ("```\n``` not the end", "\n```"),
        ("```\n```\n~~~", "\n~~~"),
    ],
)
def test_a_fence_that_a_passage_leaves_open_is_closed(text: str, ending: str) -> None:
    assert close_fence(text) == text + ending


@pytest.mark.req("C7-01")
def test_a_document_leads_to_the_topics_that_its_passages_name() -> None:
    """Not to itself, not to a usual topic, and to each once."""
    pages = ("Webhook Signatures", "webhook signatures", "Errors", "결제 취소", "Setup!", "")
    sections = tuple(LibrarySection("x", "y", page=page) for page in pages)
    document = ExternalDocument("/a", sections)
    written = write_document("Acme", "about-setup", "https://c7.test", document)
    assert written.splitlines()[-4:] == [
        "## More topics",
        "",
        "- [webhook signatures](about-webhook-signatures)",
        "- [결제 취소](about-%EA%B2%B0%EC%A0%9C-%EC%B7%A8%EC%86%8C)",
    ]
    assert "# Acme: setup" in written
    topic = topic_of("https://c7.test/a/b/about-%EA%B2%B0%EC%A0%9C-%EC%B7%A8%EC%86%8C")
    assert topic is not None and question_of(topic) == "결제 취소"
    assert topic_of("https://c7.test/a/b/about-") is None
    assert topic_pattern("https://c7.test/base/a/b/errors") == "/base/a/b/about-*"


def test_a_document_names_only_so_many_topics() -> None:
    sections = tuple(LibrarySection("x", "y", page=f"p{number}") for number in range(MAX_NAMED + 1))
    written = write_document("Acme", "errors", "https://c7.test", ExternalDocument("/a", sections))
    assert written.count("](about-") == MAX_NAMED


@pytest.mark.parametrize(
    ("texts", "origins"),
    [
        (["a", "b\n\nSource: https://x.test/1", "c"], ["https://x.test/1"] * 3),
        (
            [
                "a\nSource: https://x.test/1\nb\nSource: https://x.test/2",
                "Source: https://x.test/3",
            ],
            ["https://x.test/1", "https://x.test/3"],
        ),
        (["Source: page 17", "see Source: https://x.test/"], ["", ""]),
        ([], []),
    ],
)
def test_a_part_is_of_the_page_that_is_named_next(texts: list[str], origins: list[str]) -> None:
    assert origins_of(texts) == origins
