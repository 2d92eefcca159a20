"""Whose dataset is where, as people write it: `tenant=URL`, several with commas."""

from __future__ import annotations

import re
from collections.abc import Sequence

from geomi.errors import ConfigError
from geomi.url.shown import without_user

# Each has a worker in a process of the service, with as many requests at once as it has places.
MAX_DATASETS = 20
FORM = "GEOMI_DATASETS='acme=s3://bucket/prefix,umbrella=file:///srv/seeds'"

_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def read_datasets(texts: Sequence[str]) -> dict[str, str]:
    """Return the URL of each tenant's dataset; a tenant has one."""
    found: dict[str, str] = {}
    for text in texts:
        tenant, is_given, url = (part.strip() for part in text.partition("="))
        if not is_given or not url or not _TENANT.fullmatch(tenant):
            raise ConfigError(f"`{without_user(text)}` names no tenant's dataset", hint=FORM)
        if tenant in found:
            raise ConfigError(
                f"tenant `{tenant}` has two datasets, `{without_user(found[tenant])}` and "
                f"`{without_user(url)}`",
                hint="name one root for each tenant; partitions go below it",
            )
        found[tenant] = url
    if len(found) > MAX_DATASETS:
        raise ConfigError(
            f"{len(found)} datasets are named; a service works on {MAX_DATASETS} at most",
            hint="serve the others with `geomi seeds work`, or by another service",
        )
    return found
