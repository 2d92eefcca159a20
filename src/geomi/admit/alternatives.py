"""Decide what a glob's braces and inner `**` stand for: one pattern becomes a few simple ones.

`/{a,b}/c` is `/a/c` or `/b/c`. A `**` that shares its segment with other characters is written
out, too: `/v1**` is `/v1*` or `/v1*/**/*`. What is left holds `**` only as a whole segment. The
number of alternatives is limited, since it doubles with each brace.
"""

from __future__ import annotations

from geomi.errors import ConfigError

MAX_ALTERNATIVES = 64


def expand(glob: str, *, stars: bool = True) -> tuple[str, ...]:
    """Write a glob out, its inner `**` too unless `stars` is off.

    `ConfigError` if it is malformed or stands for too many.
    """
    waiting, done = [glob], []
    while waiting:
        choices = _choices(one := waiting.pop(), stars)
        if choices:
            waiting += choices
        else:
            done.append(one)
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            raise ConfigError(f"has more than {MAX_ALTERNATIVES} alternatives")
    return tuple(done)


def class_end(glob: str, at: int) -> int:
    """Return where the class that opens at `at` closes; its first character is never the end."""
    first = at + 2 if glob[at + 1 : at + 2] in ("!", "^") else at + 1
    end = glob.find("]", first + 1)
    if end < 0:
        raise ConfigError("has a `[` without `]`", hint="write `[[]` for the character itself")
    if "/" in glob[at:end]:
        raise ConfigError("has a `/` between brackets")
    return end


def _choices(glob: str, stars: bool) -> list[str]:
    """Return what the first brace or inner `**` stands for; nothing if there is none."""
    at = 0
    while at < len(glob):
        if glob[at] == "[":
            at = class_end(glob, at)
        elif glob[at] == "{":
            return _brace_choices(glob, at)
        elif glob[at] == "}":
            raise ConfigError("has a `}` without `{`")
        elif stars and glob.startswith("**", at):
            end = at + len(glob[at:]) - len(glob[at:].lstrip("*"))
            if glob[at - 1 : at] not in ("", "/") or glob[end : end + 1] not in ("", "/"):
                return [glob[:at] + choice + glob[end:] for choice in ("*", "*/**/*")]
            at = end - 1
        at += 1
    return []


def _brace_choices(glob: str, start: int) -> list[str]:
    marks, depth, at = [start], 0, start
    while at < len(glob):
        if glob[at] == "[":
            at = class_end(glob, at)
        elif glob[at] == "{":
            depth += 1
        elif glob[at] == "," and depth == 1:
            marks.append(at)
        elif glob[at] == "}":
            depth -= 1
            if depth == 0:
                ends = [*marks[1:], at]
                choices = [glob[a + 1 : b] for a, b in zip(marks, ends, strict=True)]
                return [glob[:start] + choice + glob[at + 1 :] for choice in choices]
        at += 1
    raise ConfigError("has a `{` without `}`", hint="write `[{]` for the character itself")
