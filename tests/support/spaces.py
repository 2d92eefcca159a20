"""Sites with an endless space: some 80 real pages, and a server that makes up the rest.

`SPACES` names the kinds. Each is a function from a path and a query to links, which may be
relative. What the pages say is another matter (`Text`): all the same, the same beside the page's
own address, or something new each time. Nothing is random: a URL always has the same page, unless
its kind makes up links by the request.

The real site has a home page, sections with a frame of links, a deep branch without one, and pages
at the root that only their neighbours link to. The home page, one deep page or every page leads
into the space (`Door`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from itertools import count
from urllib.parse import parse_qsl, quote, unquote, urlencode

from tests.support.server import Answer, Reply, Seen, Site
from tests.support.webs import WORDS

SAME = "There is nothing here yet, so come again on another day, please. " * 6

Links = Callable[[str, str], Sequence[str]]  # path, query -> hrefs


class Text(StrEnum):
    """What the pages of a space say."""

    SAME = "same"
    ECHO = "echo"  # the same, and the address
    NEW = "new"


class Door(StrEnum):
    """Which real pages lead into a space."""

    HOME = "home"
    DEEP = "deep"
    ALL = "all"


def number(text: str) -> int:
    """Return a number that looks random and belongs to a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def word(seed: str) -> str:
    """Make up a name."""
    at = number(seed)
    return f"{WORDS[at % 30]}{WORDS[at // 30 % 30]}{at // 900 % 97}"


