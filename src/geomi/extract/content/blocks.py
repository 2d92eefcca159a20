"""Split a page into blocks: what a reader sees as paragraphs, cells, items and headings.

One walk over the tree gives the blocks in reading order, and their places: the elements around them
that are not inline. A block is a run of text inside one place with no other place between. The walk
is depth-first, so the content of a place is one slice of the blocks, and every sum over a place is
the difference of two running sums. The walk skips places without text and ends after `MAX_BLOCKS`
blocks.

The names of a place are its class, id and role. They are split at capitals, digits and signs, so
that `postBody`, `post-body` and `post_body` give the same words. The weight of each word was
learned (`tools/train_blocks.py`, in `blocks.json`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from geomi.extract.dom import HEADINGS, Element, Node, Text

# Elements that say something about the text in them; a place of any other has no code (-1).
TAGS = (
    *HEADINGS, "p", "li", "td", "th", "div", "dt", "dd", "pre", "section", "article", "main",
    "aside", "header", "footer", "nav", "form", "table", "ul", "ol", "dl", "figure", "noscript",
    "details", "blockquote", "dialog",
)  # fmt: skip
CODES = {tag: code for code, tag in enumerate(TAGS)}
MAX_BLOCKS = 20_000
MAX_NAME_CHARS = 200  # of class, id and role together
_LINK, _INLINE, _OTHER = -3, -2, -1
_INLINE_TAGS = (
    "abbr acronym area b bdi bdo big cite code data del dfn em font i img ins kbd label map mark "
    "nobr picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr"
)
_READ = {**CODES, **dict.fromkeys(_INLINE_TAGS.split(), _INLINE), "a": _LINK}
# One row for each place while the tree is walked: its element, code, parent, depth and first block.
_Place = tuple[Element, int, int, int, int]
MAX_WORDS = 20  # of one element
_WORD = re.compile(r"[A-Z]?[a-z]{1,19}|[A-Z]{1,19}")
# Everything but small letters, as what stands between words.
_APART = bytes(code if chr(code) in ascii_lowercase else ord(" ") for code in range(256))


@dataclass(slots=True)
class Blocks:
    """The row of blocks and the tree of places, as columns of equal length.

    Args:
        texts, chars, linked, homes: of each block its text, how long it is, how many of its
            characters are links, and its place.
        nodes, firsts: every text node, and of each block its first among them.
        elements, codes, parents, depths, names: of each place its element and its number in `TAGS`,
            the place around it (of the body: itself), and its class, id and role in one string.
        starts, ends: of each place the slice of blocks inside it.
        twins: of each place how many of its siblings have its tag, itself included.
    """

    texts: list[str]
    chars: NDArray[np.float32]
    linked: NDArray[np.float32]
    homes: NDArray[np.intp]
    nodes: list[Text]
    firsts: list[int]
    elements: tuple[Element, ...]
    codes: NDArray[np.intp]
    parents: NDArray[np.intp]
    depths: tuple[int, ...]
    names: list[str]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    twins: list[int]


class _Walk:
    """The places that were met, from the outermost inwards; the body is the first."""

    def __init__(self, body: Element) -> None:
        self.places: list[_Place] = [(body, _OTHER, 0, 0, 0)]
        # The place that each element leads to; where it is inside a link, the same number inverted.
        self.addresses: dict[Node | None, int] = {body: 0}

    def enter(self, node: Node, start: int) -> int:
        """Enter the elements around a text that are new."""
        addresses, places = self.addresses, self.places
        entered: list[Element] = []
        outer = node.parent
        while isinstance(outer, Element) and outer not in addresses:
            entered.append(outer)
            outer = outer.parent
        address = addresses[outer]
        for element in reversed(entered):
            code = _READ.get(element.tag, _OTHER)
            if code >= _OTHER:
                home = address if address >= 0 else ~address
                address = len(places) if address >= 0 else ~len(places)
                places.append((element, code, home, places[home][3] + 1, start))
            elif code == _LINK and address >= 0:
                address = ~address
            addresses[element] = address
        return address


def read_blocks(body: Element) -> Blocks:
    """Walk a body whose scripts and other machinery have been taken out."""
    walk = _Walk(body)
    find = walk.addresses.get
    parts: list[str] = []
    nodes: list[Text] = []
    firsts: list[int] = []
    links: list[int] = []
    homes: list[int] = []
    last = -1
    for node in body.descendants:
        if type(node) is not Text or not (text := node.data.strip()):
            continue
        if (address := find(node.parent)) is None:
            address = walk.enter(node, len(homes))
        home = address if address >= 0 else ~address
        if home != last:
            if len(homes) == MAX_BLOCKS:
                break
            last = home
            homes.append(home)
            firsts.append(len(parts))
            links.append(0)
        parts.append(text)
        nodes.append(node)
        if address < 0:
            links[-1] += len(text)
    return _columns(walk, _joined(parts, firsts), links, homes, nodes, firsts)


def _joined(parts: list[str], firsts: list[int]) -> list[str]:
    """Return one line for each block."""
    ends = [*firsts[1:], len(parts)][: len(firsts)]
    texts = [
        parts[first] if end == first + 1 else " ".join(parts[first:end])
        for first, end in zip(firsts, ends, strict=True)
    ]
    # Most texts are in one line already, and looking costs a fraction of splitting.
    return [" ".join(t.split()) if "\n" in t or "  " in t else t for t in texts]


def _columns(
    walk: _Walk,
    texts: list[str],
    links: list[int],
    homes: list[int],
    nodes: list[Text],
    firsts: list[int],
) -> Blocks:
    elements, codes, parents, depths, starts = zip(*walk.places, strict=True)
    chars = np.array([*map(len, texts)], np.float32)
    siblings = [*zip(parents, codes, strict=True)]
    counts = Counter(siblings)
    return Blocks(
        texts=texts,
        chars=chars,
        linked=np.minimum(np.array(links, np.float32), chars),
        homes=np.array(homes, np.intp),
        nodes=nodes,
        firsts=firsts,
        elements=elements,
        codes=np.array(codes, np.intp),
        parents=np.array(parents, np.intp),
        depths=depths,
        names=[*map(_names, elements)],
        starts=np.array(starts, np.intp),
        ends=np.array(_ends(homes, parents), np.intp),
        twins=[*map(counts.__getitem__, siblings)],
    )


def _names(element: Element) -> str:
    own, identity, role = element.attr("class"), element.attr("id"), element.attr("role")
    if identity or role:
        own = f"{own or ''} {identity or ''} {role or ''}".strip()
    return own[:MAX_NAME_CHARS] if own else ""


def _ends(homes: list[int], parents: tuple[int, ...]) -> list[int]:
    """Return where each place ends; one that is further down in the list is never around it."""
    ends = [0] * len(parents)
    for number, home in enumerate(homes, 1):
        ends[home] = number
    for place in range(len(parents) - 1, 0, -1):
        if ends[place] > ends[parent := parents[place]]:
            ends[parent] = ends[place]
    return ends


@lru_cache(maxsize=16_384)  # 5 MB with names of 50 characters, 20 MB at the worst
def words_of(names: str) -> tuple[str, ...]:
    """Return the different words of a class, id and role; the pages of a site repeat them."""
    if names.isalpha() and names.islower() and names.isascii():
        return (names,)
    if not names.islower():  # most are
        names = " ".join(_WORD.findall(names)).lower()
    words = names.encode("ascii", "replace").translate(_APART).decode("ascii").split()
    return tuple(dict.fromkeys(words))[:MAX_WORDS]


def weigh_words(names: str, weights: Mapping[str, float]) -> float:
    """Return what the words of these names weigh together."""
    return sum(filter(None, map(weights.get, words_of(names))))
