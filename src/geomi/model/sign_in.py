"""How a tenant signs in to a site that it has proved to be its own (C-48)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Ownership can end: the proof holds for a day. A site that did not give it is asked again sooner.
PROOF_S = 86_400.0
TRY_AGAIN_S = 600.0


class SignInKind(StrEnum):
    """What is shown to a site."""

    BASIC = "basic"
    BEARER = "bearer"
    COOKIE = "cookie"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class SignIn:
    """One origin of a tenant: the proof that it is its own, and what is shown to it.

    Args:
        origin: scheme, host and port; nothing is shown to any other.
        token: what the origin has to serve, so that its owner is known.
        proved_at_s: when it was served last; None where the last look did not find it.
        problem: why the last look did not find it.
        kind: of what is shown; None where nothing is kept yet.
        sealed: the headers that are shown, encrypted.
    """

    origin: str
    token: str
    made_at_s: float
    looked_at_s: float | None = None
    proved_at_s: float | None = None
    problem: str = ""
    kind: SignInKind | None = None
    sealed: str = ""

    def is_proved(self, wall_s: float) -> bool:
        """Return whether the origin is the tenant's now."""
        return self.proved_at_s is not None and wall_s - self.proved_at_s < PROOF_S

    def is_due(self, wall_s: float) -> bool:
        """Return whether the origin has to be looked at before anything is shown to it."""
        rest_s = TRY_AGAIN_S if self.proved_at_s is None else PROOF_S
        return self.looked_at_s is None or wall_s - self.looked_at_s >= rest_s
