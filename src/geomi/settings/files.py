"""Read files that a person gives to a crawl: a scanner's `scan.yml`, and a JSON Schema for fields.

- `scan.yml` (seed 001 §12): a line is `name: value` below `crawler:`, `- value` below
  `excludePaths:`, or a comment. geomi reads no other YAML. It refuses any other line and names its
  number, so that no rule is lost silently. Such a file implies the `scanner` profile.
- A schema is text, or on the command line `@` and a file's name. Only the command line may name a
  file, because its user may read the file anyway. Text from elsewhere is the schema itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from geomi.analyse.fields.custom_schema import MAX_SCHEMA_CHARS, read_schema
from geomi.errors import ConfigError
from geomi.settings.values import refuse_unknown

SCAN_SUFFIXES = (".yml", ".yaml")
# What each key sets, and what its number is multiplied with to get there.
SCAN_KEYS: Mapping[str, tuple[str, float | None]] = {
    "sameDomainOnly": ("scope.within", None),  # LNK-06, G-29
    "respectRobots": ("robots.respect", None),
    "robotsTtlMinutes": ("robots.ttl_s", 60),
    "robotsFailTtlMinutes": ("robots.fail_ttl_s", 60),
    "robotsMaxRedirects": ("robots.max_redirects", None),
    "robotsTimeoutMs": ("robots.read_timeout_s", 0.001),  # C-12
    "robotsUa": ("http.user_agent", None),
    "robotsFallbackAllowAll": ("robots.on_unreachable", None),
}
# What the answers are that are yes or no; some settings have more than two values.
_IF_TRUE: Mapping[str, tuple[object, object]] = {
    "sameDomainOnly": ("host", "domain"),
    "respectRobots": (True, False),
    "robotsFallbackAllowAll": ("allow", "disallow"),
}
_FLAG = TypeAdapter(bool)  # the words that any setting takes: true, false, yes, no, on, off, …
_HEAD = re.compile(r"(-) +|([A-Za-z]+):(?: +|$)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"|\'((?:[^\']|\'\')*)\'')
_ESCAPED = re.compile(r"\\(.)")
_SPECIAL = ("*", "&", "!", "|", ">", "%", "@", "`", "[", "{", "-", "?", '"', "'")
SCHEMA_KEY = "analysis.schema"
FILE_SIGN = "@"
_SCHEMA_HINT = "give a JSON Schema of an object; docs/how-to/ask-for-your-own-fields.md has one"


def read_scan(text: str, place: str) -> tuple[dict[str, object], dict[str, str]]:
    """Return settings by dotted key and what the file calls each; `ConfigError` names a line."""
    values: dict[str, object] = {"run.profile": "scanner"}
    names: dict[str, str] = {}
    excluded: list[str] = []
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = _without_comment(line)
        if not words:
            continue
        dash, name, value = _parts(words)
        if name and not value and line[0].isalpha():
            refuse_unknown({name: value}, ("crawler", "excludePaths"), f"key in `{place}`")
            section = name
        elif dash and value and section == "excludePaths":
            excluded.append(value)
        elif name and value and line[0] == " " and section == "crawler":
            refuse_unknown({name: value}, list(SCAN_KEYS), f"key in `{place}`")
            key, _ = SCAN_KEYS[name]
            values[key], names[key] = _converted(name, value, place), name
        else:
            raise ConfigError(
                f"line {number} of `{place}` is not understood: `{line.strip()}`",
                hint='write `  name: value` below `crawler:`, `  - "/path"` below `excludePaths:`',
            )
    if excluded:
        values["scope.exclude"], names["scope.exclude"] = excluded, "excludePaths"
    return values, names


def _without_comment(line: str) -> str:
    """Cut off a comment: `#` at the start or after a space, but not inside quotes."""
    end, quote = 0, ""
    while end < len(line):
        letter = line[end]
        if quote:
            end += letter == "\\" and quote == '"'
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#" and (end == 0 or line[end - 1].isspace()):
            break
        end += 1
    return line[:end].strip()


def _parts(words: str) -> tuple[str, str, str]:
    """Return dash, name and value of a line; all empty for a line that geomi does not read."""
    head = _HEAD.match(words)
    if head is None:
        return "", "", ""
    raw = words[head.end() :]
    if quoted := _QUOTED.fullmatch(raw):
        double, single = quoted.groups()
        value = _ESCAPED.sub(r"\1", double) if single is None else single.replace("''", "'")
    elif raw.startswith(_SPECIAL):
        return "", "", ""
    else:
        value = raw
    return head[1] or "", head[2] or "", value


def _converted(name: str, text: str, place: str) -> object:
    """Read yes or no, and convert a number's unit; the setting's own type refuses the rest."""
    if name in _IF_TRUE:
        yes, no = _IF_TRUE[name]
        return yes if _flag(name, text, place) else no
    _, factor = SCAN_KEYS[name]
    return int(text) * factor if factor and text.isdecimal() else text


def _flag(name: str, text: str, place: str) -> bool:
    try:
        return _FLAG.validate_python(text)
    except ValidationError as error:
        raise ConfigError(
            f"`{name}: {text}` in `{place}` is neither true nor false",
            hint=f"write `{name}: true` or `{name}: false`",
        ) from error


def schema_in(text: str) -> str:
    """Return a schema's text, read from a file where one is named."""
    if not text.startswith(FILE_SIGN):
        return text
    path = Path(text.removeprefix(FILE_SIGN))
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_SCHEMA_CHARS + 1)
    except OSError as error:
        raise ConfigError(
            f"cannot read schema `{path}`: {error.strerror}", hint=_SCHEMA_HINT
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"cannot read schema `{path}`: it is not text", hint=_SCHEMA_HINT
        ) from error


def checked_schema(raw: object) -> object:
    """Return a schema that pages can be asked for; refuse any other with the place in it."""
    if isinstance(raw, str) and raw:
        try:
            read_schema(raw)
        except ValueError as error:
            raise ConfigError(f"{SCHEMA_KEY}: {error}", hint=_SCHEMA_HINT) from None
    return raw
