"""What is told of a tenant that was erased."""

from __future__ import annotations

from geomi.api.schema.wire import Told
from geomi.model.site import Takedown


class TenantErasedTold(Told):
    """What went with a tenant."""

    name: str
    reason: str
    crawls: int
    pages: int

    @classmethod
    def of(cls, line: Takedown) -> TenantErasedTold:
        """Write the line that is left."""
        return cls(name=line.name, reason=line.reason, crawls=line.jobs, pages=line.pages)
