"""Read a whole dataset and report what is wrong with it; write nothing and ask nobody.

First come the raw files: their names, records, checkpoints and descriptions. They say which
domains there have to be. Then come the contracts: whether each holds and covers every raw file
that names its domain. Last comes what lies there and is no part of a dataset.
"""

from __future__ import annotations

from geomi.engine.seeds.check_prod import check_prod
from geomi.engine.seeds.check_raw import check_raw
from geomi.engine.seeds.findings import Findings
from geomi.model.checked import Checked
from geomi.model.config import CrawlConfig
from geomi.model.seed import PartitionFilter
from geomi.ports.dataset import Dataset
from geomi.seed.partition import (
    PROD,
    RAW,
    read_rejects_key,
    rejects_prefix,
)

_EVERYTHING = PartitionFilter()


async def check(dataset: Dataset, config: CrawlConfig, which: PartitionFilter) -> Checked:
    """Check the raw files, contracts and rejects of some partitions."""
    findings = Findings()
    wanted = await check_raw(dataset, config.seeds, which, findings)
    await check_prod(dataset, which, wanted, findings)
    await _check_rest(dataset, which, findings)
    return findings.report()


async def _check_rest(dataset: Dataset, which: PartitionFilter, findings: Findings) -> None:
    """Look at the rejects, and where everything is asked for at what lies beside the trees."""
    prefix = "" if which == _EVERYTHING else rejects_prefix(which)
    async for listed in dataset.list(prefix):
        if listed.key.startswith((RAW, PROD)):
            continue
        source = read_rejects_key(listed.key)
        if source is None:
            findings.foreign(listed.key)
        elif which.matches(source[0]) and source[1] not in findings.sums:
            findings.add(
                listed.key,
                f"it speaks of `{source[1]}`, which is not there",
                "put the raw file back, or remove this one",
            )
