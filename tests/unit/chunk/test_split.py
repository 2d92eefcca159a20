"""A page in chunks."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.chunk import split as stage
from geomi.chunk.split import MAX_TOKENS, MIN_TOKENS, Sizes, split
from geomi.chunk.tokens import count_tokens
from geomi.model.index.chunk import Chunked, Tokenizer
from tests.support.markdown import fences


def prose(words: int, seed: int = 0) -> str:
    """Return sentences of made-up words, one token each."""
    rng = random.Random(seed)
    made = ["".join(rng.choices("abcdefghij", k=rng.randint(2, 8))) for _ in range(words)]
    ends = {at: made[at] + "." for at in range(9, words, 10)}
    return " ".join(ends.get(at, word) for at, word in enumerate(made))


def page(*sizes: int) -> str:
    """Return sections of that many words, each under its own heading."""
    parts = [f"## Section {at}\n\n{prose(size, at)}" for at, size in enumerate(sizes)]
    return "\n\n".join(["# Guide", *parts])


@pytest.mark.req("CHK-01", "CHK-02", "MON-12")
def test_sizes_are_kept() -> None:
    """No chunk is above the most, and none below the least that has a neighbour."""
    chunked = split(page(3, 30, 700, 10, 120, 120, 1500, 20, 460, 30, 480))
    sizes = [chunk.tokens for chunk in chunked.chunks]
    assert max(sizes) <= 500
    assert min(sizes) >= 50
    assert sizes == [count_tokens(chunk.text) for chunk in chunked.chunks]
    assert {chunk.tokenizer for chunk in chunked.chunks} == {"geomi-1"}


def test_nothing_is_lost() -> None:
    """The words of all chunks are the words of the page."""
    text = page(30, 700, 10, 900, 20)
    assert " ".join(chunk.text for chunk in split(text).chunks).split() == text.split()


@pytest.mark.req("CHK-02", "C-37")
def test_two_that_do_not_fit_into_one_are_cut_evenly() -> None:
    """A small end is not merged beyond the limit: both are cut anew (C-37)."""
    text = f"{prose(480)}\n\n{prose(30, 1)}"
    sizes = [chunk.tokens for chunk in split(text).chunks]
    assert len(sizes) == 2
    assert max(sizes) / min(sizes) < 1.5


@pytest.mark.req("CHK-02")
def test_what_the_cheapest_cuts_leave_over_goes_to_a_neighbour() -> None:
    """Without that, 40 tokens would be left behind the list."""
    items = "".join(f"- {word}\n" for word in prose(200, 26).split())
    chunked = split(f"{prose(480, 27)}\n\n{items}\n\n{prose(480, 28)}")
    assert min(chunk.tokens for chunk in chunked.chunks) >= 50


def test_a_short_page_is_one_chunk() -> None:
    """There is nothing to merge it with."""
    (chunk,) = split("# Hello\n\nShort.").chunks
    assert (chunk.text, chunk.headings, chunk.position) == ("# Hello\n\nShort.", ("Hello",), 0)


@pytest.mark.parametrize("markdown", ["", "\n\n", ">\n"])
def test_nothing_gives_nothing(markdown: str) -> None:
    """An empty page has no chunks."""
    assert split(markdown) == Chunked(())


def test_headings_are_the_best_places() -> None:
    """A section that fits stays whole, and knows where it stands."""
    chunks = split(page(300, 250, 400)).chunks
    assert [chunk.headings for chunk in chunks] == [
        ("Guide", "Section 0"), ("Guide", "Section 1"), ("Guide", "Section 2"),
    ]  # fmt: skip
    assert chunks[1].text.startswith("## Section 1\n\n")


def test_headings_above_several_sections_are_what_they_share() -> None:
    """Small sections are put together under what stands above all of them."""
    text = f"# A\n\n## B\n\n### C\n\n{prose(60)}\n\n### D\n\n{prose(60, 1)}"
    assert [chunk.headings for chunk in split(text).chunks] == [("A", "B")]


def test_a_heading_stays_with_what_it_heads() -> None:
    """No chunk ends with a heading."""
    text = "\n\n".join(f"### H{at}\n\n{prose(45, at)}" for at in range(60))
    for chunk in split(text).chunks:
        assert not chunk.text.rsplit("\n\n", 1)[-1].startswith("#")


def test_an_edit_elsewhere_leaves_ids_alone() -> None:
    """Sections that nobody touched keep their chunks."""
    sizes = [180, 90, 240, 600, 130, 330, 70, 210, 900, 260, 120, 310]
    before = split(page(*sizes)).chunks
    edited = page(*sizes).replace("## Section 1\n", f"## Section 1\n\n{prose(57, 99)}\n")
    after = {chunk.id for chunk in split(edited).chunks}
    changed = [chunk.position for chunk in before if chunk.id not in after]
    assert len(changed) <= 3
    assert max(changed) <= 3


def test_an_edit_in_a_text_without_headings_changes_little() -> None:
    """The cuts behind it soon fall where they fell before."""
    paragraphs = [prose(40 + at % 7 * 10, at) for at in range(120)]
    before = {chunk.id for chunk in split("\n\n".join(paragraphs)).chunks}
    paragraphs[3] = prose(90, 1234)
    after = {chunk.id for chunk in split("\n\n".join(paragraphs)).chunks}
    assert len(before & after) > 0.7 * len(before)


@pytest.mark.req("DUP-04")
def test_repeated_chunks_are_dropped_and_counted() -> None:
    """The same text under the same heading says nothing twice; under another one it does."""
    section = prose(300)
    chunked = split(f"# A\n\n{section}\n\n# A\n\n{section}\n\n# A\n\n{prose(300, 1)}")
    assert (len(chunked.chunks), chunked.duplicates) == (2, 1)
    again = split(
        f"# A\n\n## B\n\n{prose(450, 5)}\n\n{section}\n\n## C\n\n{prose(450, 6)}\n\n{section}"
    )
    ids = [chunk.id for chunk in again.chunks]
    assert len(set(ids)) == len(ids)


def test_chunks_without_a_word_are_dropped_and_counted() -> None:
    """A page of rulers has nothing to search for."""
    chunked = split("\n\n".join(["* * *"] * 40))
    assert (chunked.chunks, chunked.empty) == ((), 1)


def test_too_many_chunks_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has as many chunks as the limit says, and tells how many there would be."""
    monkeypatch.setattr(stage, "MAX_CHUNKS", 2)
    exact, more = split(page(300, 300)), split(page(300, 300, 300))
    assert (len(exact.chunks), exact.left_out) == (2, 0)
    assert (len(more.chunks), more.left_out) == (2, 1)


