"""Read settings of the seed engine: the datasets of tenants, and what contracts say about a crawl.

People write datasets as `tenant=URL`, several with commas; a tenant has one. Contracts name the
sitemaps of their domains and ask for a page for each start URL, within what the profile allows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from geomi.errors import ConfigError
from geomi.model.dataset.contract import Handover
from geomi.settings.layers import Layer, Resolved, read_profile
from geomi.url.parse import without_user_info

# Each has a worker in a process of the service, with as many requests at once as it has places.
MAX_DATASETS = 20
FORM = "GEOMI_DATASETS='acme=s3://bucket/prefix,umbrella=file:///srv/seeds'"
_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
MAX_PAGES_KEY = "limits.max_pages"


def read_datasets(texts: Sequence[str]) -> dict[str, str]:
    """Return the URL of each tenant's dataset; a tenant has one."""
    found: dict[str, str] = {}
    for text in texts:
        tenant, is_given, url = (part.strip() for part in text.partition("="))
        if not is_given or not url or not _TENANT.fullmatch(tenant):
            raise ConfigError(
                f"`{without_user_info(text)}` does not name a tenant's dataset", hint=FORM
            )
        if tenant in found:
            raise ConfigError(
                f"tenant `{tenant}` has two datasets, `{without_user_info(found[tenant])}` and "
                f"`{without_user_info(url)}`",
                hint="name one root for each tenant; partitions go below it",
            )
        found[tenant] = url
    if len(found) > MAX_DATASETS:
        raise ConfigError(
            f"{len(found)} datasets are named; a service works on at most {MAX_DATASETS}",
            hint="serve the others with `geomi seeds work`, or by another service",
        )
    return found


def contracts_layer(handover: Handover, below: Resolved) -> Layer:
    """Return what contracts say: which sitemaps there are, and that each start URL has a page.

    No more pages are asked for than the profile lets anybody ask for.

    Args:
        below: what holds without them.
    """
    values: dict[str, object] = {}
    if handover.sitemaps:
        values["scope.sitemap_urls"] = handover.sitemaps
    if 0 < below.config.limits.max_pages < len(handover.seeds):
        allowed = read_profile(below.run.profile).ranges.get(MAX_PAGES_KEY)
        most = allowed.high if allowed is not None else math.inf
        values[MAX_PAGES_KEY] = int(min(len(handover.seeds), most))
    return Layer(f"contracts of {handover.source}", values)
