"""The URL of a bucket: what it names, and what is refused without being shown."""

from __future__ import annotations

import pytest

from geomi.adapters.bucket_url import BucketUrl, read_bucket_url
from geomi.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("s3://pages", BucketUrl("pages")),
        ("s3://pages/", BucketUrl("pages")),
        ("s3://my.pages-1/a/b_c/", BucketUrl("my.pages-1", "a/b_c")),
        (
            "s3://pages/a?endpoint=https://s3.test:9000&region=auto",
            BucketUrl("pages", "a", "https://s3.test:9000", "auto"),
        ),
    ],
)
def test_a_url_names_a_bucket(text: str, url: BucketUrl) -> None:
    assert read_bucket_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pages",
        "/srv/pages",
        "https://s3.test/pages",
        "s3://",
        "s3:///a",
        "s3://Pages",
        "s3://ab",
        "s3://" + "a" * 64,
        "s3://pages/../other",
        "s3://pages/a b",
    ],
)
def test_what_names_no_bucket_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="does not name a bucket"):
        read_bucket_url(text)


@pytest.mark.parametrize("query", ["endpoint=s3.test", "endpoint=file:///x", "key=x"])
def test_a_wrong_option_is_refused(query: str) -> None:
    with pytest.raises(ConfigError):
        read_bucket_url(f"s3://pages?{query}")


@pytest.mark.parametrize(
    "text",
    [
        "s3://someone:hush@pages/a",
        "s3://pages?endpoint=https://someone:hush@s3.test",
        "s3://pages?secret_access_key=hush",
    ],
)
def test_a_url_with_a_credential_is_refused_unshown(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_bucket_url(text)
    assert "hush" not in caught.value.message + caught.value.hint
