"""What a job writes down, and how long that is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Le

from geomi.model.search import KeptText

Days = Annotated[float, Ge(0), Le(36_525)]


@dataclass(frozen=True, slots=True)
class Storing:
    """What is written down."""

    raw: bool | None = None  # responses as they came; None: unless something is taken out of them
    text: KeptText = KeptText.FULL  # or a preview of it, and no response (C-39)
    # How long a text of which a preview is kept may wait to be indexed; 0: not at all.
    whole_text_s: Annotated[float, Ge(0), Le(7 * 86_400)] = 86_400.0
    request_log: bool = True  # every request, for `geomi audit`

    @property
    def is_preview(self) -> bool:
        """Whether no more than a preview of a page is written down for good."""
        return self.text is KeptText.PREVIEW


@dataclass(frozen=True, slots=True)
class Retention:
    """Days from the end of a crawl's last job (G-04); 0: for ever."""

    urls_days: Days = 0.0  # its URLs and what became of each (FRN-14)
    jobs_days: Days = 0.0  # the job with its pages, bytes, outputs and request log (STO-06)