def test_a_fence_that_a_page_left_open_is_closed() -> None:
    """What comes behind it in a list of results stays what it is."""
    assert split("text\n\n- ```sh\n  ls").chunks[0].text == "text\n\n- ```sh\n  ls\n  ```"


def code(lines: int) -> str:
    """Return that many lines of a program."""
    return "".join(f"value_{at} = call({at}, '# no heading')\n" for at in range(lines))


def test_code_that_fits_is_not_torn() -> None:
    """A block of code that fits into a chunk is in one chunk."""
    source = code(25)
    chunks = split(f"# A\n\n{prose(350)}\n\n```python\n{source}```\n\n{prose(350, 1)}").chunks
    assert [found for chunk in chunks for found in fences(chunk.text)] == [("python", source)]


@pytest.mark.parametrize(
    ("before", "indent"),
    [("", ""), ("- item\n\n", "  "), ("1. item\n\n", "   "), ("> quote\n>\n", "> ")],
)
def test_code_that_does_not_fit_is_closed_and_reopened(before: str, indent: str) -> None:
    """Each part is code of the same language, and together they are the whole."""
    source = code(120)
    lines = "".join(f"{indent}{line}\n" for line in ["```python", *source.splitlines(), "```"])
    chunks = split(f"# A\n\n{before}{lines}\n{prose(80)}").chunks
    found = [part for chunk in chunks for part in fences(chunk.text)]
    assert len(found) > 3
    assert {info for info, _ in found} == {"python"}
    assert "".join(text for _, text in found) == source
    assert max(chunk.tokens for chunk in chunks) <= MAX_TOKENS


def test_an_endless_line_of_code_is_cut() -> None:
    """Minified programs have no lines."""
    source = "var " + ",".join(f"a{at}={at}" for at in range(2000))
    chunks = split(f"```js\n{source}\n```").chunks
    found = [text for chunk in chunks for _, text in fences(chunk.text)]
    assert "".join("".join(found).split()) == "".join(source.split())
    assert max(chunk.tokens for chunk in chunks) <= MAX_TOKENS


def test_an_endless_language_is_not_repeated() -> None:
    """What stands behind the marks of a fence cannot fill a chunk."""
    info = " ".join(f"w{at}" for at in range(400))
    chunks = split(f"```{info}\n{code(60)}```").chunks
    assert max(chunk.tokens for chunk in chunks) <= MAX_TOKENS
    assert "".join(text for chunk in chunks for _, text in fences(chunk.text)) == code(60)


