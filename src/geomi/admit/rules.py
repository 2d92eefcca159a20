"""Decide whether a URL may enter a job's frontier: an ordered chain, and the first refusal decides.

The order is: length, scope, exclude, default blocks, include, extension, trap, depth. An exclude
beats an include (SCP-02); a default block yields to an explicit include (C-66); seeds are exempt
from the include list alone (C-23). For scope a host and its `www.` twin are one, because a site
sends people from one to the other (C-16); http and https of one name are one host, and any other
port is another.

The chain runs about a hundred times for each page, so a check that cannot apply to the job is not
in it, and `geomi why` explains with the very functions that decide.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import assert_never

from geomi.admit import defaults, glob, trap
from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig, HttpRules, Scope, Within
from geomi.model.verdict import Verdict
from geomi.url.canonical import canonical
from geomi.url.host import registrable_domain
from geomi.url.parse import DEFAULT_PORTS, Url, parse

ADMITTED = Verdict(True, "admitted")

Check = Callable[[Url, int, bool], Verdict | None]  # URL, depth, whether it is a seed


class Admission:
    """The rules of one job, compiled once."""

    __slots__ = ("_active", "_checks")

    def __init__(self, config: CrawlConfig, seeds: Sequence[str], now_year: int) -> None:
        """Compile the chain; `ConfigError` names a seed, host or pattern that cannot be used."""
        scope = config.scope
        includes = tuple(map(glob.compile, scope.include))
        excludes = tuple(map(glob.compile, scope.exclude))
        self._checks: tuple[tuple[str, Check | None], ...] = (
            ("url_length", _length_check(config.limits.max_url_chars)),
            ("scope", _scope_check(scope, tuple(map(_parsed, seeds)))),
            ("exclude", _exclude_check(excludes) if excludes else None),
            ("block", _block_check(includes) if scope.block_defaults else None),
            ("include", _include_check(includes) if includes else None),
            ("extension", _extension_check(config.http)),
            ("trap", _trap_check(now_year) if scope.avoid_traps else None),
            ("depth", _depth_check(config.limits.max_depth)),
        )
        self._active = tuple(check for _, check in self._checks if check is not None)

    def judge(self, url: Url, depth: int, *, is_seed: bool = False) -> Verdict:
        """Return the verdict of the first check that refuses, or `ADMITTED`."""
        for check in self._active:
            verdict = check(url, depth, is_seed)
            if verdict is not None:
                return verdict
        return ADMITTED

    def explain(
        self, url: Url, depth: int, is_seed: bool = False
    ) -> tuple[tuple[str, Verdict], ...]:
        """Return what every check says by itself, in the order of the chain."""
        return tuple(
            (name, _told(name, check, check and check(url, depth, is_seed)))
            for name, check in self._checks
        )


def _told(name: str, check: Check | None, verdict: Verdict | None) -> Verdict:
    return verdict or Verdict(True, name, "" if check else "not set")


def _length_check(max_chars: int) -> Check:
    return lambda url, _depth, _is_seed: trap.judge_length(url, max_chars)


def _scope_check(scope: Scope, seeds: tuple[Url, ...]) -> Check | None:
    match scope.within:
        case Within.ANY:
            return None
        case Within.DOMAIN:
            return _domain_check(frozenset(registrable_domain(seed.host) for seed in seeds))
        case Within.HOST:
            return _host_check(scope.within, seeds)
        case Within.LIST:
            return _host_check(scope.within, (*seeds, *map(_parsed_host, scope.hosts)))
        case _ as unknown:
            assert_never(unknown)


def _domain_check(domains: frozenset[str]) -> Check:
    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        if registrable_domain(url.host) in domains:
            return None
        return Verdict(False, "scope.domain", url.host, "--scope any")

    return check


def _host_check(within: Within, members: tuple[Url, ...]) -> Check:
    names = frozenset(map(_site, members))
    domains = frozenset(registrable_domain(member.host) for member in members)

    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        name = _site(url)
        if name in names:
            return None
        wider = "domain" if registrable_domain(url.host) in domains else "any"
        hint = f"--set scope.hosts={name}" if within is Within.LIST else f"--scope {wider}"
        return Verdict(False, f"scope.{within}", name, hint)

    return check


def _site(url: Url) -> str:
    name = url.host if url.port in _WEB_PORTS else url.authority
    return name.removeprefix("www.")


def _exclude_check(patterns: tuple[glob.Pattern, ...]) -> Check:
    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        for pattern in patterns:
            if pattern.matches(url):
                hint = f"remove --exclude {shlex.quote(pattern.text)}"
                return Verdict(False, "exclude", pattern.text, hint)
        return None

    return check


def _block_check(includes: tuple[glob.Pattern, ...]) -> Check:
    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        names = canonical(url.path).lower().split("/")
        if (
            url.query == ""
            and defaults.BLOCKED_SEGMENTS.isdisjoint(names)
            and defaults.BLOCKED_LAST_SEGMENTS.isdisjoint(names)
        ):
            return None
        name = _blocked_name(names, url.query)
        if name == "" or any(pattern.matches(url) for pattern in includes):
            return None
        detail = f"default block list: {name}"
        return Verdict(False, f"block.{name}", detail, "--set scope.block_defaults=false")

    return check


def _blocked_name(names: list[str], query: str) -> str:
    for name in names:
        if name in defaults.BLOCKED_SEGMENTS:
            return name
    last = names[-1] or names[-2]
    if last in defaults.BLOCKED_LAST_SEGMENTS:
        return last
    for parameter in query.split("&") if query else ():
        name = canonical(parameter.partition("=")[0]).lower()
        if name in defaults.BLOCKED_PARAMETERS:
            return name
    return ""


def _include_check(patterns: tuple[glob.Pattern, ...]) -> Check:
    def check(url: Url, _depth: int, is_seed: bool) -> Verdict | None:
        if is_seed:
            return None
        for pattern in patterns:
            if pattern.matches(url):
                return None
        return Verdict(False, "include", "no --include pattern matches", _include_hint(url))

    return check


def _include_hint(url: Url) -> str:
    """Offer the folder of a URL, or the place itself where that folder would be the whole site."""
    folder = url.path.rpartition("/")[0] or url.path.rstrip("/")
    return f"--include {shlex.quote(folder + '/**')}"


def _extension_check(http: HttpRules) -> Check:
    accepted = frozenset(http.content_types)
    blocked = {
        extension: media_type
        for extension, media_type in defaults.MEDIA_TYPE_OF.items()
        if media_type not in accepted
    }

    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        name, dot, extension = url.path.rpartition(".")
        extension = extension.lower()
        if extension not in blocked or not dot or name.endswith("/"):
            return None
        media_type = blocked[extension]
        types = ",".join((*http.content_types, media_type))
        # Only text can be read so far: accepting anything else would help nobody.
        hint = f"--set http.content_types={types}" if media_type.startswith("text/") else ""
        return Verdict(False, "extension", f".{extension}", hint)

    return check


def _trap_check(now_year: int) -> Check:
    return lambda url, _depth, _is_seed: trap.detect(url, now_year=now_year)


def _depth_check(max_depth: int) -> Check:
    def check(_url: Url, depth: int, _is_seed: bool) -> Verdict | None:
        if depth <= max_depth:
            return None
        return Verdict(False, "depth", f"{depth}; the limit is {max_depth}", f"--depth {depth}")

    return check


_WEB_PORTS = frozenset(DEFAULT_PORTS.values())


def _parsed(seed: str) -> Url:
    url = parse(seed)
    if url is None:
        raise ConfigError(
            f"seed `{seed[:200]}` is not an http(s) URL", hint="write it as https://example.org/"
        )
    return url


def _parsed_host(name: str) -> Url:
    url = parse(name if "://" in name else f"https://{name}")
    if url is None:
        raise ConfigError(
            f"host `{name[:200]}` of the scope list is not a host name",
            hint="write it as example.org or example.org:8080",
        )
    return url