def slug(seed: str) -> str:
    """Make up a title without a number."""
    at = number(seed)
    return "-".join(WORDS[at // 30**place % 30] for place in range(6))


def prose(seed: str) -> str:
    """Write a text that is like no other."""
    words = (number(f"{seed}/{at // 12}") // 30 ** (at % 12) % 900 for at in range(96))
    return " ".join(f"{WORDS[each % 30]}{WORDS[each // 30]}" for each in words)


def some(seed: str, many: int = 4) -> Iterator[str]:
    """Yield seeds that follow from one."""
    return (f"{seed}>{at}" for at in range(many))


def calendar(path: str, query: str) -> list[str]:
    at = date(*map(int, path.split("/")[2:5]))
    return [f"/cal/{at + timedelta(by):%Y/%m/%d}" for by in (-30, -7, -1, 1, 7, 30)]


def pagination(path: str, query: str) -> list[str]:
    at = int(path.rpartition("/")[2])
    return [f"/list/page/{n}" for n in range(max(at - 2, 1), at + 6)]


def session(path: str, query: str) -> list[str]:
    return [f"/s/{name}?sid={number(query + name) % 10**6}" for name in WORDS[:8]]


def facets(path: str, query: str) -> list[str]:
    chosen, kinds = dict(parse_qsl(query)), ("colour", "size", "brand", "sort", "stock")
    more = (chosen | {kind: str(n)} for kind in kinds for n in range(7))
    return [f"/shop?{urlencode(each)}" for each in more]


def repeated(path: str, query: str) -> list[str]:
    """Names of the site, over and over, in no order."""
    return [f"{path}/{WORDS[number(seed) % 6]}" for seed in some(path)]


def deeper(path: str, query: str) -> list[str]:
    return [f"{path}/{word(seed)}" for seed in some(path, 3)]


def relative(path: str, query: str) -> list[str]:
    return ["alpha/beta/", "gamma/", "delta/"]


def relative_page(path: str, query: str) -> list[str]:
    """Links that forget a slash, on pages that end with none: what is found lies beside, too."""
    return ["more/one", "more/two", "again/three"]


def letter_case(path: str, query: str) -> list[str]:
    names = ("archive", "products", "services", "contact")
    return [f"/space/{_case(name, seed)}" for name, seed in zip(names, some(path), strict=True)]


def _case(name: str, seed: str) -> str:
    bits = number(seed)
    return "".join(c.upper() if bits >> at & 1 else c for at, c in enumerate(name))


def soft_404(path: str, query: str) -> list[str]:
    return [*(f"/{word(seed)}" for seed in some(path, 2)), f"/{word(path)}/{word(path + 'x')}.html"]


def spellings(path: str, query: str) -> list[str]:
    """One name with its letters escaped or composed in any way."""
    return [f"/space/{_spelled('catalogue-café-zürich', seed)}" for seed in some(path)]


def _spelled(name: str, seed: str) -> str:
    bits = number(seed)
    spelled = (_spelled_letter(c, escaped=bool(bits >> at & 1)) for at, c in enumerate(name))
    return "".join(spelled)


def _spelled_letter(letter: str, *, escaped: bool) -> str:
    if escaped:
        return f"%{ord(letter):02x}" if letter.isascii() else quote(letter)
    return {"é": "e%CC%81", "ü": "u%CC%88"}.get(letter, letter)


def scripts(path: str, query: str) -> list[str]:
    """Names in letters of other scripts."""
    letters = "가나다라마바사아자차카타파하éüßñøçæłšžабвгдежзи"
    made = ("".join(letters[number(f"{seed}{n}") % len(letters)] for n in range(6))
            for seed in some(path))  # fmt: skip
    return [f"/space/{quote(name)}" for name in made]


def doubly_escaped(path: str, query: str) -> list[str]:
    return [path.replace("%", "%25") + name for name in ("%20a", "%20b", "%2Fc")]


def matrix(path: str, query: str) -> list[str]:
    base, *pairs = path.split(";")
    chosen = dict(each.partition("=")[::2] for each in pairs)
    more = (chosen | {kind: str(n)} for kind in ("a", "b", "c", "d") for n in range(6))
    return [base + "".join(f";{k}={v}" for k, v in each.items()) for each in more]


def hexadecimal(path: str, query: str) -> list[str]:
    return [f"/object/{number(seed) % 16**8:08x}" for seed in some(path)]


def short_hexadecimal(path: str, query: str) -> list[str]:
    return [f"/{number(seed) % 16**5:05x}/view" for seed in some(path)]


def next_hexadecimal(path: str, query: str) -> list[str]:
    at = int(path.rpartition("/")[2], 16)
    return [f"/object/{at + by:x}" for by in range(1, 9)]


def tokens(path: str, query: str) -> list[str]:
    return [f"/r/{hashlib.sha256(seed.encode()).hexdigest()[:24]}/page" for seed in some(path)]


def slugs(path: str, query: str) -> list[str]:
    return [f"/blog/{slug(seed)}" for seed in some(path)]


def many_slugs(path: str, query: str) -> list[str]:
    return [f"/blog/{slug(seed)}" for seed in some(path, 30)]


def root_slugs(path: str, query: str) -> list[str]:
    return [f"/{slug(seed)}" for seed in some(path)]


def folders(path: str, query: str) -> list[str]:
    return [f"/{word(seed)}/{word(seed + 'x')}" for seed in some(path)]


def numbers(path: str, query: str) -> list[str]:
    return [f"/item/{number(seed) % 10**7}" for seed in some(path)]


def next_numbers(path: str, query: str) -> list[str]:
    at = int(path.rpartition("/")[2])
    return [f"/item/{at + by}" for by in range(1, 11)]


def identifiers(path: str, query: str) -> list[str]:
    return [f"/view?id={number(seed) % 10**7}" for seed in some(query)]


FACETS = {"color": ("red", "blue", "green"), "size": ("s", "m", "l", "xl"),
          "brand": ("acme", "zeta", "omni"), "sort": ("price", "name")}  # fmt: skip


def path_facets(path: str, query: str) -> list[str]:
    """Filters in the path, in the order in which they were chosen."""
    names = path.split("/")[2:]
    chosen = dict(zip(names[::2], names[1::2], strict=False))
    more = (chosen | {kind: value} for kind, values in FACETS.items() for value in values)
    return ["/shop" + "".join(f"/{k}/{v}" for k, v in each.items()) for each in more]


def tags(path: str, query: str) -> list[str]:
    chosen = path.rpartition("/")[2].split("+")
    return [f"/tag/{'+'.join([*chosen, name])}" for name in WORDS[:12] if name not in chosen]


ENDINGS = (".html", ".htm", ".php", ".asp", ".aspx", ".jsp", ".shtml", ".xhtml", ".cgi", "")


def endings(path: str, query: str) -> list[str]:
    """A page with any ending, and pages that it leads to with any other."""
    stem = path.split(".")[0]
    others = (f"/space/{word(seed)}.php" for seed in some(stem, 2))
    return [*(stem + each for each in ENDINGS), *others]


def permutations(path: str, query: str) -> list[str]:
    pairs = parse_qsl(query)
    turned = [pairs[at:] + pairs[:at] for at in range(1, len(pairs))]
    made = [[*pairs[-3:], (word(seed), word(seed + "v"))] for seed in some(query, 2)]
    return [f"/query?{urlencode(each)}" for each in (*turned, *made)]


def made_up_names(path: str, query: str) -> list[str]:
    return [f"{path}?{word(seed)}=1" for seed in some(query)]


def shared(path: str, query: str) -> list[str]:
    """Each page for printing, for sharing, for a friend; each of these again."""
    ways = ("print", "share", "amp", "email", "embed")
    return [f"{path}/{way}" for way in ways if path.count("/") < 30]


def dated(path: str, query: str) -> list[str]:
    days = (date(2015, 1, 1) + timedelta(number(seed) % 4000) for seed in some(path))
    return [f"/{day:%Y/%m/%d}/{slug(path + str(day))}" for day in days]


def languages(path: str, query: str) -> list[str]:
    return [f"/{code}{path}" for code in ("en", "ko", "de", "fr", "ja")]


def searches(path: str, query: str) -> list[str]:
    return [f"/find/{word(seed)}" for seed in some(path)]


def wiki(path: str, query: str) -> list[str]:
    return [f"/wiki/{word(seed).title()}_{word(seed + 'b').title()}" for seed in some(path, 12)]


def ever_other(path: str, query: str) -> list[str]:
    """Links that are made up by the request, not by the address."""
    return [f"/space/{word(f'{path}{next(_REQUESTS)}')}" for _ in range(4)]


_REQUESTS = count()


def uneven(path: str, query: str) -> list[str]:
    """None to six links a page: there are ends, and yet no end."""
    return [f"/space/{word(seed)}" for seed in some(path, number(path + "#") % 7)] or [
        f"/space/{word(path + '!')}"
    ]


@dataclass(frozen=True, slots=True)
class Space:
    """One kind: its links, and where one comes in."""

    links: Links
    door: str


SPACES = {
    "calendar": Space(calendar, "/cal/2024/01/31"),
    "pagination": Space(pagination, "/list/page/1"),
    "session": Space(session, "/s/silk?sid=1"),
    "facets": Space(facets, "/shop?sort=1"),
    "repeated": Space(repeated, "/space"),
    "deeper": Space(deeper, "/space"),
    "relative": Space(relative, "/space/"),
    "relative page": Space(relative_page, "/space/page"),
    "letter case": Space(letter_case, "/space/archive"),
    "soft 404": Space(soft_404, "/missing"),
    "spellings": Space(spellings, "/space/catalogue"),
    "scripts": Space(scripts, "/space/a"),
    "doubly escaped": Space(doubly_escaped, "/space/a%20b"),
    "matrix": Space(matrix, "/shop;a=1"),
    "hexadecimal": Space(hexadecimal, "/object/0a1b2c3d"),
    "short hexadecimal": Space(short_hexadecimal, "/0a1b2/view"),
    "next hexadecimal": Space(next_hexadecimal, "/object/a0"),
    "tokens": Space(tokens, "/r/0a1b2c3d4e5f60718293a4b5/page"),
    "slugs": Space(slugs, "/blog/a-first-one"),
    "many slugs": Space(many_slugs, "/blog/a-first-one"),
    "root slugs": Space(root_slugs, "/a-first-one"),
    "folders": Space(folders, "/a/b"),
    "numbers": Space(numbers, "/item/1"),
    "next numbers": Space(next_numbers, "/item/1"),
    "identifiers": Space(identifiers, "/view?id=1"),
    "path facets": Space(path_facets, "/shop"),
    "tags": Space(tags, "/tag/silk"),
    "endings": Space(endings, "/space/page.html"),
    "permutations": Space(permutations, "/query?a=1&b=2&c=3&d=4"),
    "made-up names": Space(made_up_names, "/query?a=1"),
    "shared": Space(shared, "/space"),
    "dated": Space(dated, "/2020/05/06/a-first-one"),
    "languages": Space(languages, "/en/space"),
    "searches": Space(searches, "/find/silk"),
    "wiki": Space(wiki, "/wiki/Silk"),
    "ever other": Space(ever_other, "/space/page"),
    "uneven": Space(uneven, "/space/page"),
}


def real_pages() -> dict[str, list[str]]:
    """Return the real pages of a site, each with its links."""
    sections = [f"/{name}" for name in ("docs", "guide", "news", "about", "team", "shop-help")]
    roots = [f"/{name}-{WORDS[at + 3]}" for at, name in enumerate(WORDS[:8])]
    frame = ["/", *sections]
    pages = {"/": [*sections, *roots[:4]]}
    for at, section in enumerate(sections):
        leaves = [f"{section}/{name}" for name in WORDS[at : at + 8]]
        pages[section] = [*frame, *leaves]
        for place, leaf in enumerate(leaves):
            pages[leaf] = [*frame, section, *leaves[place + 1 : place + 3]]
    for at, root in enumerate(roots):  # a row, with links to the next two
        pages[root] = ["/", *roots[at + 1 : at + 3]]
    branch = "/docs/silk"
    for name in ("deep", "deeper", "deepest", "far", "farther"):  # without a frame
        under = [f"{branch}/{name}", f"{branch}/{name}-notes"]
        pages[branch] = [*pages.get(branch, ()), *under]
        pages[under[1]] = ["/"]
        branch = under[0]
    pages[branch] = ["/"]
    return pages


def page(title: str, text: str, links: Sequence[str]) -> Reply:
    """Make a page: a list of links, and a text."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return Reply(
        f"<!doctype html><html lang=en><title>{title}</title><nav><ul>{items}</ul></nav>"
        f"<main><h1>{title}</h1><p>{text}</p></main></html>".encode()
    )


def site_with(space: Space, text: Text, door: Door) -> Site:
    """Make a site of real pages and a space that one or all of them lead to."""
    real = real_pages()
    doors = {Door.HOME: ["/"], Door.DEEP: ["/docs/silk/deep/deeper"], Door.ALL: list(real)}[door]

    def otherwise(seen: Seen) -> Answer:
        if seen.path in ("/robots.txt", "/sitemap.xml", "/llms.txt"):
            return Reply(status=404)
        if seen.target in real:
            more = [space.door] if seen.target in doors else []
            return page(f"About {seen.target}", prose(seen.target), [*real[seen.target], *more])
        path, _, query = seen.target.partition("?")
        links = ["/", "/docs", "/news", *space.links(path, query)]
        told = {Text.SAME: SAME, Text.NEW: prose(f"{seen.target}"),
                Text.ECHO: f"{unquote(seen.target)}: {SAME}"}  # fmt: skip
        return page("More", told[text], links)

    return Site({}, otherwise)
