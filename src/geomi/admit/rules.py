"""Decide whether a URL may enter a job's frontier: checks in a fixed order, the first refusal wins.

The order is: length, blocked host, scope, exclude, default blocks, personal areas, include,
extension, trap, depth.

- An exclude beats an include (SCP-02).
- An explicit include overrules default blocks in segment form and personal areas (C-66).
- Seeds are exempt from the include list alone (C-23).
- For scope, a host and its `www.` name are one host, because sites redirect from one to the other
  (C-16). http and https of one name are one host; any other port is another host.

The checks run about a hundred times for each page, so a check that cannot apply to the job is left
out. `geomi why` explains with the same functions.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import assert_never

from geomi.admit import area, glob, trap
from geomi.errors import ConfigError
from geomi.model.config import BlockStyle, CrawlConfig, Scope, Within
from geomi.model.verdict import Verdict
from geomi.url.host import registrable_domain
from geomi.url.parse import DEFAULT_PORTS, Url, parse

ADMITTED = Verdict(True, "admitted")

Check = Callable[[Url, int, bool], Verdict | None]  # URL, depth, whether it is a seed


class Admission:
    """The rules of one job, compiled once."""

    __slots__ = ("_active", "_blocked", "_checks", "_includes", "_minds_logins", "_trusting")

    def __init__(self, config: CrawlConfig, seeds: Sequence[str], now_year: int) -> None:
        """Compile the chain; `ConfigError` names a seed, host or pattern that cannot be used."""
        scope = config.scope
        includes = self._includes = glob.compile(scope.include, scope.glob)
        excludes = glob.compile(scope.exclude, scope.glob)
        glob.refuse_costly(includes, excludes)
        blocked = self._blocked = _blocked_host_check(scope) if scope.blocked_hosts else None
        self._checks: tuple[tuple[str, Check | None], ...] = (
            ("url_length", _length_check(config.limits.max_url_chars)),
            ("blocked_host", blocked),
            ("scope", _scope_check(scope, tuple(map(_parsed, seeds)))),
            ("exclude", _exclude_check(excludes) if scope.exclude else None),
            ("block", _block_check(scope, includes) if scope.block_defaults else None),
            ("personal", None if scope.personal_areas else _personal_check(includes)),
            ("include", _include_check(includes) if scope.include else None),
            ("extension", _extension_check(config)),
            ("trap", _trap_check(now_year) if scope.avoid_traps else None),
            ("depth", _depth_check(config.limits.max_depth)),
        )
        self._active = tuple(check for _, check in self._checks if check is not None)
        self._trusting = tuple(check for name, check in self._checks if check and name != "trap")
        self._minds_logins = scope.block_defaults or not scope.personal_areas

    def judge(
        self, url: Url, depth: int, *, is_seed: bool = False, is_trusted: bool = False
    ) -> Verdict:
        """Return the verdict of the first check that refuses, or `ADMITTED`.

        Args:
            is_trusted: somebody has looked at the site and found no trap (TRP-07).
        """
        for check in self._trusting if is_trusted else self._active:
            verdict = check(url, depth, is_seed)
            if verdict is not None:
                return verdict
        return ADMITTED

    def judge_host(self, url: Url) -> Verdict:
        """Judge a URL that is no page, such as a sitemap, which only a blocked host refuses."""
        return (self._blocked and self._blocked(url, 0, False)) or ADMITTED

    def judge_redirect(self, sent_from: Url, url: Url) -> Verdict:
        """Refuse to go where a visitor is asked to sign in: the page lies behind that (SCP-15)."""
        name = area.login_name(url, sent_from) if self._minds_logins else ""
        if name == "" or self._includes.first(url) is not None:
            return ADMITTED
        detail = f"the page redirects its visitors to a login: /{name}"
        return Verdict(False, "login", detail, _include_hint(url))

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


def _blocked_host_check(scope: Scope) -> Check:
    blocked = frozenset(_parsed_host(name, "blocked").host for name in scope.blocked_hosts)

    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        name = url.host
        while name not in blocked:
            _, dot, name = name.partition(".")
            if not dot:
                return None
        hint = f"take {name} out of scope.blocked_hosts"
        return Verdict(False, "blocked_host", name, hint)

    return check


def _scope_check(scope: Scope, seeds: tuple[Url, ...]) -> Check | None:
    listed = tuple(map(_parsed_host, scope.hosts))  # nonsense is refused also where it is not used
    match scope.within:
        case Within.ANY:
            return None
        case Within.DOMAIN:
            return _domain_check(frozenset(registrable_domain(seed.host) for seed in seeds))
        case Within.HOST:
            return _host_check(scope.within, seeds)
        case Within.LIST:
            return _host_check(scope.within, (*seeds, *listed))
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


def _exclude_check(patterns: glob.UrlPatterns) -> Check:
    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        pattern = patterns.first(url)
        if pattern is None:
            return None
        hint = f"take {shlex.quote(pattern)} out of scope.exclude"
        return Verdict(False, "exclude", pattern, hint)

    return check


def _block_check(scope: Scope, includes: glob.UrlPatterns) -> Check:
    if scope.block_style is BlockStyle.EXPRESSIONS:
        return _expressions_check

    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        name = area.blocked_name(url)
        if name == "" or includes.first(url) is not None:
            return None
        detail = f"default block list: {name}"
        return Verdict(False, f"block.{name}", detail, "--set scope.block_defaults=false")

    return check


def _expressions_check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
    """Read the default block list as the seed wrote it, which no include overrides (SCP-10)."""
    text = area.blocked_text(url)
    if text == "":
        return None
    detail = f"default block list: `{text}` in the URL"
    return Verdict(False, f"block.{text.strip('/?=')}", detail, "--set scope.block_style=segments")


def _personal_check(includes: glob.UrlPatterns) -> Check:
    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        name = area.personal_name(url)
        if name == "" or includes.first(url) is not None:
            return None
        detail = f"it is a personal area: {name}"
        return Verdict(False, f"personal.{name}", detail, _include_hint(url))

    return check


def _include_check(patterns: glob.UrlPatterns) -> Check:
    def check(url: Url, _depth: int, is_seed: bool) -> Verdict | None:
        if is_seed or patterns.first(url) is not None:
            return None
        return Verdict(False, "include", "no include pattern matches", _include_hint(url))

    return check


def _include_hint(url: Url) -> str:
    """Offer the folder of a URL, or the place itself where that folder would be the whole site."""
    folder = url.path.rpartition("/")[0] or url.path.rstrip("/")
    return f"--include {shlex.quote(folder + '/**')}"


def _extension_check(config: CrawlConfig) -> Check:
    accepted = frozenset(config.http.content_types)
    blocked = {
        extension: media_type
        for extension, media_type in area.MEDIA_TYPE_OF.items()
        if media_type not in accepted
    }
    named = frozenset(name.lstrip(".").lower() for name in config.scope.blocked_extensions)
    blocked |= dict.fromkeys(named, "")

    def check(url: Url, _depth: int, _is_seed: bool) -> Verdict | None:
        name, dot, extension = url.path.rpartition(".")
        extension = extension.lower()
        if extension not in blocked or not dot or name.endswith("/"):
            return None
        hint = _extension_hint(config, extension, blocked[extension])
        return Verdict(False, "extension", f".{extension}", hint)

    return check


def _extension_hint(config: CrawlConfig, extension: str, media_type: str) -> str:
    if media_type == "":
        return f"take {extension} out of scope.blocked_extensions"
    # Only text can be read so far: accepting anything else would help nobody.
    types = ",".join((*config.http.content_types, media_type))
    return f"--set http.content_types={types}" if media_type.startswith("text/") else ""


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


def _parsed_host(name: str, of: str = "scope") -> Url:
    url = parse(name if "://" in name else f"https://{name}")
    if url is None:
        raise ConfigError(
            f"host `{name[:200]}` of the {of} list is not a host name",
            hint="write it as example.org or example.org:8080",
        )
    return url