def test_a_table_repeats_its_head() -> None:
    """Rows without the names of their columns say little."""
    head = "| Name | Meaning |\n| --- | --- |\n"
    rows = [f"| key_{at} | {prose(12, at)} |" for at in range(150)]
    chunks = split(f"# A\n\n{prose(60)}\n\n{head}" + "\n".join(rows)).chunks
    assert len(chunks) > 3
    assert all(head in chunk.text for chunk in chunks[1:])
    found = [line for chunk in chunks for line in chunk.text.split("\n") if line in set(rows)]
    assert found == rows


def test_a_table_with_an_endless_head_is_cut_as_text() -> None:
    """A head that fills a chunk is not repeated."""
    head = "| " + " | ".join(f"column {at}" for at in range(300)) + " |"
    text = f"{head}\n| --- |\n" + "\n".join("| 1 |" for _ in range(300))
    assert max(chunk.tokens for chunk in split(text).chunks) <= MAX_TOKENS


@pytest.mark.parametrize(
    "text",
    [
        "데이터베이스에 연결하려면 먼저 설정 파일을 고쳐야 합니다. " * 60,
        "데이터베이스연결설정" * 200,
        "数据库连接失败时请检查配置文件。" * 120,
        "設定ファイルを確認してください" * 120,
        "x" * 20_000,
        "나😀" * 2_000,
    ],
    ids=["korean", "hangul-without-spaces", "chinese", "japanese", "one-word", "emoji"],
)
def test_every_script_is_cut(text: str) -> None:
    """A text without spaces has chunks, too, and loses nothing."""
    chunks = split(text).chunks
    sizes = [chunk.tokens for chunk in chunks]
    assert max(sizes) <= MAX_TOKENS
    assert min(sizes) >= MIN_TOKENS


def test_sentences_stay_whole() -> None:
    """A paragraph that is too long is cut behind a sentence, in Korean and Chinese, too."""
    for text, end in (
        ("설정을 바꾼 다음 다시 시작합니다. " * 90, "."),
        ("请检查配置文件。" * 160, "。"),
    ):
        chunks = split(text).chunks
        assert len(chunks) > 1
        assert all(chunk.text.endswith(end) for chunk in chunks)


@pytest.mark.req("G-16")
def test_a_tokenizer_of_ones_own() -> None:
    """Another tokenizer decides the sizes, and gives its name (G-16)."""
    letters = Tokenizer("letters", len)
    chunks = split(page(200, 200), tokenizer=letters).chunks
    assert {chunk.tokenizer for chunk in chunks} == {"letters"}
    assert max(len(chunk.text) for chunk in chunks) <= MAX_TOKENS


def test_a_tokenizer_that_counts_the_whole_as_more_than_its_parts() -> None:
    """The limit holds all the same."""
    odd = Tokenizer("odd", lambda text: count_tokens(text) * (2 if len(text) > 600 else 1))
    chunks = split(page(400, 900), tokenizer=odd).chunks
    assert max(chunk.tokens for chunk in chunks) <= MAX_TOKENS


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# H", "## H2", "### deep", "", "text " * 30, "one. two. three. " * 40, "- item",
            "  - inner",
            "```", "```python", "x = 1", "| a | b |", "| --- | --- |", "| 1 | 2 |", "> quoted",
            "한국어 문장입니다. " * 40, "漢字" * 60, "~~~", "    indented", "y" * 400,
            "\u2028", "1. one",
        ]
    ),
    max_size=60,
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(MARKDOWN)
def test_laws(lines: list[str]) -> None:
    """Whatever comes: sizes hold, ids are unique, no sign is lost, and no fence stays open."""
    text = "\n".join(lines)
    chunked = split(text)
    assert all(chunk.tokens <= MAX_TOKENS for chunk in chunked.chunks)
    assert len({chunk.id for chunk in chunked.chunks}) == len(chunked.chunks)
    assert [chunk.position for chunk in chunked.chunks] == list(range(len(chunked.chunks)))
    assert split(text) == chunked
    for chunk in chunked.chunks:
        marks = [line.strip(" >") for line in chunk.text.split("\n")]
        opened = ""
        for mark in marks:
            if opened:
                opened = "" if mark == opened else opened
            elif found := re.match(r"(?:[-*+] |\d+[.)] )*(```|~~~)[^`]*$", mark):
                opened = found[1]
        assert not opened


def test_sizes_can_be_chosen() -> None:
    """A model with a small window gets small chunks."""
    chunks = split(page(400), sizes=Sizes(most=120, least=20, healthy=80)).chunks
    assert max(chunk.tokens for chunk in chunks) <= 120
