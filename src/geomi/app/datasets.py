"""The dataset that somebody named: a directory, or a prefix of a bucket."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from geomi.adapters.bucket_url import FORM, names_bucket, read_bucket_url
from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.app.archive import need_obstore
from geomi.errors import ConfigError, StoreMissing
from geomi.ports.dataset import Dataset
from geomi.url.canonical import without_user_info

MAX_NAME_CHARS = 4096


def open_dataset(text: str) -> Dataset:
    """Open `s3://…`, `file://…` or a path; nothing is dialled yet."""
    if not text.strip() or "\0" in text or len(text) > MAX_NAME_CHARS:
        raise ConfigError("a dataset needs a name", hint=f"write a path, file://… or {FORM}")
    if names_bucket(text):
        need_obstore("a dataset in a bucket")
        from geomi.adapters.blob.bucket import Bucket  # an extra
        from geomi.adapters.dataset.bucket import BucketDataset

        url = read_bucket_url(text)
        return BucketDataset(Bucket(url), url.full)
    root = _folder(text)
    if not root.is_dir():
        raise StoreMissing(
            f"there is no dataset at `{root}`: it is no folder",
            hint="name the folder that holds raw/",
        )
    return DirectoryDataset(root)


def _folder(text: str) -> Path:
    if "://" not in text:
        return Path(text)
    url = urlsplit(text)
    is_local = url.netloc in ("", "localhost") and not url.query and not url.fragment
    if url.scheme != "file" or not is_local or "\0" in unquote(url.path):
        raise ConfigError(
            f"`{without_user_info(text)}` names no dataset",
            hint=f"write a path, file:///path or {FORM}",
        )
    return Path(unquote(url.path))
