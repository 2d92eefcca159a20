"""Where a bucket of an S3 server is, as settings name it; credentials are never part of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from geomi.errors import ConfigError
from geomi.url.parse import without_user_info

SCHEME = "s3://"
FORM = f"{SCHEME}BUCKET/PREFIX"

_OPTIONS = ("endpoint", "region")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class BucketUrl:
    """Where a bucket is; what is empty comes from `AWS_*` variables."""

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".removesuffix("/")

    @property
    def full(self) -> str:
        """Name it so that a bucket of the same name on another server is another one."""
        return f"{self}?endpoint={self.endpoint.rstrip('/')}" if self.endpoint else str(self)


def names_bucket(text: str) -> bool:
    """Return whether a place is the URL of a bucket."""
    return text.startswith(SCHEME)


def read_bucket_url(text: str) -> BucketUrl:
    """Read `s3://bucket/prefix?endpoint=…&region=…`; one with a credential is refused unshown."""
    url = urlsplit(text)
    if "@" in url.netloc:
        raise ConfigError(
            "the URL of a bucket must not have credentials",
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        )
    # Servers and clients make one slash of two: a place has one name.
    prefix = "/".join(filter(None, url.path.split("/")))
    is_named = url.scheme == "s3" and _BUCKET.fullmatch(url.netloc)
    if not is_named or not all(map(_PART.fullmatch, filter(None, prefix.split("/")))):
        raise ConfigError(
            f"`{without_user_info(text)}` does not name a bucket", hint=f"write {FORM}"
        )
    options = parse_qs(url.query)
    for name in options:
        if name not in _OPTIONS:
            raise ConfigError(f"`{name}` is not an option of a bucket", hint=f"use {_OPTIONS}")
    return BucketUrl(
        url.netloc,
        prefix,
        _endpoint(options.get("endpoint", [""])[-1]),
        options.get("region", [""])[-1],
    )


def _endpoint(text: str) -> str:
    if not text:
        return ""
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc:
        raise ConfigError(
            "the endpoint of a bucket must be a plain http or https URL",
            hint="endpoint=https://s3.example.org",
        )
    return text
