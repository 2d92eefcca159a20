"""The exceptions geomi raises; a page's failure is an `Outcome`, never one of these.

    GeomiError                everything we raise on purpose
    ├── ConfigError           a setting, flag or file is wrong: nothing was started     exit 2
    ├── UnknownName           a job, profile or page that is not there                  exit 2
    ├── StoreError            the data directory or database cannot be used             exit 4
    │   ├── StoreMissing      nothing of geomi where something was to be looked at
    │   ├── StoreTooNew       written by a newer geomi
    │   ├── StoreBusy         another process holds what we need
    │   ├── BytesMissing      a segment of the archive is not where it should be, or not yet
    │   └── StoreFull         no space left: nothing of the last batch was committed    exit 3
    ├── ClusterError          the cluster of a fleet, or one of its actors, does not answer  exit 4
    ├── LeaseLost             a settlement came with a token that is no longer valid
    ├── NothingFetched        no start URL could be reached                             exit 5
    ├── ModelError            a language model could not be asked, or made no sense     exit 7
    │   └── ModelBusy         it may be asked again later
    │       └── ModelThrottled  it has too much to do, and says so
    └── RuleBroken            the log of requests shows that a host was not respected   exit 6

Each carries the exit code of the command line, so that the surface translates and decides nothing.
"""

from __future__ import annotations


class GeomiError(Exception):
    """Anything geomi refuses to do; the message names the thing, the value and the remedy."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(GeomiError):
    """A setting, flag or file is wrong; nothing was started."""

    exit_code = 2


class UnknownName(GeomiError):
    """Something was named that does not exist."""

    exit_code = 2


class StoreError(GeomiError):
    """The data directory or the database cannot be used."""

    exit_code = 4


class StoreMissing(StoreError):
    """There is no store where one was to be looked at."""


class StoreTooNew(StoreError):
    """The store was written by a newer geomi."""


class StoreBusy(StoreError):
    """Another process holds what we need."""


class BytesMissing(StoreError):
    """A segment of the archive is not there; a worker elsewhere may still have to send it."""


class StoreFull(StoreError):
    """No space is left; nothing of the last batch was committed."""

    exit_code = 3


class ClusterError(GeomiError):
    """The cluster of a fleet, or one of its actors, does not answer."""

    exit_code = 4


class LeaseLost(GeomiError):
    """A settlement came with a fencing token that is no longer valid."""


class NothingFetched(GeomiError):
    """No seed could be reached."""

    exit_code = 5


class RuleBroken(GeomiError):
    """The log of requests shows that a rule of politeness was broken."""

    exit_code = 6


class ModelError(GeomiError):
    """A language model could not be asked, or what it answered makes no sense."""

    exit_code = 7


class ModelBusy(ModelError):
    """A language model that may be asked again later."""


class ModelThrottled(ModelBusy):
    """A server of models that has too much to do, and says so."""


def first_error(failures: BaseExceptionGroup[GeomiError]) -> GeomiError:
    """Return the first leaf of a group of errors."""
    leaf: BaseException = failures
    while isinstance(leaf, BaseExceptionGroup):
        leaf = leaf.exceptions[0]
    assert isinstance(leaf, GeomiError)
    return leaf
