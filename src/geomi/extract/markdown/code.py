"""Prepare code blocks for a fence: one `pre` with one `code` in it that names its language.

Highlighters write the language in many places: a class with a prefix (`language-`, `lang-`,
`highlight-`, `brush:`), an attribute, or the bare name beside `hljs`, `sourceCode` or `highlight`,
on the block itself or on an element around it. Line numbers are text to a parser, so `prune`
removes them, and a `pre` around a table of code is replaced by the `pre` in it.
"""

from __future__ import annotations

from functools import lru_cache

from geomi.extract.dom import Axis, Element

MAX_LANGUAGE_CHARS = 30
MAX_CLASS_CHARS = 1000  # of an attribute that is remembered

_PREFIXES = ("language-", "lang-", "highlight-source-", "highlight-", "brush:")
_ATTRIBUTES = ("data-lang", "data-language")
_WRAPPERS = 3  # the class stands on the block, or on one of two elements around it …
_TABLE_PARTS = 4  # … not counting the table that holds its line numbers: td, tr, tbody, table
_NO_LANGUAGE = frozenset(
    ("", "none", "default", "notranslate", "text", "plaintext", "plain", "source", "nohighlight")
)
# Beside one of these a bare name is a language; anywhere else it may be anything.
_HIGHLIGHTERS = frozenset(
    "hljs sourcecode highlight prettyprint syntaxhighlighter codehilite prism code-block".split()
)
_LANGUAGES = frozenset(
    "bash c c# c++ clojure cpp csharp css diff docker dockerfile elixir erlang go golang graphql "
    "groovy haskell html http ini java javascript js json jsx kotlin latex less lua makefile "
    "markdown matlab nginx objc objective-c ocaml perl php powershell proto protobuf py python r "
    "ruby rust sass scala scss sh shell sql swift toml ts tsx typescript vb vim vue xml yaml "
    "yml zig".split()
)


def prepare_code(block: Element) -> None:
    """Put a block's language where the renderer looks for it: on a `code` in the `pre`."""
    language = _language_around(block)
    if next(block.iter_elements("pre"), None) is not None:
        _open(block)
        return
    code = block.find("code", axis=Axis.CHILDREN)
    if code is None:
        code = block.wrap_children(Element("code"))
    elif isinstance(before := code.previous_sibling, Element) and not before.text:
        before.decompose()  # Pygments begins a block with an empty `span`, which hides the `code`
    block.attrs["class"] = ""
    code.attrs["class"] = f"language-{language}" if language else ""


def _open(block: Element) -> None:
    """Turn a block around other blocks into a plain one, which keeps the language for them."""
    block.tag = "div"
    for code in block.select(":scope > code"):
        code.tag = "div"


def _language_around(block: Element) -> str:
    code = block.find("code", axis=Axis.CHILDREN)
    language = "" if code is None else _language(code)
    holder: object = block
    left = _WRAPPERS
    while left and not language and isinstance(holder, Element):
        language = _language(holder)
        left += _TABLE_PARTS if holder.tag == "td" and left <= _WRAPPERS else 0
        left -= 1
        holder = holder.parent
    return language


def _language(element: Element) -> str:
    for name in _ATTRIBUTES:
        if named := element.attr(name):
            return _clean(named)
    return _language_in((element.attr("class") or "")[:MAX_CLASS_CHARS])


@lru_cache(maxsize=1024)
def _language_in(classes: str) -> str:
    """Read a class attribute; the code blocks of a site have a few different ones."""
    words = classes.replace("brush: ", "brush:").split()
    for prefix in _PREFIXES:
        for word in words:
            if word.startswith(prefix):
                return _clean(word[len(prefix) :])
    names = [word.lower() for word in words]
    if len(names) == 1 or not _HIGHLIGHTERS.isdisjoint(names):
        return next((name for name in names if name in _LANGUAGES), "")
    return ""


def _clean(language: str) -> str:
    language = language.strip().strip(";").lower()[:MAX_LANGUAGE_CHARS]
    plain = language.replace("+", "").replace("#", "").replace("-", "").replace("_", "")
    return language if plain.isalnum() and language not in _NO_LANGUAGE else ""
