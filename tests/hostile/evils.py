"""What a hostile or broken server may answer to one request, and how each must end.

An evil is an answer and the outcome of its page. `EVILS` end at once, `SLOW` at a deadline; each
can be given any number of times, because endless parts begin anew with every request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from geomi.adapters.http.decode import MAX_CODINGS
from geomi.adapters.http.response import MAX_HEAD_BYTES, MAX_HEADERS
from geomi.model.verdict import Outcome
from tests.adapters.http.support import ENCODERS
from tests.support.server import Answer, End, Raw, Reply

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
PAGE = b"<h1>Page</h1><p>Some words of a page."
BOMB_BYTES = 32 * 1024 * 1024
DRIP_S = 0.2


@dataclass(frozen=True, slots=True)
class Evil:
    """One answer, and the outcome of the page that gives it."""

    answer: Answer
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Endless:
    """Parts without an end: a start, then the same again and again."""

    start: bytes
    again: bytes
    pause_s: float = 0.0

    def __iter__(self) -> Iterator[bytes | float]:
        yield self.start
        while True:
            yield self.again
            if self.pause_s:
                yield self.pause_s


@cache
def bomb(codings: str) -> bytes:
    """Return some MiB of zeros behind codings, the first of them applied first."""
    data = bytes(BOMB_BYTES)
    for name in codings.split("+"):
        data = ENCODERS[name][1](data)
    return data


def encoding(codings: str) -> tuple[str, str]:
    """Return the header that names the codings."""
    return "Content-Encoding", ", ".join(ENCODERS[name][0] for name in codings.split("+"))


# A second coding around a bomb makes it smaller still; around empty blocks it makes one of nothing.
BOMBS = ("gzip", "zlib", "raw-deflate", "br", "zstd", "gzip+gzip", "br+zstd", "zstd+br", "zlib+br")


def raw(*parts: bytes | float, end: End = End.CLOSE) -> Raw:
    """Answer with these bytes and pauses."""
    return Raw(parts, end)


def _headed(*headers: bytes, body: bytes = b"") -> Raw:
    return raw(OK + b"".join(header + b"\r\n" for header in headers) + b"\r\n" + body)


def _bombs() -> Iterator[tuple[str, Evil]]:
    for codings in BOMBS:
        reply = Reply(bomb(codings), headers=(encoding(codings),))
        yield f"bomb-{codings}", Evil(reply, Outcome.TOO_LARGE)
    nothing = ENCODERS["br"][1](b"\0\0\0\xff\xff" * (BOMB_BYTES // 5))
    headers = (("Content-Encoding", "deflate, br"),)
    yield "bomb-of-nothing", Evil(Reply(nothing, headers=headers), Outcome.TOO_LARGE)
    frames = ENCODERS["zstd"][1](b"") * 50_000
    headers = (("Content-Encoding", "zstd"),)
    yield "zstd-frames", Evil(Reply(frames, headers=headers), Outcome.BAD_ENCODING)
    many = ", ".join(["gzip"] * (MAX_CODINGS + 1))
    headers = (("Content-Encoding", many),)
    yield "three-codings", Evil(Reply(PAGE, headers=headers), Outcome.BAD_ENCODING)
    headers = (("Content-Encoding", "gzip"),)
    yield "not-coded-at-all", Evil(Reply(PAGE, headers=headers), Outcome.BAD_ENCODING)
    cut = ENCODERS["gzip"][1](PAGE)[:-4]
    yield "coding-cut-off", Evil(Reply(cut, headers=headers), Outcome.BAD_ENCODING)


def _ends(outcome: Outcome, answers: Mapping[str, Answer]) -> Iterator[tuple[str, Evil]]:
    return ((name, Evil(answer, outcome)) for name, answer in answers.items())


_TOO_LARGE: dict[str, Answer] = {
    "endless-body": Raw(Endless(OK + b"\r\n", b"<p>more" * 1000)),
    "endless-chunks": Raw(Endless(CHUNKED, b"1000\r\n" + b"x" * 4096 + b"\r\n")),
    "endless-status-line": Raw(Endless(b"HTTP/1.1 200 ", b"O" * 1000)),
    "endless-headers": Raw(Endless(OK, b"X-More: and more\r\n" * 100)),
    "endless-header-name": Raw(Endless(OK, b"X" * 1000)),
    "endless-header-value": Raw(Endless(OK + b"X: ", b"y" * 1000)),
    "endless-folds": Raw(Endless(OK + b"X: y\r\n", b" folded\r\n" * 100)),
    "endless-interim-answers": Raw(Endless(b"", b"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n" * 99)),
    "endless-chunk-extensions": Raw(Endless(CHUNKED + b"1;", b"e=x;" * 1000)),
    "endless-chunk-extension-lines": Raw(Endless(CHUNKED, b"1;" + b"e" * 4000 + b"\r\nx\r\n")),
    "endless-trailers": Raw(Endless(CHUNKED + b"0\r\n", b"X: y\r\n" * 100)),
    "too-many-headers": _headed(*[b"X: y"] * (MAX_HEADERS + 1)),
    "giant-header": _headed(b"X: " + b"y" * MAX_HEAD_BYTES),
    "length-of-a-terabyte": _headed(b"Content-Length: 1000000000000", body=PAGE),
}

_PROTOCOL_ERRORS: dict[str, Answer] = {
    "length-too-long": _headed(b"Content-Length: 9000", body=PAGE),
    "length-negative": _headed(b"Content-Length: -1", body=PAGE),
    "length-not-a-number": _headed(b"Content-Length: many", body=PAGE),
    "length-beyond-64-bits": _headed(b"Content-Length: 99999999999999999999", body=PAGE),
    "two-lengths": _headed(b"Content-Length: 5", b"Content-Length: 6", body=PAGE),
    "chunk-size-not-hexadecimal": raw(CHUNKED + b"zz\r\nhi\r\n0\r\n\r\n"),
    "chunk-size-negative": raw(CHUNKED + b"-2\r\nhi\r\n0\r\n\r\n"),
    "chunk-size-beyond-64-bits": raw(CHUNKED + b"fffffffffffffffff\r\nhi"),
    "chunk-longer-than-it-says": raw(CHUNKED + b"2\r\nhi and more\r\n0\r\n\r\n"),
    "chunks-without-an-end": raw(CHUNKED + b"2\r\nhi\r\n"),
    "chunks-cut-off": raw(CHUNKED + b"9000\r\nhi"),
    "transfer-coding-unknown": _headed(b"Transfer-Encoding: gzip, chunked", body=PAGE),
    "reset-in-the-status-line": raw(b"HTTP/1.1 20", 0.05, end=End.RESET),
    "reset-in-the-headers": raw(OK + b"X: y", 0.05, end=End.RESET),
    "reset-in-the-body": raw(OK + b"Content-Length: 9\r\n\r\nhi", 0.05, end=End.RESET),
    "reset-in-a-body-without-length": raw(OK + b"\r\nhi", 0.05, end=End.RESET),
    "close-in-the-status-line": raw(b"HTTP/1.1 20"),
    "close-in-the-headers": raw(OK + b"X: y\r\n"),
    "ssh": raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "smtp": raw(b"220 mail.test ESMTP ready\r\n"),
    "tls-alert": raw(b"\x15\x03\x01\x00\x02\x02\x0a"),
    "http-0.9": raw(b"<html><h1>Old</h1><p>No status line at all."),
    "http-2-preface": raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "http-2-frames": raw(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18)),
    "http-2-status-line": raw(b"HTTP/2 200 OK\r\n\r\n"),
    "switching-protocols": raw(
        b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    ),
    "noise": raw(bytes(range(256)) * 20),
    "status-000": raw(b"HTTP/1.1 000 Zero\r\n\r\n"),
    "status-099": raw(b"HTTP/1.1 099 Low\r\n\r\n"),
    "status-600": Reply(PAGE, status=600),
    "status-999": Reply(PAGE, status=999),
    "status-of-four-digits": raw(b"HTTP/1.1 2000 Many\r\n\r\n"),
    "status-not-a-number": raw(b"HTTP/1.1 abc Word\r\n\r\n"),
    "status-206": Reply(PAGE, status=206),
    "status-300": Reply(PAGE, status=300),
    "nul-in-a-header": _headed(b"X: a\0b", body=PAGE),
    "nul-in-a-header-name": _headed(b"X\0: a", body=PAGE),
    "header-without-a-colon": _headed(b"no colon here", body=PAGE),
    "space-before-the-first-header": raw(b"HTTP/1.1 200 OK\r\n X: y\r\n\r\n" + PAGE),
    "redirect-to-nowhere": Reply(status=302),
}

_REDIRECTS: dict[str, tuple[str, Outcome]] = {
    "location-empty": ("", Outcome.PROTOCOL_ERROR),
    "location-of-another-scheme": ("javascript:alert(1)", Outcome.REDIRECT_EXCLUDED),
    "location-of-a-file": ("file:///etc/passwd", Outcome.REDIRECT_EXCLUDED),
    "location-without-a-host": ("http://", Outcome.REDIRECT_EXCLUDED),
    "location-of-a-bad-port": ("http://a.test:99999/", Outcome.REDIRECT_EXCLUDED),
    "location-of-noise": ('http://[::1%\\<>"{}|^`', Outcome.REDIRECT_EXCLUDED),
    "location-too-long": ("/" + "x" * 60_000, Outcome.REDIRECT_EXCLUDED),
    "location-to-itself": ("?", Outcome.REDIRECTED),
}

_EMPTY: dict[str, Answer] = {
    "no-content": raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "empty-body": Reply(b""),
    "nul-bytes-alone": Reply(bytes(5000)),
}

# Broken, and yet as good as a page: what could be read is kept.
_READABLE: dict[str, Answer] = {
    "length-too-short": _headed(b"Content-Length: 21", body=PAGE),
    "headers-folded": _headed(b"X: a\r\n b\r\n\tc", b"Content-Length: 37", body=PAGE),
    "interim-answers": raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 50 + OK + b"\r\n<p>After a hundred."),
    "nul-bytes-between": Reply(b"<p>NUL\0 bytes\0 in\0 a page."),
    "bytes-of-no-charset": Reply(b"<p>Words and bytes \xff\xfe\xfd\x80\x81 of no charset."),
    "lines-of-lf-alone": raw(b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n<p>Lines of LF alone."),
}

_NO_ANSWER: dict[str, Answer] = {
    "close-without-an-answer": raw(),
    "reset-without-an-answer": raw(end=End.RESET),
}

EVILS: dict[str, Evil] = {
    **dict(_bombs()),
    **dict(_ends(Outcome.TOO_LARGE, _TOO_LARGE)),
    **dict(_ends(Outcome.PROTOCOL_ERROR, _PROTOCOL_ERRORS)),
    **dict(_ends(Outcome.EMPTY, _EMPTY)),
    **dict(_ends(Outcome.OK, _READABLE)),
    **dict(_ends(Outcome.CONNECT_ERROR, _NO_ANSWER)),
    **{
        name: Evil(Reply(status=302, headers=(("Location", location),)), outcome)
        for name, (location, outcome) in _REDIRECTS.items()
    },
    "wrong-type": Evil(Reply(PAGE, content_type="image/png"), Outcome.WRONG_TYPE),
}

SLOW: dict[str, Evil] = dict(
    _ends(
        Outcome.TIMEOUT,
        {
            "silence": raw(end=End.SILENCE),
            "silence-in-the-headers": raw(OK, end=End.SILENCE),
            "silence-in-the-body": raw(OK + b"Content-Length: 9\r\n\r\nhi", end=End.SILENCE),
            "drip-of-headers": Raw(Endless(OK, b"X", DRIP_S)),
            "drip-of-header-lines": Raw(Endless(OK, b"X: y\r\n", DRIP_S)),
            "drip-of-a-body": Raw(Endless(OK + b"\r\n", b"x", DRIP_S)),
            "drip-of-chunks": Raw(Endless(CHUNKED, b"1\r\nx\r\n", DRIP_S)),
            "drip-of-interim-answers": Raw(Endless(b"", b"HTTP/1.1 102 Wait\r\n\r\n", DRIP_S)),
            "drip-of-gzip": Raw(
                Endless(
                    OK + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\3",
                    b"\0\0\0\xff\xff",
                    DRIP_S,
                )
            ),
        },
    )
)
