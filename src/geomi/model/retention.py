"""What a job writes down, and how long that is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le

Days = Annotated[float, Ge(0), Le(36_525)]


@dataclass(frozen=True, slots=True)
class Storing:
    """What is written down."""

    raw: bool | None = None  # responses as they came; None: unless `safety` takes something out
    request_log: bool = True  # every request, for `geomi audit`


@dataclass(frozen=True, slots=True)
class Retention:
    """Days from the end of a crawl's last job (G-04); 0: for ever."""

    urls_days: Days = 0.0  # its URLs and what became of each (FRN-14)
    jobs_days: Days = 0.0  # the job with its pages, bytes, outputs and request log (STO-06)
